package formats

import (
	"fmt"

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
	try     bool // an acquire that does not wait
	refused bool // a failure that the lock answered
	note    string
	told    told
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
)

var fields = map[string]told{
	"process": toldProcess, "type": toldType, "f": toldF, "value": toldValue, "key": toldKey, "time": toldTime,
	"owner": toldOwner, "token": toldToken, "fence": toldToken, "lease": toldLease, "try": toldTry, "error": toldNote, "refused": toldRefused,
}

// set takes one field. The caller has looked its name up in fields.
func (s *step) set(which told, name string, f form) (err error) {
	if s.told&which != 0 {
		return f.errorf("%s comes twice", name)
	}
	s.told |= which
	switch which {
	case toldProcess:
		s.process = f
	case toldType:
		var word string
		word, err = f.name(name)
		if s.kind = history.Type(word); err == nil && !known(s.kind) {
			err = f.errorf("type %s: want invoke, ok, fail or info", clip(word))
		}
	case toldF:
		s.f, err = f.name(name)
	case toldValue:
		s.value = f
	case toldKey:
		s.key = f
	case toldTime:
		s.time, err = f.count(name, furthest)
	case toldNote:
		s.note = f.String()
	default:
		err = s.setLock(which, name, f)
	}
	return err
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
		if name == "fence" && f.kind == whole && f.text == "-1" { // older Hazelcast's word for none
			return nil
		}
		s.token, err = f.count(name, 1<<63-1)
	case toldLease:
		s.lease, err = f.count(name, furthest)
	case toldTry:
		if f.kind != boolean {
			return f.errorf("try: want true or false, got %v", f.kind)
		}
		s.try = f.text == "true"
	case toldRefused:
		s.refused = f.kind == boolean && f.text == "true"
	}
	return err
}

// nemesis says whether the step is of Jepsen's fault injector, which is no client.
func (s *step) nemesis() bool {
	return (s.process.kind == keyword || s.process.kind == text || s.process.kind == symbol) && s.process.text == "nemesis"
}

// complete says what is missing.
func (s *step) complete() error {
	for _, need := range []struct {
		which told
		name  string
	}{{toldProcess, "process"}, {toldType, "type"}, {toldF, "f"}} {
		if s.told&need.which == 0 {
			return fmt.Errorf("an operation without %s", need.name)
		}
	}
	return nil
}

// grant reads what some lock tests put into the value of an operation: a map
// with the client's name and its fence.
func (s *step) grant() error {
	if s.value.kind != dict {
		return nil
	}
	for i := 0; i+1 < len(s.value.items); i += 2 {
		which := fields[s.value.items[i].text]
		if s.value.items[i].text == "client" {
			which = toldOwner
		}
		if which != toldOwner && which != toldToken {
			continue
		}
		if s.told&which != 0 {
			return s.value.errorf("%s comes twice", s.value.items[i].text)
		}
		s.told |= which
		if err := s.setLock(which, s.value.items[i].text, s.value.items[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// lockNames are what the name of a lock is called in a map that is a value.
var lockNames = []string{"key", "lock", "resource"}

// entry is what a map says under the first of some names that it has; absent: it has none.
func (f form) entry(names ...string) form {
	for _, name := range names {
		for i := 0; f.kind == dict && i+1 < len(f.items); i += 2 {
			if f.items[i].text == name {
				return f.items[i+1]
			}
		}
	}
	return form{}
}

// isLock says whether f is an operation of a lock, not of a register.
func isLock(f models.F) bool {
	switch f {
	case models.Acquire, models.AcquireR, models.Try, models.Extend, models.Release, models.ReleaseR:
		return true
	}
	return false
}
