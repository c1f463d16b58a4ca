package cli

import (
	"errors"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
)

// Replays that were interrupted before the last one are no green.
func TestReplayCode(t *testing.T) {
	for _, c := range []struct {
		name     string
		outcomes []reports.Outcome
		want     checker.Verdict
	}{
		{"all", []reports.Outcome{reports.Good, reports.Good}, checker.Holds},
		{"some", []reports.Outcome{reports.Good}, checker.Unknown},
		{"none", nil, checker.Unknown},
		{"one is open", []reports.Outcome{reports.Good, reports.Unclear}, checker.Unknown},
		{"some, and one is red", []reports.Outcome{reports.Violates}, checker.Violated},
	} {
		var v verdictError
		err := (&tally{asked: 2, outcomes: c.outcomes}).code()
		if !errors.As(err, &v) || v.verdict != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
