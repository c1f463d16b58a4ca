package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

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
	told     int64 // when it was first told of its loss: it may believe on, but claims nothing; forever: never
	killed   bool  // by the death of its holder: the service still owes its lease
	release  int   // invoke of its first release
	done     int   // completion of that release
	released int   // completion of the first release that said ok
	lastSeen int64 // time of its last operation
	claims   []claim
	filed    [2]bool // among the open grants of its node, and of its process
	asked    int     // renewals
	answered int     // of these, by ok or fail

	mode    history.Mode
	permits int
	turns   []turn // of a read-write lock, by time
	nest    nesting

	// Made once they are asked for: see validSpans and inOrder.
	valid      []span
	validKnown bool
	sorted     []act

	acts    int   // head of its chain in run.acts, plus one; 0: none
	lastAct int64 // latest time at which it acted

	// by is the grant that superseded it for certain, the one proven first of
	// all later ones.
	by  *grant
	pos int // position in key.order
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
	name   string
	grants []*grant // by the time of their ok
	order  []*grant // in the order of granting, as far as it is known
	sure   bool     // tokens and times agree, so order is certain
	// By position, each made when it is first asked for. met: see meet. The others are of
	// those that may have come later: see openAfter.
	met, beside, acting, kept []*grant
	// valid and maybeValid are later grants, certain and possible, that ever claimed anything.
	valid, maybeValid []*grant
	waits             []wait  // by the time of their invoke
	asked             *asking // see run.asked
	gaps              *peaks  // see keyLog.dry
	held              []span  // see run.holds
	heldReach         []int64
	heldBy            map[string]int // by node: its first grant
	ghostly           []span         // made once: see run.ghostly
	// sentAfter is, of each grant in order and all after it, the earliest request; see reachSent.
	sentAfter []int64
	resource  []int   // Apply and ReadSeen notes
	effects   []int   // Happened notes
	holders   []int   // Holder notes
	others    []int   // made once: see run.otherLook
	ghosts    []ghost // acquires with an unknown outcome that were acted upon
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
	if k.sure = k.orderByToken(); !k.sure {
		copy(k.order, k.grants)
	}
	for i, g := range k.order {
		g.pos = i
	}
	for i, by := range k.firstLater(func(*grant) bool { return true }, earlier) {
		k.order[i].by = by
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

// firstLater finds for each grant, by its position, the one that pick prefers of those
// that count and that are certainly later: where tokens say nothing, those that were
// sent after its own ok.
func (k *keyLog) firstLater(counts func(*grant) bool, pick func(a, b *grant) *grant) []*grant {
	later := k.order
	if !k.sure {
		later = slices.Clone(k.grants)
		slices.SortFunc(later, func(a, b *grant) int { return cmp.Compare(a.sent, b.sent) })
	}
	first := make([]*grant, len(later)+1) // of later[i:]
	for i := len(later) - 1; i >= 0; i-- {
		if first[i] = first[i+1]; counts(later[i]) {
			first[i] = pick(first[i+1], later[i])
		}
	}
	if k.sure {
		return first[1:]
	}
	found := make([]*grant, len(k.grants))
	for i, g := range k.grants {
		from := sort.Search(len(later), func(i int) bool { return later[i].sent > g.ok })
		found[i] = first[from]
	}
	return found
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
