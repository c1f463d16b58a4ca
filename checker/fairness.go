package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// fairness looks for clients that were overtaken while they waited. Two requests
// under way at once have no order of arrival that a client could know, so only
// two things tell it for certain. The token of a lock that queues is the place in
// its queue. And while nothing is at fault, a client that has waited for longer than
// a lease and the bound that the lock states has come before who asks then.
// O(n log n).
func fairness(r *run) outcome {
	q := queue{run: r, noise: r.anyFault()}
	q.lost = r.faultyAs("crash", func(f *fault) bool { return f.kind == "crash" }) // tokens may begin again
	for _, k := range r.keys {
		q.key(k)
	}
	o := outcome{verdict: Holds, found: q.found,
		reason:  fmt.Sprintf("Nobody was overtaken in %s during which others were granted the key.", nouns.Count(q.waits, "wait")),
		summary: fmt.Sprintf("%d of %s during which others were granted the key %s overtaken.", q.found.certain, nouns.Count(q.waits, "wait"), was(q.found.certain)),
	}
	if q.waits > 0 {
		return o
	}
	if o = r.orUnseen(o); o.verdict == Holds {
		o.verdict, o.reason = NA, "Nobody was granted a key while another client waited for it, in an order that is known."
	}
	return o
}

// queue is where waiters stand.
type queue struct {
	*run
	found       found
	waits       int // in which others were granted the key, in an order that is known
	lost, noise []span
}

func (q *queue) key(k *keyLog) {
	places := peaks{n: len(k.grants), value: func(i int) int64 { return k.grants[i].token }}
	starts := peaks{n: len(k.grants), value: func(i int) int64 { return k.grants[i].invoked }}
	// Where tokens rise with the answers, as they mostly do, nobody's place was taken.
	rising := slices.IsSortedFunc(k.grants, func(a, b *grant) int { return cmp.Compare(a.token, b.token) })
	first := 0 // of the grants proven after the wait began
	for _, w := range k.waits {
		for ; first < len(k.grants) && k.grants[first].ok <= w.from; first++ {
		}
		if first == len(k.grants) || w.done < 0 || q.ops[w.invoke].F != history.Acquire {
			continue
		}
		g, until := q.waited(w)
		if k.grants[first].ok >= until {
			continue
		}
		byPlace, byTime := -1, starts.in(k.granted(q.undisturbed(w, until)))
		placed := g != nil && g.token != 0 && !meets(q.lost, w.from, until)
		if placed && !rising {
			byPlace = places.in(k.granted(w.from, until))
		}
		if placed || byTime >= 0 {
			q.waits++
		}
		switch {
		case byPlace >= 0 && k.grants[byPlace].token > g.token:
			q.tell(k, w, k.grants[byPlace], "which had a place behind it in the queue")
		case byTime >= 0 && k.grants[byTime].invoked > w.from+q.aftermath():
			q.tell(k, w, k.grants[byTime], "which asked "+length(k.grants[byTime].invoked-w.from)+" after it")
		}
	}
}

// waited is the grant that a wait ended with, nil if there was none, and the time
// until which it certainly waited: who gives up leaves the queue before it says so,
// and of an unknown outcome nothing is certain.
func (q *queue) waited(w wait) (g *grant, until int64) {
	switch op := &q.ops[w.done]; op.Type {
	case history.OK:
		g := q.byOwner[op.Owner]
		return g, g.sent
	case history.Fail:
		return nil, w.to - q.aftermath()
	}
	return nil, w.from
}

// undisturbed is the time, after a lease and the bound, in which w still waited and
// nothing had been at fault since it began.
func (q *queue) undisturbed(w wait, until int64) (from, to int64) {
	i := sort.Search(len(q.noise), func(i int) bool { return q.noise[i].to >= w.from })
	if i < len(q.noise) {
		until = min(until, q.noise[i].from)
	}
	return w.from + q.aftermath(), until
}

func (q *queue) tell(k *keyLog, w wait, by *grant, how string) {
	q.found.add(q.run, Violation{Key: k.name, At: by.ok, Operations: []int{w.invoke, w.done, by.invoke, by.op}},
		"%s waited for %q since %s and was overtaken at %s by %s, %s.",
		q.client(w.invoke), k.name, q.seconds(w.from), q.seconds(by.ok), by.who(), how)
}

// granted are the indexes, in k.grants, of those proven after from and before to;
// where from is not before to, end is not after first.
func (k *keyLog) granted(from, to int64) (first, end int) {
	first = sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok > from })
	end = sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok >= to })
	return first, end
}

// peaks finds the greatest of a range of n values: a tree whose leaves are their
// indexes, and whose inner nodes name the greater of two. It is made when first asked.
type peaks struct {
	n     int
	tree  []int
	value func(int) int64
}

func (p *peaks) grow() {
	p.tree = make([]int, 2*p.n)
	for i := range p.n {
		p.tree[p.n+i] = i
	}
	for i := p.n - 1; i > 0; i-- {
		p.tree[i] = p.greater(p.tree[2*i], p.tree[2*i+1])
	}
}

func (p *peaks) greater(a, b int) int {
	if a < 0 || b >= 0 && p.value(b) > p.value(a) {
		return b
	}
	return a
}

// in is the index of the greatest value from first to before end, -1 if there is none.
func (p *peaks) in(first, end int) int {
	if p.tree == nil {
		p.grow()
	}
	best := -1
	for i, j := p.n+first, p.n+end; i < j; i, j = i/2, j/2 {
		if i&1 == 1 {
			best = p.greater(best, p.tree[i])
			i++
		}
		if j&1 == 1 {
			j--
			best = p.greater(best, p.tree[j])
		}
	}
	return best
}

// first is the index of the first value above a limit, from first to before end; -1: none.
func (p *peaks) first(first, end int, above int64) int {
	if i := p.in(first, end); i < 0 || p.value(i) <= above {
		return -1
	}
	n := sort.Search(end-first, func(n int) bool { return p.value(p.in(first, first+n+1)) > above })
	return first + n
}
