package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

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
			r.tellLook(k, i, &f)
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

// tellLook tells what is wrong with one look, if anything is.
func (r *run) tellLook(k *keyLog, i int, f *found) {
	op := &r.Ops[i]
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

// overBefore says that the service, which itself ends its leases by their time, cannot have kept g until a look was sent.
func (r *run) overBefore(g *trace.Grant, look *history.Op) bool {
	return g.Key.Name == look.Key && r.overBy(g, look.Time) < look.Sent
}

// gaveBack says that the service had answered the last release of g before it was asked who holds the key.
func (r *run) gaveBack(g *trace.Grant, look *history.Op) bool {
	return !r.Setup.Promise.Mute && r.freeBy(g, look.Time) && r.Ops[g.Released].Time < look.Sent
}

// deadBefore says that the holder of g was killed, and that the service had certainly ended its session before a look was sent.
func (r *run) deadBefore(g *trace.Grant, look *history.Op) bool {
	return g.Key.Name == look.Key && r.Setup.Promise.DriftFactor == 0 && r.sessionOver(g.Node, g.OK) < look.Sent
}
