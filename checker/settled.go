package checker

import (
	"cmp"

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

// partsCame takes releases of a part of unknown outcome as those that leave so many permits. Of several nobody knows which came.
func (r *run) partsCame(h *heldAs, left int32) bool {
	all, gone := int32(0), h.said.Permits-left
	for _, i := range h.unknown {
		all += r.Ops[i].Permits
	}
	switch {
	case gone < 0 || gone > all || len(h.unknown) == 1 && gone != all:
		return false
	case gone == all:
		h.unknown = nil
	}
	h.said.Permits = left
	return true
}

// roomless records what a client is told to hold, or to have given back, once a change, or the release of a part, had no known
// outcome, although others were owed too much of the key for that all the time from its request to its answer: in either
// order one of them did not hold what it was told.
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
			"%s was told ok to its %s of %q at %s: %s. What %s validly held all the while left no room for that: in either order, one of "+
				"them did not.", g.Who(), asked.F, g.Key.Name, r.seconds(op.Time), what, whoOf(others))
	})
}

// owedBeside are the grants of others that leave no room for a share at any instant of it.
func (r *run) owedBeside(s trace.Share) (others []*trace.Grant) {
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
	for _, i := range k.sure.at.in(s.From, s.To+1) {
		h := k.sure.held[i]
		by := int64(h.Permits)
		if r.Setup.Kind == history.ReadWrite {
			by = 1
		}
		if h.Grant == s.Grant || h.From >= h.To || r.Setup.Kind == history.ReadWrite && !h.Exclusive && !s.Exclusive {
			continue
		}
		others = append(others, h.Grant)
		changes = append(changes, roomChange{h.From, by}, roomChange{h.To, -by})
	}
	for _, free := range r.freeOf(most, changes) {
		if free.From <= s.To && free.To > s.From {
			return nil
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
