package pages

import (
	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// measured is what a page shows beside the story and the timeline.
type measured struct {
	Figures    []figures.Figure
	Unmeasured []figures.Figure // of Figures, those without data
	Claims     []figures.Claim
	Unclaimed  string // why there are none
	Repeat     repeat
}

// measure fills in figures, claims and the log of faults.
func (p *measured) measure(t *timeline.View, run reports.Run, r checker.Result) *figures.Measurement {
	m := figures.Of(t, r)
	p.Figures, p.Claims, p.Unclaimed = m.Shown(), m.Claims, m.Missing["claims"]
	for _, f := range p.Figures {
		if f.Missing != "" {
			p.Unmeasured = append(p.Unmeasured, f)
		}
	}
	if panicked := figures.Attempt(func() { p.Repeat = repeatOf(t, run) }); panicked != "" {
		p.Repeat = repeat{Seed: "The log of faults could not be made, which is a bug of dlmtest: " + panicked}
	}
	return m
}
