package runner

import (
	"time"

	"github.com/dlmtest/dlmtest/reports"
)

// phases is told what a run does, passes it on, and knows how long each phase took.
type phases struct {
	Progress
	all   []reports.Phase
	since time.Time // the last of them began
}

// Phase ends the one before.
func (p *phases) Phase(text string) {
	p.end()
	p.all = append(p.all, reports.Phase{Name: text})
	p.Progress.Phase(text)
}

func (p *phases) end() {
	now := time.Now()
	if n := len(p.all) - 1; n >= 0 {
		p.all[n].Took += now.Sub(p.since)
	}
	p.since = now
}

// over are the phases until now.
func (p *phases) over() []reports.Phase {
	p.end()
	return p.all
}
