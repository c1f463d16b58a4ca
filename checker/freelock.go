package checker

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// An acquire that nothing stands in the way of may take three quarters of a lease: who
// waits for one that is left behind waits for a whole one. A lease must be so long that
// these tell a wait from a slow machine, and a link that adds no more to a round trip than
// a part of it does not matter.
const (
	leastTold = int64(time.Second)
	slightOf  = 32
)

// freeLimit is how long an acquire of a free key may take.
func (r *run) freeLimit() int64 { return int64(r.Setup.Lease) / 4 * 3 }

// tellsFree: who gives a key back learns when the lock is free again.
func tellsFree(s history.Setup) (bool, string) {
	if s.Promise.Mute {
		return false, "The lock answers nothing to a release, so nobody knows from when on the key is free."
	}
	return s.Promise.DriftFactor == 0, "A release is answered by a majority of the servers, and the others may remember the holder for a while."
}

// freeLock finds acquires of a key that nobody can have held or asked for meanwhile,
// and that were not granted within the limit although no fault was open. It believes
// the service: who was told that the key is given back, or that it held none, holds none.
func freeLock(r *run) outcome {
	if r.Setup.Kind != history.Alone {
		return freeWithin(r)
	}
	j := freeing{r: r}
	for _, k := range r.keys {
		j.key(k)
	}
	limit := length(r.freeLimit())
	o := outcome{verdict: Holds, found: j.found,
		reason: fmt.Sprintf("%s of a key that was given back and that nobody else had or asked for was granted within "+
			"three quarters of a lease, %s; the slowest took %s.",
			countOf("Each of ", j.again, "acquire"), limit, length(j.slowest)),
		summary: fmt.Sprintf("%s of a key that nobody held, and that nobody else asked for, %s not granted within %s, three quarters of a lease.",
			nouns.Count(j.found.certain, "acquire"), was(j.found.certain), limit),
	}
	switch {
	case int64(r.Setup.Lease) < leastTold:
		o = outcome{verdict: Unknown, reason: fmt.Sprintf("A lease of %s is too short to tell a lock that was left "+
			"behind from a slow answer; it takes %s.", length(int64(r.Setup.Lease)), length(leastTold))}
	case j.open > 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("%s of a free key was never answered.", nouns.Count(j.open, "acquire"))
	case j.again == 0:
		o.verdict, o.reason = Unknown, "Nobody was granted a key again that had been given back and that nobody else had or asked for, with no fault."
	}
	return o
}

// freeing judges the acquires of free keys.
type freeing struct {
	r       *run
	found   found
	again   int   // granted in time, of a key that somebody had given back
	open    int   // not answered at all
	slowest int64 // of those granted in time
}

func (j *freeing) key(k *keyLog) {
	r, limit := j.r, j.r.freeLimit()
	others := rivalsOf(r.attempts(k))
	for i, a := range others.all {
		w, known := r.lasted(k.Waits[a.wait])
		op, due := &r.Ops[w.Invoke], w.From+limit
		if known && r.Ops[w.Done].Type == history.Invoke && w.To <= due { // it went on for longer than that, and nobody knows for how long
			w, known = k.Waits[a.wait], false
		}
		if op.F != history.Acquire || r.Final >= 0 && w.Invoke > r.Final {
			continue // who tries does not wait; the last ones are for deadlock-freedom
		}
		until := min(w.To, due)
		if until > r.End || trace.Meets(r.hindered(op.Node), w.From, until) || others.beside(i, w.From, until) {
			continue
		}
		granted := known && r.Ops[w.Done].Type == history.OK
		switch {
		case !known:
			j.open++ // its client may have died
		case w.To > due:
			j.tell(k, w, granted)
		case granted && len(k.Grants) > 0 && k.Grants[0].End < w.From:
			j.again++
			j.slowest = max(j.slowest, w.To-w.From)
		}
	}
}

func (j *freeing) tell(k *keyLog, w trace.Wait, granted bool) {
	r, end := j.r, "was granted it"
	switch {
	case r.Ops[w.Done].Type == history.Invoke:
		end = "was not answered until another process of it was last heard of,"
	case r.Ops[w.Done].Type == history.Note:
		end = "was not answered until it was killed or asked to end,"
	case !granted:
		end = "was not granted it: the answer came"
	}
	j.found.add(r, Violation{Key: k.Name, At: w.From + r.freeLimit(), Operations: []int{w.Invoke, w.Done}},
		"%s asked for %q at %s, which nobody can have held and nobody else asked for, and %s after %s.",
		r.client(w.Invoke), k.Name, r.seconds(w.From), end, length(w.To-w.From))
}

// hindered are the times, in order, in which a fault, or what it has left behind, may
// keep an acquire of a node: one that may hinder it but a slight delay of a link.
func (r *run) hindered(node string) []trace.Span {
	return once(&r.known.hindered, node, func() (spans []trace.Span) {
		for _, f := range slices.Concat(r.Faults, r.shocks()) {
			if f.Begin >= 0 && !r.slight(f) && r.mayHinder(f, node) {
				spans = append(spans, trace.Span{From: f.From, To: r.faded(f, r.over(f))})
			}
		}
		return trace.Union(spans)
	})
}

// rivals are the attempts of a key, by their start, of each and all before it the two
// that last longest; -1: none.
type rivals struct {
	all   []attempt
	reach [][2]int
}

func rivalsOf(all []attempt) rivals {
	reach := make([][2]int, len(all))
	for i := range all {
		best := [2]int{-1, -1}
		if i > 0 {
			best = reach[i-1]
		}
		switch {
		case best[0] < 0 || all[i].to > all[best[0]].to:
			best[0], best[1] = i, best[0]
		case best[1] < 0 || all[i].to > all[best[1]].to:
			best[1] = i
		}
		reach[i] = best
	}
	return rivals{all, reach}
}

// beside says whether an attempt other than i was alive at some time of [from, to], in
// which i began.
func (v rivals) beside(i int, from, to int64) bool {
	last := sort.Search(len(v.all), func(j int) bool { return v.all[j].from > to }) - 1
	rival := v.reach[last][0]
	if rival == i {
		rival = v.reach[last][1]
	}
	return rival >= 0 && v.all[rival].to >= from
}

// withoutVotes are attempts as a client meets them that asks again: what it took back itself, as a majority refused it, comes to each server before what
// it asks next, but where a fault or a stall was in the way.
func (r *run) withoutVotes(k *keyLog, all []attempt, node string) []attempt {
	all = slices.Clone(all)
	for i, a := range all {
		w := k.Waits[a.wait]
		if w.Done < 0 || r.Ops[w.Done].Type != history.Fail || r.Ops[w.Invoke].Node != node {
			continue
		}
		if over := after(w.To, slowAnswer); over < a.to && !trace.Meets(r.faultsFor(node), w.From, over) && !r.stalledBy(node, w.From, over) {
			all[i].to = over
		}
	}
	return all
}
