package models

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// windows judges leases without tokens, one side only. Deciding them is hard in
// general (scheduling with release times, deadlines and mixed lengths, which is
// strongly NP-complete: Garey and Johnson 1977), so it looks only at what is
// certain: from the return of its acquire until its release is called, or until
// the lease would end that was granted at the acquire's call, a grant holds
// whenever it took effect. Two such windows never overlap in a legal history.
// Many illegal ones do without. A release that failed is taken as an end, too.
//
// A renewal that returned OK says that its grant has lasted all the time, also
// where its lease had ended, and it lasts from the renewal's call for the lease
// that this was granted. So no other certain window reaches over that call, and
// no other acquire was called and returned between that grant and that call. A
// renewal may also be for less than what was left: while it is pending, nothing
// is certain of its grant, and what was granted meanwhile is judged when it ends.
// Some grants may have tokens: one with the token that its owner has been told already is
// no new one, and its lease counts as before.
// Memory: the grants whose leases last. O(n · holders).
type windows struct {
	k     *keyLog
	found *found
	lease int64
	open  []*session
	last  *session // of all grants that returned, the one that was called last
}

func newLeaseWindows(o Options) Decider {
	r := rules{name: "lease-windows", fs: []F{Acquire, Try, Extend, Release}, owners: true, times: true}
	r.check = func(e *Event) string { return leaseMissing(e, o) }
	r.judge = func(k *keyLog, f *found) judge { return &windows{k: k, found: f, lease: int64(o.Lease)} }
	return newFront(r, o)
}

func (w *windows) call(op *operation) string {
	s := op.owner.session
	switch {
	case s == nil:
	case op.F == Extend:
		op.rival = w.rival(op.call, s)
		s.renewing = true
	default:
		s.ended = true
		op.owner.session = nil
	}
	return ""
}

func (w *windows) done(op *operation) {
	o := op.owner
	switch s := o.session; {
	case taking(op.F) && op.Type == history.OK && op.Token > 0 && op.Token == o.token: // it was told of its grant once more
	case taking(op.F) && op.Type == history.OK:
		o.token = op.Token
		w.granted(op)
	case op.F == Release && op.Type == history.OK:
		o.token = 0
	case op.F == Extend:
		if op.Type == history.OK {
			o.token = max(o.token, op.Token)
		}
		if s != nil {
			w.renewed(op, s)
		}
	}
}

func (w *windows) granted(op *operation) {
	s := newSession(op, w.lease)
	op.owner.session = s
	if w.last == nil || s.call.Index > w.last.call.Index {
		w.last = s
	}
	if !s.certain(s.ret) {
		return // it may have ended before its client heard of it
	}
	if rival := w.rival(s.ret, nil); rival != nil {
		w.overlap(rival, s)
	}
	for _, o := range w.open {
		if o.renewing && o.beside == nil {
			o.beside = s
		}
	}
	w.open = append(w.open, s)
}

// overlap reports a grant that was made while another lasted.
func (w *windows) overlap(rival, s *session) {
	w.found.add(s.ret.Index, w.k.name, []Ref{rival.call, rival.ret, s.call, s.ret}, func() string {
		return fmt.Sprintf("%s was granted %sat %s while the lease that %s was granted at %s certainly lasted.",
			s.who(), keyed(w.k), s.ret, rival.who(), rival.ret)
	})
}

func (w *windows) renewed(op *operation, s *session) {
	beside := s.beside
	s.renewing, s.beside = false, nil
	switch op.Type {
	case history.OK:
		w.lasted(op, s)
	case history.Info:
		s.mayCut(op, w.lease)
	}
	if beside != nil && s.certain(beside.ret) {
		w.overlap(s, beside)
	}
}

// lasted judges a renewal that returned OK.
func (w *windows) lasted(op *operation, s *session) {
	rival := op.rival
	if rival == nil && w.last.call.Index > s.ret.Index && w.last.ret.Index < op.call.Index {
		rival = w.last
	}
	if rival != nil {
		w.found.add(op.ret.Index, w.k.name, []Ref{s.call, s.ret, rival.call, rival.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its lease since %s is renewed, but %s had been granted the lock at %s.",
				s.who(), keyed(w.k), op.ret, s.ret, rival.who(), rival.ret)
		})
	}
	s.renew(op, w.lease)
	if !slices.Contains(w.open, s) {
		w.open = append(w.open, s)
	}
}

// rival is a grant other than not that certainly lasts at an event. It forgets
// those that last no more.
func (w *windows) rival(at Ref, not *session) (rival *session) {
	w.open = slices.DeleteFunc(w.open, func(o *session) bool { return o.ended || !o.certain(at) })
	for _, o := range w.open {
		if o != not && !o.renewing {
			rival = o
		}
	}
	return rival
}

// certain says that the lease lasts at an event, even if granted at the call.
func (s *session) certain(at Ref) bool {
	from := s.call
	if s.renewed {
		from = s.renewal[0]
	}
	return s.ends(from.Time).after(when(at))
}

func (w *windows) end() {
	w.found.doubted("no two grants certainly overlap, but leases without tokens cannot be decided: mixed lease times are NP-complete")
}
