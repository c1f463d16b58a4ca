package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// attempt is a time in which somebody may have had a key, or stood in its queue.
type attempt struct {
	from, to int64
	wait     int // in keyLog.waits
}

// attempts are those of a key, in the order of their start: each from its call until it
// was refused, or until what it was granted had certainly been given back. What was
// never given back, or never answered, may last for ever, as its lease may be renewed. A
// quorum of independent nodes, which states its drift, answers before all of them have:
// for as long as its bound the others may remember what is over.
func (r *run) attempts(k *keyLog) []attempt {
	byInvoke := map[int]*grant{}
	for _, g := range k.grants {
		byInvoke[g.invoke] = g
	}
	linger := int64(0)
	if r.setup.Promise.DriftFactor > 0 {
		linger = int64(r.setup.Promise.Bound)
	}
	if r.setup.Promise.Mute {
		linger = r.aftermath() // its ok to a release does not say that the key was given back
	}
	var all []attempt
	for i, w := range k.waits {
		a := attempt{w.from, forever, i}
		switch g := byInvoke[w.invoke]; {
		case w.done < 0:
		case g != nil && g.done >= 0 && r.ops[g.done].Type != history.Info:
			a.to = r.ops[g.done].Time
		case r.ops[w.done].Type == history.Fail:
			a.to = w.to
		}
		a.to = after(a.to, linger)
		all = append(all, a)
	}
	return all
}

// honestRefusal finds refusals that say "held by another" although no other attempt
// can have been alive at any instant of them. One side only, and certain: a refusal
// beside any other attempt may have met it. O(n log n).
func honestRefusal(r *run) outcome {
	var f found
	judged := 0
	for _, k := range r.keys {
		others := rivalsOf(r.attempts(k))
		for i, a := range others.all {
			w := k.waits[a.wait]
			if w.done < 0 || !r.ops[w.done].Busy {
				continue
			}
			judged++
			if !others.beside(i, w.from, w.to) {
				f.add(r, Violation{Key: k.name, At: w.to, Operations: []int{w.invoke, w.done}},
					"%s was told at %s that another holds %q, but whoever had it had given it back before that was asked, at %s.",
					r.client(w.invoke), r.seconds(w.to), k.name, r.seconds(w.from))
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s that another holds the key can be true.", countOf("Each of ", judged, "refusal")),
		summary: fmt.Sprintf("%d of %s came although nobody can have held the key.", f.certain, nouns.Count(judged, "refusal")),
	}
	if judged == 0 {
		o.verdict, o.reason = Unknown, "Nobody was refused a key as held by another."
	}
	return o
}

// waitLimit finds acquires that came back long after the limit that they were given, or
// not at all. A try has the limit zero. What a fault or a stall delays is not judged, and
// no acquire of a lock that says that it knows no limit.
func waitLimit(r *run) outcome {
	var f found
	slack := int64(r.setup.Promise.Bound) + int64(r.setup.Lease)/4
	noise := r.anyFault()
	judged, pending, worst := 0, 0, int64(0)
	for _, k := range r.keys {
		for _, w := range k.waits {
			op := &r.ops[w.invoke]
			to := min(w.to, max(r.end, w.from))
			if op.F == history.Acquire && (op.Limit == 0 || r.setup.Promise.NoLimit) || meets(noise, w.from, to) {
				continue
			}
			late := to - w.from - op.Limit
			if w.done < 0 {
				if late > slack {
					pending++
					f.add(r, Violation{Key: k.name, At: w.from + op.Limit + slack, Operations: []int{w.invoke, len(r.ops) - 1}},
						"%s asked for %q at %s to wait for %s at most, and was not answered by the end of the run, %s after that.",
						r.client(w.invoke), k.name, r.seconds(w.from), length(op.Limit), length(late))
				}
				continue
			}
			judged++
			worst = max(worst, late)
			if late > slack {
				f.add(r, Violation{Key: k.name, At: w.to, Operations: []int{w.invoke, w.done}},
					"%s asked for %q at %s to wait for %s at most, and was answered %s after that.",
					r.client(w.invoke), k.name, r.seconds(w.from), length(op.Limit), length(late))
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s came back at most %s after its limit; the lock states %s, and a quarter of a lease is for the machine.", countOf("Each of ", judged, "attempt"), length(worst), length(int64(r.setup.Promise.Bound))),
		summary: fmt.Sprintf("%d of %s came back more than %s after its limit, or not at all.", f.certain, nouns.Count(judged+pending, "attempt"), length(slack)),
	}
	if judged == 0 {
		o.verdict, o.reason = Unknown, "No attempt had a limit that the lock was told."
	}
	return o
}

// lockInfo judges what the servers said of who holds a key: who is named must not have
// given it back before that was asked, and nobody must not be named while one client
// validly held it all the time. Of a plain mutex it is not asked: its looks are evidence
// of other violations.
func lockInfo(r *run) outcome {
	var f found
	looks := 0
	for _, k := range r.keys {
		for _, i := range k.holders {
			op := &r.ops[i]
			if op.Error != "" {
				continue
			}
			looks++
			if g := r.byOwner[op.Owner]; g != nil {
				if g.released >= 0 && !r.setup.Promise.Mute && r.ops[g.released].Time < op.Sent {
					f.add(r, Violation{Key: k.name, At: op.Time, Operations: []int{g.op, g.released, i}},
						"The servers named %s as the holder of %q when asked at %s, but had answered its release at %s.",
						g.who(), k.name, r.seconds(op.Sent), r.seconds(r.ops[g.released].Time))
				}
			}
			if g := r.heldThroughout(k, op.Sent, op.Time); g != nil && op.Owner == "" {
				f.add(r, Violation{Key: k.name, At: op.Time, Operations: []int{g.op, i}},
					"The servers named nobody as the holder of %q between %s and %s, but %s held it validly from %s.",
					k.name, r.seconds(op.Sent), r.seconds(op.Time), g.who(), r.seconds(g.ok))
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s at the servers named somebody who could hold the key.", countOf("Each of ", looks, "look")),
		summary: fmt.Sprintf("%d of %s at the servers named the wrong holder.", f.certain, nouns.Count(looks, "look")),
	}
	if looks == 0 {
		o.verdict, o.reason = NA, "Nobody looked at the servers who holds a key."
	}
	return o
}

// heldThroughout is a grant that the service owed all the time; nil: there is none.
func (r *run) heldThroughout(k *keyLog, from, to int64) *grant {
	i := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok > from })
	if i == 0 {
		return nil
	}
	g := k.grants[i-1]
	if r.owedUntil(g, from) > to {
		return g
	}
	return nil
}
