package checker

import (
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Whom a look at the servers may name, each asked of every pair.

// attempts are the acquires of a key, with their answers; nil: there is none.
func (b brute) attempts(key string, each func(asked, done *history.Op)) {
	for i := range b.r.Ops {
		asked := &b.r.Ops[i]
		if asked.F != history.Acquire || asked.Type != history.Invoke || asked.Key != key {
			continue
		}
		var done *history.Op
		for j := len(b.r.Ops) - 1; j > i; j-- {
			if op := &b.r.Ops[j]; op.Process == asked.Process && op.F == history.Acquire {
				done = op
			}
		}
		each(asked, done)
	}
}

// asked says that whom a look names had asked for its key by then, and was not told whether it was granted it.
func (b brute) asked(look *history.Op) (yes bool) {
	b.attempts(look.Key, func(asked, done *history.Op) {
		yes = yes || look.Owner != "" && asked.Time <= look.Time &&
			(done == nil && asked.Owner == look.Owner || done != nil && done.Type == history.Info && done.Owner == look.Owner)
	})
	return yes
}

// unknownNode is who asked as an owner of whom nobody knows whether it was granted anything.
func (b brute) unknownNode(owner string) string {
	for _, op := range b.r.Ops {
		if op.F == history.Acquire && op.Owner == owner {
			return op.Node
		}
	}
	return "?"
}

// behindUnknown says that g was granted between two looks that name an owner of another client that was never told of a grant.
func (b brute) behindUnknown(look *history.Op, g *trace.Grant) bool {
	return b.r.ByOwner[look.Owner] == nil && b.asked(look) && g.Key.Name == look.Key && b.unknownNode(look.Owner) != g.Node && g.OK < look.Sent &&
		slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			return o.F == history.Holder && o.Error == "" && o.Key == look.Key && o.Owner == look.Owner && b.asked(&o) && o.Time < g.Sent
		})
}

// unknownBeside says that a request of the client of g of which nobody knows how it ended may have made it one hold more by a look.
func (b brute) unknownBeside(g *trace.Grant, look *history.Op) (yes bool) {
	b.attempts(g.Key.Name, func(asked, done *history.Op) {
		yes = yes || asked.Node == g.Node && done != nil && done.Type == history.Info && asked.Time <= look.Time &&
			g.Invoked <= done.Time+int64(b.r.Setup.Lease+b.r.Setup.Promise.Bound)
	})
	return yes
}

// openRenewal says that a renewal of g, which took a millisecond, had been asked for by a look and has no answer.
func (b brute) openRenewal(g *trace.Grant, look *history.Op) bool {
	return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		return o.F == history.Extend && o.Type == history.Info && o.Owner == g.Owner && o.Time-ms <= look.Time
	})
}

// renewed says that a renewal of g was told ok between two times.
func (b brute) renewed(g *trace.Grant, from, to int64) bool {
	return slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
		return o.F == history.Extend && o.Type == history.OK && o.Owner == g.Owner && o.Time >= from && o.Time <= to
	})
}

// toldUntil is when the last lease of g is over that its client was told, or that a renewal without an answer may have made longer.
func (b brute) toldUntil(g *trace.Grant) (lasts int64) {
	seen, maybe := int64(0), int64(0)
	for _, o := range b.r.Ops {
		if o.Owner != g.Owner || o.Type == history.Note {
			continue
		}
		seen = max(seen, o.Time)
		switch {
		case o.F != history.Acquire && o.F != history.Extend:
		case o.Type == history.OK:
			lasts = max(lasts, o.Time+o.Lease)
		case o.Type == history.Info:
			maybe = int64(b.r.Setup.Lease + b.r.Setup.Promise.Bound)
		}
	}
	if maybe > 0 {
		lasts = max(lasts, seen+maybe)
	}
	return lasts
}

// named is the client whose name an owner begins with, and whether all owners that were granted a key do.
func (b brute) named(look *history.Op) (client string, all bool) {
	for _, c := range b.r.Setup.Clients {
		if strings.HasPrefix(look.Owner, c+"/") {
			client = c
		}
	}
	all = true
	b.attempts(look.Key, func(asked, done *history.Op) {
		all = all && (done == nil || done.Type != history.OK || strings.HasPrefix(done.Owner, asked.Node+"/"))
	})
	return client, all
}

// mayLinger says that a look may name an owner as which a client had asked before it asked as the one that was granted it: for a
// lease and the bound. Where owners begin with the names of their clients, one of that client.
func (b brute) mayLinger(look *history.Op) (yes bool) {
	client, all := b.named(look)
	lasts := int64(b.r.Setup.Lease+b.r.Setup.Promise.Bound) + ms
	b.attempts(look.Key, func(asked, done *history.Op) {
		granted := done != nil && done.Type == history.OK && done.Time <= look.Time && (!all || asked.Node == client)
		yes = yes || granted && (!b.r.Setup.Promise.Leased || look.Sent <= done.Time+lasts)
	})
	return yes
}

// mayBeOpen says that an acquire of who was granted g, or of whoever a look may name, was under way then, or is of unknown outcome.
func (b brute) mayBeOpen(look *history.Op, g *trace.Grant) (yes bool) {
	client, all := b.named(look)
	b.attempts(look.Key, func(asked, done *history.Op) {
		open := asked.Time <= look.Time && (done == nil || done.Type == history.Info || look.Sent <= done.Time)
		who := g == nil && (client == "" || !all || asked.Node == client) || g != nil && asked.Node == g.Node
		yes = yes || open && who
	})
	return yes
}
