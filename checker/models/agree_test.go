package models

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// checks is how many random histories each model is tried on: N in the
// environment, as in make check-models N=1000000, else few enough to wait for.
func checks(t testing.TB, usual int) int {
	n, err := strconv.Atoi(os.Getenv("N"))
	if err != nil {
		n = usual
	}
	if testing.Short() {
		n /= 10
	}
	old := flag.Lookup("rapid.checks").Value.String()
	if err := flag.Set("rapid.checks", fmt.Sprint(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set("rapid.checks", old) })
	return n
}

// decide runs a decider over events.
func decide(m Model, o Options, events []Event) (Result, error) {
	d := m.New(o)
	for _, e := range events {
		if err := d.Add(e); err != nil {
			return d.End(), err
		}
	}
	return d.End(), nil
}

// inProcess asks Porcupine here. Of a few random histories it would need far longer than
// of all others together, and on a loaded machine it may give up, too: that is counted,
// and says nothing.
func inProcess(model string, o Options, ops []Op) string {
	limit := time.Second
	switch {
	case len(ops) <= 6: // what takes longer has stood still
		limit = 20 * time.Second
	case len(ops) > 12:
		limit = 200 * time.Millisecond
	}
	return Consult(model, o, ops, limit)
}

// tally counts what random histories were.
type tally struct{ legal, illegal, broken, missed, gaveUp int }

func (c tally) String() string {
	return fmt.Sprintf("%d legal, %d illegal, %d without a verdict since an assumption is broken, %d illegal ones not seen, Porcupine gave up on %d", c.legal, c.illegal, c.broken, c.missed, c.gaveUp)
}

// oneSided says that a random test tried too few of one kind.
func (c tally) oneSided(n int) bool {
	return c.legal < n/20 || c.illegal < n/20 || c.broken > n/4
}

// agree holds one history against a reference.
func (c *tally) agree(t *rapid.T, s shape, events []Event, reference func(Options, []Op) string) {
	m, _ := Named(s.model)
	s.o.Ask = inProcess // of the models that Porcupine decides
	got, err := decide(m, s.o, events)
	if err != nil {
		c.broken++
		return
	}
	want, all := Legal, Ops(m, s.o, events)
	if len(all) != 1 && len(events) > 0 { // and the reference would be asked about nothing
		t.Fatalf("%s: %d histories are collected of one, which is %s (%s):\n%s", m.Name, len(all), got.Verdict, got.Reason, text(events))
	}
	for _, ops := range all {
		want = reference(s.o, ops)
	}
	switch want {
	case Legal:
		c.legal++
	case Illegal:
		c.illegal++
	default:
		c.gaveUp++
		return
	}
	if m.Name == "lease-windows" && want == Illegal && got.Verdict != Violated {
		c.missed++ // one side only
		return
	}
	if got.Verdict == Unknown && (s.goes || s.model == "lease" || s.token && s.model == "lease-untimed") { // said so, and left to Porcupine
		c.missed++
		return
	}
	if (got.Verdict == Violated) != (want == Illegal) {
		t.Fatalf("%s says %s (%s), the reference says %s:\n%s", m.Name, got.Verdict, got.Reason, want, text(events))
	}
	c.evidence(t, got, events)
}

// evidence checks that violations name events, in order, and the first first.
func (c *tally) evidence(t *rapid.T, r Result, events []Event) {
	if (r.Verdict == Violated) != (r.Found > 0) || r.Found != len(r.Violations) {
		t.Fatalf("%s with %d violations, %d kept", r.Verdict, r.Found, len(r.Violations))
	}
	for i, v := range r.Violations {
		if len(v.Events) == 0 || v.Message == "" || i > 0 && r.Violations[i-1].at > v.at {
			t.Fatalf("violation %d: %+v:\n%s", i, v, text(events))
		}
		for j, ref := range v.Events {
			if ref.Index < 0 || ref.Index >= len(events) || j > 0 && v.Events[j-1].Index >= ref.Index {
				t.Fatalf("violation %d has its events in no order: %+v:\n%s", i, v, text(events))
			}
		}
	}
}

func TestAgreesWithPorcupine(t *testing.T) {
	for _, s := range shapes {
		if specsOnly(s.model) && !s.unique {
			continue // Porcupine is all that decides it
		}
		t.Run(s.String(), func(t *testing.T) {
			usual := 4000
			if s.renew { // what is unknown of a lock that may be lost costs Porcupine most of the time
				usual = 1000
			}
			n := checks(t, usual)
			var c tally
			rapid.Check(t, func(t *rapid.T) {
				defer func(old int) { batch = old }(batch)
				batch = rapid.IntRange(1, 4).Draw(t, "batch")
				events := random(t, s, rapid.IntRange(3, 12).Draw(t, "operations"))
				c.agree(t, s, events, func(o Options, ops []Op) string { return inProcess(s.model, o, ops) })
			})
			t.Log(c)
			if c.oneSided(n) && !t.Failed() {
				t.Errorf("one-sided: %s", c)
			}
		})
	}
}

func specsOnly(model string) bool {
	return model == "register" || model == "cas-register" || model == "kv"
}

func TestLongerAgreesWithPorcupine(t *testing.T) {
	n := checks(t, 10000) / 100
	_ = flag.Set("rapid.checks", fmt.Sprint(n))
	for _, s := range shapes {
		if specsOnly(s.model) && !s.unique {
			continue
		}
		t.Run(s.String(), func(t *testing.T) {
			var c tally
			rapid.Check(t, func(t *rapid.T) {
				events := random(t, s, rapid.IntRange(13, 30).Draw(t, "operations"))
				c.agree(t, s, events, func(o Options, ops []Op) string { return inProcess(s.model, o, ops) })
			})
			t.Log(c)
		})
	}
}
