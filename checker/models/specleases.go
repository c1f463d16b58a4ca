package models

import (
	"cmp"

	"github.com/dlmtest/dlmtest/history"
)

func fencedStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(fenced)
	switch {
	case op.F == Extend: // says nothing but its token
		if op.Type == history.OK && s.owner == op.Owner && op.Token > 0 {
			return fenced{s.owner, op.Token}, op.Token >= s.token
		}
		return s, true
	case op.F == Release:
		return fenced{token: s.token}, is(s.owner, op.Owner)
	case op.Type == history.Info: // some token, the next one
		return fenced{op.Owner, s.token}, s.owner == ""
	}
	return fenced{op.Owner, op.Token}, s.owner == "" && op.Token > s.token
}

// step is what a lock that may be lost does but for its times: who was granted it last
// and has not given it back, and who else has not. A lost lock is given back like any
// other, but not one that was never had.
func (s lent) step(op *Op) (lent, bool) {
	me := word(op.Owner)
	switch {
	case op.F == Release:
		rest, had := without(s.out, me)
		s.out = rest
		if is(s.owner, op.Owner) {
			s.owner = ""
		}
		return s, had
	case s.again(op), op.F == Extend && op.Type == history.OK:
		legal := is(s.owner, op.Owner) && (op.Token == 0 || op.Token >= s.token)
		s.token, s.mine = max(s.token, op.Token), max(s.mine, op.Token)
		return s, legal
	case op.F == Extend:
		return s, true
	}
	if _, had := without(s.out, me); !had || op.Owner == Anybody {
		s.out = with(s.out, me)
	}
	s.owner, s.mine = op.Owner, 0
	if op.Type == history.Info || op.Token == 0 { // some token, the next one
		return s, true
	}
	legal := op.Token > s.token
	s.token, s.mine = op.Token, op.Token
	return s, legal
}

// again says that an owner is told once more of the grant that it has.
func (s lent) again(op *Op) bool {
	return taking(op.F) && op.Type == history.OK && op.Token > 0 && op.Token == s.mine && s.owner == op.Owner
}

func untimedStep(o Options, state any, op *Op) (any, bool) {
	s := state.(lent)
	if o.Tokened && taking(op.F) && op.Type == history.OK && op.Token <= s.token {
		return s, false
	}
	return s.step(op)
}

// leaseStep keeps the earliest instant at which an operation that comes now can
// take effect, and at which the lock is free again.
func leaseStep(o Options, state any, op *Op) (any, bool) {
	s := state.(leased)
	at := instant{op.Called, op.Call}
	if s.now.after(at) {
		at = s.now
	}
	grants := taking(op.F) && !s.again(op)
	if grants && s.end.after(at) {
		at = s.end
	}
	if op.Type != history.Info && at.after(instant{op.Done, op.Return}) {
		return s, false
	}
	before, legal := s.owner, false
	s.lent, legal = s.step(op)
	s.now = at
	length := cmp.Or(op.Lease, int64(o.Lease))
	switch {
	case op.F == Release:
		if is(before, op.Owner) && before != "" && s.end.after(at) {
			s.end = at
		}
	case grants && op.Type == history.Info: // of an unknown lease, so of none
		s.end = at
	case grants, op.F == Extend && op.Type == history.OK:
		s.end = expiry(at.time, length)
	case op.F == Extend && is(s.owner, op.Owner) && length > 0: // of unknown outcome: it may have made the lease shorter
		s.end = expiry(at.time, length)
	}
	return s, legal
}

func guardedStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(stored)
	switch {
	case op.F == Read:
		return s, op.Type == history.Info || op.Value == s.value
	case op.Type == history.Fail:
		return s, op.Token < s.token
	}
	return stored{op.Value, op.Token}, op.Token >= s.token
}

func registerStep(_ Options, state any, op *Op) (any, bool) {
	value := state.(string)
	switch {
	case op.F == Read:
		return value, op.Type == history.Info || op.Value == value
	case op.F == Append:
		return value + op.Value, true
	case op.F == CAS && op.Type == history.Fail:
		return value, op.Old != value
	case op.F == CAS && op.Type == history.Info && op.Old != value:
		return value, true
	case op.F == CAS:
		return op.Value, op.Old == value
	}
	return op.Value, true
}
