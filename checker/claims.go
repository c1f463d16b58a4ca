package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// honestClaims finds extends and releases that said ok although the client held
// the lock at no instant of them: a later grant had been proven before the
// invoke, or a release of the same grant had said ok before it.
func honestClaims(r *run) outcome {
	var f found
	seen := 0
	claim := func(g *grant, i int, p int) {
		if r.setup.Promise.Mute && r.ops[i].F == history.Release {
			return // its ok says that the call returned
		}
		seen++
		op, invoke := &r.ops[i], &r.ops[p]
		maybe := g.key.maybeKept(g)
		switch {
		case g.supersededAt(invoke.Time):
			f.add(r, Violation{Key: g.key.name, At: op.Time, Possible: r.both(g, g.by), Operations: []int{g.op, g.by.op, p, i}},
				"%s was told ok to its %s of %q at %s, but %s had been granted it at %s, before that was asked.",
				g.who(), op.F, g.key.name, r.seconds(op.Time), g.by.who(), r.seconds(g.by.ok))
		case g.released >= 0 && g.released < p:
			f.add(r, Violation{Key: g.key.name, At: op.Time, Operations: []int{g.op, g.released, p, i}},
				"%s was told ok to its %s of %q at %s, but it had released it by %s.",
				g.who(), op.F, g.key.name, r.seconds(op.Time), r.seconds(r.ops[g.released].Time))
		case maybe != nil && maybe.ok < invoke.Time:
			f.add(r, Violation{Key: g.key.name, At: op.Time, Possible: true, Operations: []int{g.op, maybe.op, p, i}},
				"%s was told ok to its %s of %q at %s, and %s may have been granted it before that, at %s.",
				g.who(), op.F, g.key.name, r.seconds(op.Time), maybe.who(), r.seconds(maybe.ok))
		}
	}
	for _, c := range r.claims {
		claim(c.grant, c.done, c.invoke)
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s to extend or release, each while its client could hold the lock.", nouns.Count(seen, "ok answer")),
		summary: fmt.Sprintf("%d of %s to extend or release came although the client did not hold the lock.", f.certain, nouns.Count(seen, "ok answer")),
	}
	if seen == 0 {
		o.verdict, o.reason = Unknown, "No extend or release said ok."
	}
	return o
}

// maybeKept is the first grant that may have come after g and was never given back.
func (k *keyLog) maybeKept(g *grant) *grant {
	if k.sure {
		return nil
	}
	if k.kept == nil {
		k.kept = k.openAfter(func(h *grant) bool { return h.release < 0 })
	}
	return k.kept[g.pos]
}

// both says that h was granted while the lease of g was valid. The service has two
// holders then, as on two masters, and each was told the truth about its own.
// Of a lock that tells no deadline that cannot be said: nothing ends its claim.
func (r *run) both(g, h *grant) bool {
	return r.setup.Promise.Validity != history.Untold && r.validUntil(g, h.ok) > h.ok
}

// releaseByOwner finds releases that freed the grant of somebody else. What is
// seen of one is its effect: a release on a superseded grant G1 is followed,
// while the grant G2 that superseded it is valid and not given back, by a third
// grant, or by a look at the server that finds G2 gone. If the server had been
// seen without G2 before, its end had another cause.
func releaseByOwner(r *run) outcome {
	var f found
	late, all := 0, 0
	for _, g := range r.grants {
		if g.release < 0 {
			continue
		}
		all++
		if !g.supersededAt(r.ops[g.release].Time) {
			continue
		}
		late++
		r.judgeRelease(g, &f)
	}
	return outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("No release freed another's grant; %d of %s came after their grant was superseded.", late, nouns.Count(all, "release")),
		summary: fmt.Sprintf("%s of %d freed the grant of another client.", nouns.Count(f.certain, "release"), all),
	}
}

// judgeRelease judges the first release of g, which had been superseded.
func (r *run) judgeRelease(g *grant, f *found) {
	k, invoke := g.key, &r.ops[g.release]
	done, said := r.releaseEnd(g)
	if said == history.Fail {
		return
	}
	holder := k.holderAt(invoke.Time)
	if !surely(g, holder) {
		return
	}
	until := r.owedUntil(holder, invoke.Time)
	if r.seenWithout(k, holder, holder.ok, invoke.Time) >= 0 {
		return
	}
	possible := said != history.OK || r.both(g, holder)
	if third := k.grantBetween(invoke.Time, until, holder); third != nil {
		f.add(r, Violation{Key: k.name, At: third.ok, Possible: possible, Operations: []int{g.op, holder.op, g.release, done, third.op}},
			"%s released %q at %s on a grant that %s had superseded, and %s was granted it at %s while that grant was valid.",
			g.who(), k.name, r.seconds(invoke.Time), holder.who(), third.who(), r.seconds(third.ok))
		return
	}
	if done < 0 {
		return
	}
	if seen := r.seenWithout(k, holder, r.ops[done].Time, until); seen >= 0 {
		f.add(r, Violation{Key: k.name, At: r.ops[seen].Time, Possible: possible, Operations: []int{g.op, holder.op, g.release, done, seen}},
			"%s released %q at %s on a grant that %s had superseded, and at %s the server knew that grant no more.",
			g.who(), k.name, r.seconds(invoke.Time), holder.who(), r.seconds(r.ops[seen].Time))
	}
}

// holderAt is the last grant proven before t, of which there is one at least.
func (k *keyLog) holderAt(t int64) *grant {
	return k.grants[sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok >= t })-1]
}

// grantBetween is the first grant after t, if it was proven before until.
func (k *keyLog) grantBetween(t, until int64, not *grant) *grant {
	i := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok > t })
	if i == len(k.grants) || k.grants[i].ok >= until || k.grants[i] == not {
		return nil
	}
	return k.grants[i]
}

// validUntil is the end of the validity interval of g that contains t, else t.
func (r *run) validUntil(g *grant, t int64) int64 {
	until, _ := r.validAt(g, t)
	return until
}

// seenWithout is the first look at the server between two times that found
// somebody else than g, or nobody; -1 if there was none.
func (r *run) seenWithout(k *keyLog, g *grant, from, to int64) int {
	i := sort.Search(len(k.holders), func(i int) bool { return r.ops[k.holders[i]].Time > from })
	if i < len(k.holders) && r.ops[k.holders[i]].Owner == g.owner {
		i = r.otherLook(k, i)
	}
	if i < len(k.holders) && r.ops[k.holders[i]].Time < to {
		return k.holders[i]
	}
	return -1
}

// otherLook is the first look after look i of a key that found somebody else.
func (r *run) otherLook(k *keyLog, i int) int {
	if k.others == nil {
		k.others = make([]int, len(k.holders))
		for i := len(k.holders) - 1; i >= 0; i-- {
			if k.others[i] = i + 1; i+1 < len(k.holders) && r.ops[k.holders[i]].Owner == r.ops[k.holders[i+1]].Owner {
				k.others[i] = k.others[i+1]
			}
		}
	}
	return k.others[i]
}

// releaseEnd is the completion of the first release of g and what it said;
// Info if there is none.
func (r *run) releaseEnd(g *grant) (done int, said history.Type) {
	if g.done < 0 {
		return -1, history.Info
	}
	return g.done, r.ops[g.done].Type
}
