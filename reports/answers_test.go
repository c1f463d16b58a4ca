package reports

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// The badge says "not as expected" only of what was not expected; what was too little seen is none of that.
func TestOverall(t *testing.T) {
	broken := checker.Property{Name: "deadlock-freedom", Verdict: checker.Violated}
	for _, c := range []struct {
		what string
		r    checker.Result
		says string
	}{
		{"foreseen", checker.Result{Answers: checker.Answers{AsExpected: true}}, "1 violated, as expected of mine here"},
		{"foreseen, and the run is doubted", checker.Result{}, "1 violated, as expected, but too little was seen"},
		{"a surprise", checker.Result{Differs: []checker.Difference{{Property: broken.Name, Is: checker.Violated}}}, "1 violated, not as expected"},
	} {
		c.r.Verdict, c.r.Properties = checker.Violated, []checker.Property{broken}
		if says := Overall(history.Setup{Promise: history.Promise{Backend: "mine", Leased: true}}, c.r); says != c.says {
			t.Errorf("%s: %q, want %q", c.what, says, c.says)
		}
	}
}

// A list colours a no as the page of its run does: nothing is foreseen that answers to a difference, all else is.
func TestTilesAreColouredAsTheirPage(t *testing.T) {
	a := checker.Answers{Promise: checker.No, Unfenced: checker.No, Fenced: checker.Yes, WentOn: checker.No}
	for differs, want := range map[string]string{
		"":                        "foreseen foreseen holds foreseen",
		"fenced-writes":           "foreseen foreseen holds foreseen",
		"no-lost-update/unfenced": "foreseen violated holds foreseen",
		"deadlock-freedom":        "violated foreseen holds violated",
	} {
		var got []string
		for _, tile := range AnswerTiles(a, []checker.Difference{{Property: differs}}) {
			got = append(got, tile.Class)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", differs, got, want)
		}
	}
}
