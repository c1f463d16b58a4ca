package faultcheck

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
)

// Row is one thing that was measured of one fault, beside what the run's own proof said of it.
type Row struct {
	Runtime  string   `json:"runtime"`
	Kinds    []string `json:"kinds"`    // of the faults that it is about
	Fault    string   `json:"fault"`    // in the words of scenarios
	What     string   `json:"what"`     // what was measured, and what it must be
	Said     string   `json:"said"`     // by the proof in the history
	Measured string   `json:"measured"` // from outside
	State    State    `json:"state"`
	Why      string   `json:"why,omitempty"` // it disagrees, or was not measured
}

// State is what came of a measurement.
type State string

const (
	Agrees     State = "agrees"
	Disagrees  State = "disagrees"
	Unmeasured State = "not measured" // here: the reason is in Why
)

// Line is a row of several runs.
type Line struct {
	Row
	Agreed int `json:"agreed"`
	Runs   int `json:"runs"`             // in which it was measured
	Missed int `json:"missed,omitempty"` // in which it could not be
}

// Tally puts the rows of several runs together: the worst of each is shown, and how often it agreed.
func Tally(rows []Row) (lines []Line) {
	for _, r := range rows {
		i := slices.IndexFunc(lines, func(l Line) bool {
			return l.Runtime == r.Runtime && l.Fault == r.Fault && l.What == r.What
		})
		if i < 0 {
			lines = append(lines, Line{Row: r})
			i = len(lines) - 1
		}
		l := &lines[i]
		switch r.State {
		case Agrees:
			l.Agreed++
			l.Runs++
		case Disagrees:
			l.Runs++
		default:
			l.Missed++
		}
		if worse(r.State) > worse(l.State) {
			l.Row = r
		}
	}
	return lines
}

// worse ranks states: one disagreement is what a reader must see. What was measured once hides that it could
// not be another time, which Missed counts.
func worse(s State) int {
	switch s {
	case Disagrees:
		return 2
	case Agrees:
		return 1
	}
	return 0
}

// check is a row in the making: it agrees until something is found.
type check struct{ Row }

func (s *strike) check(what string, said string) *check {
	return &check{Row{Kinds: []string{s.fault.Fault}, Fault: s.label, What: what, Said: said, State: Agrees}}
}

// unless notes what disagrees; the first is kept.
func (c *check) unless(ok bool, format string, args ...any) {
	if !ok && c.State != Disagrees {
		c.State, c.Why = Disagrees, fmt.Sprintf(format, args...)
	}
}

// unmeasured says that nothing could be seen.
func (c *check) unmeasured(format string, args ...any) {
	if c.State == Agrees {
		c.State, c.Why = Unmeasured, fmt.Sprintf(format, args...)
	}
}

// alive says whether something was seen at work before a fault and after its heal. What was not seen before it shows
// nothing: the machine may have been too busy. What is not seen again did not get over it.
func (c *check) alive(k *strike, all []outside.Record, format string, args ...any) bool {
	what := fmt.Sprintf(format, args...)
	before, after := k.around(all)
	if !before {
		c.unmeasured("%s was not seen before it", what)
	}
	c.unless(after, "%s was not seen after the heal", what)
	return before && after
}

func (c *check) measured(format string, args ...any) { c.Measured = fmt.Sprintf(format, args...) }

// ms is a length for people.
func ms(ns int64) string {
	d := time.Duration(ns)
	if d.Abs() < 10*time.Millisecond {
		return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
	}
	return fmt.Sprintf("%.0f ms", float64(ns)/1e6)
}

func spread[T cmp.Ordered](all []T, show func(T) string) string {
	if len(all) == 0 {
		return "none"
	}
	low, high := show(slices.Min(all)), show(slices.Max(all))
	if low == high {
		return low
	}
	return low + " to " + high
}
