package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// grantedLate finds grants that were answered once their own lease was over, and for which there was no room at any instant at which they can have
// been made: from the send of the request to its answer others were kept for certain (keptSpans). So such a grant is not beside anybody by its
// deadline, and was made beside somebody all the same.
func (r *run) grantedLate(f *found) {
	defer r.steadily()() // see addDoubles
	told := map[int]bool{}
	for i := range f.list {
		for _, op := range f.list[i].Operations {
			told[op] = true
		}
	}
	for _, k := range r.keys {
		var owed []trace.Share
		var at meetings
		for _, g := range k.Grants {
			if told[g.Op] || g.Sent >= g.OK || r.owedUntil(g, g.OK) > g.OK {
				continue
			}
			if owed == nil {
				owed = r.owedShares(k)
				for i, s := range owed {
					at.add(s.From, s.To, i)
				}
			}
			var beside []trace.Share
			for _, i := range at.in(g.Sent, g.OK) {
				if r.rivals(g, owed[i]) {
					beside = append(beside, owed[i])
				}
			}
			if len(beside) > 0 && !r.roomFor(g, beside) {
				r.tellLate(f, g, beside)
			}
		}
	}
}

// rivals says that a grant takes something of the room of another's share. Threads of one client may share what it has.
func (r *run) rivals(g *trace.Grant, s trace.Share) bool {
	switch h := s.Grant; {
	case h == g, r.Setup.Kind == history.Reentrant && h.Node == g.Node:
		return false
	case r.Setup.Kind == history.ReadWrite:
		return s.Exclusive || g.Mode == history.Exclusive
	}
	return true
}

// roomFor says that a grant can have been made at some instant between its send and its answer, beside shares that were kept for certain.
// Behind it its lease must be over, unless something may have ended that, before others were granted what it needs. Where many servers vote, each
// votes at an instant of its own: there one other must have been kept all the time.
func (r *run) roomFor(g *trace.Grant, beside []trace.Share) bool {
	whole := func(s trace.Share) bool { return s.From <= g.Sent && s.To >= g.OK }
	if r.Setup.Promise.DriftFactor > 0 && !slices.ContainsFunc(beside, whole) {
		return true
	}
	most, changes := int64(0), []roomChange(nil)
	if r.Setup.Kind == history.Semaphore {
		most = int64(r.Setup.Permits - g.Permits)
	}
	for _, s := range beside {
		by := int64(1)
		if r.Setup.Kind == history.Semaphore {
			by = int64(s.Permits)
		}
		changes = takes(changes, s.From, s.To, by)
	}
	lease := r.shortest(r.LeaseOf(&r.Ops[g.Op])) - trace.ClockNoise
	for _, room := range r.freeOf(most, changes) {
		from, to := max(room.From, g.Sent), min(room.To, g.OK)
		if from < to && (room.To >= g.OK || r.Setup.Promise.Idles || r.firstCause(g) <= room.To || room.To-from >= lease) {
			return true
		}
	}
	return false
}

func (r *run) tellLate(f *found, g *trace.Grant, beside []trace.Share) {
	ops := []int{g.Op}
	var names []string
	for _, s := range beside[:min(len(beside), crowdNamed)] {
		if name := s.Grant.Who(); !slices.Contains(names, name) {
			ops, names = append(ops, s.Grant.Op), append(names, name)
		}
	}
	f.add(r, Violation{Key: g.Key.Name, At: g.OK, Operations: ops, late: true},
		"%s was granted %q by a request of %s that was answered at %s, and %s held it so that there was room for it at no instant between.",
		g.Who(), g.Key.Name, r.seconds(g.Sent), r.seconds(g.OK), listedWords(names))
}
