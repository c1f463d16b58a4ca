package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// Locks with owners: mutex, reentrant, semaphore, rwlock and fenced-mutex.
//
// A history of such a lock is linearizable if and only if its certain holds,
// from the return of each acquire to the call of its release, are compatible at
// every instant (for a mutex: disjoint). Only if: in any linearization an
// acquire takes effect before it returns and its release not before it is
// called, so the owner holds throughout. If: put each acquire at its return and
// each release at its call, drop every acquire whose outcome is unknown, and
// keep every release whose outcome is unknown at its call. Each owner's
// operations then come in their order, no hold is longer than it must be, and
// an owner that never returned from an acquire never needs it, as it is retired.
// That schedule has the fewest and the shortest holds, so it is legal if any is.
// Source: elementary, in the manner of Wing and Gong 1993 and of the interval
// arguments in Gibbons and Korach 1997; tested against Porcupine.
//
// A release that failed had no effect, so its hold went on while it was
// pending. Acquires that returned meanwhile are judged again when it fails.

// late is an acquire that violates the lock if enough of the releases that were
// pending when it returned should fail.
type late struct {
	hold   hold
	beside int // certain holds beside it
}

// lateKept bounds the memory that a release which never ends can cost.
const lateKept = 1 << 16

// kind is what tells the locks apart.
type kind struct {
	beside    int  // holds that one may have beside it
	shared    bool // readers go together
	permits   bool // an owner may take several
	tries     bool // a failed try says that another held it
	reentrant bool
	fenced    bool
}

// holds judges one key.
type holds struct {
	kind
	k         *keyLog
	found     *found
	writers   holdList
	readers   holdList
	releasing [2]int // holds whose release is pending: of writers, of readers
	late      []late
	forgotten int     // index up to which late ones were forgotten
	top       grant   // of the highest token
	free      []*hold // to be used again
	full      int     // index since which no more can be granted, if none can
	placed    int     // index of the last release that no certain hold explains
}

func newHolds(name string, kd kind, fs ...F) func(Options) Decider {
	return func(o Options) Decider {
		if kd.permits {
			kd.beside = o.permits() - 1
		}
		r := rules{name: name, fs: fs, owners: true, goesOn: !kd.shared && !kd.reentrant, judge: func(k *keyLog, f *found) judge {
			return &holds{kind: kd, k: k, found: f}
		}}
		if kd.fenced {
			r.check = tokenMissing
		}
		return newFront(r, o)
	}
}

var (
	newMutex       = newHolds("mutex", kind{}, Acquire, Try, Release)
	newReentrant   = newHolds("reentrant", kind{reentrant: true}, Acquire, Try, Release)
	newSemaphore   = newHolds("semaphore", kind{permits: true}, Acquire, Try, Release)
	newRWLock      = newHolds("rwlock", kind{shared: true}, Acquire, Try, AcquireR, Release, ReleaseR)
	newFencedMutex = newHolds("fenced-mutex", kind{fenced: true}, Acquire, Try, Extend, Release)
)

// tokenMissing says that a grant has no token.
func tokenMissing(e *Event) string {
	if e.Token <= 0 && taking(e.F) {
		return fmt.Sprintf("a grant without a token, or with one below 1 (%d); this model needs them", e.Token)
	}
	return ""
}

func taking(f F) bool { return f == Acquire || f == Try || f == AcquireR }

func (h *holds) call(op *operation) string {
	held := op.owner.hold
	if taking(op.F) || op.F == Extend || held == nil || held.depth > 1 || held.reads != (op.F == ReleaseR) {
		return ""
	}
	op.hold, held.giving = held, true
	h.list(held).remove(held)
	h.releasing[side(held.reads)]++
	return ""
}

func (h *holds) done(op *operation) {
	switch {
	case op.F == Extend:
		h.renewed(op)
	case taking(op.F) && op.Type == history.OK:
		h.acquired(op)
	case taking(op.F):
		if op.Type == history.Info && op.owner.name != "" {
			op.owner.maybe++
		}
	default:
		h.released(op)
	}
}

func (h *holds) end() {}

func (h *holds) acquired(op *operation) {
	held := op.owner.hold
	if held != nil && !h.permits {
		if h.reentrant {
			h.deeper(held, op)
			return
		}
		h.found.add(op.ret.Index, h.k.name, []Ref{held.call, held.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was granted %sat %s what it held already, since %s.", op.who(), h.of(), op.ret, held.ret)
		})
		return
	}
	n := h.newHold()
	*n = hold{owner: op.owner, process: op.Process, call: op.call, ret: op.ret,
		reads: op.F == AcquireR, token: op.Token, depth: 1, below: held}
	op.owner.hold = n
	h.tokens(n)
	beside, unsure := h.besides(n.reads)
	switch {
	case beside > h.beside:
		h.conflict(n, nil)
	case beside+unsure > h.beside:
		h.keepLate(late{*n, beside})
	}
	h.list(n).insert(n)
	if h.writers.n+h.readers.n == h.beside+1 {
		h.full = n.ret.Index
	}
}

// besides counts the holds that one that begins now has beside it, and those
// of which it depends on a pending release.
func (h *holds) besides(reads bool) (certain, unsure int) {
	if reads {
		return h.writers.n, h.releasing[0]
	}
	return h.writers.n + h.readers.n, h.releasing[0] + h.releasing[1]
}

func (h *holds) deeper(held *hold, op *operation) {
	held.depth++
	if op.Token != 0 && held.token == 0 { // the first that this hold is told
		told := hold{owner: held.owner, process: op.Process, call: op.call, ret: op.ret, token: op.Token}
		h.tokens(&told)
		held.token = op.Token
		return
	}
	if op.Token != 0 && op.Token != held.token {
		h.found.add(op.ret.Index, h.k.name, []Ref{held.call, held.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s took %sagain at %s and got token %d; its hold since %s has token %d.",
				op.who(), h.of(), op.ret, op.Token, held.ret, held.token)
		})
	}
}

// tokens checks that a hold has a higher token than the one before it; of a reentrant
// lock tokens may be missing. In every
// linearization of a mutex the holds come in the order of their acquires'
// returns, since certain holds are disjoint; overlaps are violations anyway.
func (h *holds) tokens(n *hold) {
	if !h.fenced && (!h.reentrant || n.token == 0) {
		return
	}
	if n.token <= h.top.token {
		h.found.add(n.ret.Index, h.k.name, []Ref{h.top.call, h.top.ret, n.call, n.ret}, func() string {
			return fmt.Sprintf("%s was granted %sat %s with token %d, which is not above %d of %s at %s.",
				n.who(), h.of(), n.ret, n.token, h.top.token, h.top.who(), h.top.ret)
		})
		return
	}
	h.top = grant{n.token, n.owner, n.process, n.call, n.ret}
}

// renewed takes the token that a renewal answered: tokens go on from there. What cannot
// be lost need not be renewed, so it says nothing else.
func (h *holds) renewed(op *operation) {
	held := op.owner.hold
	switch {
	case op.Type != history.OK || op.Token <= 0 || held == nil || held.giving:
		return // or it may have come when it was given back
	case op.call.Index < held.told && op.Token < held.token:
		return // beside the renewal that answered the higher one
	case op.Token < held.token:
		h.found.add(op.ret.Index, h.k.name, []Ref{held.call, held.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its token is %d, which is below %d of its grant at %s.",
				op.who(), h.of(), op.ret, op.Token, held.token, held.ret)
		})
		return
	}
	held.token, held.told = op.Token, op.ret.Index
	if op.Token > h.top.token {
		h.top = grant{op.Token, op.owner, op.Process, op.call, op.ret}
	}
}

func (h *holds) released(op *operation) {
	held := op.owner.hold
	switch {
	case op.hold != nil:
		h.releasing[side(held.reads)]--
		if op.Type == history.Fail {
			held.giving = false
			h.wentOn(held, op.call.Index)
			h.list(held).insert(held)
		} else {
			op.owner.hold = held.below
			h.free = append(h.free, held)
		}
		if h.releasing[0]+h.releasing[1] == 0 {
			h.late = h.late[:0]
		}
	case op.Type == history.Fail:
	case held != nil && held.depth > 1:
		held.depth-- // of a reentrant lock; if its outcome is unknown it still holds
	case op.Type == history.OK:
		h.unheld(op)
	}
}

// wentOn judges again what was acquired since a release was called that failed.
func (h *holds) wentOn(held *hold, since int) {
	if h.placed > since {
		h.found.doubted(fmt.Sprintf("a release that was called at event %d failed, and what was given back since without a grant needed it", since))
	}
	if since < h.forgotten {
		h.found.doubted(fmt.Sprintf("a release that was called at event %d failed after more than %d later acquires", since, lateKept))
	}
	for i := range h.late {
		l := &h.late[i]
		if l.hold.ret.Index < since || l.hold.reads && held.reads {
			continue
		}
		if l.beside++; l.beside == h.beside+1 {
			h.conflict(&l.hold, held)
		}
	}
}

func (h *holds) keepLate(l late) {
	if len(h.late) == lateKept {
		h.forgotten = l.hold.ret.Index
		h.late = h.late[:0]
	}
	h.late = append(h.late, l)
}

func (h *holds) list(n *hold) *holdList {
	if n.reads && h.shared {
		return &h.readers
	}
	return &h.writers
}

func (h *holds) newHold() *hold {
	if last := len(h.free) - 1; last >= 0 {
		n := h.free[last]
		h.free = h.free[:last]
		return n
	}
	return new(hold)
}
