package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// superseders are the grants of a key that must not be beside some others, by the send of their requests;
// first is the one of them that was proven first, of each and all after it, and other that of another node than first.
type superseders struct{ bySent, first, other []*trace.Grant }

// supersededBy is the first grant that was certainly made after g and must not be beside it, of a lock that several
// clients may hold as well; nil: there is none. A writer is beside nobody. Who changes its mode keeps readers away while it is the
// writer, and who gives permits back has as many less from then on.
func (r *run) supersededBy(g *trace.Grant) *trace.Grant {
	k := r.logOf(g.Key)
	switch {
	case !r.Setup.Kind.Shares():
		return g.By
	case len(g.Turns) == 0:
		return r.sentAfter(k, g)
	}
	by, known := k.superseded[g]
	if !known {
		by = r.supersededTurning(k, g)
		if k.superseded == nil {
			k.superseded = map[*trace.Grant]*trace.Grant{}
		}
		k.superseded[g] = by
	}
	return by
}

// supersededTurning is supersededBy of who changes its mode, or gives back a part.
func (r *run) supersededTurning(k *keyLog, g *trace.Grant) (by *trace.Grant) {
	if r.Setup.Kind == history.ReadWrite {
		by = r.firstSent(k, rival{}, g.OK, "")
	}
	for _, s := range g.Shares(nil, g.OK, trace.Forever) {
		since := g.OK
		if r.Setup.Kind == history.ReadWrite {
			since = s.From
		}
		if h := r.firstSent(k, r.rivalsOf(s), since, ""); h != nil && h.OK < s.To {
			by = trace.Earlier(by, h)
		}
	}
	return by
}

// sentAfter is the first grant of those that were sent after the answer of g and must not be beside what was granted; nil: there is none.
func (r *run) sentAfter(k *keyLog, g *trace.Grant) *trace.Grant {
	return r.firstSent(k, r.rivalsOf(asGranted(g)), g.OK, "")
}

// asGranted is g as it was granted.
func asGranted(g *trace.Grant) trace.Share {
	return trace.Share{Grant: g, Exclusive: g.Mode == history.Exclusive, Permits: g.Permits}
}

// firstSent is the first grant of some rivals that were sent after a time, without those of a node, "": with all; nil: there is none.
func (r *run) firstSent(k *keyLog, of rival, after int64, but string) *trace.Grant {
	s, made := k.after[of]
	if !made {
		s = r.supersedersOf(k, of)
		if k.after == nil {
			k.after = map[rival]superseders{}
		}
		k.after[of] = s
	}
	i := sort.Search(len(s.bySent), func(i int) bool { return s.bySent[i].Sent > after })
	switch {
	case i == len(s.bySent):
		return nil
	case but != "" && s.first[i].Node == but:
		return s.other[i]
	}
	return s.first[i]
}

// upgradedBeside is the first who was told to be the writer although it certainly asked for that after g, a reader that changes nothing, was
// granted: its grant, as it was from that answer on; nil: there is none.
func (r *run) upgradedBeside(g *trace.Grant) *trace.Grant {
	if r.Setup.Kind != history.ReadWrite || len(g.Turns) > 0 {
		return nil
	}
	return r.firstSent(r.logOf(g.Key), rival{upgrades: true}, g.OK, g.Node)
}

// rival says whom a share must not be beside: anybody, or writers, or readers that become writers; of a semaphore, who has so many permits at least.
type rival struct {
	all, upgrades bool
	least         int
}

func (r *run) rivalsOf(s trace.Share) rival {
	if r.Setup.Kind == history.Semaphore { // what leaves no room for it
		return rival{least: r.Setup.Permits - s.Permits + 1}
	}
	return rival{all: s.Exclusive || !r.Setup.Kind.Shares()}
}

func (of rival) has(h *trace.Grant) bool {
	if of.least > 0 {
		return h.Permits >= of.least
	}
	return of.all || h.Mode == history.Exclusive
}

func (r *run) supersedersOf(k *keyLog, of rival) (s superseders) {
	for _, h := range k.Grants {
		if !of.upgrades && of.has(h) {
			s.bySent = append(s.bySent, h)
		}
	}
	for _, c := range r.Successes {
		op, invoke := &r.Ops[c.Done], &r.Ops[c.Invoke]
		if of.upgrades && op.F == history.Change && c.Grant.Key == k.Key && cmp.Or(op.Mode, invoke.Mode) == history.Exclusive {
			h := *c.Grant
			h.Sent, h.OK, h.Op = invoke.Time, op.Time, c.Done
			s.bySent = append(s.bySent, &h)
		}
	}
	slices.SortStableFunc(s.bySent, func(a, b *trace.Grant) int { return cmp.Compare(a.Sent, b.Sent) })
	s.first, s.other = make([]*trace.Grant, len(s.bySent)), make([]*trace.Grant, len(s.bySent))
	var first, other *trace.Grant
	for i, h := range slices.Backward(s.bySent) {
		was := first
		switch first = trace.Earlier(first, h); {
		case was == nil || was.Node == h.Node:
		case first == h:
			other = was
		default:
			other = trace.Earlier(other, h)
		}
		s.first[i], s.other[i] = first, other
	}
	return s
}

// deniedBefore is an answer to a renewal or a release of g, from before p, that it is not held; -1: there is none. What
// was lost stays lost, so that is the service's word, unless a fault from then on, until done, made it forget, or remember, what it
// said. A session ends, and is told to have ended, by what its client hears, too: there no fault or stall of the client
// may have been felt.
func (r *run) deniedBefore(g *trace.Grant, p, done int) int {
	if r.Setup.Promise.DriftFactor > 0 || g.Nest.Open > 0 { // a part of its servers may have said so; or it was of one hold more
		return -1
	}
	denials := r.denialsOf(g)
	last := sort.SearchInts(denials, p) - 1 // what came since an earlier one came since it, too
	if last < 0 {
		return -1
	}
	i := denials[last]
	asked, _ := r.Started(i)
	from, until := r.Ops[asked].Time, r.Ops[done].Time
	session := !r.keepsLeases()
	if trace.Meets(r.shaken(), from, until) || trace.Meets(r.wrongClocks(g.Node), from, until) ||
		session && (trace.Meets(r.shakenFor(g.Node), from, until) || r.stalledBy(g.Node, from-r.aftermath(), until)) {
		return -1
	}
	return i
}

// denialsOf are the answers to renewals and releases of g that it is not held, in order.
func (r *run) denialsOf(g *trace.Grant) []int {
	if r.known.denials == nil {
		r.known.denials = map[*trace.Grant][]int{}
		for _, g := range r.Grants {
			for _, i := range g.Events {
				asked, _ := r.Started(i)
				if op := &r.Ops[i]; op.Type == history.Fail && !r.Overdrawn(g, asked) {
					r.known.denials[g] = append(r.known.denials[g], i)
				}
			}
		}
	}
	return r.known.denials[g]
}

// stalledBy says that a node, or whoever takes part in everything, was not scheduled for a while between two times.
func (r *run) stalledBy(node string, from, to int64) bool {
	r.stalled()
	return stalledIn(r.known.stalls[node], from, to) || stalledIn(r.known.servers, from, to)
}

// maybeKept is the first grant that may have come after g and was never given back.
func (r *run) maybeKept(g *trace.Grant) *trace.Grant {
	k := r.logOf(g.Key)
	if k.Sure || r.Setup.Kind.Shares() {
		return nil
	}
	if k.kept == nil {
		k.kept = k.openAfter(func(h *trace.Grant) bool { return h.Release < 0 })
	}
	return k.kept[g.Pos]
}
