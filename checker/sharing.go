package checker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// acting are the times in which the holders of a key certainly used what they believed
// to hold: each from its grant, or its last change of mode, to its last act on it.
func (r *run) acting(k *keyLog) (all []trace.Share) {
	for _, g := range k.Grants {
		for _, s := range g.Shares(nil, g.OK, g.End) {
			acts := r.InOrder(g)
			last := sort.Search(len(acts), func(i int) bool { return acts[i].Time > s.To }) - 1
			if last >= 0 && acts[last].Time > s.From {
				s.To = acts[last].Time
				all = append(all, s)
			}
		}
	}
	return all
}

// actIn is the first act of the grant of s after t.
func (r *run) actIn(s trace.Share, t int64) int {
	_, op := r.actAfter(s.Grant, t)
	return op
}

// roleIn says how a grant is held meanwhile.
func roleIn(s trace.Share) string {
	if s.Exclusive {
		return "as the writer"
	}
	return "as a reader"
}

// rwExclusion finds writers that acted beside others. Both acted after both had been
// granted the key, so one of them was wrong to, whichever came first.
func rwExclusion(r *run) outcome {
	var f found
	readers, writers := 0, 0
	for _, k := range r.keys {
		for _, g := range k.Grants {
			if g.Mode == history.Shared {
				readers++
			} else {
				writers++
			}
			for _, t := range g.Turns {
				if t.Mode == history.Exclusive {
					writers++
				}
			}
		}
		rivalries(r.acting(k), func(a, b trace.Share) {
			f.add(r, Violation{Key: k.Name, At: b.From, Operations: []int{a.Grant.Op, b.Grant.Op, r.actIn(a, b.From), r.actIn(b, b.From)}},
				"%s held %q %s from %s and acted on it until %s, and %s held it %s from %s.",
				a.Grant.Who(), k.Name, roleIn(a), r.seconds(a.From), r.seconds(a.To), b.Grant.Who(), roleIn(b), r.seconds(b.From))
		})
	}
	r.addOwed(&f)
	r.strangers(&f)
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("No writer acted beside another client in %s of readers and %d of writers; up to %s held a "+
			"key at once.", nouns.Count(readers, "grant"), writers, nouns.Count(r.together(), "reader")),
		summary: fmt.Sprintf("%s and another client acted on one key at once %s.", "A writer", times(f.certain)),
	}
	if readers == 0 || writers == 0 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("There were %s of readers and %d of writers: that tries nothing.", nouns.Count(readers, "grant"), writers)
	}
	return r.orUnseen(o)
}

// together is how many readers held one key at once, at most.
func (r *run) together() (most int) {
	for _, k := range r.keys {
		var all []trace.Share
		for _, g := range k.Grants {
			for _, s := range g.Shares(nil, g.OK, min(g.End, max(r.End, g.OK))) {
				if s.Permits = 1; !s.Exclusive {
					all = append(all, s)
				}
			}
		}
		crowds(all, 0, func(_ trace.Share, beside []trace.Share, _ int) { most = max(most, len(beside)+1) })
	}
	return most
}

// permits finds holders beyond the number of permits that all acted after all had been
// granted theirs.
func permits(r *run) outcome {
	var f found
	most := 0
	for _, k := range r.keys {
		acting := r.acting(k)
		crowds(acting, 0, func(s trace.Share, _ []trace.Share, taken int) { most = max(most, s.Permits+taken) })
		crowds(acting, r.Setup.Permits, func(s trace.Share, beside []trace.Share, taken int) { r.tellCrowd(&f, k, s, beside, taken, "acted on") })
	}
	r.addOwed(&f)
	r.strangers(&f)
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("Of %s of each key up to %d were in use at once, in %s.",
			nouns.Count(r.Setup.Permits, "permit"), most, nouns.Count(len(r.Grants), "grant")),
		summary: fmt.Sprintf("Clients acted beyond the %s of a key %s.", nouns.Count(r.Setup.Permits, "permit"), times(f.certain)),
	}
	if most < r.Setup.Permits && f.certain == 0 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("Of %s of a key only %d were in use at once: that tries nothing.",
			nouns.Count(r.Setup.Permits, "permit"), most)
	}
	return r.orUnseen(o)
}

// crowdNamed is how many of those that are beside a share are told one by one; more only
// where these leave it room.
const crowdNamed = 50

// tellCrowd tells of a share that begins while others, which have taken so many permits,
// leave it no room.
func (r *run) tellCrowd(f *found, k *keyLog, s trace.Share, beside []trace.Share, taken int, what string) {
	ops, sum, named := []int{s.Grant.Op}, s.Permits+taken, s.Permits
	var names []string
	for i, b := range beside {
		if i >= crowdNamed && named > r.Setup.Permits {
			names = append(names, nouns.Count(len(beside)-i, "other"))
			break
		}
		ops = append(ops, b.Grant.Op, r.actIn(b, s.From))
		named += b.Permits
		names = append(names, b.Grant.Who())
	}
	f.add(r, Violation{Key: k.Name, At: s.From, Operations: append(ops, r.actIn(s, s.From))},
		"%s was granted %s of %q at %s, while %s %s theirs: %d of %d.", s.Grant.Who(), nouns.Count(s.Permits, "permit"),
		k.Name, r.seconds(s.From), strings.Join(names, ", "), what, sum, r.Setup.Permits)
}

// sharedLeases is leaseExclusion of a lock that several clients may hold.
func (r *run) sharedLeases() outcome {
	var f found
	bent := map[string]int{}
	for _, k := range r.keys {
		valid := r.valid(k, bent)
		if r.Setup.Kind == history.Semaphore {
			crowds(valid, r.Setup.Permits, func(s trace.Share, beside []trace.Share, taken int) {
				r.tellCrowd(&f, k, s, beside, taken, "validly held")
			})
			continue
		}
		pairs := map[[2]*trace.Grant]bool{}
		rivalries(valid, func(a, b trace.Share) {
			if pairs[[2]*trace.Grant{a.Grant, b.Grant}] || pairs[[2]*trace.Grant{b.Grant, a.Grant}] {
				return
			}
			pairs[[2]*trace.Grant{a.Grant, b.Grant}] = true
			f.add(r, Violation{Key: k.Name, At: b.From, Operations: []int{a.Grant.Op, b.Grant.Op}},
				"%s held %q %s from %s, while the grant of %s, %s, was valid until %s.",
				b.Grant.Who(), k.Name, roleIn(b), r.seconds(b.From), a.Grant.Who(), roleIn(a), r.until(a.To))
		})
	}
	r.grantedLate(&f)
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("Of %s none was valid beside others that it must not be beside.", nouns.Count(len(r.Grants), "grant")),
		summary: fmt.Sprintf("%s began while the leases of others left no room for it.", nouns.Count(f.certain, "valid hold")),
	}
	if len(bent) > 0 {
		o.verdict, o.reason = Unknown, r.bentReason(bent)
	}
	return r.orUnseen(o)
}

// valid are the times in which the grants of a key were valid, each in one mode; bent
// counts those whose deadlines cannot be converted, by their node.
func (r *run) valid(k *keyLog, bent map[string]int) (valid []trace.Share) {
	for i, g := range k.Grants {
		spans, known := r.OwedValidity(nil, g, i)
		if !known {
			bent[g.Node]++
		}
		for _, s := range spans {
			valid = g.Shares(valid, s.From, s.To)
		}
	}
	return valid
}

// times writes "once", "twice", "3 times".
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// wroteUnder says that a value was written under a grant.
func (r *run) wroteUnder(g *trace.Grant, value string) bool {
	slot, known := r.ByValue[value]
	return known && r.Writes[slot].Grant == g
}

// sameReads compares what each reader saw under one hold, apart from what it wrote itself, which may come late. O(n).
func sameReads(r *run) outcome {
	var f found
	type seen struct{ op, invoke int }
	last := map[*trace.Grant]seen{} // of each grant, its last look
	pending := map[int]int{}
	looks := 0
	for i := range r.Ops {
		op := &r.Ops[i]
		if op.Type == history.Invoke {
			pending[op.Process] = i
		}
		if op.F != history.Read || op.Type != history.OK || op.Unfenced == nil {
			continue
		}
		from := pending[op.Process]
		g := r.ByOwner[r.Ops[from].Owner]
		if g == nil || r.Ops[from].Time > g.End {
			continue
		}
		if before, twice := last[g]; twice {
			looks++
			if was := r.Ops[before.op].Unfenced.Value; was != op.Unfenced.Value && !r.wroteUnder(g, op.Unfenced.Value) {
				f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, before.op, from, i}},
					"%s saw %s in %q at %s, and %s at %s, although it held the key all the time.",
					g.Who(), named(was), g.Key.Name, r.seconds(r.Ops[before.op].Time), named(op.Unfenced.Value), r.seconds(op.Time))
			}
		}
		last[g] = seen{i, from}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s under one hold saw the same as the look before.", countOf("All of ", looks, "second look")),
		summary: fmt.Sprintf("%d of %s under one hold saw another's write.", f.certain, nouns.Count(looks, "second look")),
	}
	if looks == 0 {
		o.verdict, o.reason = Unknown, "No reader looked twice under one hold."
	}
	return o
}
