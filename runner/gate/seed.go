package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// seedRuns are the runs of one seed: one, or one that was disturbed and its repeat.
type seedRuns struct {
	number int // in the cell, from 1
	first  *pages.CellRun
	last   pages.CellRun // the one that counts
}

// bySeed puts the repeats beside what they repeat.
func bySeed(runs []pages.CellRun) (all []seedRuns) {
	for i, r := range runs {
		if n := len(all); n > 0 && all[n-1].last.Repeated && all[n-1].last.Seed == r.Seed {
			all[n-1].first, all[n-1].last = &runs[i-1], r
			continue
		}
		all = append(all, seedRuns{number: len(all) + 1, last: r})
	}
	return all
}

// shows is what a seed has shown of a property. What a disturbed run violated stays:
// a stall that touches a violation leaves it unknown, not violated.
func (s seedRuns) shows(property string) reports.Outcome {
	if s.first != nil && shows(*s.first, property) == reports.Violates {
		return reports.Violates
	}
	return shows(s.last, property)
}

func shows(r pages.CellRun, property string) reports.Outcome {
	verdict := checker.Unknown
	for _, p := range r.Properties {
		if p.Name == property {
			verdict = p.Verdict
		}
	}
	switch {
	case verdict == checker.Violated:
		return reports.Violates
	case r.Verdict == reports.Waiting || r.Verdict == reports.NotRun:
		return r.Verdict
	case r.Error != "" || r.Verdict == reports.Failed:
		return reports.Failed
	case verdict == checker.Holds && doubted(r):
		return reports.Unclear
	case verdict == checker.Holds:
		return reports.Good
	case verdict == checker.NA:
		return reports.NoSense
	}
	return reports.Unclear
}

// doubted says that a run may not be believed as a whole, though no property of it
// says so: the judge failed before it came to its doubts.
func doubted(r pages.CellRun) bool {
	open := slices.ContainsFunc(r.Properties, func(p pages.Decided) bool { return p.Verdict == checker.Unknown })
	return r.JudgeFailed || r.Verdict == reports.Unclear && !open
}

// add counts what one seed has shown.
func (t *Tally) add(o reports.Outcome) {
	switch o {
	case reports.Violates:
		t.Violated++
	case reports.Good:
		t.Holds++
	case reports.NoSense:
		t.NA++
	case reports.Failed:
		t.Failed++
	case reports.NotRun:
		t.NotRun++
	case reports.Waiting:
		t.Left++
	default:
		t.Unknown++
	}
}

func (s seedRuns) firstViolation() time.Duration {
	if s.first != nil && s.first.FirstViolation > 0 {
		return s.first.FirstViolation
	}
	return s.last.FirstViolation
}

// notes say what else there is to know of a seed.
func (s seedRuns) notes() (all []string) {
	say := func(format string, args ...any) {
		all = append(all, fmt.Sprintf("run %d (seed %d) ", s.number, s.last.Seed)+fmt.Sprintf(format, args...))
	}
	if s.first != nil {
		say("was disturbed by the machine and repeated; first: %s, repeat: %s", s.first.Says(), s.last.Says())
	}
	switch {
	case s.last.Error != "":
		say("failed, which says nothing about the lock: %s", firstLine(s.last.Error))
	case s.last.Verdict == reports.NotRun:
		say("did not take place")
	case len(s.last.Doubts) > 0:
		say("may not be believed as a whole: %s", strings.Join(s.last.Doubts, " "))
	}
	return all
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
