package reports

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Doubts is why the run as a whole may not be believed.
func Doubts(r checker.Result) []string {
	var all []string
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
	return append(all, r.Doubts...)
}
