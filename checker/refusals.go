package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// attempt is a time in which somebody may have had a key, or stood in its queue.
type attempt struct {
	from, to int64
	wait     int          // in keyLog.waits
	grant    *trace.Grant // nil: it had none
}

// attempts are those of a key, in the order of their start: each from its call until it
// was refused, or until what it was granted had certainly been given back, or was over by its time where the service
// says that there is nothing to give back. What was never given back lasts for a lease and the bound after its last operation, and what was never
// answered as long after its client gave up; without a lease, or in a session, which lives
// as long as its client, both may last until that is over, see sessionOver. A
// quorum of independent nodes, which states its drift, answers before all of them have:
// for as long as its bound the others may remember what is over.
func (r *run) attempts(k *keyLog) []attempt {
	byInvoke, inner := map[int]*trace.Grant{}, map[int]bool{}
	for _, g := range k.Grants {
		byInvoke[g.Invoke] = g
		for _, i := range slices.Concat(g.Nest.Again, g.Nest.Told) {
			inner[i] = true // a hold within that of g lasts no longer
		}
	}
	linger := int64(0)
	switch p := r.Setup.Promise; {
	case p.Mute:
		linger = r.aftermath() // its ok to a release does not say that the key was given back
	case p.DriftFactor > 0:
		linger = int64(p.Bound)
	}
	var all []attempt
	for i, w := range k.Waits {
		g := byInvoke[w.Invoke]
		a := attempt{w.From, trace.Forever, i, g}
		switch {
		case w.Done < 0:
			a.to = r.sessionOver(r.Ops[w.Invoke].Node, w.From)
		case inner[w.Done]:
			a.to = w.To
		case g != nil && g.Done >= 0 && r.Ops[g.Done].Type != history.Info && !g.MayHold() && !r.Overdrawn(g, g.Release) && !r.KeepsSome(g, g.Released):
			if a.to = r.Ops[g.Done].Time; r.Ops[g.Done].Type == history.Fail {
				a.to = min(a.to, r.overBy(g, a.to))
			}
		case r.Ops[w.Done].Type == history.Fail:
			a.to = w.To
		case r.Setup.Promise.Session || r.Setup.Promise.Renews || !r.Setup.Promise.Leased:
			a.to = r.sessionOver(r.Ops[w.Invoke].Node, w.From)
			if g != nil && g.Told < trace.Forever { // its session has ended
				a.to = r.delivered(w, trace.Span{From: g.OK, To: after(g.Told, r.longestLease(g)+int64(r.Setup.Promise.Bound))})
			}
		case g != nil:
			a.to = after(g.LastSeen, r.longestLease(g)+int64(r.Setup.Promise.Bound))
		default:
			a.to = r.delivered(w, trace.Span{From: w.From, To: after(w.To, r.mayBeGranted(k))})
		}
		if g != nil && g.By != nil && !r.Setup.Kind.Shares() && !r.follow() {
			a.to = min(a.to, g.By.OK) // whoever was granted the key behind it found it free
		}
		a.to = after(a.to, linger)
		all = append(all, a)
	}
	return all
}

// delivered is the end of a time in which what the client of a wait has asked for may reach the service: a fault of
// that client, of its links or of servers may hold it until that has faded. The dead send nothing any more.
func (r *run) delivered(w trace.Wait, s trace.Span) int64 {
	node := r.Ops[w.Invoke].Node
	holds := r.faultyUpon("holds", node, func(f *trace.Fault) bool {
		return r.hitsServers(f) || f.Kind != "kill" && r.hitsWay(f, node)
	})
	return max(s.To, lastMeeting(holds, s.From, s.To))
}

// sessionOver is when the service has certainly ended what a client had, or asked for, as the
// client was killed after a time: a lease and the bound after the kill was seen, and after each
// fault of servers by then. Forever: it was not killed, or nothing ends what it had, or another
// fault of the client or its links may have kept its end from the service.
func (r *run) sessionOver(node string, from int64) int64 {
	p, death := r.Setup.Promise, r.deathAfter(node, from)
	if death == nil || !death.Observed || len(r.Setup.Servers) == 0 || !p.Leased && !p.Session {
		return trace.Forever
	}
	if over, known := r.known.over[death]; known {
		return over
	}
	lasts := r.leasesOfAll().renewed + int64(p.Bound) // a session may be longer than was asked for, too
	over := after(r.Ops[death.Seen].Time, lasts)
	shaken := r.serversFaults()
	for i := sort.Search(len(shaken), func(i int) bool { return shaken[i].To >= death.From }); i < len(shaken) && shaken[i].From <= over; i++ {
		over = after(shaken[i].To, lasts)
	}
	faults := r.faultsOf(node)
	at := sort.Search(len(faults), func(i int) bool { return faults[i].From >= death.From })
	if at > 0 && faults[at-1].reach >= death.From || at+1 < len(faults) && faults[at+1].From <= over {
		over = trace.Forever
	}
	if r.known.over == nil {
		r.known.over = map[*trace.Fault]int64{}
	}
	r.known.over[death] = over
	return over
}

// honestRefusal finds refusals that say "held by another" although no other attempt
// can have been alive at any instant of them. One side only, and certain: a refusal
// beside any other attempt may have met it. O(n log n).
func honestRefusal(r *run) outcome {
	var f found
	judged := 0
	for _, k := range r.keys {
		attempts := r.attempts(k)
		others, of := rivalsOf(attempts), map[string]rivals{}
		for i, a := range attempts {
			w := k.Waits[a.wait]
			if w.Done < 0 || !r.Ops[w.Done].Busy {
				continue
			}
			judged++
			if r.Setup.Promise.DriftFactor > 0 {
				node := r.Ops[w.Invoke].Node
				if _, made := of[node]; !made {
					of[node] = rivalsOf(r.withoutVotes(k, attempts, node))
				}
				others = of[node]
			}
			if !others.beside(i, w.From, w.To) {
				f.add(r, Violation{Key: k.Name, At: w.To, Operations: []int{w.Invoke, w.Done}},
					"%s was told at %s that another holds %q, but whoever had it had given it back before that was asked, at %s.",
					r.client(w.Invoke), r.seconds(w.To), k.Name, r.seconds(w.From))
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

// shares are what an attempt may have taken until a time: of a grant as much as it had by then.
func (r *run) shares(a attempt, until int64, k *keyLog) []trace.Share {
	if a.grant != nil {
		return r.taken(a.grant, a.from, until)
	}
	op := &r.Ops[k.Waits[a.wait].Invoke]
	return []trace.Share{{From: a.from, To: until, Permits: max(1, int(op.Permits)), Exclusive: !r.mayShare(op)}}
}

// freeBy says that the last release of g had been answered before a time. A request of unknown outcome may have come late, and
// have been one hold more.
func (r *run) freeBy(g *trace.Grant, by int64) bool {
	if g.Released < 0 || r.Ops[g.Released].Time >= by || r.KeepsSome(g, g.Released) {
		return false
	}
	return r.Setup.Kind != history.Reentrant || r.Ops[g.Released].Depth == 0 && g.Nest.Open == 0 && !trace.Meets(r.unknownOf(g), g.Invoked, by)
}

// lastGranted is the one that was granted the key last of those that were proven before a time; nil: there is none. Who was
// answered last may have been granted it before another one.
func (k *keyLog) lastGranted(before int64) *trace.Grant {
	if k.last == nil {
		k.last = slices.Clone(k.Grants)
		for i := 1; i < len(k.last); i++ {
			if was := k.last[i-1]; was.Pos > k.last[i].Pos {
				k.last[i] = was
			}
		}
	}
	i := sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].OK >= before })
	if i == 0 {
		return nil
	}
	return k.last[i-1]
}
