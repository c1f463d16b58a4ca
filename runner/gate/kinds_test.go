package gate

import (
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// run5 are five runs of a kind of lock and a use in which all that is judged holds.
func run5(kind history.Kind, use string) (all []pages.CellRun) {
	r := checker.Judge(history.Setup{Lease: 1e9, Keys: []string{"k"}, Kind: kind, Permits: map[bool]int{true: 2}[kind == history.Semaphore], Use: history.Use{Name: use}}, nil)
	for seed := range uint64(5) {
		run := pages.CellRun{Seed: seed + 1, Verdict: reports.Good}
		for _, p := range r.Properties {
			run.Properties = append(run.Properties, pages.Decided{Name: p.Name, Verdict: checker.Holds})
		}
		all = append(all, run)
	}
	return all
}

func TestKindsThatAreNotRun(t *testing.T) {
	for _, kind := range history.Kinds {
		for _, use := range []string{"", history.Payment} {
			r := Judge(Cell{Scenario: "baseline", Backend: "redis", Count: 5}, run5(kind, use))
			if r.State != Pass {
				for _, j := range r.Properties {
					if j.State != Pass {
						t.Errorf("%q %q: %s: %s: %s", kind, use, j.Property, j.State, j.Why)
					}
				}
			}
		}
	}
}

// What a file names and no run has judged is never green.
func TestNamedButNeverJudged(t *testing.T) {
	for is, want := range map[Want]State{Holds: Inconclusive, Weakness: Inconclusive, MustDetect: Inconclusive, NotJudged: Pass} {
		cell := Cell{Scenario: "baseline", Backend: "redis", Count: 5, Expect: map[string]Expectation{"permits": {Is: is, Reason: "r", Link: "l"}}}
		if r := Judge(cell, run5(history.Mutex, "")); r.State != want {
			t.Errorf("%s: the cell is %s, want %s", is, r.State, want)
		}
	}
}
