package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Align is what of each run is the zero of the time axis of a comparison.
type Align string

// The alignments.
const (
	AtFault Align = "fault" // its first fault; its begin, where there was none
	AtStart Align = "start" // the first operation of a client
)

// ComparisonFormat is the version of the JSON that a comparison writes.
const ComparisonFormat = 1

// Comparison is several runs side by side. Durations are nanoseconds.
type Comparison struct {
	Format     int                `json:"dlmtest_comparison"`
	Align      Align              `json:"align"`
	Runs       []*Compared        `json:"runs"`
	Properties []ComparedProperty `json:"properties"` // those that differ first
	Setup      []ComparedSetting  `json:"setup"`      // those that differ first
	Unlike     []string           `json:"unlike"`     // why these runs are not to be compared like for like
}

// Compared is one run of a comparison.
type Compared struct {
	Name       string              `json:"name"` // unique in the comparison
	ID         string              `json:"id"`
	Link       string              `json:"report,omitempty"` // where its report is
	Verdict    checker.Verdict     `json:"verdict"`
	Answers    checker.Answers     `json:"answers"`
	Sentences  checker.Sentences   `json:"sentences"`
	Doubts     []string            `json:"doubts,omitempty"`
	Figures    figures.Key         `json:"figures"`
	Violations []ComparedViolation `json:"violations,omitempty"` // the first of them
	Found      int                 `json:"found"`                // how many there are
	Zero       time.Duration       `json:"zero"`                 // of the time axis, from the first operation of a client
	ZeroAt     string              `json:"zero_at"`              // what that is, in words

	run    reports.Run
	setup  history.Setup
	counts checker.Counts
	result checker.Result
	tracks *timeline.Tracks
	story  []story.Step // of the first violation
}

// ComparedViolation is one violation on the axis of the comparison.
type ComparedViolation struct {
	Number   int           `json:"number"`
	Property string        `json:"property"`
	At       time.Duration `json:"at"` // on the axis
	Sure     string        `json:"sure"`
	Message  string        `json:"message"`
}

// ComparedProperty is a property with its judgement in each run; nil: not judged there.
type ComparedProperty struct {
	Name    string              `json:"name"`
	Differs bool                `json:"differs"`
	Of      []*checker.Property `json:"-"`
	Verdict []string            `json:"verdicts"` // "" where a run was not judged by it
}

// ComparedSetting is one setting with its value in each run.
type ComparedSetting struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Differs bool     `json:"differs"`
}

// mostCompared is how many violations of a run a comparison lists.
const mostCompared = 20

// NewComparison makes a comparison without runs.
func NewComparison(align Align) *Comparison {
	return &Comparison{Format: ComparisonFormat, Align: align, Unlike: []string{}}
}

// Add adds a run with where its report is found, "" for nowhere. The history is not
// kept, so that many long ones can be compared.
func (c *Comparison) Add(run reports.Run, setup history.Setup, ops []history.Op, r checker.Result, link string) {
	t := timeline.New(setup, ops)
	run = run.Known(setup)
	one := &Compared{
		ID: run.ID, Link: link, Verdict: r.Verdict, Answers: r.Answers, Sentences: r.Sentences, Doubts: reports.Doubts(r),
		run: run, setup: setup, counts: r.Counts, result: r, tracks: timeline.NewTracks(t), ZeroAt: "its begin",
	}
	zero := one.tracks.From
	if f, ok := one.tracks.FirstFault(); ok && c.Align == AtFault {
		zero, one.ZeroAt = f.From, fmt.Sprintf("its first fault, %s of %s", f.Kind, f.Victim)
	}
	one.Zero = time.Duration(zero - one.tracks.From)
	one.Figures = figures.KeyOf(t, one.tracks, r)
	for _, p := range r.Properties {
		one.Found += len(p.Violations) + p.Unlisted
		for _, v := range p.Violations {
			at := min(max(v.At, one.tracks.From), one.tracks.To) // whatever results.json says
			one.Violations = append(one.Violations, ComparedViolation{v.Number, p.Name, time.Duration(at - zero), story.Sure(v), say.Sentence(v.Message)})
		}
	}
	slices.SortStableFunc(one.Violations, func(a, b ComparedViolation) int { return cmp.Compare(a.At, b.At) })
	one.Violations = one.Violations[:min(len(one.Violations), mostCompared)]
	if _, v, ok := story.First(r); ok {
		one.story = story.New(t).Tell(v)
	}
	c.Runs = append(c.Runs, one)
	c.settle()
}

// settle works out what depends on all runs together.
func (c *Comparison) settle() {
	c.name()
	c.Setup, c.Properties = c.settings(), c.properties()
	c.Unlike = c.unlike()
}

// properties lists each property once, those on which the runs differ first.
func (c *Comparison) properties() (rows []ComparedProperty) {
	var names []string
	for _, r := range c.Runs {
		for _, p := range r.result.Properties {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	for _, name := range names {
		row := ComparedProperty{Name: name}
		for _, r := range c.Runs {
			p, verdict := r.result.Property(name), ""
			if p != nil {
				verdict = p.Verdict.String()
			}
			row.Of, row.Verdict = append(row.Of, p), append(row.Verdict, verdict)
			row.Differs = row.Differs || verdict != row.Verdict[0]
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b ComparedProperty) int {
		return cmp.Compare(timeline.Flag(b.Differs), timeline.Flag(a.Differs))
	})
	return rows
}

// JSON writes what the page shows, for machines.
func (c *Comparison) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(c) }

// title says what is compared.
func (c *Comparison) title() string {
	var scenarios []string
	for _, r := range c.Runs {
		if s := cmp.Or(r.run.Scenario, "a run"); !slices.Contains(scenarios, s) {
			scenarios = append(scenarios, s)
		}
	}
	if len(scenarios) == 1 {
		return scenarios[0]
	}
	return say.Count(len(c.Runs), "run")
}
