package models

import (
	"cmp"
	"fmt"
	"slices"
)

// Result is what a model says of a history.
type Result struct {
	Model   string  `json:"model"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	// Violations are in the order of the events that made them so, the first one
	// first; Found counts also those that were not kept.
	Violations []Violation `json:"violations,omitempty"`
	Found      int         `json:"found"`
	Counts     Counts      `json:"counts"`
	// Unjudged names the first keys whose history breaks an assumption of the model, and how.
	Unjudged []string `json:"unjudged,omitempty"`
	Oracle   string   `json:"oracle,omitempty"` // what Porcupine said: see Confirm
}

// Counts are of a whole history.
type Counts struct {
	Events  int `json:"events"`
	OK      int `json:"ok"`
	Failed  int `json:"failed"`
	Unknown int `json:"unknown"` // ended with info, or not at all
	Keys    int `json:"keys"`
	Passed  int `json:"passed,omitempty"` // events of renewals, by a model of a lock that cannot be lost
}

// Violation is one way in which a history is not the model's.
type Violation struct {
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Events  []Ref  `json:"events"` // calls and returns of its operations, in their order
	// Minimal is the smallest history that still shows it: see Minimizer. nil: not looked for.
	Minimal *Minimal `json:"minimal,omitempty"`

	at int // index of the event that made it so
}

// Minimal is the smallest history that shows a violation.
type Minimal struct {
	File    string `json:"file,omitempty"`    // where it was saved
	Events  []Ref  `json:"events,omitempty"`  // all of it
	Oracle  string `json:"oracle,omitempty"`  // what Porcupine said of it: "confirmed", "contradicted" or "gave up: …"; "": not asked
	Drawing string `json:"drawing,omitempty"` // Porcupine's drawing of it
	Why     string `json:"why,omitempty"`     // why there is none
	// Unfinished says why more may be left than need be; "": it is the smallest.
	Unfinished string `json:"unfinished,omitempty"`
}

// Ref names an event.
type Ref struct {
	Index int   `json:"index"`          // in the history, from 0
	Line  int   `json:"line,omitempty"` // of the source
	Time  int64 `json:"time,omitempty"`
}

// String is the line, or the index where there is no line.
func (r Ref) String() string {
	if r.Line > 0 {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("event %d", r.Index)
}

// found collects violations, of which it keeps the first ones.
type found struct {
	keep  int
	count int
	kept  []Violation
	doubt string // why holds cannot be said
}

func newFound(keep int) *found {
	if keep <= 0 {
		keep = 1000
	}
	return &found{keep: keep}
}

// add counts a violation and keeps it if it is among the first. The text is
// made only then: a broken lock may have millions.
func (f *found) add(at int, key string, refs []Ref, text func() string) {
	f.count++
	if len(f.kept) == f.keep {
		if at >= f.kept[f.keep-1].at {
			return
		}
		f.kept = f.kept[:f.keep-1] // found late, happened early
	}
	slices.SortFunc(refs, func(a, b Ref) int { return cmp.Compare(a.Index, b.Index) })
	v := Violation{Key: key, Message: text(), Events: slices.Compact(refs), at: at}
	i := len(f.kept)
	for i > 0 && f.kept[i-1].at > at {
		i--
	}
	f.kept = slices.Insert(f.kept, i, v)
}

// doubted notes why holds cannot be said; the first reason stays.
func (f *found) doubted(why string) {
	if f.doubt == "" {
		f.doubt = why
	}
}
