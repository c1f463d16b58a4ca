package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Planned is one fault of a scenario, or of a random schedule as it was drawn before
// the run.
type Planned struct {
	ID     int           `json:"id"` // its number; of the first of them with Count
	At     time.Duration `json:"at"` // from the begin of the load
	Fault  string        `json:"fault"`
	Target string        `json:"target"`
	On     string        `json:"on,omitempty"` // armed at At, and triggered here
	Min    time.Duration `json:"min"`
	Max    time.Duration `json:"max"` // above Min where something may end it sooner
	Count  int           `json:"count,omitempty"`
	Note   string        `json:"note,omitempty"`  // why it will be skipped, if that is known before the run
	After  string        `json:"after,omitempty"` // the fault that it comes after, by name
	Until  string        `json:"until,omitempty"` // what ends it between Min and Max
}

// String is the fault on one line.
func (p Planned) String() string {
	on, length := "", say.Seconds(int64(p.Max))
	if p.On != "" {
		on = " once a client passes " + p.On
	}
	if p.Min != p.Max {
		length = fmt.Sprintf("%s to %s", say.Seconds(int64(p.Min)), length)
	}
	text := fmt.Sprintf("%7s  %2d  %-10s %s for %s%s", say.Seconds(int64(p.At)), p.ID, p.Fault, p.Target, length, on)
	if p.Count > 1 {
		text += fmt.Sprintf(", %d times", p.Count)
	}
	if p.Note != "" {
		text += "; will be skipped: " + p.Note
	}
	return text
}

// Skipped lists the faults of the random schedule that could not be, with the reason.
func Skipped(ops []history.Op) []string {
	var all []string
	for _, op := range ops {
		if op.Fault != nil && op.Fault.Phase == history.Skipped {
			all = append(all, fmt.Sprintf("fault %d, %s of %s: %s", op.Fault.ID, op.Fault.Kind, op.Fault.Target, strings.TrimSpace(op.Fault.Proof)))
		}
	}
	return slices.Compact(all)
}

// ServerEnds says which servers ended by themselves under a fault, when and with which
// last words, a sentence each in the order of time. None of them was started again.
func ServerEnds(ops []history.Op) (all []string) {
	for i := range ops {
		if op := &ops[i]; op.Type == history.Note && op.F == history.ServerEnd {
			all = append(all, fmt.Sprintf("%s ended by itself at %.3f s and was not started again: %s", op.Node, float64(op.Time-ops[0].Time)/1e9, op.Error))
		}
	}
	return all
}
