package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/delta"
)

// Minimizer finds the smallest history that still shows a violation of a model.
//
// What comes after the violation is left out, and then operations go, one with
// what rests on it: see needing. So what is left is a piece of the same history,
// in which nothing is wrong that was not wrong in the whole. An exception are
// failed tries, and ownerless locks in part: that somebody else did not hold the
// lock cannot be seen in a piece.
type Minimizer struct {
	model   Model
	options Options
	events  []Event
	keys    map[string]*piece
	// search reduces a history of a model that only Porcupine decides, in a child.
	search func(model string, o Options, ops []Op) ([]int, error)
	budget Budget
}

// NewMinimizer takes the events of a whole history that was judged by a model.
// self is the command of the oracle, as for Asker; nil: it is not asked, and
// models that only it decides have no minimal histories.
func NewMinimizer(ctx context.Context, self []string, m Model, o Options, events []Event) *Minimizer {
	mini := &Minimizer{model: m, options: o, events: events, keys: map[string]*piece{}, budget: NewBudget(ctx)}
	mini.search = func(model string, o Options, ops []Op) ([]int, error) { return askMinimal(ctx, self, model, o, ops) }
	return mini
}

// piece is the history of one key.
type piece struct {
	indexes []int // of its events, in the whole history
	events  []Event
	ops     []Op // Call and Return are positions in events
}

func (m *Minimizer) piece(key string) *piece {
	p := m.keys[key]
	if p != nil {
		return p
	}
	p = &piece{}
	for i := range m.events {
		if m.events[i].Key == key {
			p.indexes, p.events = append(p.indexes, i), append(p.events, m.events[i])
		}
	}
	if all := Ops(m.model, m.options, p.events); len(all) == 1 {
		p.ops = all[0]
	}
	m.keys[key] = p
	return p
}

// Minimize returns the indexes, in the whole history, of the events that are
// left of it, and why more may be left than need be; "": it is the smallest. An
// error says why there is no such history.
func (m *Minimizer) Minimize(v Violation) (left []int, unfinished string, err error) {
	if why := m.budget.Over(); why != "" {
		return nil, "", errors.New("not looked for: " + why)
	}
	if m.model.Name == Etcd {
		return nil, "", errors.New("each revision rests on every change before it")
	}
	p := m.piece(v.Key)
	named, last := p.named(v)
	before := p.until(last)
	if onlySearched(m.model.Name) {
		left, err := m.searched(before)
		return p.eventsOf(left), "", err
	}
	shows := func(ops []Op) bool { return m.shows(p, v, ops) }
	for _, ops := range [][]Op{before, p.ops} { // what comes later may say when a write must have been
		needs := needing(m.model.Name, ops)
		for _, start := range [][]int{closed(ops, needs, named), everything(ops)} {
			if len(start) > OracleOps {
				return nil, "", fmt.Errorf("%d operations would have to be looked at, which are more than %d", len(start), OracleOps)
			}
			if left, done := reduceOps(ops, start, needs, shows, func() bool { return m.budget.Over() != "" }); left != nil {
				if !done {
					unfinished = m.budget.Over()
				}
				return p.eventsOf(left), unfinished, nil
			}
			if why := m.budget.Over(); why != "" {
				return nil, "", errors.New("not looked for: " + why)
			}
		}
	}
	return nil, "", errors.New("it is not found again in its own history, which is a bug of dlmtest")
}

// named are the positions of a violation's events, and the last of them.
func (p *piece) named(v Violation) (at map[int]bool, last int) {
	at = map[int]bool{}
	for _, ref := range v.Events {
		if i, ok := slices.BinarySearch(p.indexes, ref.Index); ok {
			at[i], last = true, max(last, i)
		}
	}
	return at, last
}

// searched reduces what only Porcupine decides.
func (m *Minimizer) searched(ops []Op) ([]Op, error) {
	ops = slices.DeleteFunc(ops, func(op Op) bool { return m.options.silent(op.F, op.Type, op.Value) })
	if len(ops) > OracleOps {
		return nil, fmt.Errorf("%d operations until then are more than %d", len(ops), OracleOps)
	}
	left, err := m.search(m.model.Name, m.options, ops)
	if err != nil {
		return nil, err
	}
	return chosen(ops, left), nil
}

// until lists the operations that were called by an event. Of those that had not
// returned, grants and reads are left out, what returned later from a write is not
// known, and a release stays, as it ends what was held.
func (p *piece) until(last int) (ops []Op) {
	for _, op := range p.ops {
		switch {
		case op.Call > last:
			continue
		case op.Return <= last || op.F == Release || op.F == ReleaseR:
		case taking(op.F), op.F == Read, op.Type == history.Fail:
			continue
		default:
			op.Type, op.Return = history.Info, len(p.indexes)
		}
		ops = append(ops, op)
	}
	return ops
}

// eventsOf lists the events of operations, in order.
func (p *piece) eventsOf(ops []Op) (indexes []int) {
	for _, op := range ops {
		indexes = append(indexes, p.indexes[op.Call])
		if op.Return < len(p.indexes) {
			indexes = append(indexes, p.indexes[op.Return])
		}
	}
	slices.Sort(indexes)
	return indexes
}

// shows says whether some operations alone show a violation at the same event; of
// a failed try, the one that names the same operations.
func (m *Minimizer) shows(p *piece, v Violation, ops []Op) bool {
	m.budget.Spend(len(ops))
	indexes := p.eventsOf(ops)
	d := m.model.New(m.options)
	for _, i := range indexes {
		if d.Add(m.events[i]) != nil {
			return false
		}
	}
	return slices.ContainsFunc(d.End().Violations, func(w Violation) bool {
		if m.model.Name == "try" && !slices.EqualFunc(w.Events, v.Events, func(a, b Ref) bool { return indexes[a.Index] == b.Index }) {
			return false
		}
		return w.at < len(indexes) && indexes[w.at] == v.at
	})
}

// reduceOps reduces those of ops that start chooses; nil: they do not show it. done is false
// once over has said so.
func reduceOps(ops []Op, start []int, needs [][]int, shows func([]Op) bool, over func() bool) (left []Op, done bool) {
	if over() || !shows(chosen(ops, start)) {
		return nil, true
	}
	place := map[int]int{} // of an operation in start
	for i, n := range start {
		place[n] = i
	}
	rests := make([][]int, len(start))
	for i, n := range start {
		for _, other := range needs[n] {
			if at, ok := place[other]; ok {
				rests[at] = append(rests[at], i)
			}
		}
	}
	parts, err := delta.Reduce(everything(start), func(i int) []int { return rests[i] }, delta.Until(over, func(parts []int) bool {
		return shows(chosen(chosen(ops, start), parts))
	}))
	return chosen(chosen(ops, start), parts), err == nil
}

func chosen[T any](all []T, parts []int) []T {
	some := make([]T, len(parts))
	for i, p := range parts {
		some[i] = all[p]
	}
	return some
}

func everything[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	return all
}

// closed lists the operations that have a named event, and what they need.
func closed(ops []Op, needs [][]int, named map[int]bool) []int {
	in := map[int]bool{}
	var add func(int)
	add = func(i int) {
		if !in[i] {
			in[i] = true
			for _, other := range needs[i] {
				add(other)
			}
		}
	}
	for i, op := range ops {
		if named[op.Call] || named[op.Return] {
			add(i)
		}
	}
	var list []int
	for i := range ops {
		if in[i] {
			list = append(list, i)
		}
	}
	return list
}
