package text

import (
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
)

// skippedShown is how many skipped faults a terminal shows; run.json and the history have all.
const skippedShown = 8

// skipped says which faults of the random schedule could not be.
func (p *printer) skipped(ops []history.Op) {
	all := reports.Skipped(ops)
	if len(all) == 0 {
		return
	}
	p.line("\n%s", p.bold("Skipped faults of the random schedule"))
	for _, text := range all[:min(len(all), skippedShown)] {
		p.wrap("   ", visible.Line(text))
	}
	if more := len(all) - skippedShown; more > 0 {
		p.line("   and %d more, in history.jsonl", more)
	}
}
