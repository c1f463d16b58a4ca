package checker

import (
	"context"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/delta"
)

// MinimalKept is how many violations of one property are made minimal: so many of
// the firm ones, and so many of those that are only possible or that a stall touches.
const MinimalKept = 20

// unfinishedKept is how many operations may be left of a history that could not be made
// minimal for it to be saved: nobody reads more, and there are many violations.
const unfinishedKept = 2000

// Save keeps the minimal history of a violation, and returns the name of its file
// and the history as it can be read from there.
type Save func(number int, setup history.Setup, ops []history.Op) (file string, again history.Setup, read []history.Op, err error)

// Minimize finds, for the first violations of each property, the smallest history
// that still shows it, saves it and judges it again. Violation.Minimal then says
// which operations are left, or why there is none; where that is a bug of dlmtest
// it is a doubt, too. An error is of saving. A cancel of ctx ends it at once, and so
// does the end of its budget: what was not made smaller by then says so.
//
// It begins with the operations that a violation names and takes in more only
// where these do not show it: then what was near them, then others of the same clients
// and the notes beside them, then all of the key, then all. The checker of the property itself decides. What it must
// find again is the violation that names the same operations, at the same
// instant, no more and no less certain: so nothing is shown that is not in the
// whole history, too, only because something was left out.
func Minimize(ctx context.Context, setup history.Setup, ops []history.Op, result *Result, save Save) error {
	var m *minimizer
	for property, v := range shown(result) {
		if m == nil {
			m = newMinimizer(ctx, setup, ops)
		}
		bug, err := m.minimize(property, v, save)
		if err != nil {
			return err
		}
		if bug {
			result.Doubts = append(result.Doubts, fmt.Sprintf("A bug of dlmtest: violation %d, %s, has no minimal "+
				"history: %s", v.Number, property, v.Minimal.Why))
		}
	}
	return nil
}

// Await says of each violation that Minimize makes smaller that this is still to come,
// for a result that is saved before.
func Await(result *Result) {
	for _, v := range shown(result) {
		v.Minimal = &Minimal{Why: "not looked for yet: the verdict is saved first", Skipped: true}
	}
}

// shown are the violations that have a minimal history, with their property.
func shown(result *Result) func(yield func(string, *Violation) bool) {
	return func(yield func(string, *Violation) bool) {
		for p := range result.Properties {
			property := &result.Properties[p]
			firm, other := 0, 0
			for i := range property.Violations {
				v := &property.Violations[i]
				kept := &firm
				if v.Possible || v.Disturbed {
					kept = &other
				}
				if *kept == MinimalKept {
					continue
				}
				if *kept++; !yield(property.Name, v) {
					return
				}
			}
		}
	}
}

// FindMinimal finds the smallest history of one violation, as Minimize does, and
// saves nothing.
func FindMinimal(ctx context.Context, setup history.Setup, ops []history.Op, property string, v *Violation) *Minimal {
	left, unfinished := newMinimizer(ctx, setup, ops).reduce(property, v)
	if left == nil {
		return &Minimal{Why: "it is not found again in its own history, or not in time"}
	}
	return &Minimal{Operations: left, Unfinished: unfinished}
}

// minimize fills v.Minimal, and says whether what it says there is a bug.
func (m *minimizer) minimize(property string, v *Violation, save Save) (bug bool, err error) {
	v.Minimal = &Minimal{}
	left, unfinished := m.reduce(property, v)
	why := m.budget.Over()
	switch {
	case left == nil && why != "":
		v.Minimal.Why, v.Minimal.Skipped = "not looked for: "+why, true
		return false, nil
	case left == nil:
		v.Minimal.Why = "it is not found again in its own history"
		return true, nil
	case unfinished != "" && len(left) > unfinishedKept:
		v.Minimal.Why, v.Minimal.Skipped = fmt.Sprintf("not made small: %s, and %d operations were left by then", unfinished, len(left)), true
		return false, nil
	}
	setup, ops := m.part(v, left)
	setup.Shows = property
	v.Minimal.Operations, v.Minimal.Unfinished = left, unfinished
	if v.Minimal.File, setup, ops, err = save(v.Number, setup, ops); err != nil {
		return false, err
	}
	v.Minimal.Why = v.Minimal.Again(property, v, setup, ops)
	return v.Minimal.Why != "", nil
}

// reduce returns the operations of the minimal history; nil: there is none. unfinished
// says why they are not minimal.
func (m *minimizer) reduce(property string, v *Violation) (left []int, unfinished string) {
	c, known := Find(property)
	if !known || !c.asked(m.setup) {
		return nil, ""
	}
	over := func() bool { return m.budget.Over() != "" }
	for _, start := range []func(*Violation) []int{m.named, m.near, m.related, m.ofKey, m.all} {
		if over() {
			return nil, ""
		}
		units := start(v)
		shows := func(units []int) bool { return m.shows(c, v, m.of(units)) }
		if !shows(units) {
			continue
		}
		units, err := delta.Reduce(units, nil, delta.Until(over, shows))
		if err != nil {
			unfinished = m.budget.Over()
		}
		return m.of(units), unfinished
	}
	return nil, ""
}

// Again judges a minimal history as it was saved and says what is wrong with it,
// "" if it shows the violation.
func (m *Minimal) Again(property string, v *Violation, setup history.Setup, ops []history.Op) string {
	if err := history.Validate(setup, ops); err != nil {
		return err.Error()
	}
	result := Judge(setup, ops)
	p := result.Property(property)
	if p == nil || len(m.Operations) != len(ops) {
		return fmt.Sprintf("it has %d operations, not %d", len(ops), len(m.Operations))
	}
	for i := range p.Violations {
		w := p.Violations[i]
		for j, op := range w.Operations {
			w.Operations[j] = m.Operations[op]
		}
		if w.same(v) && (v.Possible || v.Disturbed || p.Verdict == Violated) {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v in it: %s", property, p.Verdict, p.Reason)
}
