package models

import (
	"fmt"
	"slices"

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
	raises []raise // by renewals, since the oldest pending call
	good   bool    // the last grant or renewal that returned OK was in order
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

func newTokens(k *keyLog, f *found) *tokens {
	return &tokens{k: k, found: f, seen: map[int64]grant{}}
}

func (t *tokens) call(op *operation) string {
	op.floor = t.top
	return ""
}

func (t *tokens) done(op *operation) {
	o := op.owner
	switch {
	case op.Type == history.Fail:
	case taking(op.F) && op.Type == history.Info:
		if o.name != "" {
			o.maybe++
		}
	case op.Type == history.Info:
	case op.F == Release:
		t.returned(op)
		o.token, o.lent = 0, false
	case op.F == Extend, op.Token > 0 && op.Token == o.token:
		t.good = t.renewed(op)
	default:
		t.good = op.Token == 0 || t.rises(op)
		o.token, o.lent = op.Token, true
	}
}

// returned judges a release that returned OK. A lock that was lost is given back like any
// other, but not one that was never had.
func (t *tokens) returned(op *operation) {
	o := op.owner
	switch {
	case o.lent:
	case o.maybe > 0:
		o.maybe--
	case o.name != "" && t.k.untold > 0, o.name == "" && t.k.named:
		t.found.doubted(fmt.Sprintf("%s gave back %sat %s what it may never have had", op.who(), keyed(t.k), op.ret))
	default:
		t.found.add(op.ret.Index, t.k.name, []Ref{op.call, op.ret}, func() string {
			return fmt.Sprintf("%s gave back %sat %s what it had never been granted, or had given back before.", op.who(), keyed(t.k), op.ret)
		})
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
	for _, r := range t.raises {
		if good && g.token > r.from && g.token < r.token && g.owner != r.owner {
			t.between(r, g, g.ret.Index)
			return false
		}
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
	o, held, later := op.owner, op.owner.token, op.floor
	switch {
	case held > 0 && o.maybe > 0: // which may have been granted it anew, at any time since
		t.found.doubted(fmt.Sprintf("%s went on %safter an acquire of unknown outcome and renewed at %s", op.who(), keyed(t.k), op.ret))
		return true
	case held == 0 && o.lent: // of a grant without a token
		o.token = op.Token
	case held == 0 && (o.maybe > 0 || o.name != "" && t.k.untold > 0 || o.name == "" && t.k.named):
		t.found.doubted(fmt.Sprintf("%s renewed %sat %s what an acquire of unknown outcome may have given it", op.who(), keyed(t.k), op.ret))
	case held == 0:
		t.found.add(op.ret.Index, t.k.name, []Ref{op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its lease is renewed, but it had been granted none, or had "+
				"given it back.", op.who(), keyed(t.k), op.ret)
		})
	case later.token > held && later.owner != o && o.name != "" && t.k.untold > 0:
		t.found.doubted(fmt.Sprintf("%s renewed %sat %s after %s had been granted it, and an acquire of unknown outcome "+
			"and owner may have granted it anew", op.who(), keyed(t.k), op.ret, later.who()))
	case later.token > held && later.owner != o:
		t.found.add(op.ret.Index, t.k.name, []Ref{later.call, later.ret, op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its lease with token %d is renewed; %s had been granted it at "+
				"%s with token %d, before that was asked.",
				op.who(), keyed(t.k), op.ret, held, later.who(), later.ret, later.token)
		})
	case op.Token > 0 && op.Token < held:
		t.found.add(op.ret.Index, t.k.name, []Ref{op.call, op.ret}, func() string {
			return fmt.Sprintf("%s was told %sat %s that its token is %d now, which is below %d, the one it had.", op.who(), keyed(t.k), op.ret, op.Token, held)
		})
	case op.Token > held:
		return t.raised(op, held)
	default:
		return true
	}
	return false
}

// raise is a renewal that answered another token. The lock was its owner's all the time
// between the two.
type raise struct {
	grant
	from int64
}

// raised judges a renewal that answered a higher token, which counts like a grant's.
func (t *tokens) raised(op *operation, from int64) bool {
	for _, g := range t.recent {
		if g.token > from && g.token <= op.Token && g.owner != op.owner {
			t.between(raise{granted(op), from}, g, op.ret.Index)
			return false
		}
	}
	good := t.rises(op)
	op.owner.token = op.Token
	t.raises = append(t.raises, raise{granted(op), from})
	return good
}

// between reports a grant with a token between the two of a renewal.
func (t *tokens) between(r raise, g grant, at int) {
	t.found.add(at, t.k.name, []Ref{g.call, g.ret, r.call, r.ret}, func() string {
		return fmt.Sprintf("%s was granted %sat %s with token %d, but the renewal of %s at %s went from token %d to %d, so nobody else had it meanwhile.",
			g.who(), keyed(t.k), g.ret, g.token, r.who(), r.ret, r.from, r.token)
	})
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
	t.raises = slices.DeleteFunc(t.raises, func(r raise) bool { return r.ret.Index < oldest })
}
