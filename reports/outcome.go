package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
)

// Outcome is what became of a run or a cell: the name of a verdict, or why there is none.
type Outcome string

// The outcomes, the worst first.
const (
	Violates Outcome = "violated"
	Failed   Outcome = "failed" // dlmtest or its infrastructure: it says nothing about the lock
	Unclear  Outcome = "unknown"
	NotRun   Outcome = "not run" // the matrix was interrupted before it
	Waiting  Outcome = "waiting" // not yet
	Good     Outcome = "holds"
	NoSense  Outcome = "n/a" // skipped, since it makes no sense

	Elsewhere Outcome = "elsewhere" // all its runs are in other shards of the matrix
)

// Outcomes are all of them, the worst first.
var Outcomes = []Outcome{Violates, Failed, Unclear, NotRun, Waiting, Good, NoSense, Elsewhere}

// Known says whether o is one of the outcomes: a file can hold anything.
func (o Outcome) Known() bool { return slices.Contains(Outcomes, o) }

// OutcomeOf is the verdict of a run as an outcome. A run that judged nothing is not green.
func OutcomeOf(v checker.Verdict) Outcome {
	if v == checker.NA {
		return Unclear
	}
	return Outcome(v.String())
}

// Worst of some outcomes; of none it is Waiting.
func Worst(all []Outcome) Outcome {
	for _, o := range Outcomes {
		if slices.Contains(all, o) {
			return o
		}
	}
	return Waiting
}

// TallyOutcomes counts outcomes, the worst first: "3 violated, 4 holds".
func TallyOutcomes(all []Outcome, of string) string {
	counts := map[Outcome]int{}
	for _, o := range all {
		counts[o]++
	}
	var parts []string
	for _, o := range Outcomes {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", counts[o], of, o.Words()))
		}
	}
	return strings.Join(parts, ", ")
}

// Words names an outcome to a reader.
func (o Outcome) Words() string {
	return cmp.Or(map[Outcome]string{Unclear: "inconclusive", Failed: "dlmtest failed"}[o], string(o))
}

// Sign is the mark of an outcome, so that colour never carries it alone.
func (o Outcome) Sign() string {
	return cmp.Or(map[Outcome]string{Violates: "✗", Failed: "!", Unclear: "?", Good: "✓"}[o], "–")
}

// Class is the outcome as a class of the page's style.
func (o Outcome) Class() string { return strings.ReplaceAll(string(o), " ", "-") }
