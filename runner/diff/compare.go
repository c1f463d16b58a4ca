package diff

import (
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
)

// State is what a comparison says of a property, a measure, a cell or all.
type State string

// The states, the worst first.
const (
	Regression  State = "regression"
	Unclear     State = "unclear" // the new side does not show it, or there are too few runs to say
	Improvement State = "improvement"
	Same        State = "same" // no difference that chance does not explain
)

var states = []State{Regression, Unclear, Improvement, Same}

// Report is a comparison.
type Report struct {
	Old       string     `json:"old"`
	New       string     `json:"new"`
	State     State      `json:"state"`
	Tests     int        `json:"tests"`     // of chance, which are judged together (Holm)
	Threshold float64    `json:"threshold"` // a measure that changes by less of its median is the same
	Cells     []CellDiff `json:"cells"`
}

// CellDiff compares one cell.
type CellDiff struct {
	Name       string     `json:"name"`
	State      State      `json:"state"`
	Why        string     `json:"why,omitempty"` // where one side has no such cell
	OldRuns    int        `json:"old_runs"`
	NewRuns    int        `json:"new_runs"`
	OldLost    int        `json:"old_lost,omitempty"` // runs that reached no judgement
	NewLost    int        `json:"new_lost,omitempty"`
	Properties []Property `json:"properties,omitempty"`
	Measures   []Measure  `json:"measures,omitempty"`
}

// Count is how often a property was violated, of the runs that put it to the test.
type Count struct {
	Violated   int `json:"violated"`
	Conclusive int `json:"conclusive"`
	Open       int `json:"open,omitempty"` // runs that did not put it to the test
}

func (c Count) rate() float64 { return float64(c.Violated) / float64(max(c.Conclusive, 1)) }

// Property compares one property.
type Property struct {
	Name  string         `json:"name"`
	State State          `json:"state"`
	Why   string         `json:"why"`
	Old   Count          `json:"old"`
	New   Count          `json:"new"`
	P     float64        `json:"p"`          // Fisher's exact test, two-sided
	Diff  stats.Interval `json:"difference"` // of the rates, new less old, at 95 % (Newcombe)

	test *test
}

// Measure compares one measure of the runs of a cell: the medians, and whether chance
// explains their difference.
type Measure struct {
	Kind
	State  State   `json:"state"`
	Why    string  `json:"why"`
	Old    float64 `json:"old"`
	New    float64 `json:"new"`
	OldN   int     `json:"old_n"`
	NewN   int     `json:"new_n"`
	Change float64 `json:"change"` // of the median: 0.1 is 10 % more
	P      float64 `json:"p"`      // Mann-Whitney U test, two-sided

	test *test
}

// test is one test of chance.
type test struct {
	p, least    float64 // least: what it could come to with so few runs
	significant bool
}

// Compare holds a new set against an old one. It is a pure function. A measure that
// changes by less than threshold of its median counts as the same.
func Compare(old, fresh Set, threshold float64) Report {
	r := Report{Old: old.Dir, New: fresh.Dir, Threshold: threshold}
	var tests []*test
	for _, o := range old.Cells {
		i := slices.IndexFunc(fresh.Cells, func(c Cell) bool { return c.Name == o.Name })
		if i < 0 {
			r.Cells = append(r.Cells, CellDiff{Name: o.Name, State: Unclear, Why: "the new side has no such cell", OldRuns: len(o.Runs)})
			continue
		}
		c := pair(o, fresh.Cells[i])
		for n := range c.Properties {
			tests = append(tests, c.Properties[n].test)
		}
		for n := range c.Measures {
			tests = append(tests, c.Measures[n].test)
		}
		r.Cells = append(r.Cells, c)
	}
	for _, f := range fresh.Cells {
		if !slices.ContainsFunc(old.Cells, func(c Cell) bool { return c.Name == f.Name }) {
			r.Cells = append(r.Cells, CellDiff{Name: f.Name, State: Unclear, Why: "the old side has no such cell", NewRuns: len(f.Runs)})
		}
	}
	r.Tests = together(tests)
	var all []State
	for i := range r.Cells {
		r.Cells[i].decide(threshold, r.Tests)
		all = append(all, r.Cells[i].State)
	}
	r.State = worst(all)
	if len(r.Cells) == 0 {
		r.State = Unclear
	}
	return r
}

// together judges all tests of chance as one family, and counts them.
func together(tests []*test) int {
	tests = slices.DeleteFunc(tests, func(t *test) bool { return t == nil })
	var ps []float64
	for _, t := range tests {
		ps = append(ps, t.p)
	}
	for i, significant := range stats.Holm(ps) {
		tests[i].significant = significant
	}
	return len(tests)
}

// pair compares the runs of a cell, but for what needs all tests to be known.
func pair(o, n Cell) CellDiff {
	c := CellDiff{Name: o.Name, OldRuns: len(o.Runs), NewRuns: len(n.Runs), OldLost: o.Lost, NewLost: n.Lost}
	for _, known := range checker.Checkers {
		p := Property{Name: known.Name, Old: count(o.Runs, known.Name), New: count(n.Runs, known.Name), P: 1}
		if p.Old.Conclusive+p.New.Conclusive == 0 {
			continue
		}
		p.Diff = stats.Newcombe(p.Old.Violated, p.Old.Conclusive, p.New.Violated, p.New.Conclusive)
		if p.Old.Violated > 0 && p.New.Conclusive > 0 { // else no chance is involved
			p.P = stats.Fisher(p.Old.Violated, p.Old.Conclusive, p.New.Violated, p.New.Conclusive)
			p.test = &test{p: p.P}
		}
		c.Properties = append(c.Properties, p)
	}
	for _, kind := range Measures {
		a, b := values(o.Runs, kind.Name), values(n.Runs, kind.Name)
		if len(a)+len(b) == 0 {
			continue
		}
		m := Measure{Kind: kind, Old: stats.Median(a), New: stats.Median(b), OldN: len(a), NewN: len(b), P: stats.Differ(a, b)}
		if m.Old > 0 {
			m.Change = m.New/m.Old - 1
		}
		m.test = &test{p: m.P, least: stats.Least(len(a), len(b))}
		c.Measures = append(c.Measures, m)
	}
	return c
}

func count(runs []Run, property string) (c Count) {
	for _, r := range runs {
		switch r.Verdicts[property] {
		case checker.Violated:
			c.Violated++
			c.Conclusive++
		case checker.Holds:
			c.Conclusive++
		case checker.Unknown:
			if _, judged := r.Verdicts[property]; judged {
				c.Open++
			}
		}
	}
	return c
}

func values(runs []Run, measure string) (all []float64) {
	for _, r := range runs {
		if v, ok := r.Measures[measure]; ok {
			all = append(all, v)
		}
	}
	return all
}
