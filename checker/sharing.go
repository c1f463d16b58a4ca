package checker

import (
	"fmt"
	"sort"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// acting are the times in which the holders of a key certainly used what they believed
// to hold: each from its grant, or its last change of mode, to its last act on it.
func (r *run) acting(k *keyLog) (all []share) {
	for _, g := range k.grants {
		for _, s := range g.shares(nil, g.ok, g.end) {
			acts := r.inOrder(g)
			last := sort.Search(len(acts), func(i int) bool { return acts[i].time > s.to }) - 1
			if last >= 0 && acts[last].time > s.from {
				s.to = acts[last].time
				all = append(all, s)
			}
		}
	}
	return all
}

// actIn is the first act of the grant of s after t.
func (r *run) actIn(s share, t int64) int {
	_, op := r.actAfter(s.grant, t)
	return op
}

func (s share) role() string {
	if s.exclusive {
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
		for _, g := range k.grants {
			if g.mode == history.Shared {
				readers++
			} else {
				writers++
			}
			for _, t := range g.turns {
				if t.mode == history.Exclusive {
					writers++
				}
			}
		}
		rivalries(r.acting(k), func(a, b share) {
			f.add(r, Violation{Key: k.name, At: b.from, Operations: []int{a.grant.op, b.grant.op, r.actIn(a, b.from), r.actIn(b, b.from)}},
				"%s held %q %s from %s and acted on it until %s, and %s held it %s from %s.",
				a.grant.who(), k.name, a.role(), r.seconds(a.from), r.seconds(a.to), b.grant.who(), b.role(), r.seconds(b.from))
		})
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("No writer acted beside another client in %s of readers and %d of writers; up to %s held a key at once.", nouns.Count(readers, "grant"), writers, nouns.Count(r.together(), "reader")),
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
		var all []share
		for _, g := range k.grants {
			for _, s := range g.shares(nil, g.ok, min(g.end, max(r.end, g.ok))) {
				if s.permits = 1; !s.exclusive {
					all = append(all, s)
				}
			}
		}
		crowds(all, 0, func(_ share, beside []share, _ int) { most = max(most, len(beside)+1) })
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
		crowds(acting, 0, func(s share, _ []share, taken int) { most = max(most, s.permits+taken) })
		crowds(acting, r.setup.Permits, func(s share, beside []share, taken int) { r.tellCrowd(&f, k, s, beside, taken, "acted on") })
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("Of %s of each key up to %d were in use at once, in %s.", nouns.Count(r.setup.Permits, "permit"), most, nouns.Count(len(r.grants), "grant")),
		summary: fmt.Sprintf("Clients acted beyond the %s of a key %s.", nouns.Count(r.setup.Permits, "permit"), times(f.certain)),
	}
	if most < r.setup.Permits && f.certain == 0 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("Of %s of a key only %d were in use at once: that tries nothing.", nouns.Count(r.setup.Permits, "permit"), most)
	}
	return r.orUnseen(o)
}

// crowdNamed is how many of those that are beside a share are told one by one; more only
// where these leave it room.
const crowdNamed = 50

// tellCrowd tells of a share that begins while others, which have taken so many permits,
// leave it no room.
func (r *run) tellCrowd(f *found, k *keyLog, s share, beside []share, taken int, what string) {
	ops, sum, named := []int{s.grant.op}, s.permits+taken, s.permits
	var names []string
	for i, b := range beside {
		if i >= crowdNamed && named > r.setup.Permits {
			names = append(names, nouns.Count(len(beside)-i, "other"))
			break
		}
		ops = append(ops, b.grant.op, r.actIn(b, s.from))
		named += b.permits
		names = append(names, b.grant.who())
	}
	f.add(r, Violation{Key: k.name, At: s.from, Operations: append(ops, r.actIn(s, s.from))},
		"%s was granted %s of %q at %s, while %s %s theirs: %d of %d.", s.grant.who(), nouns.Count(s.permits, "permit"), k.name, r.seconds(s.from), strings.Join(names, ", "), what, sum, r.setup.Permits)
}

// sharedLeases is leaseExclusion of a lock that several clients may hold.
func (r *run) sharedLeases() outcome {
	var f found
	bent := map[string]int{}
	for _, k := range r.keys {
		valid := r.valid(k, bent)
		if r.setup.Kind == history.Semaphore {
			crowds(valid, r.setup.Permits, func(s share, beside []share, taken int) { r.tellCrowd(&f, k, s, beside, taken, "validly held") })
			continue
		}
		pairs := map[[2]*grant]bool{}
		rivalries(valid, func(a, b share) {
			if pairs[[2]*grant{a.grant, b.grant}] || pairs[[2]*grant{b.grant, a.grant}] {
				return
			}
			pairs[[2]*grant{a.grant, b.grant}] = true
			f.add(r, Violation{Key: k.name, At: b.from, Operations: []int{a.grant.op, b.grant.op}},
				"%s held %q %s from %s, while the grant of %s, %s, was valid until %s.",
				b.grant.who(), k.name, b.role(), r.seconds(b.from), a.grant.who(), a.role(), r.until(a.to))
		})
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("Of %s none was valid beside others that it must not be beside.", nouns.Count(len(r.grants), "grant")),
		summary: fmt.Sprintf("%s began while the leases of others left no room for it.", nouns.Count(f.certain, "valid hold")),
	}
	if len(bent) > 0 {
		o.verdict, o.reason = Unknown, r.bentReason(bent)
	}
	return r.orUnseen(o)
}

// valid are the times in which the grants of a key were valid, each in one mode; bent
// counts those whose deadlines cannot be converted, by their node.
func (r *run) valid(k *keyLog, bent map[string]int) (valid []share) {
	for i, g := range k.grants {
		spans, known := r.validity(nil, g, i)
		if !known {
			bent[g.node]++
		}
		for _, s := range spans {
			valid = g.shares(valid, s.from, s.to)
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

// sameReads compares what each reader saw under one hold, apart from what it wrote.
func sameReads(r *run) outcome {
	var f found
	type seen struct{ op, invoke int }
	last := map[*grant]seen{} // of each grant, its last look
	pending := map[int]int{}
	looks := 0
	for i := range r.ops {
		op := &r.ops[i]
		if op.Type == history.Invoke {
			pending[op.Process] = i
			if op.F == history.Write {
				delete(last, r.byOwner[op.Owner]) // from now on it sees its own
			}
		}
		if op.F != history.Read || op.Type != history.OK || op.Unfenced == nil {
			continue
		}
		from := pending[op.Process]
		g := r.byOwner[r.ops[from].Owner]
		if g == nil || r.ops[from].Time > g.end {
			continue
		}
		if before, twice := last[g]; twice {
			looks++
			if was := r.ops[before.op].Unfenced.Value; was != op.Unfenced.Value {
				f.add(r, Violation{Key: g.key.name, At: op.Time, Operations: []int{g.op, before.op, from, i}},
					"%s saw %q in %q at %s, and %q at %s, although it held the key all the time.",
					g.who(), was, g.key.name, r.seconds(r.ops[before.op].Time), op.Unfenced.Value, r.seconds(op.Time))
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

// starvation finds writers that waited while readers that asked later were let in. Who
// is granted beside readers that hold already is no sooner for it, so what counts is a
// reader that asked after the writer by more than what a fault leaves behind.
func starvation(r *run) outcome {
	var f found
	waits, longest := 0, int64(0)
	noise := r.anyFault()
	for _, k := range r.keys {
		later := peaks{n: len(k.grants), value: func(i int) int64 { // readers, by when they asked
			if k.grants[i].mode != history.Shared {
				return -forever
			}
			return k.grants[i].invoked
		}}
		for _, w := range k.waits {
			op := &r.ops[w.invoke]
			if op.F != history.Acquire || modeOf(op) == history.Shared || w.done >= 0 && r.ops[w.done].Type == history.Info {
				continue
			}
			to := min(w.to, max(r.end, w.from)) // who waits at the end has waited so long
			waits++
			longest = max(longest, to-w.from)
			if to-w.from <= r.patience() || meets(noise, w.from, to) {
				continue
			}
			first, end := k.granted(w.from, to)
			if i := later.first(first, end, w.from+r.patience()); i >= 0 {
				g := k.grants[i]
				f.add(r, Violation{Key: k.name, At: g.ok, Operations: []int{w.invoke, w.done, g.invoke, g.op}},
					"%s waited to write %q since %s, and %s, which asked %s after it, read it at %s.",
					op.Node, k.name, r.seconds(w.from), g.who(), length(g.invoked-w.from), r.seconds(g.ok))
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The longest of %s of a writer took %s.", nouns.Count(waits, "wait"), length(longest)),
		summary: fmt.Sprintf("%d of %s of a writer went on while later readers were let in.", f.certain, nouns.Count(waits, "wait")),
	}
	if waits == 0 {
		o.verdict, o.reason = Unknown, "No writer waited."
	}
	return o
}
