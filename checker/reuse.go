package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// What becomes of the permits of a dead holder, which others may take together.

// leftAt is what was left of g at a time.
func leftAt(g *trace.Grant, t int64) trace.Share {
	left := asGranted(g)
	for _, s := range g.Shares(nil, g.OK, t) {
		left = s
	}
	return left
}

// reuseAfter is the first grant proven after t that must not be beside what was left of g by then, or that took it with
// others, which were owed theirs then; nil: there is none.
func (r *run) reuseAfter(g *trace.Grant, t int64) (next *trace.Grant, with []*trace.Grant) {
	k, left := r.logOf(g.Key), leftAt(g, t)
	of := r.rivalsOf(left)
	for next = k.nextAfter(g, t); next != nil && !of.has(next); {
		next = k.nextAfter(g, next.OK)
	}
	if r.Setup.Kind != history.Semaphore {
		return next, nil
	}
	crowds := r.crowdsOf(k, r.Setup.Permits-left.Permits)
	i := sort.Search(len(crowds), func(i int) bool { return crowds[i] > t })
	if i == len(crowds) || next != nil && next.OK <= crowds[i] {
		return next, nil
	}
	next = k.nextAfter(g, crowds[i]-1)
	for _, h := range r.owedAt(k, g, crowds[i]) {
		if h != next {
			with = append(with, h)
		}
	}
	return next, with
}

// besideOf says beside whom something was granted.
func besideOf(with []*trace.Grant) string {
	if len(with) == 0 {
		return ""
	}
	return fmt.Sprintf(" beside %s, which left no permit but those", nouns.Count(len(with), "other grant"))
}

// permitsKept is a time of more than the bound, behind the death of the holder g and its lease, in which somebody waited for what
// only the permits of the dead left no room for, and nobody was granted any.
func (r *run) permitsKept(g *trace.Grant, death *trace.Fault, since int64) (d drought, kept bool) {
	if r.Setup.Kind != history.Semaphore || r.keepsAll(g) {
		return d, false
	}
	k, whole := r.logOf(g.Key), trace.Span{From: since, To: r.End}
	if reuse, _ := r.reuseAfter(g, death.From); reuse != nil {
		whole.To = max(since, min(whole.To, reuse.OK))
	}
	var others []trace.Share
	for _, a := range r.attempts(k) {
		if w := k.Waits[a.wait]; w.Invoke != g.Invoke && w.Done >= 0 && r.Ops[w.Done].Type == history.OK {
			a.from = w.To
			others = append(others, r.shares(a, a.to, k)...)
		}
	}
	without := r.freeOf(r.demand(k, others))
	left := leftAt(g, death.From)
	left.From, left.To = death.From, r.End
	with := trace.Union(r.freeOf(r.demand(k, append(others, left))))
	for _, clear := range r.unhindered(k, whole, death, r.suspects(k)) {
		for _, free := range eachWithout(within(without, clear), with) {
			for _, w := range r.joined(k.Waits, free.From, free.To, 0) {
				from, to := k.dry(w.from, w.to)
				if to-from > int64(r.Setup.Promise.Bound) {
					return drought{from: from, to: to, wait: w}, true
				}
			}
		}
	}
	return d, false
}

// within are the parts of some spans in a time.
func within(spans []trace.Span, in trace.Span) (parts []trace.Span) {
	for _, s := range spans {
		if from, to := max(s.From, in.From), min(s.To, in.To); from < to {
			parts = append(parts, trace.Span{From: from, To: to})
		}
	}
	return parts
}
