package reports

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Tally is the counts as phrases, those of zero that say nothing left out.
func Tally(c checker.Counts) []string {
	words := []string{say.Count(c.Operations, "operation"), say.Count(c.Grants, "grant"),
		say.Count(c.Contended, "contended acquire"), say.Count(c.Writes, "write")}
	if c.StaleWrites > 0 {
		words = append(words, fmt.Sprintf("%s on a superseded grant, %d refused", say.Count(c.StaleWrites, "write"), c.StaleRefused))
	}
	if c.Faults > 0 {
		words = append(words, fmt.Sprintf("%s, %d seen at the victim", say.Count(c.Faults, "fault"), c.FaultsSeen))
	}
	if c.FaultsSkipped > 0 {
		words = append(words, fmt.Sprintf("%d of the random schedule skipped", c.FaultsSkipped))
	}
	if c.Unknowns > 0 {
		words = append(words, say.Count(c.Unknowns, "unknown outcome"))
	}
	if c.IdleOverlaps > 0 {
		words = append(words, say.Count(c.IdleOverlaps, "idle overlap"))
	}
	if c.MaxStall > 0 {
		words = append(words, "longest unplanned stall "+say.Length(time.Duration(c.MaxStall)))
	}
	return words
}
