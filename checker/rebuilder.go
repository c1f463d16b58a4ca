package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// rebuild is the time in which a client rebuilds an entry.
type rebuild struct {
	note, invoke int // of its begin
	from, to     int64
	end          int // the operation at to, or -1
}

// oneRebuilder looks for rebuilds of one key that overlap: each from the invoke of its begin to the invoke of what it puts last
// before the next of its owner, or at all, or to its release. O(n log n).
func oneRebuilder(r *run) outcome {
	var f found
	puts := map[string][]int{} // by owner, in order
	for i := range r.Ops {
		if op := &r.Ops[i]; op.F == history.Write && op.Type == history.Invoke {
			puts[r.actsAs(i)] = append(puts[r.actsAs(i)], i)
		}
	}
	n, first, last := 0, -1, -1
	for _, k := range r.keys {
		var longest rebuild // of those before, the one that ends last
		for _, b := range r.rebuilds(k, puts) {
			if n++; first < 0 {
				first = b.note
			}
			last = b.note
			if longest.to > b.from {
				f.add(r, Violation{Key: k.Name, At: b.from, Operations: append(r.evidence(longest.note, b.note), longest.end)},
					"%s began to rebuild %q at %s while %s was at it since %s, until %s.", r.doer(b.note), k.Name, r.seconds(b.from),
					r.doer(longest.note), r.seconds(longest.from), r.seconds(min(longest.to, r.End)))
			}
			if b.to > longest.to {
				longest = b
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s, never two of a key at once%s.", nouns.Count(n, "rebuild"), r.rate(n, first, last)),
		summary: fmt.Sprintf("%s of %d began while another was under way%s.", nouns.Count(f.certain, "rebuild"), n, r.rate(n, first, last)),
	}
	switch {
	case n < 2:
		o.verdict, o.reason = Unknown, fmt.Sprintf("Only %s: too little to tell.", nouns.Count(n, "rebuild"))
	case r.counts.Contended == 0:
		o.verdict, r.tooLittle = Unknown, true
		o.reason = fmt.Sprintf("No contention: %s, and nobody else wanted to.", nouns.Count(n, "rebuild"))
	}
	r.lacks(&o, unfenced)
	return o
}

// rebuilds are those of one key, by their begin.
func (r *run) rebuilds(k *keyLog, puts map[string][]int) (all []rebuild) {
	begun := map[string][]int{} // by owner, in order
	for _, i := range k.Effects {
		if e := r.ByEffect[r.Ops[i].Value]; e.Invoke >= 0 {
			begun[r.actsAs(i)] = append(begun[r.actsAs(i)], e.Invoke)
		}
	}
	for _, invokes := range begun {
		slices.Sort(invokes)
	}
	for _, i := range k.Effects {
		op := &r.Ops[i]
		e := r.ByEffect[op.Value]
		if e.Invoke < 0 || op.Unfenced == nil || !op.Unfenced.Accepted && (op.Fenced == nil || !op.Fenced.Accepted) {
			continue
		}
		b := rebuild{note: i, invoke: e.Invoke, from: r.Ops[e.Invoke].Time, to: trace.Forever, end: -1}
		who := r.actsAs(i)
		b.end = lastBetween(puts[who], e.Invoke, firstAfter(begun[who], e.Invoke))
		if b.end < 0 {
			b.end = lastBetween(puts[who], e.Invoke, -1)
		}
		if b.end < 0 {
			b.end = r.gaveUp(op.Owner, e.Invoke)
		}
		if b.end >= 0 {
			b.to = r.Ops[b.end].Time
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b rebuild) int { return cmp.Compare(a.from, b.from) })
	return all
}

// lastBetween is the last of some operations behind one and before another, or before the end (-1); -1: there is none.
func lastBetween(ops []int, one, other int) int {
	n := len(ops)
	if other >= 0 {
		n = sort.SearchInts(ops, other)
	}
	if n == 0 || ops[n-1] < one {
		return -1
	}
	return ops[n-1]
}

// gaveUp is where a client went on with a rebuild no more: it abstained from its write,
// gave the lock back, died, or ended as it was asked to; -1: it did none of these.
func (r *run) gaveUp(owner string, begin int) int {
	first := firstAfter(r.abstainsOf(owner), begin)
	end := func(i int) {
		if i > begin && (first < 0 || i < first) {
			first = i
		}
	}
	if g := r.ByOwner[owner]; g != nil {
		end(g.Release)
	}
	if death := r.diedAfter(r.Ops[begin].Node, begin); death != nil {
		end(death.Begin)
	}
	if node := r.Ops[begin].Node; r.Sources[node].End >= 0 {
		if stop, asked := r.Stops[node]; asked && stop < r.Sources[node].End {
			end(r.Sources[node].End)
		}
	}
	return first
}
