package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// falseLoss looks at each time at which a holder was told that its grant is lost, also by
// the answer to its release that it held nothing. That is false when its lease cannot have
// ended: the deadline was still to come, the client reached the service ever since the
// request that its claim rests on, and every renewal since was answered by then. Whether somebody else
// is granted the key by then or not is no excuse: a lease that is still owed is nobody else's.
func falseLoss(r *run) outcome {
	var f found
	var last trace.Loss // with a cause
	due, caused, open := 0, 0, ""
	losses := slices.Concat(r.Losses, r.denied())
	for _, l := range losses {
		r.rests.steady = r.refusedSteadily(l)
		deadline, known := r.dueAt(l)
		told := &r.Ops[l.Op]
		switch {
		case known && told.Time >= deadline:
			due++
		case r.hasCause(l):
			caused++
			last = l
		case !known:
			open = fmt.Sprintf("%s was told of a loss at %s, and the deadline of that grant cannot be converted: %s.",
				l.Grant.Who(), r.seconds(told.Time), r.bentClock(l.Grant.Node))
		case deadline == trace.Forever: // the lock renews by itself, and reports no deadline
			f.add(r, Violation{Key: l.Grant.Key.Name, At: told.Time, Operations: []int{l.Grant.Op, l.Claim.By, l.Op}},
				"%s was told at %s (%s) that %q is lost, %s, although it reached the service.",
				l.Grant.Who(), r.seconds(told.Time), told.F, l.Grant.Key.Name, r.endless())
		default:
			f.add(r, Violation{Key: l.Grant.Key.Name, At: told.Time, Operations: []int{l.Grant.Op, l.Claim.By, l.Op}},
				"%s was told at %s (%s) that %q is lost, %s before its deadline, although it reached the service.",
				l.Grant.Who(), r.seconds(told.Time), told.F, l.Grant.Key.Name, length(deadline-told.Time))
		}
	}
	told := nouns.Count(len(losses), "time")
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("In %s clients were told of a loss %s: %d after the deadline, %d with a cause%s.",
			nouns.Count(len(r.Grants), "grant"), told, due, caused, r.causeOf(last)),
		summary: fmt.Sprintf("Clients were told of a loss %s, %d before the deadline and without a cause.", told, f.certain),
	}
	switch {
	case len(r.Grants) == 0:
		o.verdict, o.reason = Unknown, "Nobody was granted the lock."
	case !r.Setup.Promise.Session && len(losses) == 0 && !slices.ContainsFunc(r.Grants, func(g *trace.Grant) bool { return g.Asked > 0 }):
		o.verdict, o.reason = NA, "Clients learn of no loss: the lock does not tell, and nobody renewed a grant."
	case open != "":
		o.verdict, o.reason = Unknown, open
	}
	return o
}

// endless says why a grant has no deadline.
func (r *run) endless() string {
	if r.Setup.Promise.Renews {
		return "which its lock renews by itself"
	}
	return "which has no lease"
}

// denied are the first releases of grants that their holders believed in and that the
// service said not to be held. Who cannot know whether it has a lock still may have given it back, and who
// gives back more permits than it can be sure to have may have fewer.
func (r *run) denied() (losses []trace.Loss) {
	n := nested{run: r}
	for _, g := range r.Grants {
		refused := g.Done >= 0 && g.EndOp == g.Release && r.Ops[g.Done].Type == history.Fail
		if !refused || g.Told != trace.Forever || g.Nest.Open > 0 && !n.refusedSurely(g) || r.Overdrawn(g, g.Release) {
			continue
		}
		losses = append(losses, trace.Loss{Grant: g, Op: g.Done, Claim: r.LastTold(g)})
	}
	return losses
}

// dueAt is when the lease of a loss was due to end, and whether that is known; forever
// where the lock renews by itself. Where a deadline is neither told nor reckoned, only
// the lease that was asked for is certain, from the request on that started it.
func (r *run) dueAt(l trace.Loss) (int64, bool) {
	if l.Claim.Deadline == 0 && r.Setup.Promise.Leased && !r.Setup.Promise.Renews {
		return after(max(r.sentBy(l.Claim.By), l.Grant.Invoked), r.LeaseOf(&r.Ops[l.Claim.By])) - trace.ClockNoise, true
	}
	return r.DeadlineAt(l.Grant, l.Claim.Deadline)
}

// hasCause says whether something else may have ended the lease, or have kept the
// client from holding it.
func (r *run) hasCause(l trace.Loss) bool {
	g, from, told := l.Grant, r.Ops[l.Claim.By].Time, r.Ops[l.Op].Time
	if sent := r.Ops[l.Claim.By].Sent; sent != 0 {
		from = sent
	}
	unanswered := !r.refusedOutright(l) && (r.UnansweredIn(g, from, told) || r.waitedOn(l, from, told))
	found := r.foundHeld(l)
	held := max(from, found)
	away := r.outOfReach(g.Node, held, told, r.Ops[l.Op].Type == history.Fail)
	if r.refusedOutright(l) { // the service alone ends such a lease
		away = r.causeSince(g, held) <= told
	}
	idle := r.Setup.Promise.Idles && !r.Setup.Promise.Leased // the server may have ended its session: nobody recorded after what time
	forgotten := r.mayForget(max(g.Sent, found), told) || r.fewKnow(g.Node, g.Sent, told)
	return l.Claim.Cut || idle || unanswered || away || forgotten || r.askedTwice(l) || r.starved(g, held, told)
}

// causeOf names what may have ended the lease of a loss that has a cause, and the last fault that may have; "" of no loss.
func (r *run) causeOf(l trace.Loss) string {
	if l.Grant == nil {
		return ""
	}
	told, held := r.Ops[l.Op].Time, r.sentBy(l.Claim.By)
	words := fmt.Sprintf(" (the last at %s, of %s", r.seconds(told), l.Grant.Who())
	var by *trace.Fault
	for _, f := range slices.Concat(r.Faults, r.ended()) {
		felt := f.Begin >= 0 && f.From <= told && max(r.ends(f), flows(f)) >= held
		if felt && r.mayHinder(f, l.Grant.Node) && (by == nil || f.From >= by.From) {
			by = f
		}
	}
	switch {
	case by == nil && l.Claim.Cut:
		return words + ", whose connection had broken)"
	case by == nil && r.Setup.Promise.Idles && !r.Setup.Promise.Leased:
		return words + ", whose session the server may have ended as idle)"
	case by == nil:
		return words + ", which had no answer to a request)"
	case by.To <= told:
		return fmt.Sprintf("%s, behind a %s on %s from %s to %s)", words, by.Kind, by.Target, r.seconds(by.From), r.seconds(by.To))
	}
	return fmt.Sprintf("%s, behind a %s on %s from %s on)", words, by.Kind, by.Target, r.seconds(by.From))
}

// foundHeld is the last time before a client was told of a loss, or asked for what it was refused, at which the service still had its hold: a
// look named it, or it gave back a part of what it had. What was over by then has ended nothing. 0: there is none.
func (r *run) foundHeld(l trace.Loss) (at int64) {
	if r.Setup.Promise.DriftFactor > 0 {
		return 0
	}
	by := r.Ops[l.Op].Time
	if asked, refused := r.Started(l.Op); refused {
		by = r.Ops[asked].Time
	}
	g, k := l.Grant, r.logOf(l.Grant.Key)
	for i := sort.Search(len(k.Holders), func(i int) bool { return r.Ops[k.Holders[i]].Time > by }) - 1; i >= 0; i-- {
		look := &r.Ops[k.Holders[i]]
		if look.Sent < g.OK {
			break
		}
		if r.ByOwner[look.Owner] == g && r.trusted(look) {
			at = look.Sent
			break
		}
	}
	for _, i := range g.Events {
		if op := &r.Ops[i]; op.Time <= by && op.Type == history.OK { // it gave back: no other event is told by ok
			at = max(at, r.sentBy(i))
		}
	}
	return at
}

// waitedOn says that the client had asked for a renewal since a time, and had had no answer to it for an eighth of a lease as it was
// told: that the answer came in the end it could not know.
func (r *run) waitedOn(l trace.Loss, from, told int64) bool {
	for i := l.Op - 1; i >= 0 && r.Ops[i].Time >= from; i-- {
		op := &r.Ops[i]
		if op.Type != history.Invoke || op.F != history.Extend || r.ByOwner[op.Owner] != l.Grant {
			continue
		}
		if done, ended := r.Ended(i); (!ended || done > l.Op) && told-op.Time >= r.LeaseOf(&r.Ops[l.Claim.By])/8 {
			return true
		}
	}
	return false
}

// askedTwice says that a fault of a client, of its way to the servers, or of these may have had its library ask twice for what the service
// refused outright: a first release may have been done and not answered, and the second answer told. Where a fault only keeps packets
// back, and neither begins nor ends meanwhile, it takes a while until somebody asks again.
func (r *run) askedTwice(l trace.Loss) bool {
	asked, answers := r.Started(l.Op)
	if !answers || r.Ops[l.Op].F != history.Release || !r.refusedOutright(l) {
		return false
	}
	node, from, to := l.Grant.Node, r.Ops[asked].Time, r.Ops[l.Op].Time
	all := r.flowsFor(node)
	for i := sort.Search(len(all), func(i int) bool { return all[i].From > to }) - 1; i >= 0 && all[i].reach >= from; i-- {
		within := func(t int64) bool { return from <= t && t <= to }
		away := history.FaultOf(all[i].fault.Kind).Away && to-from <= slowAnswer
		if all[i].To >= from && (!away || within(all[i].From) || within(all[i].To)) {
			return true
		}
	}
	return false
}

// flowsFor are the faults of a node, of its way to the servers, or of these, by their begin, each until connections flow again.
func (r *run) flowsFor(node string) []timed {
	all, made := r.known.flows[node]
	if made {
		return all
	}
	for _, f := range r.Faults {
		if f.Begin >= 0 && r.mayHinder(f, node) && r.slows(f) {
			all = append(all, timed{Span: trace.Span{From: f.From, To: flows(f)}, fault: f})
		}
	}
	reaching(all)
	if r.known.flows == nil {
		r.known.flows = map[string][]timed{}
	}
	r.known.flows[node] = all
	return all
}

// refusedOutright says that a loss was told by the service itself, which ends its leases by their time. A renewal of
// unknown outcome, of a lease no shorter, can only have made that of such a loss longer.
func (r *run) refusedOutright(l trace.Loss) bool {
	return r.Ops[l.Op].Type == history.Fail && r.keepsLeases() && r.Setup.Promise.DriftFactor == 0 &&
		r.LeaseOf(&r.Ops[l.Claim.By]) <= int64(r.Setup.Lease)
}

// refusedSteadily says that a loss was told by the service itself, and that no stall can be why: it makes no lease shorter, but one
// of who gives back, or of a server then, may have had the library ask twice, and the second answer told.
func (r *run) refusedSteadily(l trace.Loss) bool {
	r.stalled()
	asked, answers := r.Started(l.Op)
	if !answers || !r.refusedOutright(l) {
		return false
	}
	from, to := r.Ops[asked].Time, r.Ops[l.Op].Time
	return r.Ops[l.Op].F != history.Release || !stalledIn(r.known.stalls[l.Grant.Node], from, to) && !stalledIn(r.known.servers, from, to)
}

// starved says whether a session that renews by itself may have had no answer for a lease: the server that it spoke to
// may be one that was away, and what such a session asks nobody records. Its last answer may have come a third of the
// lease, after which it asks again, before that, and not before the one that was recorded; a loss sooner than that is the service's own.
func (r *run) starved(g *trace.Grant, answered, told int64) bool {
	if !r.Setup.Promise.Renews {
		return false
	}
	beat := int64(r.Setup.Lease) / 3
	away := r.endingUpon("starves", g.Node, func(f *trace.Fault) bool {
		return !f.Missed && f.To-f.From >= beat && (r.hitsWay(f, g.Node) && len(f.Cut) > 0 || r.hitsServers(f))
	})
	i := sort.Search(len(away), func(i int) bool { return away[i].To >= told })
	return i < len(away) && max(away[i].From, answered)+2*beat <= told
}
