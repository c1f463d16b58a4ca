package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Doubts is why the run as a whole may not be believed.
func Doubts(run Run, r checker.Result) []string {
	var all []string
	if run.Interrupted != "" {
		all = append(all, "The run ended early: "+run.Interrupted)
	}
	for _, p := range r.Properties {
		n := 0
		for _, v := range p.Violations {
			if v.Disturbed {
				n++
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: an unplanned stall of %s touches %d of %s", p.Name,
				say.Length(time.Duration(r.Counts.MaxStall)), n, say.Count(len(p.Violations), "violation")))
		}
	}
	for _, d := range r.Doubts {
		if run.Interrupted == "" || !strings.EqualFold(strings.TrimSuffix(d, "."), strings.TrimSuffix(run.Interrupted, ".")) { // said already
			all = append(all, d)
		}
	}
	return all
}
