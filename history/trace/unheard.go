package trace

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// grantedBy says whether the ok to a renewal tells of a grant: an acquire of its owner, or of its client as nobody knows whom, had no
// known outcome, and by now it had one. It does not where its client was granted the key since, which may be that hold under another
// name, nor where it has turned it into another hold meanwhile.
func (t *Trace) grantedBy(i int, op, invoke *history.Op) bool {
	asked, key, found := t.acquireOf(invoke)
	if !found || t.Setup.Kind == history.Reentrant || t.Ops[asked].Node != op.Node || invoke.Key != "" && invoke.Key != key.Name {
		return false
	}
	if slices.ContainsFunc(key.Grants, func(g *Grant) bool {
		return g.Node == op.Node && (g.OK >= t.Ops[asked].Time || g.End == Forever)
	}) {
		return false
	}
	told := *op
	told.Owner, told.Sent = invoke.Owner, t.Ops[asked].Time
	told.Mode, told.Permits = cmp.Or(op.Mode, invoke.Mode), cmp.Or(op.Permits, invoke.Permits)
	t.granted(i, &told, key, &t.Ops[asked])
	t.ByOwner[invoke.Owner].Silent = t.Setup.Promise.Token && told.Token == 0
	t.Successes = append(t.Successes, Success{t.ByOwner[invoke.Owner], invoke.Index, i})
	delete(t.Ghosts, invoke.Owner)
	return true
}

// acquireOf is the acquire, without a known outcome, that may have made the hold which an operation names: that of its owner, or the
// first that its client made lately as nobody knows whom.
func (t *Trace) acquireOf(op *history.Op) (asked int, key *Key, found bool) {
	if ghost, named := t.Ghosts[op.Owner]; named || op.Owner == "" {
		if !named || ghost.turned {
			return 0, nil, false
		}
		asked, _ = t.Started(ghost.Info)
		return asked, ghost.key, true
	}
	if t.strange[op.Owner] {
		return 0, nil, false
	}
	for _, asked := range t.Nameless(op.Node, op.Key) {
		if done, ended := t.Ended(asked); !ended || t.Ops[done].Time+int64(t.Setup.Lease+t.Setup.Promise.Bound) >= op.Time { // else it may be over
			return asked, t.ByKey[op.Key], true
		}
	}
	return 0, nil, false
}

// Nameless are the acquires of a key that a client made as nobody knows whom, by their invoke, and of which it is not known how they ended.
func (t *Trace) Nameless(node, key string) []int { return t.nameless[request{node, key}] }

// noLongerNameless takes out an acquire of which it is known whom it was made as, or how it ended. They are in order, and may be many.
func (t *Trace) noLongerNameless(by request, asked int) {
	if at, found := slices.BinarySearch(t.nameless[by], asked); found {
		t.nameless[by] = slices.Delete(t.nameless[by], at, at+1)
	}
}

// turns notes that who may have been granted a key asks to turn it into another hold, or to give it back.
func (t *Trace) turns(op *history.Op, g *Grant) {
	if g != nil || op.F == history.Read || op.Owner == "" {
		return
	}
	if ref, named := t.Ghosts[op.Owner]; named {
		ref.turned = true
		t.Ghosts[op.Owner] = ref
		return
	}
	t.strange[op.Owner] = true
}

// Unanswered says whether a renewal of g that was asked for at a time or later has no answer.
func (t *Trace) Unanswered(g *Grant, from int64) bool {
	return len(g.open) > 0 && t.Ops[g.open[len(g.open)-1]].Time >= from
}

// UnansweredIn says whether a renewal of g that was asked for between two times has no answer.
func (t *Trace) UnansweredIn(g *Grant, from, to int64) bool {
	return slices.ContainsFunc(g.open, func(asked int) bool { return t.Ops[asked].Time >= from && t.Ops[asked].Time <= to })
}

// haunt notes an act on an acquire whose outcome is unknown.
func (t *Trace) haunt(i int, op *history.Op) {
	ref, ok := t.Ghosts[op.Owner]
	if !ok {
		return
	}
	if ref.slot == 0 {
		ref.key.Ghosts = append(ref.key.Ghosts, Ghost{Owner: op.Owner, Info: ref.Info})
		ref.slot = len(ref.key.Ghosts)
		t.Ghosts[op.Owner] = ref
	}
	ghost := &ref.key.Ghosts[ref.slot-1]
	if ghost.Act = i; ghost.Token == 0 {
		ghost.Token, ghost.First = cmp.Or(op.Token, t.Ops[i].Token), i
	}
}
