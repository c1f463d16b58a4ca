package models

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// guarded judges a fenced register: the resource that a lock with tokens
// guards. A write is accepted (OK) unless a higher token has been seen, and
// then refused (Fail); a read returns what was accepted last. No value is
// written twice, so a read says which write it saw.
//
// A write with its reads is a cluster, which has the register from one instant
// to another: from its write's call at the earliest and the first return among
// its operations at the latest, until the last call among them. In every
// linearization the clusters come in the order of their tokens. Of one token,
// order them by the left end of their zone, the earlier of the first return and
// the last call (zones: Gibbons and Korach 1997): of two neighbours in the other
// order, an exchange keeps what was possible and ends no later, in each of the
// four cases of zones that are points or stretches. One pass in this order gives
// each cluster its earliest instant.
//
// A write of unknown outcome counts if it was read. A refused write needs a
// higher token in place by its return. If the group of the next higher token
// among those that count comes too late, a write of unknown outcome may explain
// the refusal, called before its return, with a token up to that next one: it
// costs nothing, as all of lower tokens have ended and that group begins later.
// If there is none, another cluster of the group may go first that was called
// in time, with the others behind it in the same order; each is tried until one
// is legal. All legal orders end at the same instant, so nothing else depends on
// which one it is.
//
// The whole history is kept. O(n log n), and the square of a group only where a
// refusal asks for another first.
type guarded struct {
	k        *keyLog
	found    *found
	initial  string
	clusters map[string]*cluster // by value
	refused  []*cluster
}

// cluster is a write with its reads.
type cluster struct {
	process     int
	value       string
	token       int64
	call        Ref
	typ         history.Type // of the write; "": pending, or there is none
	wrote       bool
	reads       int
	first, last [2]Ref // call and return of the operation that returned first, that was called last
}

func (c *cluster) deadline() int { return c.first[1].Index }
func (c *cluster) until() int    { return max(c.call.Index, c.last[0].Index) }
func (c *cluster) left() int     { return min(c.deadline(), c.until()) }

// refs names its operations; there is no write of what was there at first.
func (c *cluster) refs() []Ref {
	refs := []Ref{c.first[0], c.first[1], c.last[0], c.last[1]}
	if c.call.Index >= 0 {
		refs = append(refs, c.call)
	}
	return refs
}

// lastly is its latest call.
func (c *cluster) lastly() Ref {
	if c.call.Index > c.last[0].Index {
		return c.call
	}
	return c.last[0]
}

// saw takes an operation of the cluster that returned.
func (c *cluster) saw(call, ret Ref) {
	if ret.Index < c.deadline() {
		c.first = [2]Ref{call, ret}
	}
	if call.Index > c.last[0].Index {
		c.last = [2]Ref{call, ret}
	}
}

func newFencedRegister(o Options) Decider {
	r := rules{name: "fenced-register", fs: []F{Read, Write}}
	r.judge = func(k *keyLog, f *found) judge {
		g := &guarded{k: k, found: f, initial: o.Init, clusters: map[string]*cluster{}}
		g.cluster(o.Init).wrote = true
		return g
	}
	return newFront(r, o)
}

// cluster returns the cluster of a value. What was there at first was written
// before everything else.
func (g *guarded) cluster(value string) *cluster {
	c := g.clusters[value]
	if c == nil {
		none := Ref{Index: -1}
		c = &cluster{value: value, call: none, first: [2]Ref{none, {Index: math.MaxInt}}, last: [2]Ref{none, none}}
		g.clusters[value] = c
	}
	return c
}

func (g *guarded) call(op *operation) (why string) {
	if op.F != Write {
		return ""
	}
	c := g.cluster(op.Value)
	switch {
	case op.Token <= 0:
		return fmt.Sprintf("a write without a token, or with one below 1 (%d); this model needs them", op.Token)
	case c.wrote:
		return fmt.Sprintf("value %q is written twice, or is there at first; this model needs values that are unique", op.Value)
	}
	c.wrote, c.process, c.token, c.call = true, op.Process, op.Token, op.call
	return ""
}

func (g *guarded) done(op *operation) {
	c := g.cluster(op.Value)
	switch {
	case op.F == Read && op.Type == history.OK:
		c.reads++
		c.saw(op.call, op.ret)
	case op.F == Write:
		c.typ = op.Type
		if op.Type == history.OK {
			c.saw(op.call, op.ret)
		}
		if op.Type == history.Fail {
			refusal := *c
			refusal.saw(op.call, op.ret)
			g.refused = append(g.refused, &refusal)
		}
	}
}

func (g *guarded) end() {
	counting, maybe := g.sorted()
	g.refusals(counting, maybe)
}

// sorted returns the clusters that count in the order of the pass, and the
// writes that nobody knows of by token. A read of what was not accepted is a
// violation.
func (g *guarded) sorted() (counting, maybe []*cluster) {
	for _, c := range g.clusters {
		switch {
		case c.reads > 0 && (!c.wrote || c.typ == history.Fail):
			g.found.add(c.deadline(), g.k.name, c.refs(), func() string {
				return fmt.Sprintf("%q was read %sat %s, but no write of it was accepted.", c.value, keyed(g.k), c.first[1])
			})
		case c.typ == history.OK || c.reads > 0:
			counting = append(counting, c)
		case c.typ == history.Info:
			maybe = append(maybe, c)
		}
	}
	slices.SortFunc(counting, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.left(), b.left()))
	})
	slices.SortFunc(maybe, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.call.Index, b.call.Index))
	})
	return counting, maybe
}

// refusals walks through the groups of one token and puts each in its place,
// with the refusals that need it.
func (g *guarded) refusals(counting, maybe []*cluster) {
	slices.SortStableFunc(g.refused, func(a, b *cluster) int { return cmp.Compare(a.token, b.token) })
	end, before, r := -1, (*cluster)(nil), 0
	for len(counting) > 0 {
		n := sort.Search(len(counting), func(i int) bool { return counting[i].token > counting[0].token })
		group := counting[:n]
		counting = counting[n:]
		s := r
		for r < len(g.refused) && g.refused[r].token < group[0].token {
			r++
		}
		open := unexplained(g.refused[s:r], maybe, group[0].token, end)
		end = g.place(group, open, end, &before)
	}
	for _, c := range unexplained(g.refused[r:], maybe, math.MaxInt64, end) {
		g.baseless(c)
	}
}

// unexplained returns the refusals that no write of unknown outcome explains,
// with a token up to next, when all lower ones have ended at end.
func unexplained(refused, maybe []*cluster, next int64, end int) (open []*cluster) {
	hi := sort.Search(len(maybe), func(i int) bool { return maybe[i].token > next })
	earliest := math.MaxInt
	for i := len(refused) - 1; i >= 0; i-- {
		c := refused[i]
		for hi > 0 && maybe[hi-1].token > c.token {
			hi--
			earliest = min(earliest, maybe[hi].call.Index)
		}
		if max(earliest, end) > c.deadline() {
			open = append(open, c)
		}
	}
	return open
}

// place puts a group behind end and returns its own end. The refusals must be
// explained by its first.
func (g *guarded) place(group, open []*cluster, end int, before **cluster) int {
	deadline := math.MaxInt
	for _, c := range open {
		deadline = min(deadline, c.deadline())
	}
	order := group
	if max(group[0].call.Index, end) > deadline {
		if other := reordered(group, end, deadline); other != nil {
			order = other
		}
	}
	for _, c := range open {
		if max(order[0].call.Index, end) > c.deadline() {
			g.baseless(c)
		}
	}
	for _, c := range order {
		from := max(c.call.Index, end)
		if from > c.deadline() {
			g.late(c, *before)
			continue
		}
		end, *before = max(from, c.until()), c
	}
	return end
}

// reordered returns the group with another first that can begin by the
// deadline, so that it is legal; nil: there is none. Every legal order ends at
// the same instant, the last call in the group or the end before it, so the
// first that is found will do.
func reordered(group []*cluster, end, deadline int) []*cluster {
	for i, c := range group {
		if max(c.call.Index, end) > deadline {
			continue
		}
		order := append([]*cluster{c}, group[:i]...)
		if order = append(order, group[i+1:]...); fits(order, end) {
			return order
		}
	}
	return nil
}

// fits says that an order of clusters is legal behind end.
func fits(order []*cluster, end int) bool {
	for _, c := range order {
		from := max(c.call.Index, end)
		if from > c.deadline() {
			return false
		}
		end = max(from, c.until())
	}
	return true
}

func (g *guarded) late(c, before *cluster) {
	refs, rival := c.refs(), ""
	if before != nil {
		refs = append(refs, before.refs()...)
		rival = fmt.Sprintf(", behind %q with token %d, which was there at %s", before.value, before.token, before.lastly())
	}
	g.found.add(c.deadline(), g.k.name, refs, func() string {
		return fmt.Sprintf("%q with token %d has no place %sbefore %s%s.", c.value, c.token, keyed(g.k), c.first[1], rival)
	})
}

func (g *guarded) baseless(c *cluster) {
	g.found.add(c.deadline(), g.k.name, c.refs(), func() string {
		return fmt.Sprintf("The write of %q with token %d was refused %sat %s, but no higher token can have been seen.",
			c.value, c.token, keyed(g.k), c.first[1])
	})
}
