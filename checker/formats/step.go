package formats

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// step is one line of a history as its file tells it, before anything is made
// of it. What is absent was not said.
type step struct {
	line    int
	process form
	kind    history.Type
	f       string
	value   form
	key     form
	time    int64
	owner   string
	token   int64
	lease   int64
	named   bool // the lease is told by a name, which says nothing of its length
	try     bool // an acquire that does not wait
	permits form // how many it takes or gives back
	mode    mode // whether it is for a reader or a writer, where a field of its own says it
	refused bool // a failure that the lock answered
	answer  form // what the lock said, where a field of its own says it
	note    string
	told    told
	other   told   // of these, those that stood under another name than the field's own
	keyed   bool   // the key stood under its own name
	late    bool   // there is a time, which is none in nanoseconds from 0 on
	unknown []form // names that are not known, each before what stands under it; of a survey
}

// told says which fields of a step stood in the file, so that none comes twice.
type told uint16

const (
	toldProcess told = 1 << iota
	toldType
	toldF
	toldValue
	toldKey
	toldTime
	toldOwner
	toldToken
	toldLease
	toldTry
	toldNote
	toldRefused
	toldAnswer
	toldMode
	toldPermits
)

// set takes one field. The caller has looked its name up with fieldOf.
func (s *step) set(which told, name string, other bool, f form) (err error) {
	switch {
	case s.told&which == 0:
	case other:
		return nil
	case s.other&which == 0:
		return f.errorf("%s comes twice", name)
	}
	if s.told |= which; other {
		s.other |= which
	} else {
		s.other &^= which
	}
	switch which {
	case toldProcess:
		s.process = f
	case toldType:
		var word string
		word, err = f.name(name)
		word = strings.TrimPrefix(word, ":") // of what was a keyword before it was JSON
		if s.kind = history.Type(word); err == nil && !known(s.kind) {
			err = f.errorf("type %s: want invoke, ok, fail or info", clip(word))
		}
	case toldF:
		s.f, err = f.name(name)
		s.f = strings.TrimPrefix(s.f, ":")
	case toldValue:
		s.value = f
	case toldKey:
		s.key, s.keyed = f, !other
	case toldTime:
		s.setTime(f)
	case toldNote:
		s.note = f.String()
	default:
		err = s.setLock(which, name, f)
	}
	return err
}

// setTime takes a time. One that is no count of nanoseconds is none, as few models need one.
func (s *step) setTime(f form) {
	if s.told &^= toldTime; f.nothing() {
		return
	}
	n, err := f.numeral().count("time", latest)
	if s.late = err != nil; err == nil {
		s.told, s.time = s.told|toldTime, n
	}
}

func known(t history.Type) bool {
	return t == history.Invoke || t == history.OK || t == history.Fail || t == history.Info
}

// setLock takes a field that only locks have.
func (s *step) setLock(which told, name string, f form) (err error) {
	if f.nothing() {
		return nil
	}
	switch which {
	case toldOwner:
		s.owner, err = f.scalar(name)
	case toldToken:
		if f = f.numeral(); strings.TrimPrefix(name, ":") == "fence" && f.kind == whole && f.text == "-1" { // older Hazelcast's word for none
			return nil
		}
		s.token, err = f.count(name, 1<<63-1)
		hint(err, "; --field %s=- passes over it", name)
	case toldLease:
		f = f.numeral()
		if s.named = f.kind != whole; s.named {
			return nil
		}
		s.lease, err = f.count(name, furthest)
		hint(err, "; --field %s=- passes over the name of a lease", name)
	case toldTry:
		if f.kind != boolean {
			return f.errorf("try: want true or false, got %v", f.kind)
		}
		s.try = f.text == "true"
	case toldRefused:
		s.refused = f.kind == boolean && f.text == "true"
	case toldAnswer:
		s.answer = f
	case toldMode:
		if s.mode = modeOf(f); f.kind == boolean && strings.Contains(strings.ToLower(name), "shared") == (f.text == "true") {
			s.mode = reads
		}
	case toldPermits:
		s.permits = f.numeral()
	}
	return err
}

// hint adds to an error with a place what a user can do about a field.
func hint(err error, what, name string) {
	if at := (*Error)(nil); errors.As(err, &at) {
		at.Err = fmt.Errorf("%w"+what, at.Err, strings.TrimPrefix(name, ":"))
	}
}

// nemesis says whether the step is of Jepsen's fault injector, which is no client.
func (s *step) nemesis() bool {
	return (s.process.kind == keyword || s.process.kind == text || s.process.kind == symbol) && strings.TrimPrefix(s.process.text, ":") == "nemesis" ||
		s.process.kind == whole && s.process.text == "-1" && s.kind == history.Info // jepsen.history's number of it
}

// complete says what is missing.
func (s *step) complete() error {
	for _, need := range []struct {
		which told
		name  string
	}{{toldProcess, "process"}, {toldType, "type"}, {toldF, "f"}} {
		if s.told&need.which == 0 {
			return fmt.Errorf("an operation without %s: --field NAME=%[1]s says under which other name it stands", need.name)
		}
	}
	return nil
}

// grant reads what some lock tests put into the value of an operation: a map
// with the client's name, its fence and its lease, and whether it was granted.
func (s *step) grant(own map[string]string) error {
	if s.value.kind != dict {
		return nil
	}
	for i := 0; i+1 < len(s.value.items); i += 2 {
		name := s.value.items[i].text
		which, other := fieldOf(name, own)
		if which&(toldOwner|toldToken|toldLease|toldAnswer|toldMode|toldPermits) == 0 {
			continue
		}
		if s.told&which != 0 && s.same(which, name, s.value.items[i+1]) {
			continue
		}
		if err := s.set(which, name, other, s.value.items[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// same says whether a value repeats what a field of the step says already.
func (s *step) same(which told, name string, f form) bool {
	var alone step
	return alone.setLock(which, name, f) == nil &&
		alone.owner == s.owner && which == toldOwner || alone.token == s.token && which == toldToken || alone.lease == s.lease && which == toldLease ||
		alone.mode == s.mode && which == toldMode || alone.permits.text == s.permits.text && which == toldPermits
}

// entry is what a map says of one field; absent: nothing. What stands under the field's own
// name counts before what does under another.
func (f form) entry(field told, own map[string]string) (found form) {
	for i := 0; f.kind == dict && i+1 < len(f.items); i += 2 {
		switch which, other := fieldOf(f.items[i].text, own); {
		case which == field && !other:
			return f.items[i+1]
		case which == field && found.kind == absent:
			found = f.items[i+1]
		}
	}
	return found
}

// isLock says whether f is an operation of a lock, not of a register.
func isLock(f models.F) bool {
	switch f {
	case models.Acquire, models.AcquireR, models.Try, models.Extend, models.Release, models.ReleaseR:
		return true
	}
	return false
}
