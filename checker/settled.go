package checker

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// settles says that a renewal tells what changes, or releases of a part, of unknown outcome leave of a hold that was as it was said
// to be, if none of them came or some. What must have come has.
func (r *run) settles(h *heldAs, was, told *history.Op) bool {
	if !other(&r.Setup, was, told) {
		return true
	}
	if r.Setup.Kind == history.ReadWrite {
		return r.modeCame(h, told.Mode)
	}
	return r.partsCame(h, told.Permits)
}

// modeCame takes the first change of unknown outcome to a mode as one that came.
func (r *run) modeCame(h *heldAs, mode history.Mode) bool {
	for n, i := range h.unknown {
		if r.Ops[i].Mode == mode {
			h.said.Mode, h.unknown = mode, append(h.unknown[:n:n], h.unknown[n+1:]...)
			return true
		}
	}
	return false
}

// came are releases of a part of unknown outcome that have come, each as the bit of its place in heldAs.unknown.
type came uint16

// followed is how many of them are told apart for each holder. Of more, any may have come.
const followed = 8

// partsCame takes releases of a part of unknown outcome as those that leave so many permits, with all that had come before. Where
// several ways do, nobody knows which it was, and what is told later must go on from one of them.
func (r *run) partsCame(h *heldAs, left int32) bool {
	sum := func(c came) (sum int32) {
		for n, i := range h.unknown {
			if c>>n&1 == 1 {
				sum += r.Ops[i].Permits
			}
		}
		return sum
	}
	gone, all := h.said.Permits-left, came(1)<<min(len(h.unknown), followed)
	var now []came
	for c := range all {
		if sum(c)-sum(h.came[0]) == gone && slices.ContainsFunc(h.came, func(before came) bool { return before&^c == 0 }) {
			now = append(now, c)
		}
	}
	switch {
	case len(h.unknown) > followed:
		now = h.came
	case len(now) == 0:
		return false
	}
	h.said.Permits, h.came = left, now
	return gone >= 0
}

// roomless records what a client is told to hold, or to have given back, once a change, or the release of a part, had no known
// outcome, although others were owed too much of the key for that: by its request, as what was given back does not come back, or all
// the time from its request to its answer. In either order one of them did not hold what it was told.
func (r *run) roomless(f *found, h *heldAs, asked, op *history.Op) {
	if h.first == 0 || r.Setup.Promise.DriftFactor > 0 {
		return
	}
	g := r.ByOwner[asked.Owner]
	told := trace.Share{From: max(op.Sent, asked.Time), To: op.Time, Grant: g, Permits: int(cmp.Or(op.Permits, h.said.Permits)),
		Exclusive: cmp.Or(op.Mode, h.said.Mode) == history.Exclusive}
	what := "it holds it " + r.share(&history.Op{Mode: cmp.Or(op.Mode, h.said.Mode), Permits: int32(told.Permits)})
	if asked.F == history.Release {
		told.Permits = int(asked.Permits)
		what = "it had held it " + r.share(asked)
	}
	others := r.owedBeside(told)
	if len(others) == 0 && asked.F == history.Extend {
		others = r.takenSince(told, r.Ops[h.first].Time)
	}
	if len(others) == 0 {
		return
	}
	r.unlessServers(func() {
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append(grantsOf(others), g.Op, asked.Index, op.Index)},
			"%s was told ok to its %s of %q at %s: %s. What %s validly held left no room for that: in either order, one of "+
				"them did not.", g.Who(), asked.F, g.Key.Name, r.seconds(op.Time), what, whoOf(others))
	})
}

// owedBeside are the grants of others that leave no room for a share at any instant of it.
func (r *run) owedBeside(s trace.Share) []*trace.Grant {
	whole := trace.Span{From: s.From, To: s.To + 1}
	beside, full := r.fullBeside(s, whole)
	if len(full) != 1 || full[0] != whole {
		return nil
	}
	return grantsAt(beside, whole)
}

// takenSince are the grants of others that have left no room for so many permits at an instant since a time from which parts may have
// been given back: none comes back. Others that left none at that time overlap with the grant itself, which is judged as that.
func (r *run) takenSince(s trace.Share, since int64) []*trace.Grant {
	if r.Setup.Kind != history.Semaphore {
		return nil
	}
	beside, full := r.fullBeside(s, trace.Span{From: since, To: s.From + 1})
	for _, at := range full {
		if at.From > since {
			return grantsAt(beside, trace.Span{From: at.From, To: at.From + 1})
		}
	}
	return nil
}

// fullBeside are the sure shares of others in a time, and when these leave no room for another share.
func (r *run) fullBeside(s trace.Share, in trace.Span) (beside []trace.Share, full []trace.Span) {
	k := r.logOf(s.Grant.Key)
	if k.sure == nil {
		k.sure = &heldBy{held: r.sureShares(k)}
		for i, h := range k.sure.held {
			k.sure.at.add(h.From, h.To, i)
		}
	}
	changes, most := []roomChange{}, int64(r.Setup.Permits-s.Permits)
	if r.Setup.Kind == history.ReadWrite {
		most = 0
	}
	for _, i := range k.sure.at.in(in.From, in.To) {
		h := k.sure.held[i]
		by := int64(h.Permits)
		if r.Setup.Kind == history.ReadWrite {
			by = 1
		}
		if h.Grant == s.Grant || h.From >= h.To || r.Setup.Kind == history.ReadWrite && !h.Exclusive && !s.Exclusive {
			continue
		}
		beside = append(beside, h)
		changes = append(changes, roomChange{h.From, by}, roomChange{h.To, -by})
	}
	return beside, without(in, r.freeOf(most, changes))
}

// grantsAt are the grants of shares that reach into a time.
func grantsAt(all []trace.Share, in trace.Span) (grants []*trace.Grant) {
	for _, s := range all {
		if s.From < in.To && s.To > in.From {
			grants = append(grants, s.Grant)
		}
	}
	return grants
}

// whoOf names the holders of grants.
func whoOf(grants []*trace.Grant) string {
	if len(grants) == 1 {
		return grants[0].Who()
	}
	return nouns.Count(len(grants), "other client")
}
