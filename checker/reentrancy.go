package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// nesting is how often a holder of a reentrant lock has it, by what it was told.
type nesting struct {
	depth     int          // acquires that said ok, less releases that may have happened
	releasing map[int]bool // invokes of inner releases that are under way
	given     int          // completion of the first inner release, plus one
	open      int          // invoke, plus one, of the first of its operations whose outcome is unknown
	again     []int        // completions of its inner acquires and releases, in order
}

// inner says whether the release invoked by i is not the last, and files it.
func (g *grant) inner(i int) bool {
	if g.nest.depth-len(g.nest.releasing) <= 1 {
		return false
	}
	if g.nest.releasing == nil {
		g.nest.releasing = map[int]bool{}
	}
	g.nest.releasing[i] = true
	return true
}

// deeper takes a grant of what its holder has already: it was told that it holds it.
func (r *run) deeper(i int, op *history.Op, g *grant, invoke int) {
	if g.release >= 0 && g.endOp == g.release && !r.saidFree(g) {
		r.resume(g, int(op.Depth)-1)
	}
	g.nest.depth++
	g.nest.again = append(g.nest.again, i)
	r.acted(g, i, op, r.ops[invoke].Time)
	g.claims = append(g.claims, claim{at: op.Time, deadline: op.Deadline, op: i})
	r.claims = append(r.claims, success{g, invoke, i})
	g.lastSeen = op.Time
}

// saidFree says whether the service answered to the last release of g that it was the last.
func (r *run) saidFree(g *grant) bool {
	return g.done >= 0 && r.ops[g.done].Type == history.OK && r.ops[g.done].Depth == 0
}

// resume takes back a last release that was none: the service says that g has had its
// lock so often all the time.
func (r *run) resume(g *grant, depth int) {
	if g.released >= 0 {
		g.nest.again = append(g.nest.again, g.released)
	} else {
		g.unsure(g.release)
	}
	g.nest.depth = depth
	g.end, g.endOp, g.release, g.done, g.released = forever, -1, -1, -1, -1
	r.hold(g)
}

// unnested takes the end of an inner release, and says whether it was one.
func (r *run) unnested(i int, op *history.Op, g *grant, invoke int) bool {
	if !g.nest.releasing[invoke] {
		return false
	}
	delete(g.nest.releasing, invoke)
	switch op.Type {
	case history.OK:
		g.nest.depth--
		g.nest.again = append(g.nest.again, i)
		if g.nest.given == 0 {
			g.nest.given = i + 1
		}
		r.acted(g, i, op, r.ops[invoke].Time) // it was told that it holds it still
		r.claims = append(r.claims, success{g, invoke, i})
	case history.Fail:
		r.lost(g, i, op)
	case history.Info:
		g.nest.depth--
		g.unsure(invoke)
	}
	return true
}

// unsure notes that what g is told of its depth cannot be known from an invoke on.
func (g *grant) unsure(invoke int) {
	if g.nest.open == 0 || invoke+1 < g.nest.open {
		g.nest.open = invoke + 1
	}
}

// reentrancy judges what the service says of holds within holds: that a holder gets
// again what it has, how often it has it by then, with which token, and that nobody
// else gets it before the last hold was given back.
func reentrancy(r *run) outcome {
	n := nested{run: r}
	for _, k := range r.keys {
		n.early(k)
	}
	n.refused()
	for _, g := range r.grants {
		n.counts(g)
	}
	o := outcome{verdict: Holds, found: n.found,
		reason:  fmt.Sprintf("A holder took its lock again %s and kept it until its last release, with the same token and the right count.", times(n.again)),
		summary: fmt.Sprintf("%s of the rules for holds within holds, of which there were %d.", breaches(n.found.certain), n.again),
	}
	if n.again == 0 && n.found.certain == 0 {
		o.verdict, o.reason = Unknown, "Nobody took again what it held."
	}
	return r.orUnseen(o)
}

type nested struct {
	*run
	found found
	again int
}

// early finds grants of others while a holder that has given back an inner hold is
// valid, and has not asked to give back the last. O(n log n).
func (n *nested) early(k *keyLog) {
	var after, granted []share // times after an inner release, and the instants of all grants
	for i, g := range k.grants {
		spans, _ := n.validity(nil, g, i) // as far as its deadlines are known
		if len(spans) > 0 && spans[0].from == g.ok {
			granted = append(granted, share{from: g.ok, to: g.ok + 1, grant: g})
		}
		if g.nest.given == 0 {
			continue
		}
		for _, s := range spans {
			from := max(s.from, n.ops[g.nest.given-1].Time+1)
			after = append(after, share{from: from, to: min(s.to, n.leasedUntil(g)), grant: g, exclusive: true})
		}
	}
	rivalries(append(after, granted...), func(a, b share) {
		if b.exclusive {
			return
		}
		g, h, given := a.grant, b.grant, a.grant.nest.given-1
		n.found.add(n.run, Violation{Key: k.name, At: h.ok, Operations: []int{g.op, given, h.op, g.release}},
			"%s gave back an inner hold of %q at %s, and %s was granted it at %s, before the last release.",
			g.who(), k.name, n.seconds(n.ops[given].Time), h.who(), n.seconds(h.ok))
	})
}

// counts follows what one holder was told, as long as all of it is known.
func (n *nested) counts(g *grant) {
	depth := 1
	for _, i := range g.nest.again {
		op := &n.ops[i]
		want := depth - 1
		if op.F != history.Release {
			n.again++
			want = depth + 1
			if op.Token != g.token {
				n.found.add(n.run, Violation{Key: g.key.name, At: op.Time, Operations: []int{g.op, i}},
					"%s took %q again at %s and was told token %d.", g.who(), g.key.name, n.seconds(op.Time), op.Token)
			}
		}
		if int(op.Depth) != want && (g.nest.open == 0 || i < g.nest.open) {
			n.found.add(n.run, Violation{Key: g.key.name, At: op.Time, Operations: []int{g.op, i}},
				"%s was told at %s that it holds %q %s, and it holds it %s.", g.who(), n.seconds(op.Time), g.key.name, times(int(op.Depth)), times(want))
		}
		depth = want
	}
	if g.endOp == g.release && g.nest.open == 0 && g.released >= 0 && !n.saidFree(g) {
		n.found.add(n.run, Violation{Key: g.key.name, At: n.ops[g.released].Time, Operations: []int{g.op, g.released}},
			"%s gave %q back for the last time and was told at %s that it holds it %s.", g.who(), g.key.name, n.seconds(n.ops[g.released].Time), times(int(n.ops[g.released].Depth)))
	}
}

// refused finds acquires of a process that held the key itself, and got nothing, or
// got it as if it were another's.
func (n *nested) refused() {
	by := map[int]*grant{} // process: its outermost hold
	pending := map[int]int{}
	for i := range n.ops {
		op := &n.ops[i]
		if op.Type == history.Invoke {
			pending[op.Process] = i
			continue
		}
		if op.F != history.Acquire && op.F != history.Try {
			continue
		}
		from := pending[op.Process]
		key, at := n.ops[from].Key, n.ops[from].Time
		g := by[op.Process]
		holds := g != nil && g.key.name == key && n.owedUntil(g, at) >= op.Time
		switch {
		case g != nil && g.key.name == key && op.Type == history.Info:
			g.unsure(from)
		case holds && op.Type == history.Fail && op.Busy:
			n.again++
			n.found.add(n.run, Violation{Key: key, At: op.Time, Operations: []int{g.op, from, i}},
				"%s held %q since %s, asked for it again, and was refused it at %s as held by another.", g.who(), key, n.seconds(g.ok), n.seconds(op.Time))
		case n.waitedForItself(g, from, i):
			n.again++
			n.found.add(n.run, Violation{Key: key, At: op.Time, Operations: []int{g.op, from, i}},
				"%s held %q since %s, asked for it again at %s, and waited for itself until %s.", g.who(), key, n.seconds(g.ok), n.seconds(at), n.seconds(op.Time))
		}
		if op.Type == history.OK && op.Depth <= 1 {
			if holds {
				n.again++
				n.found.add(n.run, Violation{Key: key, At: op.Time, Operations: []int{g.op, from, i}},
					"%s held %q since %s, and was granted it again at %s as if it had not.", g.who(), key, n.seconds(g.ok), n.seconds(op.Time))
			}
			by[op.Process] = n.byOwner[op.Owner]
		}
	}
}

// owedUntil is validUntil, and of a lock that tells no deadline at most leasedUntil.
func (r *run) owedUntil(g *grant, t int64) int64 {
	return min(r.validUntil(g, t), r.leasedUntil(g))
}

// leasedUntil is, where the lock tells no deadline, the end of the lease that was asked
// for, as a holder that was stopped may not know that it has ended; else forever. A
// session is kept alive by itself, until a fault may hinder that.
func (r *run) leasedUntil(g *grant) int64 {
	if r.setup.Promise.Validity != history.Untold {
		return forever
	}
	kept := g.sent
	if r.setup.Promise.Session {
		kept = r.firstHindered(g.sent)
	}
	return max(kept, g.sent+r.leaseOf(&r.ops[g.op]))
}

// waitedForItself says whether who validly held a key asked for it again, and for most of
// a lease got no answer, and then none that gave it what it held: what it waited for was
// its own hold. A fault may keep anybody waiting.
func (n *nested) waitedForItself(g *grant, from, i int) bool {
	op, at := &n.ops[i], n.ops[from].Time
	if g == nil || g.key.name != n.ops[from].Key || op.Busy || op.Type == history.Info || op.Depth > 1 {
		return false
	}
	valid := min(n.owedUntil(g, at), op.Time)
	refused := op.Type == history.Fail || valid < op.Time
	return refused && valid-at > int64(n.setup.Lease)/2 && !meets(n.anyFault(), at, op.Time)
}

func breaches(n int) string {
	if n == 1 {
		return "1 breach"
	}
	return fmt.Sprintf("%d breaches", n)
}
