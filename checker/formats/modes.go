package formats

import (
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// Of read-write locks some suites have one word for both kinds of acquire and tell the mode beside it or as its value, and
// many have one word for both kinds of release.

// mode is what an operation of a read-write lock is for.
type mode string

const (
	reads  mode = "read"
	writes mode = "write"
)

var modeWords = map[mode][]string{
	reads:  {"read", "reader", "r", "shared", "share", "s"},
	writes: {"write", "writer", "w", "exclusive", "x"},
}

// modeOf is the mode that a value names, if it names one.
func modeOf(f form) mode {
	if f.kind != keyword && f.kind != text && f.kind != symbol {
		return ""
	}
	for m, words := range modeWords {
		if slices.Contains(words, strings.TrimPrefix(strings.ToLower(f.text), ":")) {
			return m
		}
	}
	return ""
}

// shared makes an operation that is told to be a reader's one. What does not tell it is what its call was, and a
// release in a word for both gives back what was granted.
func (r *Reader) shared(e *models.Event, s *step) {
	call := r.processes[e.Process]
	ends := e.Type != history.Invoke && call != nil && call.busy && call.word == s.f
	switch e.F {
	case models.Acquire, models.Try:
		if s.mode == reads || s.mode == "" && ends && call.f == models.AcquireR {
			e.F = models.AcquireR
		}
	case models.Release:
		plain := !r.apart && s.mode == "" && !strings.Contains(strings.ToLower(s.f), "write")
		if s.mode == reads || plain && ends && call.f == models.ReleaseR || plain && e.Type == history.Invoke && r.reading[r.holder(e)] {
			e.F = models.ReleaseR
		}
	}
}

// holder is who an event is of, by what it tells itself.
func (r *Reader) holder(e *models.Event) holder {
	if e.Owner != "" {
		return holder{key: e.Key, owner: e.Owner}
	}
	return holder{key: e.Key, process: e.Process}
}

// holds remembers what shared asks about, and counts leases.
func (r *Reader) holds(e *models.Event, s *step) {
	call := r.processes[e.Process]
	if call == nil || !isLock(e.F) {
		return
	}
	if e.Type == history.Invoke {
		call.word, call.called = s.f, e.Time
		return
	}
	if e.Type != history.OK {
		return
	}
	if e.Lease > 0 && e.F != models.Release && e.F != models.ReleaseR {
		r.Leases[0]++
		if e.Time < call.called+e.Lease {
			r.Leases[1]++
		}
	}
	process := holder{key: e.Key, process: e.Process}
	switch {
	case e.F == models.AcquireR:
		if r.reading == nil {
			r.reading = map[holder]bool{}
		}
		r.reading[r.holder(e)], r.reading[process] = true, true
	case r.reading != nil && e.F != models.Extend:
		delete(r.reading, r.holder(e))
		delete(r.reading, process)
	}
}

// number takes the value of an acquire into account, which may say how many permits it takes.
func (s *seen) number(value form) {
	n, err := value.numeral().count("value", 1<<31)
	if err != nil || n < 1 || s.numbers < 0 {
		s.numbers = -1
		return
	}
	s.numbers = max(s.numbers, n)
}
