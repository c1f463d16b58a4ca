package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/reports"
)

// indexOdd is a cell that is not as its scenario expects.
type indexOdd struct {
	Name    string
	Verdict reports.Outcome
	Ways    []indexWay
}

// indexWay is one way to be otherwise, with the runs that are.
type indexWay struct {
	Text  string
	Links []indexLink
}

// odd lists in what ways the runs of a cell differ from what is expected.
func (c Cell) odd() indexOdd {
	o := indexOdd{Name: c.Name(), Verdict: c.Verdict}
	for _, r := range c.counted() {
		for _, way := range r.ways() {
			i := slices.IndexFunc(o.Ways, func(w indexWay) bool { return w.Text == way })
			if i < 0 {
				i, o.Ways = len(o.Ways), append(o.Ways, indexWay{Text: way})
			}
			text := "report"
			if len(c.Runs) > 1 {
				text = fmt.Sprintf("seed %d", r.Seed)
			}
			o.Ways[i].Links = append(o.Ways[i].Links, r.links(text)...)
		}
	}
	return o
}

// ways are how a run that was judged is otherwise than expected: by what it shows, else by what it leaves open.
func (r CellRun) ways() (all []string) {
	if r.Answers == nil || r.Answers.AsExpected {
		return nil
	}
	for _, d := range r.Differs {
		all = append(all, d.String())
	}
	if len(all) > 0 {
		return all
	}
	left := r
	left.Verdict = reports.Unclear
	return []string{strings.Join(append([]string{left.Says()}, r.Doubts...), " · ")}
}
