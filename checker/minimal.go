package checker

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// MinimalKept is how many violations of one property are made minimal: so many of
// the firm ones, and so many of those that are only possible or that a stall touches.
const MinimalKept = 20

// reduceLimit bounds what is judged on the way to all minimal histories of a
// result, in operations: about ten seconds of work.
const reduceLimit = 2e7

// Save keeps the minimal history of a violation, and returns the name of its file
// and the history as it can be read from there.
type Save func(number int, setup history.Setup, ops []history.Op) (file string, again history.Setup, read []history.Op, err error)

// Minimize finds, for the first violations of each property, the smallest history
// that still shows it, saves it and judges it again. Violation.Minimal then says
// which operations are left, or why there is none; where that is a bug of dlmtest
// it is a doubt, too. An error is of saving.
//
// It begins with the operations that a violation names and takes in more only
// where these do not show it: then others of the same clients and the notes
// beside them, then all. The checker of the property itself decides. What it must
// find again is the violation that names the same operations, at the same
// instant, no more and no less certain: so nothing is shown that is not in the
// whole history, too, only because something was left out.
func Minimize(setup history.Setup, ops []history.Op, result *Result, save Save) error {
	var m *minimizer
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
			*kept++
			if m == nil {
				m = newMinimizer(setup, ops)
			}
			bug, err := m.minimize(property.Name, v, save)
			if err != nil {
				return err
			}
			if bug {
				result.Doubts = append(result.Doubts, fmt.Sprintf("A bug of dlmtest: violation %d, %s, has no minimal history: %s", v.Number, property.Name, v.Minimal.Why))
			}
		}
	}
	return nil
}

// FindMinimal finds the smallest history of one violation, as Minimize does, and
// saves nothing.
func FindMinimal(setup history.Setup, ops []history.Op, property string, v *Violation) *Minimal {
	left := newMinimizer(setup, ops).reduce(property, v)
	if left == nil {
		return &Minimal{Why: "it is not found again in its own history, or not in time"}
	}
	return &Minimal{Operations: left}
}

// minimizer reduces the violations of one history.
type minimizer struct {
	setup  history.Setup
	ops    []history.Op
	units  [][]int // operations that belong together, each in order
	unit   []int   // of each operation
	judged int     // operations, so far
}

// newMinimizer finds what belongs together: an invoke and its completion, and the
// phases of one fault at one victim. Any other note is alone.
func newMinimizer(setup history.Setup, ops []history.Op) *minimizer {
	m := &minimizer{setup: setup, ops: ops, unit: make([]int, len(ops))}
	process, faults := map[int]int{}, map[victim]int{}
	for i := range ops {
		op := &ops[i]
		u := len(m.units)
		switch op.Type {
		case history.Invoke:
			process[op.Process] = u
		case history.Note:
			if op.Fault != nil {
				of := victim{op.Fault.ID, op.Fault.Target}
				if known, ok := faults[of]; ok {
					u = known
				}
				faults[of] = u
			}
		default:
			u = process[op.Process]
		}
		if u == len(m.units) {
			m.units = append(m.units, nil)
		}
		m.units[u] = append(m.units[u], i)
		m.unit[i] = u
	}
	return m
}

func (m *minimizer) minimize(property string, v *Violation, save Save) (bug bool, err error) {
	v.Minimal = &Minimal{}
	left := m.reduce(property, v)
	switch {
	case m.judged > reduceLimit:
		v.Minimal.Why = fmt.Sprintf("not looked for: more than %.0e operations were judged for it and for others", reduceLimit)
		return false, nil
	case left == nil:
		v.Minimal.Why = "it is not found again in its own history"
		return true, nil
	}
	setup, ops := m.part(v, left)
	setup.Shows = property
	v.Minimal.Operations = left
	if v.Minimal.File, setup, ops, err = save(v.Number, setup, ops); err != nil {
		return false, err
	}
	v.Minimal.Why = v.Minimal.Again(property, v, setup, ops)
	return v.Minimal.Why != "", nil
}

// reduce returns the operations of the minimal history; nil: there is none.
func (m *minimizer) reduce(property string, v *Violation) []int {
	all := checkersOf(m.setup)
	i := slices.IndexFunc(all, func(c Checker) bool { return c.Name == property })
	if i < 0 {
		return nil
	}
	shows := func(units []int) bool { return m.shows(all[i], v, m.of(units)) }
	for _, start := range []func(*Violation) []int{m.named, m.related, m.all} {
		units := start(v)
		if shows(units) {
			left := models.Reduce(len(units), nil, func(parts []int) bool { return shows(picked(units, parts)) })
			return m.of(picked(units, left))
		}
	}
	return nil
}

func picked(units, parts []int) []int {
	chosen := make([]int, len(parts))
	for i, p := range parts {
		chosen[i] = units[p]
	}
	return chosen
}

// of lists the operations of units, in order.
func (m *minimizer) of(units []int) []int {
	var ops []int
	for _, u := range units {
		ops = append(ops, m.units[u]...)
	}
	slices.Sort(ops)
	return ops
}

// named are the units of the operations that a violation names.
func (m *minimizer) named(v *Violation) []int {
	var units []int
	for _, i := range v.Operations {
		units = append(units, m.unit[i])
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// related adds what the same clients did on the key, what the resource made of
// it, and the notes that are about no key.
func (m *minimizer) related(v *Violation) []int {
	owners, values, processes := map[string]bool{}, map[string]bool{}, map[int]bool{}
	for _, u := range m.named(v) {
		for _, i := range m.units[u] {
			op := &m.ops[i]
			owners[op.Owner], values[op.Value], processes[op.Process] = true, true, true
		}
	}
	delete(owners, "")
	delete(values, "")
	delete(processes, 0)
	m.judged += len(m.ops)
	return m.where(func(op *history.Op) bool {
		return owners[op.Owner] || values[op.Value] || processes[op.Process] || op.Key == ""
	})
}

func (m *minimizer) all(*Violation) []int { return m.where(func(*history.Op) bool { return true }) }

// where lists the units of which an operation is wanted.
func (m *minimizer) where(wanted func(*history.Op) bool) (units []int) {
	for u := range m.units {
		if slices.ContainsFunc(m.units[u], func(i int) bool { return wanted(&m.ops[i]) }) {
			units = append(units, u)
		}
	}
	return units
}

// part cuts a history down to some operations, and its setup to the key.
func (m *minimizer) part(v *Violation, indexes []int) (history.Setup, []history.Op) {
	setup := m.setup
	setup.Expect, setup.Sources = history.Expect{}, nil // these are asked of the whole
	if v.Key != "" {
		setup.Keys = []string{v.Key}
	}
	ops := make([]history.Op, len(indexes))
	for i, index := range indexes {
		ops[i] = m.ops[index]
		ops[i].Index = i
	}
	return setup, ops
}

// shows says whether some operations alone show a violation.
func (m *minimizer) shows(c Checker, v *Violation, indexes []int) bool {
	if m.judged > reduceLimit {
		return false
	}
	m.judged += len(indexes)
	setup, ops := m.part(v, indexes)
	setup.Shows = c.Name
	if history.Validate(setup, ops) != nil {
		return false
	}
	var again []Violation
	if guard(func() { again = c.on(newRun(setup, ops)).found.list }) != "" {
		return false
	}
	return slices.ContainsFunc(again, func(w Violation) bool {
		for i := range w.Operations {
			w.Operations[i] = indexes[w.Operations[i]]
		}
		return w.same(v)
	})
}

// same says whether two violations of one property are one.
func (v *Violation) same(w *Violation) bool {
	return v.At == w.At && v.Key == w.Key && v.Possible == w.Possible && v.Disturbed == w.Disturbed && slices.Equal(v.Operations, w.Operations)
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
