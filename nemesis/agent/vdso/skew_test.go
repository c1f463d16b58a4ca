package vdso

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScaleIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(-1<<60, 1<<60).Draw(t, "a"), rapid.Int64Range(-1<<34, 1<<34).Draw(t, "b")
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		want.Rsh(want, 32) // rounds down, as an arithmetic shift does
		if want.IsInt64() && scale(a, b) != want.Int64() {
			t.Errorf("%d·%d/2^32 = %d, want %d", a, b, scale(a, b), want)
		}
	})
}

// A line never goes back (by more than a ns of rounding while it slews), and ends its slew where it was asked to.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drift := rapid.Float64Range(-0.5, 1).Draw(t, "drift")
		slew := time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, "slew"))
		rate := rapid.Float64Range(1e-5, 0.49).Draw(t, "rate")
		now := rapid.Int64Range(0, 1<<60).Draw(t, "now")
		l := from(now, 0, drift).slewed(slew, rate)
		if l.At(now) != now {
			t.Errorf("a jump of %d at the begin", l.At(now)-now)
		}
		x := now + rapid.Int64Range(0, 1e15).Draw(t, "later")
		if plain := from(now, 0, drift); plain.At(x+1) < plain.At(x) {
			t.Errorf("it goes back by %d", plain.At(x)-plain.At(x+1))
		}
		// Two terms are rounded then. That is of REALTIME alone: MONOTONIC is never slewed.
		if l.At(x+1) < l.At(x)-1 {
			t.Errorf("slewed, it goes back by %d", l.At(x)-l.At(x+1))
		}
		end := now + l.Span
		if slewed := l.At(end) - from(now, 0, drift).At(end); slewed < int64(slew)-2 || slewed > int64(slew)+2 {
			t.Errorf("slewed by %d, want %d", slewed, slew)
		}
	})
}

func TestBadSkews(t *testing.T) {
	p := newPage(t)
	for name, s := range map[string]Skew{
		"a drift that stops time":         {Drift: -1},
		"a slew at no rate":               {Slew: 1, SlewRate: -1},
		"a slew that turns REALTIME back": {Slew: -1, SlewRate: 1},
		"with a drift even sooner":        {Slew: -1, SlewRate: 0.6, Drift: -0.5},
		"a step of centuries":             {Step: 1 << 62},
		"a step before 1970":              {Step: -90 * 365 * 24 * time.Hour},
	} {
		if _, err := p.Set(s); err == nil {
			t.Errorf("%s was accepted: %+v", name, s)
		}
	}
	if p.Bend() != (Bend{}) {
		t.Errorf("a refused skew is in force: %+v", p.Bend())
	}
	_ = p.Close()
	if _, err := p.Set(Skew{}); err == nil {
		t.Error("a closed page was set")
	}
}
