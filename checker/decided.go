package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Seen is how much of what a scenario expects a history has shown.
type Seen int

const (
	// TooLittle: more of the load is needed.
	TooLittle Seen = iota
	// Settled: the scenario has seen as much as it needs (its expect), every fault was proven at its
	// victim and is over, each key was granted afterwards to somebody who asked for it afterwards,
	// every violation that is expected is there, be it one that chance decides, and each other
	// property is judged, but for what the final acquire of every key decides.
	Settled
	// Shown: and one violation at least was expected, and is there.
	Shown
)

// See says how much a history has shown of what is expected of its lock, by property. Where no
// fault was over and no violation was expected there is nothing that more of the load would not
// put to a harder test, so that it is too little. The history ends with an End note of each source.
func See(setup history.Setup, ops []history.Op, expected map[string]Expectation) Seen {
	result := Judge(setup, ops)
	result.Expected = expected
	if result.JudgeFailed || result.TooLittle || result.Incomplete || result.ClockMoved || len(result.Unshown()) > 0 {
		return TooLittle
	}
	for _, p := range result.Properties {
		c, _ := Find(p.Name)
		e, named := expected[p.Name]
		if p.Verdict == Unknown && !c.last && (!named || !e.allows(Unknown)) {
			return TooLittle
		}
	}
	shown := slices.ContainsFunc(result.Properties, func(p Property) bool {
		return p.Verdict == Violated && expected[p.Name].Verdict == Violated
	})
	t := trace.New(setup, ops)
	switch {
	case !freshlyGranted(t) || len(t.Faults) == 0 && !shown:
		return TooLittle
	case shown:
		return Shown
	}
	return Settled
}

// freshlyGranted says that no fault lasts, and that since the last one was over each key was granted to
// somebody who had asked for it since.
func freshlyGranted(t *trace.Trace) bool {
	healed := int64(-trace.Forever)
	for _, f := range t.Faults {
		if f.Begin >= 0 {
			healed = max(healed, f.To)
		}
	}
	return !slices.ContainsFunc(t.Setup.Keys, func(name string) bool {
		k := t.ByKey[name]
		return k == nil || !slices.ContainsFunc(k.Grants, func(g *trace.Grant) bool {
			asked, known := t.Started(g.Op)
			return known && t.Ops[asked].Time > healed
		})
	})
}

// Unshown are the properties that are expected to be violated and are not.
func (result *Result) Unshown() (names []string) {
	for _, c := range Checkers {
		e, named := result.Expected[c.Name]
		if p := result.Property(c.Name); named && e.Verdict == Violated && (p == nil || p.Verdict != Violated) {
			names = append(names, c.Name)
		}
	}
	return names
}

// EarlyDoubt is why a load that ended early is not believed: what it ended for is not in the whole
// history. "": it is there, or the load had its time.
func (result *Result) EarlyDoubt() string {
	if unshown := result.Unshown(); result.Early != "" && len(unshown) > 0 {
		return fmt.Sprintf("The load ended early, as %s seemed to be violated, and the whole history does not prove that: "+
			"run it again without --until decided.", strings.Join(unshown, ", "))
	}
	return ""
}

// early says in a sentence that the load ended before its time.
func (r *run) early() string {
	if r.Decided < 0 {
		return ""
	}
	return fmt.Sprintf("The load ended after %s, before its time, as all had been seen that the scenario expects "+
		"(--until decided): what holds was put to the test for so long only.", length(r.Ops[r.Decided].Length))
}

// said is the sentence of an answer; a yes tells that the load ended early.
func (result *Result) said(a answer) string {
	if a.Verdict == Holds && result.Early != "" {
		return a.sentence + " The load ended early."
	}
	return a.sentence
}
