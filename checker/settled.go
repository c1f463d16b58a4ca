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
	if !h.doubted || r.Setup.Promise.DriftFactor > 0 {
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
	if len(others) == 0 {
		return
	}
	r.unlessServers(func() {
		f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append(grantsOf(others), g.Op, asked.Index, op.Index)},
			"%s was told ok to its %s of %q at %s: %s. What %s validly held left no room for that: in either order, one of "+
				"them did not.", g.Who(), asked.F, g.Key.Name, r.seconds(op.Time), what, whoOf(others))
	})
}

// owedBeside are the grants of others that leave no room for a share: at any instant of it or, of permits, at one since its grant, as nobody is
// given back a part of what it gave.
func (r *run) owedBeside(s trace.Share) (others []*trace.Grant) {
	k, semaphore := r.logOf(s.Grant.Key), r.Setup.Kind == history.Semaphore
	if k.sure == nil {
		k.sure = &heldBy{held: r.sureShares(k)}
		for i, h := range k.sure.held {
			k.sure.at.add(h.From, h.To, i)
		}
	}
	changes, most, whole := []roomChange{}, int64(0), trace.Span{From: s.From, To: s.To + 1}
	if semaphore {
		most, whole = int64(r.Setup.Permits-s.Permits), trace.Span{From: s.Grant.OK, To: s.From + 1}
	}
	var beside []trace.Share
	for _, i := range k.sure.at.in(whole.From, whole.To) {
		h := k.sure.held[i]
		by := int64(h.Permits)
		if !semaphore {
			by = 1
		}
		if h.Grant == s.Grant || h.From >= h.To || !semaphore && !h.Exclusive && !s.Exclusive {
			continue
		}
		beside = append(beside, h)
		changes = append(changes, roomChange{h.From, by}, roomChange{h.To, -by})
	}
	full := without(whole, r.freeOf(most, changes))
	if len(full) == 0 || !semaphore && full[0] != whole {
		return nil
	}
	for _, h := range beside {
		if h.From <= full[0].From && full[0].From < h.To || !semaphore {
			others = append(others, h.Grant)
		}
	}
	return others
}

// whoOf names the holders of grants.
func whoOf(grants []*trace.Grant) string {
	if len(grants) == 1 {
		return grants[0].Who()
	}
	return nouns.Count(len(grants), "other client")
}
