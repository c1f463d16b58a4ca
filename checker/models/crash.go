package models

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Heirs notices, in a history that tells no owners, operations of which it is not known whose they
// are. To a model the owner is then the process. But who runs clients gives one whose process ended
// with an unknown outcome another, greater number, as Jepsen does, and the client may still have
// what it had. So when a process that came after such an end gives back or renews what it was not
// granted, what is wrong from there on may be right.
type Heirs struct {
	index   int
	crashed int // the lowest process that crashed, if any did
	crash   bool
	before  map[int]bool // processes that were there before the first crash
	granted map[onKey]bool
	calls   map[onKey]int
	first   map[string]Ref // of each key: the first such call
	named   map[string]bool
	last    string // of named
}

type onKey struct {
	process int
	key     string
}

// NewHeirs returns one for a history that begins.
func NewHeirs() *Heirs {
	return &Heirs{before: map[int]bool{}, granted: map[onKey]bool{}, calls: map[onKey]int{}, first: map[string]Ref{}, named: map[string]bool{}}
}

// Add takes the next event.
func (h *Heirs) Add(e *Event) {
	h.index++
	if e.Owner != "" {
		if e.Key != h.last || len(h.named) == 0 { // a map for each event of a large file takes time
			h.last, h.named[e.Key] = e.Key, true
		}
		return
	}
	if e.Type == history.Info && (!h.crash || e.Process < h.crashed) {
		h.crash, h.crashed = true, e.Process
	}
	if !h.crash {
		if !h.before[e.Process] {
			h.before[e.Process] = true
		}
		return
	}
	at, who := Ref{Index: h.index - 1, Line: e.Line, Time: e.Time}, onKey{e.Process, e.Key}
	if taking(e.F) && e.Type == history.OK {
		h.granted[who] = true
	}
	if e.F != Release && e.F != ReleaseR && e.F != Extend || h.before[e.Process] || e.Process < h.crashed || h.granted[who] {
		return
	}
	if _, found := h.first[e.Key]; !found && e.Type == history.Invoke {
		h.first[e.Key] = at
		h.calls[who] = at.Index
	} else if index, mine := h.calls[who]; mine && e.Type == history.Fail && h.first[e.Key].Index == index { // it had no effect
		delete(h.first, e.Key)
	}
}

// Doubt takes back what was found on a key since such an operation.
func (h *Heirs) Doubt(r *Result) {
	if r.Verdict != Violated || r.Model == "ownerless" || len(h.first) == 0 {
		return
	}
	var why Ref
	kept := slices.DeleteFunc(slices.Clone(r.Violations), func(v Violation) bool {
		at, found := h.first[v.Key]
		if found = found && !h.named[v.Key] && v.at > at.Index; found && why == (Ref{}) {
			why = at
		}
		return found
	})
	if len(kept) > 0 {
		r.Found -= len(r.Violations) - len(kept)
		r.Violations, r.Reason = kept, kept[0].Message
		return
	}
	r.Verdict, r.Found, r.Violations = Unknown, 0, nil
	r.Reason = fmt.Sprintf("if each process is an owner: %s But who gave back or renewed at %s what it was not granted came after process %d, which "+
		"ended with an unknown outcome, and may be the same client; --model ownerless judges a lock that anybody may give back", r.Reason, why, h.crashed)
}
