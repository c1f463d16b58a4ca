package gate

import (
	"fmt"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/stats"
)

// State is what a gate decides of a property, of a cell and of all.
type State string

// The states, the worst first.
const (
	Fail         State = "fail"         // not as expected
	Broken       State = "broken"       // dlmtest or its infrastructure failed: it says nothing about the lock
	Inconclusive State = "inconclusive" // not put to the test; never green
	Stopped      State = "stopped"      // open, but its cell was decided by another property
	Undecided    State = "undecided"    // more runs are to come
	Pass         State = "pass"
	Skipped      State = "skipped" // not promised, or not judged
)

var states = []State{Fail, Broken, Inconclusive, Stopped, Undecided, Pass, Skipped}

// Tally counts what the runs of a cell have shown of one property. A run that was
// repeated is not counted, its repeat is; but what it violated stays.
type Tally struct {
	Violated int `json:"violated"`
	Holds    int `json:"holds"`
	Unknown  int `json:"unknown,omitempty"`
	NA       int `json:"na,omitempty"`
	Failed   int `json:"failed,omitempty"`  // runs that reached no judgement
	NotRun   int `json:"not_run,omitempty"` // for want of time, or after an interrupt
	Left     int `json:"left,omitempty"`    // still to come, or left out as all was decided
}

// Conclusive is how many runs put the property to the test.
func (t Tally) Conclusive() int { return t.Violated + t.Holds }

// planned is how many runs there were to be.
func (t Tally) planned() int {
	return t.Violated + t.Holds + t.Unknown + t.NA + t.Failed + t.NotRun + t.Left
}

// Decision is what the runs so far say of one property.
type Decision struct {
	State   State
	Certain bool   // no outcome of the runs that are left can change State
	Why     string // in a few words, with the figures
	Gone    bool   // a known weakness that was not seen in any run
}

// Decide holds what the runs have shown against what is expected. named says that
// the file names the property: one that is not promised is then no expectation met.
func Decide(e Expectation, named bool, t Tally) Decision {
	switch e.Is {
	case NotJudged:
		return Decision{State: Skipped, Certain: true, Why: "not judged: " + e.Reason}
	case Weakness:
		return weakness(t)
	case MustDetect:
		return detect(e, t)
	}
	return holds(named, t)
}

func holds(named bool, t Tally) Decision {
	switch {
	case t.Violated > 0:
		return Decision{State: Fail, Certain: true, Why: flaky(t) + "violated in " + rate(t)}
	case t.Left > 0:
		return Decision{State: Undecided, Why: fmt.Sprintf("%d of %d runs are still to come", t.Left, t.planned())}
	case t.Failed+t.Unknown+t.NotRun > 0:
		return t.unsettled()
	case t.Holds == 0 && named:
		return Decision{State: Inconclusive, Certain: true, Why: "not promised by this lock in this scenario, so it cannot hold; take it out of the file"}
	case t.Holds == 0:
		return Decision{State: Skipped, Certain: true, Why: "not promised"}
	}
	return Decision{State: Pass, Certain: true, Why: fmt.Sprintf("holds in %d of %s: %s", t.Holds, nouns.Count(t.planned(), "run"), bound(t.Holds))}
}

func weakness(t Tally) Decision {
	switch {
	case t.Violated > 0:
		return Decision{State: Pass, Certain: true, Why: flaky(t) + "known weakness, violated in " + rate(t)}
	case t.Left > 0:
		return Decision{State: Undecided, Why: fmt.Sprintf("not seen yet; %d of %d runs are still to come", t.Left, t.planned())}
	case t.Failed+t.Unknown+t.NotRun > 0:
		return t.unsettled()
	case t.Holds == 0:
		return Decision{State: Inconclusive, Certain: true, Why: "not promised by this lock in this scenario, so it cannot be seen; take it out of the file"}
	}
	return Decision{State: Pass, Certain: true, Gone: true,
		Why: fmt.Sprintf("known weakness NOT SEEN any more in %s: %s; if it is mended, expect holds from now on", nouns.Count(t.Holds, "run"), bound(t.Holds))}
}

func detect(e Expectation, t Tally) Decision {
	need := e.AtLeast
	if need == 0 {
		need = t.planned()
	}
	could := t.Violated + t.Unknown + t.Failed + t.NotRun + t.Left
	switch {
	case t.Violated >= need:
		return Decision{State: Pass, Certain: true, Why: flaky(t) + "detected in " + rate(t)}
	case could < need:
		return Decision{State: Fail, Certain: true, Why: fmt.Sprintf("must be detected in %s and was in %s", nouns.Count(need, "run"), rate(t))}
	case t.Left > 0:
		return Decision{State: Undecided, Why: fmt.Sprintf("detected in %s of %d needed; %d still to come", nouns.Count(t.Violated, "run"), need, t.Left)}
	}
	d := t.unsettled()
	d.Why = fmt.Sprintf("detected in %s of %d needed; %s", nouns.Count(t.Violated, "run"), need, d.Why)
	return d
}

// unsettled is a property of which some runs said nothing.
func (t Tally) unsettled() Decision {
	d := Decision{State: Inconclusive, Certain: true}
	if t.Failed > 0 {
		d.State = Broken
	}
	for _, part := range []struct {
		n    int
		text string
	}{{t.Failed, "failed"}, {t.Unknown, "did not put it to the test"}, {t.NotRun, "did not take place or end"}} {
		if part.n > 0 {
			if d.Why != "" {
				d.Why += ", "
			}
			d.Why += fmt.Sprintf("%d of %s %s", part.n, nouns.Count(t.planned(), "run"), part.text)
		}
	}
	return d
}

// rate is how often a property was violated, of the runs that put it to the test.
func rate(t Tally) string {
	n := t.Conclusive()
	return fmt.Sprintf("%d of %s (%s at 95 %%)", t.Violated, nouns.Count(n, "run"), stats.Wilson(t.Violated, n))
}

// flaky is the word before what some runs showed and others did not.
func flaky(t Tally) string {
	if t.Flaky() {
		return "FLAKY: "
	}
	return ""
}

// Flaky says that some runs violated the property and some did not.
func (t Tally) Flaky() bool { return t.Violated > 0 && t.Holds > 0 }

// bound is what n greens prove.
func bound(n int) string { return fmt.Sprintf("failure rate below %s at 95 %%", stats.Bound(n)) }

// Worst is the worst of some states; of none it is Skipped.
func Worst(all []State) State {
	for _, s := range states {
		for _, is := range all {
			if is == s {
				return s
			}
		}
	}
	return Skipped
}
