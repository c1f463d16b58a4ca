package checker

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Checker is one property: all that is known of it stands in its row of Checkers.
type Checker struct {
	Name   string // in scenarios, results and reports
	About  string // one sentence: when the property is violated
	Remedy string // what would have prevented a violation, where the run itself does not tell more
	Owed   Debtor
	Fenced bool // it judges the copy, or the table of a use, that checks tokens

	outside bool // it judges an effect that no token reaches
	last    bool // the final acquire of every key decides it, and nothing before
	work    work // what it says of whether work goes on

	kinds    []history.Kind           // of lock that it is asked of; none: all
	also     func(history.Setup) bool // what it is asked of, too
	use      string                   // of history.Use that it is asked of, "": all
	lockless bool                     // it means something where nobody takes a lock, too
	promised promised                 // nil: by every lock
	check    func(*run) outcome
	oracle   posed
	rests    rests
	needs    needs
	tests    []test            // what puts it to the test, and what each shows
	passed   func(*run) string // what was seen and not counted, or cannot be known; "" where there is nothing
}

// Debtor is whose promise a property is.
type Debtor int

const (
	// Nobody promises it outright: how long a fault keeps everybody waiting.
	Nobody Debtor = iota
	// Service owes it, however its clients behave.
	Service
	// Unleased: a service whose grants never end by themselves (history.Promise.Ends) owes it. Else it
	// is a matter of the client, too.
	Unleased
	// Data: the resource that the lock guards is as it should be.
	Data
	// Fence: the resource decides by tokens as it should.
	Fence
)

// needs is what a run must have seen before the property holds, where its scenario asks for that.
type needs struct {
	staleWrite   bool // a write on a superseded grant
	grantInFault bool // a grant of others during a fault
}

// Find returns the row of a property.
func Find(name string) (Checker, bool) {
	i := slices.IndexFunc(Checkers, func(c Checker) bool { return c.Name == name })
	if i < 0 {
		return Checker{}, false
	}
	return Checkers[i], true
}

// Names are those of all properties, in the order of a report.
func Names() (names []string) {
	for _, c := range Checkers {
		names = append(names, c.Name)
	}
	return names
}

// Always says whether the property stands in the result of every history.
func (c Checker) Always() bool { return len(c.kinds) == 0 && c.use == "" }

// OfUse says whether the property is one of a well-known use of a lock.
func (c Checker) OfUse() bool { return c.use != "" }

// asked says whether the property is asked of a history: by its kind of lock, and its use.
func (c Checker) asked(s history.Setup) bool {
	of := len(c.kinds) == 0 || slices.Contains(c.kinds, s.Kind) || c.also != nil && c.also(s)
	return of && (c.use == "" || c.use == s.Use.Name)
}

// on judges the property. What its violations rest on is known meanwhile.
func (c Checker) on(r *run) outcome {
	r.rests = c.rests
	return c.check(r)
}

// outcome is what a checker says: the verdict and its reason when nothing was
// found, and what was found, with the reason for that.
type outcome struct {
	verdict Verdict
	reason  string
	found   found
	summary string
}

// replies: somebody answers an extend or a release, so there are claims.
func replies(s history.Setup) (bool, string) {
	return !s.Promise.Mute || s.Promise.Extends, "The lock answers nothing to a release, and has no extend."
}

func leased(s history.Setup) (bool, string) {
	return s.Promise.Leased, "The lock gives no lease."
}

// dated: until when a lease lasts is told, or can be reckoned for certain.
func dated(s history.Setup) (bool, string) {
	if s.Promise.Validity == history.Untold {
		return false, "The lock does not tell until when a grant is valid, and it cannot be reckoned."
	}
	return leased(s)
}

func told(s history.Setup) (bool, string) {
	switch s.Promise.Validity {
	case history.Told:
	case history.Unproven:
		return false, "It is not known when the requests were sent from which the leases count."
	default:
		return false, "The lock does not tell its user until when a grant is valid."
	}
	return leased(s)
}

func tokened(s history.Setup) (bool, string) {
	return s.Promise.Token, "The lock gives no fencing token."
}

func ordered(s history.Setup) (bool, string) {
	return s.Promise.Order, "The lock serves its waiters in any order."
}

// Judge judges a history that history.Validate accepts. It is a pure function:
// the same history always gets the same result, and no cluster is needed.
func Judge(setup history.Setup, ops []history.Op) Result {
	var r *run
	broken := guard(func() { r = newRun(setup, ops) })
	result := Result{}
	for _, c := range Checkers {
		if c.asked(setup) {
			result.Properties = append(result.Properties, judgeOne(c, setup, r, broken))
		}
	}
	if broken == "" {
		broken = guard(func() { conclude(r, &result) })
	}
	if broken == "" && setup.Shows == "" {
		broken = guard(func() { result.tell(r) })
	}
	if broken != "" {
		result.JudgeFailed = true
		result.Doubts = append(result.Doubts, "the judge failed, which is a bug of dlmtest: "+broken)
	}
	result.conclude(setup)
	result.number()
	if broken != "" {
		result.Verdict = Merge(result.Verdict, Unknown)
	}
	return result
}

// tell says beside each property that holds how far that goes.
func (result *Result) tell(r *run) {
	for i := range result.Properties {
		if p := &result.Properties[i]; p.Verdict == Holds {
			c, _ := Find(p.Name)
			p.Tested = c.tell(r)
		}
	}
}

// number numbers the violations of all properties, in the order of a report.
func (result *Result) number() {
	n := 0
	for p := range result.Properties {
		for i := range result.Properties[p].Violations {
			n++
			result.Properties[p].Violations[i].Number = n
		}
	}
}

// conclude merges the properties into the verdict and the answers.
func (result *Result) conclude(setup history.Setup) {
	result.Verdict = NA
	for _, p := range result.Properties {
		result.Verdict = Merge(result.Verdict, p.Verdict)
	}
	if result.Verdict == NA {
		result.Verdict = Unknown
	}
	result.answer(setup)
}

// notAsked is said where the rest of a history is missing: see history.Setup.Shows.
const notAsked = "Not asked of this part of a history."

func judgeOne(c Checker, setup history.Setup, r *run, broken string) Property {
	p := Property{Name: c.Name}
	if setup.Shows != "" && setup.Shows != c.Name {
		p.Verdict, p.Reason = NA, notAsked
		return p
	}
	if setup.Use.Lockless && !c.lockless {
		p.Verdict, p.Reason = NA, "No client takes the lock."
		return p
	}
	if c.promised != nil {
		if promised, why := c.promised(setup); !promised {
			p.Verdict, p.Reason = NA, why
			return p
		}
	}
	if broken == "" {
		broken = guard(func() { p = c.on(r).property(c.Name) })
	}
	if broken != "" {
		return Property{Name: c.Name, Verdict: Unknown, Reason: "the checker failed, which is a bug of dlmtest: " + broken}
	}
	return p
}

// guard runs f and returns the text of its panic, "" if there was none.
func guard(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}
