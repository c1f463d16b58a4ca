package vdso

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// NTPRate is the fastest slew of adjtime(3): 500 µs a second.
const NTPRate = 500e-6

// Skew says how a program's clocks are bent. The zero value is a reset: REALTIME
// steps back to the truth, and MONOTONIC runs at the true rate from where it is.
type Skew struct {
	// Step puts REALTIME this far from the truth, at once; negative is the past.
	// With Relative it is this far from where the bent clock stands.
	Step     time.Duration `json:"step,omitempty"`
	Relative bool          `json:"relative,omitempty"`
	// Drift is the error of the rate of all clocks: 0.01 is 1 % too fast. MONOTONIC
	// keeps what it has gained or lost after a reset, for it may never go back.
	Drift float64 `json:"drift,omitempty"`
	// Slew then moves REALTIME by this much more, not at once but at SlewRate
	// seconds a second (0: NTPRate). It leaves MONOTONIC alone: kernel timers run
	// on the true one, and a program sees the difference as timers that go wrong.
	Slew     time.Duration `json:"slew,omitempty"`
	SlewRate float64       `json:"slew_rate,omitempty"`
}

// Rates beyond these are no clock that anybody has, and less than 0 would let
// MONOTONIC go back.
const (
	driftMin, driftMax = -0.9, 9.0
	slewRateMax        = 9.0
)

func (s Skew) check() error {
	switch rate := s.slewRate(); {
	case !(s.Drift >= driftMin && s.Drift <= driftMax):
		return fmt.Errorf("clock: drift %v is not within %v and %v", s.Drift, driftMin, driftMax)
	case !(rate >= 1e-9 && rate <= slewRateMax):
		return fmt.Errorf("clock: slew rate %v is not within 1e-9 and %v seconds a second", s.SlewRate, slewRateMax)
	case s.Slew < 0 && s.Slew != 0 && 1+s.Drift-rate <= 0:
		return fmt.Errorf("clock: a slew back at rate %v with drift %v would let REALTIME run backwards; a step can do that, a slew cannot", rate, s.Drift)
	case s.Slew.Abs() > 100*365*24*time.Hour || s.Step.Abs() > 100*365*24*time.Hour:
		return fmt.Errorf("clock: step %v, slew %v: more than a century", s.Step, s.Slew)
	}
	return nil
}

func (s Skew) slewRate() float64 {
	if s.SlewRate == 0 {
		return NTPRate
	}
	return s.SlewRate
}

// Bend is one skew in force: how the true clocks are mapped to those that the
// program reads, from At on until the next.
type Bend struct {
	Skew      Skew  `json:"skew"`
	At        int64 `json:"at"` // raw MONOTONIC, ns
	Monotonic Line  `json:"monotonic"`
	Realtime  Line  `json:"realtime"`
}

// Line maps the true reading x of a clock, in ns, to the bent one:
//
//	x + Offset + (x−Base)·Drift + min(x−Base, Span)·Slew
//
// with the rates as multiples of 2^-32. The stubs do the same integer arithmetic,
// so that what is computed here is what the program reads, to the nanosecond.
type Line struct {
	Base   int64 `json:"base"`
	Offset int64 `json:"offset"`
	Drift  int64 `json:"drift"`
	Slew   int64 `json:"slew"`
	Span   int64 `json:"span"` // ns; the slew ends then
}

// At returns the bent reading for the true reading x.
func (l Line) At(x int64) int64 {
	d := x - l.Base
	return x + l.Offset + scale(d, l.Drift) + scale(min(d, l.Span), l.Slew)
}

// from returns a line that starts at the true reading now, off ns from the truth,
// at a rate of 1+drift.
func from(now, off int64, drift float64) Line {
	return Line{Base: now, Offset: off, Drift: fixed(drift)}
}

// slewed adds a slew of by at rate. The span follows from the rounded rate, so that
// the slew ends where it should and not a rounding error away.
func (l Line) slewed(by time.Duration, rate float64) Line {
	if by == 0 {
		return l
	}
	l.Slew = fixed(rate)
	l.Span = int64(math.Round(float64(by.Abs()) * (1 << 32) / float64(l.Slew)))
	if by < 0 {
		l.Slew = -l.Slew
	}
	return l
}

func fixed(rate float64) int64 { return int64(math.Round(rate * (1 << 32))) }

// scale returns a·b / 2^32, rounded down, with a 128-bit product: eight hours at a
// drift of 10 % overflow 64 bits.
func scale(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return int64(hi<<32 | lo>>32)
}
