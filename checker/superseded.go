package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// superseders are the grants of a key that must not be beside some others, by the send of their requests;
// first is the one of them that was proven first, of each and all after it.
type superseders struct{ bySent, first []*trace.Grant }

// supersededBy is the first grant that was certainly made after g and must not be beside it, of a lock that several
// clients may hold as well; nil: there is none. Of who changes its mode it is known what it had until then.
func (r *run) supersededBy(g *trace.Grant) *trace.Grant {
	k := r.logOf(g.Key)
	if !r.Setup.Kind.Shares() {
		return g.By
	}
	by := r.sentAfter(k, g)
	if by == nil || len(g.Turns) > 0 && by.OK >= g.Turns[0].At {
		return nil
	}
	return by
}

// sentAfter is the first grant of those that were sent after the answer of g and must not be beside it; nil: there is none.
func (r *run) sentAfter(k *keyLog, g *trace.Grant) *trace.Grant {
	name := r.rivalsOf(g)
	s, made := k.after[name]
	if !made {
		s = r.supersedersOf(k, name)
		if k.after == nil {
			k.after = map[rival]superseders{}
		}
		k.after[name] = s
	}
	i := sort.Search(len(s.bySent), func(i int) bool { return s.bySent[i].Sent > g.OK })
	if i == len(s.bySent) {
		return nil
	}
	return s.first[i]
}

// rival says whom a grant must not be beside: anybody, or writers; of a semaphore, who has so many permits at least.
type rival struct {
	all   bool
	least int
}

func (r *run) rivalsOf(g *trace.Grant) rival {
	if r.Setup.Kind == history.Semaphore { // what leaves no room for it
		return rival{least: r.Setup.Permits - g.Permits + 1}
	}
	return rival{all: g.Mode == history.Exclusive || !r.Setup.Kind.Shares()}
}

func (of rival) has(h *trace.Grant) bool {
	if of.least > 0 {
		return h.Permits >= of.least
	}
	return of.all || h.Mode == history.Exclusive
}

func (r *run) supersedersOf(k *keyLog, of rival) (s superseders) {
	for _, h := range k.Grants {
		if of.has(h) {
			s.bySent = append(s.bySent, h)
		}
	}
	slices.SortStableFunc(s.bySent, func(a, b *trace.Grant) int { return cmp.Compare(a.Sent, b.Sent) })
	s.first = make([]*trace.Grant, len(s.bySent))
	var first *trace.Grant
	for i, h := range slices.Backward(s.bySent) {
		first = trace.Earlier(first, h)
		s.first[i] = first
	}
	return s
}

// deniedBefore is an answer to a renewal or a release of g, from before p, that it is not held; -1: there is none. That is
// the service's own word where it alone ends leases and no fault made it forget, or remember, what it said.
func (r *run) deniedBefore(g *trace.Grant, p int) int {
	if !r.keepsLeases() || r.Setup.Promise.DriftFactor > 0 {
		return -1
	}
	for _, i := range g.Events {
		if op := &r.Ops[i]; i < p && op.Type == history.Fail && (op.F == history.Extend || op.F == history.Release) &&
			!trace.Meets(r.faultsBehind(g.Node), g.Sent, r.Ops[p].Time) {
			return i
		}
	}
	return -1
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
