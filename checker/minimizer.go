package checker

import (
	"context"
	"slices"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// minimizer reduces the violations of one history.
type minimizer struct {
	setup  history.Setup
	ops    []history.Op
	units  [][]int // operations that belong together, each in order
	unit   []int   // of each operation
	budget models.Budget
}

// newMinimizer finds what belongs together: an invoke and its completion, and the
// phases of one fault at one victim. Any other note is alone.
func newMinimizer(ctx context.Context, setup history.Setup, ops []history.Op) *minimizer {
	m := &minimizer{setup: setup, ops: ops, unit: make([]int, len(ops)), budget: models.NewBudget(ctx)}
	type victim struct {
		fault  int
		target string
	}
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

// of lists the operations of units, in order. Where they are most of a stretch of the
// history, that is read instead of sorting them.
func (m *minimizer) of(units []int) []int {
	first, last, n := len(m.ops), -1, 0
	for _, u := range units {
		first, last = min(first, m.units[u][0]), max(last, m.units[u][len(m.units[u])-1])
		n += len(m.units[u])
	}
	ops := make([]int, 0, n)
	if last-first > 4*n {
		for _, u := range units {
			ops = append(ops, m.units[u]...)
		}
		slices.Sort(ops)
		return ops
	}
	in := make([]bool, len(m.units))
	for _, u := range units {
		in[u] = true
	}
	for i := first; i <= last; i++ {
		if in[m.unit[i]] {
			ops = append(ops, i)
		}
	}
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

// near adds what was on the key, or on none, while they went on and for a while before.
func (m *minimizer) near(v *Violation) []int {
	named := m.of(m.named(v))
	if len(named) == 0 {
		return nil
	}
	from, to := named[0], named[len(named)-1]
	for since := m.ops[from].Time - int64(m.setup.Lease); from > 0 && m.ops[from-1].Time >= since; from-- {
	}
	m.budget.Spend(to - from)
	in := map[int]bool{}
	for i := from; i <= to; i++ {
		if m.ops[i].Key == v.Key || m.ops[i].Key == "" {
			in[m.unit[i]] = true
		}
	}
	for _, i := range named {
		in[m.unit[i]] = true
	}
	units := make([]int, 0, len(in))
	for u := range in {
		units = append(units, u)
	}
	slices.Sort(units)
	return units
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
	m.budget.Spend(len(m.ops))
	return m.where(func(op *history.Op) bool {
		return owners[op.Owner] || values[op.Value] || processes[op.Process] || op.Key == ""
	})
}

// ofKey is all that happened on the key, or on none.
func (m *minimizer) ofKey(v *Violation) []int {
	m.budget.Spend(len(m.ops))
	return m.where(func(op *history.Op) bool { return op.Key == v.Key || op.Key == "" })
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
	setup.Expect, setup.Sources = history.Expect{}, nil // what the scenario must see is asked of the whole
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
	m.budget.Spend(len(indexes))
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

// namesRefusal says whether a violation names an answer that something is not held.
func (m *minimizer) namesRefusal(v *Violation) bool {
	return slices.ContainsFunc(v.Operations, func(i int) bool { return m.ops[i].Type == history.Fail })
}
