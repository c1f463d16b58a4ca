package formats

import (
	"fmt"
	"maps"
	"time"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// idleKept is how many idle processes are kept before they are forgotten.
const idleKept = 4096

// pending is the operation that a process has called, or called last.
type pending struct {
	busy       bool
	f          models.F
	key, owner string
	value, old string
	line       int
	// Of the owners for whom it acted: the last, on which key, and those on other keys.
	lastOwner, ownerKey string
	owners              map[string]string
	word                string // of its call
	called              int64  // its time, if there is one
	nameless            bool   // it was granted something, and nobody's name was told
	asked               string // the value of its call
	waiting             int    // number of its call among those that were queued; 0: none
	keyless             bool   // its call does not say for which key it is, see keyless.go
	ownerless           bool   // its call waits for its owner
}

// take makes an event of a step. Every reader but that of dlmtest ends here.
func (r *Reader) take(s *step) error {
	if err := s.complete(); err != nil {
		return r.at(s.line, err)
	}
	if r.looking != nil {
		if r.looking(s) {
			return nil
		}
		return errStop
	}
	if s.nemesis() {
		r.Skipped["events of the nemesis"]++
		return nil
	}
	f, err := meaning(s.f, r.o.Meanings)
	if err != nil {
		return r.at(s.line, err)
	}
	if f == leftOut {
		r.Skipped[fmt.Sprintf("events of %s, which --f leaves out", clip(s.f))]++
		return nil
	}
	process, err := r.process(s)
	if err != nil {
		return err
	}
	if s.late {
		r.Skipped["times that are no nanoseconds from 0 on, which count as none"]++
	}
	if f == models.Acquire && s.try {
		f = models.Try
	}
	e := models.Event{Line: s.line, Time: s.time, Timed: s.told&toldTime != 0 && s.time == 0,
		Refused: s.refused && s.kind == history.Fail, Process: process, Type: s.kind, F: f, Owner: s.owner, Token: s.token, Lease: s.lease, Note: s.note}
	if err := r.keyAndValue(&e, s); err != nil {
		return err
	}
	r.client(&e, s)
	r.shared(&e, s)
	if err := r.give(&e); err != nil {
		return err
	}
	r.holds(&e, s)
	return nil
}

// at gives an error its line.
func (r *Reader) at(line int, err error) error { return &Error{Line: line, Err: err} }

// give checks an event against what came before, completes it, and hands it on.
func (r *Reader) give(e *models.Event) error {
	if err := r.clock(e); err != nil {
		return r.at(e.Line, err)
	}
	call, err := r.pair(e)
	if err != nil {
		return r.at(e.Line, err)
	}
	if r.count++; e.Type == history.Invoke {
		call.asked, r.asking = r.asking, ""
		call.keyless = r.keyless
	} else if call.keyless && e.Key == "" {
		return r.drop(call, e)
	}
	waits := r.own(call, e)
	if e.Type == history.Invoke {
		call.ownerless = waits
	}
	return r.send(call, e, waits || e.Type == history.Invoke && call.keyless)
}

// muchBack is by how many ns times may go back where threads took their own.
const muchBack = 5_000_000_000

// clock wants times not to go back. dlmtest's never do. Those of Jepsen may, by
// a little, as each thread took its own before the event got its place: then the
// order holds, and the event happened no earlier than the one before it.
func (r *Reader) clock(e *models.Event) error {
	if e.Time >= r.last || e.Time == 0 && !e.Timed {
		r.last = max(r.last, e.Time)
		return nil
	}
	if back := r.last - e.Time; r.Format != "dlmtest" && back > muchBack {
		return fmt.Errorf("the time goes back by %v, so the file is in no order of events: sort it by time; "+
			"--field time=- passes over times", time.Duration(back))
	}
	if r.Format == "dlmtest" {
		return fmt.Errorf("the clock goes back by %d ns, from %d to %d", r.last-e.Time, r.last, e.Time)
	}
	r.Skipped["times that go back, which count as the time before them"]++
	e.Time = r.last
	return nil
}

// pair wants each process to have one operation at a time, and none after an
// unknown outcome; the completion takes from the call what it does not say.
func (r *Reader) pair(e *models.Event) (*pending, error) {
	call := r.processes[e.Process]
	if call == nil {
		if r.retired.Has(e.Process) {
			return nil, fmt.Errorf("process %d goes on after its unknown outcome", e.Process)
		}
		if len(r.processes) >= r.limit { // forget the idle ones
			maps.DeleteFunc(r.processes, func(_ int, p *pending) bool { return !p.busy && p.lastOwner == "" && !p.nameless })
			r.limit = max(idleKept, 2*len(r.processes))
		}
		call = new(pending)
		r.processes[e.Process] = call
	}
	if e.Type == history.Invoke {
		if call.busy {
			return nil, fmt.Errorf("process %d calls %s while its %s of line %d is pending", e.Process, e.F, call.f, call.line)
		}
		call.busy, call.f, call.key, call.owner, call.value, call.old, call.line = true, e.F, e.Key, e.Owner, e.Value, e.Old, e.Line
		return call, nil
	}
	if call.keyless && call.busy && e.Key != "" {
		call.key = e.Key
	}
	switch {
	case !call.busy:
		return nil, fmt.Errorf("process %d ends %s without having called it", e.Process, e.F)
	case call.f != e.F:
		return nil, fmt.Errorf("process %d ends %s, but called %s in line %d", e.Process, e.F, call.f, call.line)
	case e.Key != "" && e.Key != call.key:
		return nil, fmt.Errorf("process %d ends on key %s what it called on key %s in line %d", e.Process, clip(e.Key), clip(call.key), call.line)
	case e.Owner != "" && call.owner != "" && e.Owner != call.owner:
		return nil, fmt.Errorf("process %d ends for owner %s what it called for owner %s in line %d", e.Process, clip(e.Owner), clip(call.owner), call.line)
	}
	e.Key = call.key
	if err := call.completes(e); err != nil {
		return nil, err
	}
	call.busy = false
	if e.Type == history.Info {
		delete(r.processes, e.Process)
		r.retired.Add(e.Process)
	}
	return call, nil
}

// completes fills in what was written: it is known from the call. Another value
// beside a failure is its reason.
func (p *pending) completes(e *models.Event) error {
	failed := e.Type == history.Fail || e.Type == history.Info
	if failed && e.Value != p.value && e.Note == "" {
		e.Note = e.Value
	}
	switch {
	case isLock(e.F):
		return nil
	case e.F == models.Request:
		e.Old = p.old
		return nil
	case e.F == models.Read && failed:
		e.Value = ""
		return nil
	case e.F == models.Read:
		return nil
	case !failed && (e.Value != "" || e.Old != "") && (e.Value != p.value || e.Old != p.old):
		return fmt.Errorf("process %d ends with value %s what it called with %s in line %d", e.Process, clip(e.Value), clip(p.value), p.line)
	}
	e.Value, e.Old = p.value, p.old
	return nil
}
