package reports

import "github.com/dlmtest/dlmtest/checker"

// measured is what a page shows beside the story and the timeline.
type measured struct {
	Figures    []figure
	Unmeasured []figure // of Figures, those without data
	Claims     []Claim
	Unclaimed  string // why there are none
	Repeat     repeat
}

// measure fills in figures, claims and the log of faults.
func (p *measured) measure(t *view, run Run, r checker.Result) {
	m := t.figures(r)
	p.Figures, p.Claims, p.Unclaimed = m.shown(), m.Claims, m.Missing["claims"]
	for _, f := range p.Figures {
		if f.Missing != "" {
			p.Unmeasured = append(p.Unmeasured, f)
		}
	}
	if panicked := attempt(func() { p.Repeat = t.repeat(run) }); panicked != "" {
		p.Repeat = repeat{Seed: "The log of faults could not be made, which is a bug of dlmtest: " + panicked}
	}
}
