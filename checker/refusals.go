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
	holds := r.faultyAs("holds "+node, func(f *trace.Fault) bool {
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
	at += slices.IndexFunc(faults[at:], func(f timed) bool { return f.fault == death })
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

// lockInfo judges what the servers said of who holds a key: who is named must not have given it back, another have been
// granted it or been named, or its lease have ended, before that was asked, and nobody, or another client of this run, must not
// be named while one client validly held it all the time.
func lockInfo(r *run) outcome {
	var f found
	looks, known := 0, 0
	for _, k := range r.keys {
		for _, i := range k.Holders {
			op := &r.Ops[i]
			if !r.trusted(op) {
				continue
			}
			if looks++; op.Owner == "" || r.heardOf(k, op) {
				known++
			}
			g, other := r.heldThroughout(k, i), r.ByOwner[op.Owner]
			gone := r.goneBefore(k, other, op)
			by, shows := r.grantedBehind(k, i)
			switch {
			case other != nil && r.gaveBack(other, op):
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{other.Op, other.Released, i}},
					"The servers named %s as the holder of %q when asked at %s, but had answered its release at %s.",
					other.Who(), k.Name, r.seconds(op.Sent), r.seconds(r.Ops[other.Released].Time))
			case g != nil && other == nil && op.Owner != "" && (r.namesHolders(k) || r.without(op, g)): // whatever a few servers still know: most have g
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, i}},
					"The servers named %q as the holder of %q between %s and %s, but %s held it validly from %s.",
					op.Owner, k.Name, r.seconds(op.Sent), r.seconds(op.Time), g.Who(), r.seconds(g.OK))
			case g != nil && other != nil && other != g:
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, other.Op, i}},
					"The servers named %s as the holder of %q between %s and %s, but %s held it validly from %s.",
					other.Who(), k.Name, r.seconds(op.Sent), r.seconds(op.Time), g.Who(), r.seconds(g.OK))
			case g != nil && op.Owner == "":
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, i}},
					"The servers named nobody as the holder of %q between %s and %s, but %s held it validly from %s.",
					k.Name, r.seconds(op.Sent), r.seconds(op.Time), g.Who(), r.seconds(g.OK))
			case by != nil && by.OK < op.Sent:
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{shows, by.Op, i}},
					"The servers named %s as the holder of %q when asked at %s, but %s had been granted it at %s.",
					r.holderOf(i), k.Name, r.seconds(op.Sent), by.Who(), r.seconds(by.OK))
			case gone >= 0:
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{other.Op, gone, i}},
					"The servers named %s as the holder of %q when asked at %s, but had named %s at %s, since it was granted it.",
					other.Who(), k.Name, r.seconds(op.Sent), r.holderOf(gone), r.seconds(r.Ops[gone].Time))
			case r.phantom(k, op):
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{i}},
					"The servers named %s as the holder of %q when asked at %s, but it had not been granted that key, and no "+
						"acquire that may have been its own was open.", r.holderOf(i), k.Name, r.seconds(op.Sent))
			case other != nil && r.overBefore(other, op):
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: append(r.Renewed(other), i)},
					"The servers named %s as the holder of %q when asked at %s, but its lease, as it was last told, and the stated bound were over by %s.",
					other.Who(), k.Name, r.seconds(op.Sent), r.seconds(r.lastsUntil(other)+int64(r.Setup.Promise.Bound)))
			case other != nil && r.deadBefore(other, op):
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{other.Op, r.deathAfter(other.Node, other.OK).Begin, i}},
					"The servers named %s as the holder of %q when asked at %s, but it had been killed, and its session was over by %s.",
					other.Who(), k.Name, r.seconds(op.Sent), r.seconds(r.sessionOver(other.Node, other.OK)))
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s at the servers named somebody who could hold the key.", countOf("Each of ", looks, "look")),
		summary: fmt.Sprintf("%d of %s at the servers named the wrong holder.", f.certain, nouns.Count(looks, "look")),
	}
	switch {
	case looks == 0:
		o.verdict, o.reason = NA, "Nobody looked at the servers who holds a key."
	case known == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("%s at the servers named owners of whom nobody has recorded anything.", countOf("Each of ", looks, "look"))
	}
	return o
}

// grantedBehind is the first grant that was made after whom a look names had had the key, with what shows that: its own grant or,
// of an acquire of unknown outcome, the first look that named it. Of many servers a few may name who is over.
func (r *run) grantedBehind(k *keyLog, look int) (by *trace.Grant, shows int) {
	owner := r.Ops[look].Owner
	other := r.ByOwner[owner]
	node, may := r.maybeNamed(k, &r.Ops[look])
	switch {
	case r.Setup.Promise.DriftFactor > 0 || other != nil && other.Key != k.Key:
	case other != nil:
		return r.sentAfter(k, other), other.Op
	case may:
		if k.named == nil {
			k.named = map[string]int{}
			for _, i := range k.Holders {
				op := &r.Ops[i]
				if _, known := k.named[op.Owner]; !known && r.trusted(op) {
					if _, may := r.maybeNamed(k, op); may {
						k.named[op.Owner] = i
					}
				}
			}
		}
		first := k.named[owner]
		by = r.firstSent(k, rival{all: true}, r.Ops[first].Time, node) // who asks again may be granted what it had
		return by, first
	}
	return nil, -1
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
