package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

const forever = math.MaxInt64

// grant is one successful acquire and what became of it. Operations are indexes
// into the history, -1 where there is none.
type grant struct {
	owner, node string
	key         *keyLog
	process     int
	token       int64
	invoke, op  int   // of the acquire; op is its ok
	invoked     int64 // time of invoke
	sent, ok    int64 // the hold was proven at some instant between them

	end      int64 // of the belief interval; forever while nothing ended it
	endOp    int
	killed   bool  // by the death of its holder: the service still owes its lease
	release  int   // invoke of its first release
	done     int   // completion of that release
	released int   // completion of the first release that said ok
	lastSeen int64 // time of its last operation
	claims   []claim

	acts    int   // head of its chain in run.acts, plus one; 0: none
	lastAct int64 // latest time at which it acted

	// by is the grant that superseded it for certain, the one proven first of
	// all later ones; maybe is the next by time where the order is not certain.
	by, maybe *grant
	pos       int // position in key.order
}

// claim is a change of the deadline that a holder claims, or a cut of it.
type claim struct {
	at, deadline int64 // deadline by the node's own MONOTONIC; 0: for ever
	op           int
	cut          bool // suspended: nothing is claimed until the next claim
}

// act is one time at which a holder acted on its grant: it invoked a write, or
// it was told that it holds the lock.
type act struct {
	time int64
	op   int
	next int // in the chain of the grant, plus one
}

// wait is one acquire or try.
type wait struct {
	invoke, done int // done is -1 while pending
	from, to     int64
}

// keyLog is what happened to one key.
type keyLog struct {
	name     string
	grants   []*grant // by the time of their ok
	order    []*grant // in the order of granting, as far as it is known
	sure     bool     // tokens and times agree, so order is certain
	met      []*grant // by position: see meet; nil until it is asked for
	waits    []wait   // by the time of their invoke
	reach    []int64  // of each wait and all before it, the latest end
	resource []int    // Apply and ReadSeen notes
	holders  []int    // Holder notes
	ghosts   []ghost  // acquires with an unknown outcome that were acted upon
}

// ghost is an acquire whose outcome is unknown although its owner acts.
type ghost struct {
	owner string
	info  int
	act   int // its last act
}

// who names the holder of g for a message.
func (g *grant) who() string {
	name := g.node
	if name == "" {
		name = fmt.Sprintf("process %d", g.process)
	}
	if g.token == 0 {
		return name
	}
	return fmt.Sprintf("%s (token %d)", name, g.token)
}

// believes says whether the belief of g lasts at t.
func (g *grant) believes(t int64) bool { return g.ok <= t && t < g.end }

// supersededAt says whether a later grant was proven by t.
func (g *grant) supersededAt(t int64) bool { return g.by != nil && g.by.ok < t }

// rank orders the grants of a key and finds what superseded each.
//
// G1 was certainly granted before G2 if its ok came before the request of G2
// was sent. Where these windows meet, rising tokens decide. If tokens are
// missing, repeat or contradict time they decide nothing, and the order of the
// oks is only possible.
func (k *keyLog) rank() {
	k.order = slices.Clone(k.grants)
	if k.sure = k.orderByToken(); k.sure {
		var first *grant
		for i := len(k.order) - 1; i >= 0; i-- {
			g := k.order[i]
			g.by = first
			if first == nil || g.ok < first.ok {
				first = g
			}
		}
	} else {
		copy(k.order, k.grants)
		k.supersedeByTime()
	}
	for i, g := range k.order {
		g.pos = i
	}
}

// orderByToken sorts order by token and says whether that order is certain: all
// tokens differ, and no grant was proven before one with a lower token was sent.
func (k *keyLog) orderByToken() bool {
	byToken := func(a, b *grant) int { return cmp.Compare(a.token, b.token) }
	if !slices.IsSortedFunc(k.order, byToken) {
		slices.SortFunc(k.order, byToken)
	}
	proven := int64(forever)
	for i := len(k.order) - 1; i >= 0; i-- {
		g := k.order[i]
		if g.token == 0 || (i > 0 && k.order[i-1].token == g.token) || proven < g.sent {
			return false
		}
		proven = min(proven, g.ok)
	}
	return true
}

// supersedeByTime finds, for each grant, the first proven of those that were
// sent after its own ok.
func (k *keyLog) supersedeByTime() {
	bySent := slices.Clone(k.grants)
	slices.SortFunc(bySent, func(a, b *grant) int { return cmp.Compare(a.sent, b.sent) })
	first := make([]*grant, len(bySent)+1) // of bySent[i:], the one with the earliest ok
	for i := len(bySent) - 1; i >= 0; i-- {
		first[i] = bySent[i]
		if first[i+1] != nil && first[i+1].ok < bySent[i].ok {
			first[i] = first[i+1]
		}
	}
	for i, g := range k.grants {
		from, _ := slices.BinarySearchFunc(bySent, g.ok, func(h *grant, ok int64) int {
			if h.sent > ok {
				return 1
			}
			return -1
		})
		g.by = first[from]
		if i+1 < len(k.grants) && k.grants[i+1] != g.by {
			g.maybe = k.grants[i+1]
		}
	}
}

// surely says whether g was certainly granted before h.
func surely(g, h *grant) bool {
	return g.ok < h.sent || g.key.sure && g.pos < h.pos
}

// leaseOf is the lease that the service granted, else the one asked for.
func (r *run) leaseOf(op *history.Op) int64 {
	if op.Lease != 0 {
		return op.Lease
	}
	return int64(r.setup.Lease)
}
