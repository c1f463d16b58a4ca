package models

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"

	"github.com/dlmtest/dlmtest/history"
)

// leases judges a lock that may be lost when its lease ends, and not before,
// and whose tokens rise.
//
// The tokens order the grants. A grant takes effect at some instant of its
// acquire, not before the one before it ended: by its release, at the earliest
// when that was called, or at its own instant plus its lease, whichever comes
// first. One pass in the order of tokens gives each grant the earliest instant
// that is left; ends are earlier then, too, so no other choice can succeed
// where this one fails. An acquire of unknown outcome is dropped, a release of
// unknown outcome is kept at its call: that ends its hold sooner. A release
// says nothing about who holds: that of a lost lock returns like any other.
//
// A renewal that returned OK had its effect while its grant lasted, so before
// the grant of the next token, and its lease counts from then instead: at the
// earliest from its call, which came after its own acquire had returned. So the
// next grant waits for that lease to end, and one that returned before the
// renewal was called is in the wrong. A renewal whose lease had ended may still
// succeed, as long as nobody else was granted the lock. One of unknown outcome
// is dropped: it can only have kept others waiting for longer.
//
// The pass runs behind the stream: a grant is judged when every operation that
// was called before its acquire returned has ended, since until then a lower
// token may still come. One that comes later has a token that does not rise,
// and is reported as such. Memory: the grants since the oldest pending call.
// O(n log n).
type leases struct {
	tokens
	lease   int64
	waiting byToken
	flushed int // sessions that waited after the last flush
	last    *session
}

// session is one grant and its release.
type session struct {
	grant
	lease    int64
	renewal  [2]Ref // call and return of the last one, from whose call the lease counts
	renewed  bool
	relCall  Ref
	released bool
	at       instant  // where the pass put it
	before   *session // which left it no earlier one; nil: its own call
	chain    int      // sessions that hang on before
	ended    bool     // of windows: its owner went on
	renewing bool     // of windows: by a renewal that is pending
	beside   *session // of windows: the first one granted meanwhile
	// Of renewals of unknown outcome that may have made the lease shorter: the least
	// lease of those before the last renewal that returned OK, and of those since, and the
	// earliest end of these. 0: none.
	short, fresh, cut int64
	// Of claims: up to where it was looked for others, its last claim, and the session
	// behind which it must have ended.
	seen  int
	claim [2]Ref
	over  *session
}

// instant is a point in time; of one time, the order of events decides.
type instant struct {
	time  int64
	index int
}

func (a instant) after(b instant) bool {
	return a.time > b.time || a.time == b.time && a.index > b.index
}

func when(r Ref) instant { return instant{r.Time, r.Index} }

// expiry is the end of a lease that begins at from: before all events of that time.
func expiry(from, lease int64) instant {
	if from > math.MaxInt64-lease {
		return instant{math.MaxInt64, math.MaxInt}
	}
	return instant{from + lease, -1}
}

// chainKept is how many grants a violation names at most.
const chainKept = 32

type byToken []*session

func (b byToken) Len() int           { return len(b) }
func (b byToken) Less(i, j int) bool { return b[i].token < b[j].token }
func (b byToken) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *byToken) Push(x any)        { *b = append(*b, x.(*session)) }
func (b *byToken) Pop() any {
	last := len(*b) - 1
	x := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return x
}

func newLease(o Options) Decider {
	r := rules{name: "lease", fs: []F{Acquire, Try, Extend, Release}, owners: true, times: true}
	r.check = func(e *Event) string { return leaseMissing(e, o) }
	r.judge = func(k *keyLog, f *found) judge {
		return &either{leases: &leases{tokens: *newTokens(k, f), lease: int64(o.Lease)}, windows: &windows{k: k, found: f, lease: int64(o.Lease)}}
	}
	return newFront(r, o)
}

// leaseMissing says that a grant or a renewal has no lease, or a negative one.
func leaseMissing(e *Event, o Options) string {
	if e.F != Release && (e.Lease < 0 || e.Lease == 0 && o.Lease <= 0) {
		return fmt.Sprintf("a grant without a lease (%d ns); this model needs one on every grant, or one for all", e.Lease)
	}
	return ""
}

func (l *leases) done(op *operation) {
	again := taking(op.F) && op.Type == history.OK && op.Token > 0 && op.Token == op.owner.token
	l.tokens.done(op)
	switch s := op.owner.session; {
	case again: // it was told of its grant once more
	case taking(op.F) && op.Type == history.OK:
		l.granted(op)
	case s == nil || op.Type == history.Fail:
	case op.F == Extend && op.Type == history.OK && l.good:
		s.renew(op, l.lease)
	case op.F == Extend && op.Type == history.Info:
		s.mayCut(op, l.lease)
	case op.F == Release:
		s.relCall, s.released, op.owner.session = op.call, true, nil
	}
}

func (l *leases) granted(op *operation) {
	op.owner.session = nil
	if !l.good {
		return
	}
	s := newSession(op, l.lease)
	op.owner.session = s
	heap.Push(&l.waiting, s)
	if len(l.waiting) >= 2*l.flushed+batch {
		l.flush(op.ret.Index)
		l.flushed = len(l.waiting)
	}
}

func (l *leases) end() { l.flush(math.MaxInt) }

// newSession is a grant whose lease is the usual one if it names none.
func newSession(op *operation, usual int64) *session {
	return &session{grant: granted(op), lease: cmp.Or(op.Lease, usual)}
}

// renew counts a lease from the call of a renewal on.
func (s *session) renew(op *operation, usual int64) {
	if s.fresh > 0 && (s.short == 0 || s.fresh < s.short) {
		s.short = s.fresh
	}
	s.fresh, s.cut = 0, 0 // it was there still
	s.lease, s.renewal, s.renewed = cmp.Or(op.Lease, usual), [2]Ref{op.call, op.ret}, true
}

// mayCut notes a renewal of unknown outcome: if it had an effect, at its call or at any
// time since, the lease may be shorter than it was.
func (s *session) mayCut(op *operation, usual int64) {
	lease := cmp.Or(op.Lease, usual)
	if lease <= 0 {
		return // for as long as before, then
	}
	if s.fresh == 0 || lease < s.fresh {
		s.fresh = lease
	}
	if end := expiry(op.call.Time, lease).time; s.cut == 0 || end < s.cut {
		s.cut = end
	}
}

// ends is the earliest end of a lease that counts from an instant.
func (s *session) ends(from int64) instant {
	end := expiry(from, s.lease)
	if s.renewed && s.short > 0 { // one that came late is as good as one behind the renewal
		end = expiry(from, min(s.lease, s.short))
	}
	if s.cut > 0 && s.cut < end.time {
		end = instant{s.cut, -1}
	}
	return end
}

// flush judges the grants whose place among the tokens is certain.
func (l *leases) flush(now int) {
	oldest := l.k.oldest(now)
	for len(l.waiting) > 0 && l.waiting[0].ret.Index < oldest {
		l.place(heap.Pop(&l.waiting).(*session))
	}
}

// place gives the next grant by token its earliest instant.
func (l *leases) place(s *session) {
	s.at = when(s.call)
	if p := l.last; p != nil {
		if free := p.free(); free.after(s.at) {
			if p.renewed { // which alone decides when it ended
				p.before, p.chain = nil, 0
			}
			s.at, s.before, s.chain = free, p, p.chain+1
			if s.chain > chainKept {
				p.before, s.chain = nil, 1 // or the whole history would hang on the last
			}
		}
	}
	if s.at.after(when(s.ret)) {
		l.report(s)
		s.at, s.before, s.chain = when(s.ret), nil, 0
	}
	l.last = s
}

// free is the earliest instant at which the lock can be granted again.
func (s *session) free() instant {
	end := s.ends(s.at.time)
	if s.renewed {
		end = s.ends(s.renewal[0].Time)
	}
	if s.released && end.after(when(s.relCall)) {
		end = when(s.relCall) // called after its acquire returned, so not before s.at
	}
	return end
}

func (s *session) renewals() string {
	if !s.renewed {
		return ""
	}
	return fmt.Sprintf(", renewed at %s", s.renewal[1])
}

// report names a grant and those that leave it no instant: each in the chain
// could not begin before the one ahead of it ended.
func (l *leases) report(s *session) {
	refs := []Ref{s.call, s.ret}
	p := s.before
	for chain := p; chain != nil; chain = chain.before {
		refs = append(refs, chain.call, chain.ret)
		if chain.renewed {
			refs = append(refs, chain.renewal[0], chain.renewal[1])
		}
		if chain.released {
			refs = append(refs, chain.relCall)
		}
	}
	l.found.add(s.ret.Index, l.k.name, refs, func() string {
		return fmt.Sprintf("%s was granted %sat %s, %d ns before the grant of %s (%s, token %d%s) can have ended.",
			s.who(), keyed(l.k), s.ret, s.at.time-s.ret.Time, p.who(), p.ret, p.token, p.renewals())
	})
}
