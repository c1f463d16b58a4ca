package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// falseLoss looks at each time at which a holder was told that its grant is lost.
// That is false when its lease cannot have ended: the deadline was still to come,
// the client reached the service ever since the request that its claim rests on,
// every renewal was answered, and nobody else was granted the key.
func falseLoss(r *run) outcome {
	var f found
	due, caused, open := 0, 0, ""
	for _, l := range r.losses {
		deadline, known := r.dueAt(l)
		told := &r.ops[l.op]
		switch {
		case known && told.Time >= deadline:
			due++
		case r.hasCause(l):
			caused++
		case !known:
			open = fmt.Sprintf("%s was told of a loss at %s, and the deadline of that grant cannot be converted: %s.",
				l.grant.who(), r.seconds(told.Time), r.bentClock(l.grant.node))
		case deadline == forever: // the lock renews by itself, and tells no deadline
			f.add(r, Violation{Key: l.grant.key.name, At: told.Time, Operations: []int{l.grant.op, l.claim.op, l.op}},
				"%s was told at %s (%s) that %q is lost, which its lock renews by itself, although it reached the service and nobody else was granted it.",
				l.grant.who(), r.seconds(told.Time), told.F, l.grant.key.name)
		default:
			f.add(r, Violation{Key: l.grant.key.name, At: told.Time, Operations: []int{l.grant.op, l.claim.op, l.op}},
				"%s was told at %s (%s) that %q is lost, %s before its deadline, although it reached the service and nobody else was granted it.",
				l.grant.who(), r.seconds(told.Time), told.F, l.grant.key.name, length(deadline-told.Time))
		}
	}
	told := nouns.Count(len(r.losses), "time")
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("In %s clients were told of a loss %s: %d after the deadline, %d with a cause, such as a fault, another grant or a renewal without an answer.", nouns.Count(len(r.grants), "grant"), told, due, caused),
		summary: fmt.Sprintf("Clients were told of a loss %s, %d before the deadline and without a cause.", told, f.certain),
	}
	switch {
	case len(r.grants) == 0:
		o.verdict, o.reason = Unknown, "Nobody was granted the lock."
	case !r.setup.Promise.Session && len(r.losses) == 0 && !slices.ContainsFunc(r.grants, func(g *grant) bool { return g.asked > 0 }):
		o.verdict, o.reason = NA, "Clients learn of no loss: the lock does not tell, and nobody renewed a grant."
	case open != "":
		o.verdict, o.reason = Unknown, open
	}
	return o
}

// dueAt is when the lease of a loss was due to end, and whether that is known; forever
// where the lock renews by itself. Where a deadline is neither told nor reckoned, only
// the lease that was asked for is certain, from the request on that started it.
func (r *run) dueAt(l loss) (int64, bool) {
	if l.claim.deadline == 0 && r.setup.Promise.Leased && !r.setup.Promise.Renews {
		claim := &r.ops[l.claim.op]
		return after(max(claim.Sent, l.grant.invoked), int64(r.setup.Lease)) - clockNoise, true
	}
	return r.deadlineAt(l.grant, l.claim.deadline)
}

// hasCause says whether something else may have ended the lease, or have kept the
// client from holding it.
func (r *run) hasCause(l loss) bool {
	g, from, told := l.grant, r.ops[l.claim.op].Time, r.ops[l.op].Time
	if sent := r.ops[l.claim.op].Sent; sent != 0 {
		from = sent
	}
	return l.claim.cut || g.asked > g.answered || g.key.mayPass(g, told) ||
		meets(r.ghostly(g.key), g.sent, told) || r.outOfReach(g.node, from, told) || r.mayForget(g.sent, told)
}

// mayPass says whether somebody else may have been granted the key after g and by t.
func (k *keyLog) mayPass(g *grant, t int64) bool {
	k.reachSent()
	if !k.sure && g.pos > 0 && k.order[g.pos-1].ok >= g.sent {
		return true // the one before may have come after
	}
	return k.sentAfter[g.pos+1] <= t
}

// reachSent fills sentAfter: of each grant and all after it, the earliest request.
func (k *keyLog) reachSent() {
	if k.sentAfter != nil {
		return
	}
	k.sentAfter = make([]int64, len(k.order)+1)
	k.sentAfter[len(k.order)] = forever
	for i := len(k.order) - 1; i >= 0; i-- {
		k.sentAfter[i] = min(k.order[i].sent, k.sentAfter[i+1])
	}
}

// outOfReach says whether, at some time, the client may not have reached the
// service: a fault is its own or one of its links, or too many servers are away.
func (r *run) outOfReach(node string, from, to int64) bool {
	if meets(r.ownFaults(node), from, to) {
		return true
	}
	lease, away := r.aftermath(), r.outages(node)
	i := sort.Search(len(away), func(i int) bool { return after(away[i].to, lease) >= from })
	return i < len(away) && away[i].from <= to
}

// mayForget says whether a server may have lost the grant, or what its lease is
// measured by: then the loss is true, and other properties judge it.
func (r *run) mayForget(from, to int64) bool {
	return meets(r.faultyAs("forgets", func(f *fault) bool {
		return slices.Contains([]string{"kill", "crash", "clock"}, f.kind) && !r.isClient(f.target)
	}), from, to)
}
