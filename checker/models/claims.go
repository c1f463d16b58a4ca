package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// claims judges a lock that may be lost at any time, by what it told its clients: a
// renewal or a release that returned OK says that its owner held the lock until then,
// one that the lock refused that it did not. Tokens rise, where there are any.
//
// A grant with the claims that follow it is a session. It certainly has the lock from
// the return of its acquire to the call of its last claim; a grant without claims needs
// one instant of its acquire, as it may have been lost at once. Such a history is
// linearizable if and only if no certain stretch of one owner overlaps another's, nor
// has in it all of another's acquire. Only if: the lock is the owner's throughout. If:
// put each acquire with claims at its return and its last claim at its call, the other
// claims between, and each other grant into an instant of its acquire that is in no
// stretch; between two stretches there is always one. What was refused ends the session
// of its owner, and a release or a refused acquire of unknown outcome says nothing.
//
// With a token on each grant their order is known, and it is enough that each is above
// the largest of those that had returned before its call, and that no higher one had
// returned before a claim was called: see tokens. Both are looked at where there are
// tokens. If some grants have none, what is found is certain, and holds is in doubt.
//
// An owner may go on after an acquire of unknown outcome: its next claim says that it
// was granted, at an instant of the claim.
//
// lease-untimed is the same, but that a release says nothing, nor a refusal.
//
// Memory: the grants that have no token. O(n) for a lock that works.
type claims struct {
	tokens
	all     []*session // those without tokens, by their return
	bare    bool       // some grant has no token
	tagged  bool       // some has
	lenient bool       // a release is no claim: that of a lost lock returns like any other
}

func newClaims(o Options) Decider {
	r := rules{name: Claims, fs: []F{Acquire, Try, Extend, Release}, owners: true, goesOn: true, gives: true}
	r.judge = func(k *keyLog, f *found) judge { return &claims{tokens: *newTokens(k, f)} }
	return newFront(r, o)
}

func newLeaseUntimed(o Options) Decider {
	r := rules{name: "lease-untimed", fs: []F{Acquire, Try, Extend, Release}, owners: true, goesOn: true, gives: true}
	r.judge = func(k *keyLog, f *found) judge { return &claims{tokens: *newTokens(k, f), lenient: true} }
	return newFront(r, o)
}

func (c *claims) done(op *operation) {
	o := op.owner
	switch {
	case op.Type == history.Fail && op.Refused && !taking(op.F) && !c.lenient:
		o.session, o.token = nil, 0
	case op.Type == history.Fail:
	case op.Type == history.Info:
		if taking(op.F) && o.name != "" {
			o.maybe++
		}
	case taking(op.F) && !(op.Token > 0 && op.Token == o.token):
		c.granted(op)
	case c.lenient && op.F == Release:
		c.returned(op)
		o.session, o.token, o.lent = nil, 0, false
	case c.lenient && (o.session == nil || o.token > 0):
		c.renewed(op)
	default:
		c.claimed(op)
		if op.F == Release {
			o.session, o.token = nil, 0
		}
	}
}

func (c *claims) granted(op *operation) {
	o := op.owner
	c.bare, c.tagged = c.bare || op.Token == 0, c.tagged || op.Token > 0
	if op.Token > 0 {
		c.rises(op)
	}
	o.token, o.lent, o.session = op.Token, true, &session{grant: granted(op)}
	if op.Token == 0 {
		c.add(o.session)
	}
}

// add keeps a grant whose place no token tells.
func (c *claims) add(s *session) {
	c.all = append(c.all, s)
	s.seen = len(c.all)
}

// claimed judges what says that its owner holds the lock.
func (c *claims) claimed(op *operation) {
	s := op.owner.session
	if s == nil {
		c.ungranted(op)
		return
	}
	if o := op.owner; o.maybe > 0 { // which may have been granted it anew, at any time since
		c.found.doubted(fmt.Sprintf("%s went on %safter an acquire of unknown outcome and claims at %s to hold it", op.who(), keyed(c.k), op.ret))
		return
	}
	if good := s.token > 0 && c.renewed(op) || s.token == 0 && c.alone(op, s); !good {
		op.owner.session, op.owner.token = nil, 0
	}
	s.claim = [2]Ref{op.call, op.ret}
	if s.token == 0 && op.Token > 0 && op.F == Extend && op.owner.session == s { // from here on its owner has one
		c.tagged = true
		op.owner.token = op.Token
	}
}

// ungranted judges the claim of one that was granted nothing, for certain.
func (c *claims) ungranted(op *operation) {
	o := op.owner
	switch {
	case o.maybe > 0:
		o.maybe--
		c.bare = true
		o.session = &session{grant: grant{0, o, op.Process, op.call, op.ret}}
		c.add(o.session)
		return
	case o.name != "" && c.k.untold > 0:
		c.found.doubted(fmt.Sprintf("%s claims %sat %s what an acquire of unknown outcome may have given it", op.who(), keyed(c.k), op.ret))
		return
	case o.name == "" && c.k.named:
		c.found.doubted(fmt.Sprintf("%s claims %sat %s to hold it, and for whom is not told, as it is elsewhere", op.who(), keyed(c.k), op.ret))
		return
	}
	what := map[F]string{Release: "gave back", Extend: "was told to have renewed"}[op.F]
	if what == "" {
		what = "was granted again"
	}
	c.found.add(op.ret.Index, c.k.name, []Ref{op.call, op.ret}, func() string {
		return fmt.Sprintf("%s %s %sat %s what it did not hold: it had been granted nothing since it last gave it back, "+
			"lost it or was refused.", op.who(), what, keyed(c.k), op.ret)
	})
}

// alone says that nobody else had the lock from the grant of s to a claim.
func (c *claims) alone(op *operation, s *session) bool {
	if by := s.over; by != nil {
		c.overlap(op, s, by, by.claim)
		return false
	}
	for ; s.seen < len(c.all) && c.all[s.seen].ret.Index < op.call.Index; s.seen++ {
		switch other := c.all[s.seen]; {
		case other.owner == s.owner:
		case other.call.Index > s.ret.Index:
			c.overlap(op, s, other, [2]Ref{other.call, other.ret})
			return false
		case other.claim[1] != Ref{}:
			c.overlap(op, s, other, other.claim)
			return false
		case other.over == nil: // it had the lock before, so it may claim nothing any more
			over := *s
			over.claim = [2]Ref{op.call, op.ret}
			other.over = &over
		}
	}
	return true
}

// overlap reports a claim of s that another grant does not leave room for.
func (c *claims) overlap(op *operation, s, other *session, by [2]Ref) {
	c.found.add(op.ret.Index, c.k.name, []Ref{s.call, s.ret, other.call, other.ret, by[0], by[1], op.call, op.ret}, func() string {
		return fmt.Sprintf("%s was told %sat %s that it still holds what it was granted at %s, but %s had been granted it at %s and had it meanwhile.",
			op.who(), keyed(c.k), op.ret, s.ret, other.who(), other.ret)
	})
}

func (c *claims) end() {
	if c.bare && c.tagged {
		c.found.doubted("some grants have a token and some have none: nothing contradicts, but not all of it can be looked at")
	}
}
