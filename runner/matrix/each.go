package matrix

import (
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// Each is what a cell has of its own.
type Each struct {
	Count  int
	Seed   uint64 // of its first run
	Column string // what its backend is called in the index; two cells of one name would hide each other
	Named  string // what a gate calls the cell; Column tells of it
}

// Next is what to do with a run that is about to begin.
type Next int

// The answers of Spec.Before.
const (
	Go     Next = iota
	Enough      // nothing is left to find out: the run is left out, and is no part of the index
	Late        // there is no time left: the run is left out, and the index says so
)

// of is what cell i has of its own.
func (s Spec) of(i int) Each {
	if s.Each == nil {
		return Each{Count: s.Count, Seed: s.Seed, Column: s.Cells[i].Label()}
	}
	return s.Each[i]
}

// leftOut asks whether a run is needed, and takes note if it is not.
func (m *matrix) leftOut(j job) bool {
	if m.spec.Before == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.index.Cells[j.cell]
	next := m.spec.Before(j.cell, *c)
	switch next {
	case Enough:
		seed := m.at(j).Seed
		c.Runs = slices.DeleteFunc(c.Runs, func(r pages.CellRun) bool { return r.Seed == seed })
		m.state.Total--
		m.left[side(*c)]--
	case Late:
		m.at(j).Verdict = reports.NotRun
		m.left[side(*c)]--
	}
	return next != Go
}

// repeats makes room for the repeat of a run, right behind it.
func (m *matrix) repeats(j job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.index.Cells[j.cell]
	first := m.at(j)
	first.Repeated = true
	i := slices.IndexFunc(c.Runs, func(r pages.CellRun) bool { return r.Seed == first.Seed })
	c.Runs = slices.Insert(c.Runs, i+1, pages.CellRun{Seed: first.Seed, Verdict: reports.Waiting})
	m.state.Total++
	m.left[side(*c)]++
}

// Disturbed says that the machine and not the lock left a property open: it stalled a
// node, moved its clock, or not all that was recorded came.
func Disturbed(r checker.Result) bool {
	open := slices.ContainsFunc(r.Properties, func(p checker.Property) bool { return p.Verdict == checker.Unknown })
	return open && (r.Incomplete || r.ClockMoved || slices.ContainsFunc(r.Properties, func(p checker.Property) bool { return p.Disturbed }))
}
