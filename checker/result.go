// Package checker judges histories. Its checkers are sweeps over intervals in
// O(n log n), never searches; Porcupine is the oracle that tests them and that
// confirms, in a child process with limits, the window around a violation.
package checker

import "github.com/dlmtest/dlmtest/history/trace"

// Violation is one piece of evidence.
type Violation struct {
	Number     int    `json:"number"`     // in the result, from 1
	Message    string `json:"message"`    // one sentence with names, tokens and times relative to the run
	Operations []int  `json:"operations"` // indexes into the history, in order
	Key        string `json:"key,omitempty"`
	At         int64  `json:"at"`                  // raw time of the instant at which it became one, ns
	Possible   bool   `json:"possible,omitempty"`  // it depends on an unknown outcome
	Disturbed  bool   `json:"disturbed,omitempty"` // an unplanned stall touches it
	// Oracle is what Porcupine said of Minimal: "confirmed", "contradicted", "gave up: …", "not asked: …"; "": it was
	// beyond the first ones.
	Oracle string `json:"oracle,omitempty"`
	// Minimal is the smallest history that still shows it; nil beyond the first ones
	// of a property, see MinimalKept.
	Minimal *Minimal `json:"minimal,omitempty"`

	// lasts is the time for which somebody waited, zero where it is no wait, and limit for how long he may.
	lasts trace.Span
	limit int64
	late  bool // it names a grant that was answered once its lease was over, see grantedLate
}

// Minimal is the smallest part of a history that still shows a violation: without
// any one of its operations no violation that names the same ones is left.
type Minimal struct {
	File       string `json:"file,omitempty"`    // relative to the run's folder; its lines are numbered anew
	Operations []int  `json:"operations"`        // the indexes of these lines in the whole history
	Drawing    string `json:"drawing,omitempty"` // Porcupine's drawing of it, relative to the run's folder
	Why        string `json:"why,omitempty"`     // why there is none
	// Unfinished says why more may be left than need be: the budget was spent, or an
	// interrupt came. "": it is the smallest.
	Unfinished string `json:"unfinished,omitempty"`
	Skipped    bool   `json:"skipped,omitempty"` // there is none only because it was not looked for, or not to the end
}

// Property is the judgement of one property.
type Property struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"` // one sentence, always there
	// Tested says beside holds what put the property to the test, and what this run could not have shown.
	Tested     string      `json:"tested,omitempty"`
	Violations []Violation `json:"violations,omitempty"`
	// Why it is unknown, where another run of the same kind may show more: it would hold but for what the
	// run as a whole lacks; or an unplanned stall touches each of its violations.
	WouldHold bool `json:"would_hold,omitempty"`
	Disturbed bool `json:"disturbed,omitempty"`

	Oracle   string `json:"oracle,omitempty"`   // what Porcupine said of the whole history, if it was asked to
	Unlisted int    `json:"unlisted,omitempty"` // violations beyond the first 10,000 of a kind, which are only counted
}

// Result is the judgement of a run; results.json holds it.
type Result struct {
	Verdict    Verdict                `json:"verdict"`
	Answers    Answers                `json:"answers"`
	Sentences  Sentences              `json:"sentences"` // the answers, with their reasons
	Properties []Property             `json:"properties"`
	Counts     Counts                 `json:"counts"`
	Expected   map[string]Expectation `json:"expected,omitempty"` // by property: what the scenario says of this lock
	Differs    []Difference           `json:"differs,omitempty"`  // what is otherwise than expected
	// Early says that the load ended before its time, and why; "": it did not.
	Early string `json:"early,omitempty"`
	// Doubts are why the run as a whole may not be believed: disturbed, host clock moved, fault not seen. The
	// first Vacuous of them say that the scenario saw too little of what it is about.
	Doubts      []string `json:"doubts,omitempty"`
	Vacuous     int      `json:"vacuous,omitempty"`
	JudgeFailed bool     `json:"judge_failed,omitempty"` // a bug of dlmtest, which the last of Doubts tells of
	// Why a property is unknown, apart from the lock: the run can be repeated.
	TooLittle      bool  `json:"too_little,omitempty"`      // fewer grants, waits or faults were seen than a verdict needs
	Incomplete     bool  `json:"incomplete,omitempty"`      // records are missing
	ClockMoved     bool  `json:"clock_moved,omitempty"`     // that of the host, meanwhile
	FirstViolation int64 `json:"first_violation,omitempty"` // ns from the first grant to the first violation
}

// Found are the names of the properties of which violations were found, certain or not.
func (r *Result) Found() (names []string) {
	for _, p := range r.Properties {
		if len(p.Violations) > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// Counts says how much was seen.
type Counts struct {
	Operations   int `json:"operations"`
	Grants       int `json:"grants"`
	Unknowns     int `json:"unknowns"` // operations with the outcome info
	Writes       int `json:"writes"`
	StaleWrites  int `json:"stale_writes"`  // writes that were invoked on a superseded grant, or reached the resource on one
	StaleRefused int `json:"stale_refused"` // of these, refused by the fenced copy
	Abstained    int `json:"abstained"`     // times that a client did not write on a superseded grant, since its own check said so
	Contended    int `json:"contended"`     // acquires that waited at some instant at which another client believed to hold the key
	Faults       int `json:"faults"`
	FaultsSeen   int `json:"faults_seen"` // of these, observed at the victim
	// FaultsSkipped are those of a random schedule that could not be, or met nothing
	// to hit. They are no part of Faults.
	FaultsSkipped int   `json:"faults_skipped,omitempty"`
	IdleOverlaps  int   `json:"idle_overlaps"`          // belief overlaps on which the stale holder did nothing
	IdleLongest   int64 `json:"idle_longest,omitempty"` // ns, the longest of them
	// SlightOverlaps are overlaps of leases of at most 1 ms, which are no violation.
	SlightOverlaps int   `json:"slight_overlaps,omitempty"`
	SlightLongest  int64 `json:"slight_longest,omitempty"` // ns
	MaxStall       int64 `json:"max_stall"`                // ns, the longest unplanned stall of any node
	// GrantsDuringFault counts the grants of other clients than the victim while a fault lasted.
	GrantsDuringFault int `json:"grants_during_fault"`
}
