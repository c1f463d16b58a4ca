package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// tokens judges a lock that may be lost at any time: nothing is excluded, but
// each grant has a higher token than all before it.
//
// Linearizable if and only if each token is above the largest of the grants
// that had returned before its call, and no two are the same. Only if: those
// grants come first in every linearization. If: put the grants in the order of
// their tokens, each at the latest call among it and those before; it is not
// after its own return, as no grant with a lower token was called after that.
// An acquire of unknown outcome is dropped. A release says nothing: that of a
// lost lock returns like any other. A renewal that returned OK comes before the
// grant of the next token, so it is in the wrong if and only if one with a higher
// token than its owner's had returned before its call: it goes where its call is,
// or right behind its own grant, which returned before. It is in the wrong, too,
// if its owner had not been granted the lock or had given it back. One that
// failed or is unknown says nothing.
//
// Of two grants with one token the later either was called after the earlier
// returned, and is below the largest, or was under way then; so only tokens
// that returned since the oldest pending call are kept. O(n).
type tokens struct {
	k      *keyLog
	found  *found
	top    grant
	recent []grant // by their return
	pruned int     // of recent, those that the last prune left
	seen   map[int64]grant
	good   bool // the last grant or renewal that returned OK was in order
}

// batch is how many grants come before it is looked which can be forgotten or
// judged. A variable, as short histories must come to that, too, when tested.
var batch = 64

// grant is an acquire that returned, with its token.
type grant struct {
	token     int64
	owner     *owner
	process   int
	call, ret Ref
}

func (g *grant) who() string { return who(g.owner, g.process) }

func granted(op *operation) grant {
	return grant{op.Token, op.owner, op.Process, op.call, op.ret}
}

func newLeaseUntimed(o Options) Decider {
	r := rules{name: "lease-untimed", fs: []F{Acquire, Try, Extend, Release}, owners: true, check: tokenMissing}
	r.judge = func(k *keyLog, f *found) judge { return newTokens(k, f) }
	return newFront(r, o)
}

func newTokens(k *keyLog, f *found) *tokens {
	return &tokens{k: k, found: f, seen: map[int64]grant{}}
}

func (t *tokens) call(op *operation) string {
	op.floor = t.top
	return ""
}

func (t *tokens) done(op *operation) {
	switch {
	case op.Type == history.Fail:
	case op.F == Release:
		op.owner.token = 0
	case op.Type != history.OK:
	case op.F == Extend:
		t.good = t.renewed(op)
	default:
		t.good = t.rises(op)
		op.owner.token = op.Token
	}
}

func (t *tokens) end() {}

// rises judges the token of a grant and says whether it is in order.
func (t *tokens) rises(op *operation) bool {
	g, before := granted(op), op.floor
	good := g.token > before.token
	if same, twice := t.seen[g.token]; twice && good {
		before, good = same, false
	}
	if !good {
		t.found.add(g.ret.Index, t.k.name, []Ref{before.call, before.ret, g.call, g.ret}, func() string {
			return fmt.Sprintf("%s asked for %sat %s and was granted it at %s with token %d; %s had been granted it at %s with token %d.",
				g.who(), keyed(t.k), g.call, g.ret, g.token, before.who(), before.ret, before.token)
		})
	}
	if len(t.recent) >= 2*t.pruned+batch {
		t.prune(op.ret.Index)
	}
	t.recent = append(t.recent, g)
	t.seen[g.token] = g
	if g.token > t.top.token {
		t.top = g
	}
	return good
}

// renewed judges a renewal that returned OK and says whether it is in order.
func (t *tokens) renewed(op *operation) bool {
	held, later := op.owner.token, op.floor
	switch {
	case held == 0:
		t.found.add(op.ret.Index, t.k.name, []Ref{op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its lease is renewed, but it had been granted none, or had given it back.", op.who(), keyed(t.k), op.ret)
		})
	case later.token > held:
		t.found.add(op.ret.Index, t.k.name, []Ref{later.call, later.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its lease with token %d is renewed; %s had been granted it at %s with token %d, before that was asked.",
				op.who(), keyed(t.k), op.ret, held, later.who(), later.ret, later.token)
		})
	default:
		return true
	}
	return false
}

// prune forgets grants that every pending acquire was called after.
func (t *tokens) prune(now int) {
	oldest, n := t.k.oldest(now), 0
	for n < len(t.recent) && t.recent[n].ret.Index < oldest {
		if g := t.recent[n]; t.seen[g.token].ret == g.ret {
			delete(t.seen, g.token)
		}
		n++
	}
	t.recent = append(t.recent[:0], t.recent[n:]...)
	t.pruned = len(t.recent)
}
