package pages

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
)

// tally counts several runs of a cell by outcome: "18 of 20 violated, 2 of 20 holds".
func (c Cell) tally() string {
	runs := c.counted()
	if len(runs) < 2 {
		return ""
	}
	var all []reports.Outcome
	for _, r := range runs {
		all = append(all, r.Verdict)
	}
	return reports.TallyOutcomes(all, fmt.Sprintf("of %d ", len(runs)))
}

// after says how long it took until the first violation: "after 2.1 s", and of
// several runs the middle and the ends.
func (c Cell) after() (middle, spread string) {
	var all []time.Duration
	for _, r := range c.Runs {
		if r.FirstViolation > 0 {
			all = append(all, r.FirstViolation)
		}
	}
	slices.Sort(all)
	switch len(all) {
	case 0:
		return "", ""
	case 1:
		return "after " + say.Length(all[0]), ""
	}
	spread = fmt.Sprintf(" (%s to %s)", say.Length(all[0]), say.Length(all[len(all)-1]))
	return "after " + say.Length((all[(len(all)-1)/2]+all[len(all)/2])/2), spread
}

// named lists the properties of a run with this verdict.
func (r CellRun) named(v checker.Verdict) (names []string) {
	for _, p := range r.Properties {
		if p.Verdict == v {
			names = append(names, p.Name)
		}
	}
	return names
}

// Says is a run in a few words: its outcome, and of what.
func (r CellRun) Says() string {
	text := r.Verdict.Words()
	var of []string
	switch r.Verdict {
	case reports.Violates:
		of = r.named(checker.Violated)
	case reports.Unclear:
		of = r.named(checker.Unknown)
	}
	if len(of) > 0 {
		text += " (" + strings.Join(of, ", ") + ")"
	}
	if r.Repeated {
		text += "; disturbed, so it was repeated"
	}
	return text
}

// DiffersText says how a run differs from what its scenario expects; "": it does not.
func (r CellRun) DiffersText() string {
	if len(r.Differs) == 0 {
		return ""
	}
	var all []string
	for _, d := range r.Differs {
		all = append(all, d.String())
	}
	return "differs from what the scenario expects: " + strings.Join(all, "; ")
}

// differs is what its runs show that is not as expected; of a run that was repeated only what it violated.
func (c Cell) differs() (all []checker.Difference) {
	for _, r := range c.Runs {
		for _, d := range r.Differs {
			if !r.Repeated || d.Is == checker.Violated {
				all = append(all, d)
			}
		}
	}
	return all
}

// Differs is what the runs of all cells show that is not as expected.
func (x Index) Differs() (all []checker.Difference) {
	for _, c := range x.Cells {
		all = append(all, c.differs()...)
	}
	return all
}

// RunName is what a run of the cell is called: with its seed where there are several.
func (c Cell) RunName(r CellRun) string {
	if len(c.Runs) < 2 {
		return c.Name()
	}
	name := fmt.Sprintf("%s, seed %d", c.Name(), r.Seed)
	if !r.Repeated && slices.ContainsFunc(c.Runs, func(o CellRun) bool { return o.Seed == r.Seed && o.Repeated }) {
		name += ", again"
	}
	return name
}

// Summary counts the cells by outcome: "143 cells: 41 violated, 60 holds, 42 n/a".
func (x Index) Summary() string {
	var all []reports.Outcome
	different, judged := 0, false
	for _, c := range x.Cells {
		all = append(all, c.Verdict)
		judged = judged || c.judged()
		if c.Odd() {
			different++
		}
	}
	text := say.Count(len(x.Cells), "cell") + ": " + reports.TallyOutcomes(all, "")
	switch {
	case different > 0:
		text += fmt.Sprintf("; %s: %d", reports.NotAsExpected, different)
	case judged && slices.Contains(all, reports.NotRun):
		text += "; all that ran " + reports.AsExpected
	case judged:
		text += "; all " + reports.AsExpected
	}
	return text
}
