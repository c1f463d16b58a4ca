package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// reentrancy judges what the service says of holds within holds: that a holder gets
// again what it has, how often it has it by then, with which token, and that nobody
// else gets it before the last hold was given back.
func reentrancy(r *run) outcome {
	n := nested{run: r}
	for _, k := range r.keys {
		n.early(k)
	}
	n.refused()
	n.delayed()
	for _, g := range r.Grants {
		n.counts(g)
	}
	o := outcome{verdict: Holds, found: n.found,
		reason:  fmt.Sprintf("A holder took its lock again %s and kept it until its last release, with the same token and the right count.", times(n.again)),
		summary: fmt.Sprintf("%s of the rules for holds within holds, of which there were %d.", breaches(n.found.certain), n.again),
	}
	if n.again == 0 && n.found.certain == 0 {
		o.verdict, o.reason = Unknown, "Nobody is known to have taken again what it certainly held."
	}
	return r.orUnseen(o)
}

type nested struct {
	*run
	found   found
	again   int
	unclear map[wanted][]opsUnclear // when a client may have more of a key than it knows; see heldNothing
	last    map[int]int             // operation of each process
	asked   map[wanted][]nestedAsk  // see requestsOf
}

// early finds grants of others while a holder that has given back an inner hold is
// valid, and has not asked to give back the last. O(n log n).
func (n *nested) early(k *keyLog) {
	var after, granted []trace.Share // times after an inner release, and the instants of all grants
	for i, g := range k.Grants {
		spans, _ := n.Validity(nil, g, i) // as far as its deadlines are known
		if len(spans) > 0 && spans[0].From == g.OK {
			granted = append(granted, trace.Share{From: g.OK, To: g.OK + 1, Grant: g})
		}
		if g.Nest.Given == 0 {
			continue
		}
		for _, s := range spans {
			from := max(s.From, n.Ops[g.Nest.Given-1].Time+1)
			after = append(after, trace.Share{From: from, To: min(s.To, n.leasedUntil(g)), Grant: g, Exclusive: true})
		}
	}
	rivalries(append(after, granted...), func(a, b trace.Share) {
		if b.Exclusive {
			return
		}
		g, h, given := a.Grant, b.Grant, a.Grant.Nest.Given-1
		n.found.add(n.run, Violation{Key: k.Name, At: h.OK, Operations: []int{g.Op, given, h.Op, g.Release}},
			"%s gave back an inner hold of %q at %s, and %s was granted it at %s, before the last release.",
			g.Who(), k.Name, n.seconds(n.Ops[given].Time), h.Who(), n.seconds(h.OK))
	})
}

// counts follows what one holder was told, as long as all of it is known.
func (n *nested) counts(g *trace.Grant) {
	if op := &n.Ops[g.Op]; op.Depth > 1 && !g.Whole() && n.heldNothing(g) {
		n.found.add(n.run, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op}},
			"%s was granted %q at %s and told that it holds it %s, and it had held nothing.", g.Who(), g.Key.Name, n.seconds(op.Time), times(int(op.Depth)))
	}
	for _, i := range slices.Concat(g.Nest.Again, g.Nest.Told) {
		op := &n.Ops[i]
		if op.F == history.Release {
			continue
		}
		n.again++
		if n.anotherThread(g, i) {
			n.found.add(n.run, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, i}},
				"%s held %q since %s in one thread, and another thread of it took it again at %s.", g.Who(), g.Key.Name,
				n.seconds(g.OK), n.seconds(op.Time))
		}
		if !n.hadToken(g, op.Token, i) {
			n.found.add(n.run, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, i}},
				"%s took %q again at %s and was told token %d.", g.Who(), g.Key.Name, n.seconds(op.Time), op.Token)
		}
	}
	for _, s := range append(n.strays(g), n.beyond(g)...) {
		op := &n.Ops[s.op]
		if s.op == g.Done && s.want == 0 {
			n.found.add(n.run, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, s.op}},
				"%s gave %q back for the last time and was told at %s that it holds it %s.", g.Who(), g.Key.Name, n.seconds(op.Time), times(int(op.Depth)))
			continue
		}
		n.found.add(n.run, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, s.op}},
			"%s was told at %s that it holds %q %s, and it holds it %s.", g.Who(), n.seconds(op.Time), g.Key.Name, times(int(op.Depth)), times(s.want))
	}
}

// anotherThread says that of a lock that is reentrant by thread another one than that which was granted g took it again.
// A thread whose request came to no certain end goes on as another process.
func (n *nested) anotherThread(g *trace.Grant, i int) bool {
	if n.last == nil {
		n.last = map[int]int{}
		for i := range n.Ops {
			if n.Ops[i].Type != history.Note {
				n.last[n.Ops[i].Process] = i
			}
		}
	}
	return n.Setup.Promise.Reentry == history.ByThread && n.Ops[i].Process != g.Process && n.last[g.Process] > i
}

// opsUnclear is a stretch of operations, from one to another, in which a client may have more of a key than it knows. In a
// list they are in the order of their begin, and each ends no earlier than those before it.
type opsUnclear struct{ from, to int }

// heldNothing says that the client of g certainly had nothing of its key before: all that it was granted was said to be
// given back for the last time, or not to be held, or had gone to another, and it knows how all that it asked for ended.
func (n *nested) heldNothing(g *trace.Grant) bool {
	if n.unclear == nil {
		n.findUnclear()
	}
	all := n.unclear[wanted{g.Node, g.Key.Name}]
	before := sort.Search(len(all), func(i int) bool { return all[i].from >= g.Op })
	return before == 0 || all[before-1].to < g.Invoke
}

// findUnclear fills unclear.
func (n *nested) findUnclear() {
	n.unclear = map[wanted][]opsUnclear{}
	for i := range n.Ops {
		op := &n.Ops[i]
		if done, ended := n.Ended(i); op.Type == history.Invoke && (!ended || n.Ops[done].Type == history.Info) {
			who := wanted{op.Node, op.Key}
			n.unclear[who] = append(n.unclear[who], opsUnclear{i, len(n.Ops)})
		}
	}
	for _, h := range n.Grants {
		if n.SaidFree(h) || n.deniedBefore(h, len(n.Ops)-1, len(n.Ops)-1) >= 0 {
			continue
		}
		to := len(n.Ops)
		if by := n.supersededBy(h); by != nil && !n.both(h, by) {
			to = by.Op
		}
		who := wanted{h.Node, h.Key.Name}
		n.unclear[who] = append(n.unclear[who], opsUnclear{h.Op, to})
	}
	for _, all := range n.unclear {
		slices.SortFunc(all, func(a, b opsUnclear) int { return cmp.Compare(a.from, b.from) })
		for i := range all {
			all[i].to = max(all[i].to, all[max(i-1, 0)].to)
		}
	}
}

// holder is who has a key: a thread or, of a lock that is reentrant by process, its client.
type holder struct {
	node, key string
	process   int
}

func (n *nested) holder(op *history.Op, key string) holder {
	if n.Setup.Promise.Reentry == history.ByProcess {
		return holder{node: op.Node, key: key}
	}
	return holder{process: op.Process, key: key}
}

// refused finds acquires of who held the key, and got nothing, or got it as if it were another's.
func (n *nested) refused() {
	by := map[holder]*trace.Grant{} // its outermost hold
	pending := map[int]int{}
	for i := range n.Ops {
		op := &n.Ops[i]
		if op.Type == history.Invoke {
			pending[op.Process] = i
			continue
		}
		if op.F != history.Acquire && op.F != history.Try {
			continue
		}
		from := pending[op.Process]
		key, at := n.Ops[from].Key, n.Ops[from].Time
		who := n.holder(op, key)
		g := by[who]
		until := at
		if g != nil {
			until = n.owedUntil(g, at) // at: it was over
		}
		holds := until > at && until >= op.Time
		if op.Type == history.Info || op.Type == history.OK && op.Depth > 1 {
			n.keptWaiting(g, trace.Wait{Invoke: from, Done: i, From: at, To: op.Time})
		}
		switch {
		case g != nil && op.Type == history.Info:
			g.Unsure(from)
		case holds && op.Type == history.Fail && op.Busy:
			n.again++
			n.found.add(n.run, Violation{Key: key, At: op.Time, Operations: []int{g.Op, from, i}},
				"%s held %q since %s, asked for it again, and was refused it at %s as held by another.", g.Who(), key, n.seconds(g.OK), n.seconds(op.Time))
		case n.waitedForItself(g, from, i):
			n.again++
			n.found.add(n.run, Violation{Key: key, At: op.Time, Operations: []int{g.Op, from, i}},
				"%s held %q since %s, asked for it again at %s, and waited for itself until %s.", g.Who(), key,
				n.seconds(g.OK), n.seconds(at), n.seconds(op.Time))
		}
		if op.Type == history.OK && op.Depth <= 1 {
			if holds || n.crossed(g, op, from) {
				n.again++
				n.found.add(n.run, Violation{Key: key, At: op.Time, Operations: []int{g.Op, from, i}},
					"%s held %q since %s, and was granted it again at %s as if it had not.", g.Who(), key, n.seconds(g.OK), n.seconds(op.Time))
			}
			by[who] = n.ByOwner[op.Owner]
		}
	}
	n.unanswered(by, pending)
}

// delayed finds acquires with an unknown outcome of which the request may have come late, and
// have been one more hold of what its client was granted meanwhile: from then on nobody knows
// how often that has it. A request is under way for a lease and the stated bound at most.
func (n *nested) delayed() {
	for _, g := range n.Grants {
		if trace.Meets(n.unknownOf(g), g.Invoked, g.OK) {
			g.Unsure(g.Op)
		}
	}
}

// wanted is which client asked for which key.
type wanted struct{ node, key string }

// unknownOf are the times in which a request of the client of g for its key that has no certain end may have come.
func (r *run) unknownOf(g *trace.Grant) []trace.Span {
	if r.known.unknown == nil {
		r.known.unknown = map[wanted][]trace.Span{}
		for _, k := range r.keys {
			for _, w := range k.Waits {
				if w.Done >= 0 && r.Ops[w.Done].Type == history.Info {
					of := wanted{r.Ops[w.Invoke].Node, k.Name}
					r.known.unknown[of] = append(r.known.unknown[of], trace.Span{From: w.From, To: after(w.To, r.mayBeGranted(k))})
				}
			}
		}
		for of, spans := range r.known.unknown {
			r.known.unknown[of] = trace.Union(spans)
		}
	}
	return r.known.unknown[wanted{g.Node, g.Key.Name}]
}

// owedUntil is validUntil, and of a lock that reports no deadline at most leasedUntil.
func (r *run) owedUntil(g *trace.Grant, t int64) int64 {
	return min(r.validUntil(g, t), r.leasedUntil(g))
}

// leasedUntil is, where the lock reports no deadline, the end of the lease that was asked
// for, as a holder that was stopped may not know that it has ended; else forever. A
// session is kept alive by itself, until a fault may hinder that, and so is what a lock without a lease gives.
func (r *run) leasedUntil(g *trace.Grant) int64 {
	if !r.Setup.Promise.Leased {
		return r.firstCause(g)
	}
	if r.Setup.Promise.Validity != history.Untold {
		return trace.Forever
	}
	kept, lease := g.Sent, r.LeaseOf(&r.Ops[g.Op])
	if r.Setup.Promise.Renews { // its last heartbeat may have been before
		lease /= 2
		if r.Setup.Promise.Session {
			kept = r.firstCause(g)
		}
	}
	return max(kept, g.Sent+lease)
}

func breaches(n int) string {
	if n == 1 {
		return "1 breach"
	}
	return fmt.Sprintf("%d breaches", n)
}
