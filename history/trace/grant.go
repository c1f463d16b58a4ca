package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// Forever is the end of what nothing has ended.
const Forever = math.MaxInt64

// Grant is one successful acquire and what became of it. Operations are indexes
// into the history, -1 where there is none; times are raw.
type Grant struct {
	Owner, Node string
	Key         *Key
	Process     int
	Token       int64
	Invoke, Op  int   // of the acquire; Op is its ok
	Invoked     int64 // time of Invoke
	Sent, OK    int64 // the hold was proven at some instant between them

	End      int64   // of the belief, which begins at OK; Forever while nothing ended it
	Until    int64   // End, or the last of the history where that comes first
	EndOp    int     // the operation that ended it; -1: none, also where it died with its process
	Abstains bool    // it ended as its client did not write: the service, which knows nothing of that, owes its lease still
	Silent   bool    // its acquire was never answered, and no answer since told its token
	Told     int64   // when it was first told of its loss: it may believe on, but claims nothing; Forever: never
	Killed   bool    // by the death of its holder: the service still owes its lease
	Left     bool    // by the end of its client, which had been asked to end and did not give it back
	Release  int     // invoke of its first release
	Done     int     // completion of that release
	Released int     // completion of the first release that said ok
	LastSeen int64   // time of its last operation
	Claims   []Claim // after its acquire
	filed    [2]bool // among the open grants of its node, and of its process
	Asked    int     // renewals
	Answered int     // of these, by ok or fail
	open     []int   // the invokes of those that have no answer, in order

	// What was done and told under it, in order.
	Reads   []int // answered by ok
	Writes  []int // into Trace.Writes
	Effects []*Effect
	Events  []int // it was told of a loss or abstained, a renewal was refused, a release came to its end

	Mode    history.Mode
	Permits int
	Turns   []Turn      // of a read-write lock or a semaphore, by time
	parts   map[int]int // of these, by the invokes of releases of a part
	Nest    Nesting

	maybeWriter bool // a change to that had no known outcome

	// Made once they are asked for: see validSpans and InOrder.
	valid      []Span
	validKnown bool
	sorted     []Act

	acts    int   // head of its chain in Trace.acts, plus one; 0: none
	LastAct int64 // latest time at which it acted

	// By is the grant that superseded it for certain, the one proven first of
	// all later ones.
	By  *Grant
	Pos int // position in Key.Order
}

// Claim is a change of the deadline that a holder claims, or a cut of it.
type Claim struct {
	At, Deadline int64 // deadline by the node's own MONOTONIC; 0: for ever
	Op           int
	By           int  // the answer whose lease it is: Op, but of a late answer to an earlier request
	Cut          bool // suspended: nothing is claimed until the next claim
}

// LastTold is what the holder of g was told last of its lease: as it was granted, renewed or warned.
func (t *Trace) LastTold(g *Grant) Claim {
	if n := len(g.Claims); n > 0 {
		return g.Claims[n-1]
	}
	return Claim{At: g.OK, Deadline: t.Ops[g.Op].Deadline, Op: g.Op, By: g.Op}
}

// claims files an answer that tells g its lease. One to a request that was sent before that of the lease which g has, and that names no
// shorter one, makes none end sooner: whichever of the two the service did first, the later request is good for a lease from when it was sent.
func (t *Trace) claims(g *Grant, i int, op *history.Op) {
	c, was := Claim{At: op.Time, Deadline: op.Deadline, Op: i, By: i}, t.LastTold(g)
	earlier := !was.Cut && t.sentBy(g, i) < t.sentBy(g, was.By) && t.LeaseOf(op) >= t.LeaseOf(&t.Ops[was.By])
	if earlier && (c.Deadline == 0) == (was.Deadline == 0) && c.Deadline <= was.Deadline {
		c.Deadline, c.By = was.Deadline, was.By
	}
	g.Claims = append(g.Claims, c)
}

// Act is one time at which a holder acted on its grant: it invoked a write, or
// it was told that it holds the lock.
type Act struct {
	Time int64
	Op   int
	next int // in the chain of the grant, plus one
}

// Wait is one acquire or try.
type Wait struct {
	Invoke, Done int // Done is -1 while pending
	From, To     int64
}

// Key is what happened to one key.
type Key struct {
	Name     string
	Index    int      // in Trace.Keys
	Grants   []*Grant // by the time of their ok
	Order    []*Grant // in the order of granting, as far as it is known
	Sure     bool     // tokens and times agree, so order is certain
	Waits    []Wait   // by the time of their invoke
	Resource []int    // Apply and ReadSeen notes
	Effects  []int    // Happened notes
	Holders  []int    // Holder notes
	Ghosts   []Ghost  // acquires with an unknown outcome that were acted upon
}

// Ghost is an acquire whose outcome is unknown although its owner acts.
type Ghost struct {
	Owner string
	Info  int
	Act   int // its last act
	Token int64
	First int // its first act with that token
}

// Who names the holder of g for a message.
func (g *Grant) Who() string {
	name := g.Node
	if name == "" {
		name = fmt.Sprintf("process %d", g.Process)
	}
	if g.Token == 0 {
		return name
	}
	return fmt.Sprintf("%s (token %d)", name, g.Token)
}

// SupersededAt says whether a later grant was proven by t.
func (g *Grant) SupersededAt(t int64) bool { return g.By != nil && g.By.OK < t }

// rank orders the grants of a key and finds what superseded each.
//
// G1 was certainly granted before G2 if its ok came before the request of G2
// was sent. Where these windows meet, rising tokens decide. If tokens are
// missing, repeat or contradict time they decide nothing, and the order of the
// oks is only possible.
func (k *Key) rank() {
	k.Order = slices.Clone(k.Grants)
	if k.Sure = k.orderByToken(); !k.Sure {
		copy(k.Order, k.Grants)
	}
	for i, g := range k.Order {
		g.Pos = i
	}
	for i, by := range k.FirstLater(func(*Grant) bool { return true }, Earlier) {
		k.Order[i].By = by
	}
}

// orderByToken sorts Order by token and says whether that order is certain: all
// tokens differ, and no grant was proven before one with a lower token was sent.
func (k *Key) orderByToken() bool {
	byToken := func(a, b *Grant) int { return cmp.Compare(a.Token, b.Token) }
	if !slices.IsSortedFunc(k.Order, byToken) {
		slices.SortFunc(k.Order, byToken)
	}
	proven := int64(Forever)
	for i := len(k.Order) - 1; i >= 0; i-- {
		g := k.Order[i]
		if g.Token == 0 || (i > 0 && k.Order[i-1].Token == g.Token) || proven < g.Sent {
			return false
		}
		proven = min(proven, g.OK)
	}
	return true
}

// FirstLater finds for each grant, by its position, the one that pick prefers of those
// that count and that are certainly later: where tokens say nothing, those that were
// sent after its own ok.
func (k *Key) FirstLater(counts func(*Grant) bool, pick func(a, b *Grant) *Grant) []*Grant {
	later := k.Order
	if !k.Sure {
		later = slices.Clone(k.Grants)
		slices.SortFunc(later, func(a, b *Grant) int { return cmp.Compare(a.Sent, b.Sent) })
	}
	first := make([]*Grant, len(later)+1) // of later[i:]
	for i := len(later) - 1; i >= 0; i-- {
		if first[i] = first[i+1]; counts(later[i]) {
			first[i] = pick(first[i+1], later[i])
		}
	}
	if k.Sure {
		return first[1:]
	}
	found := make([]*Grant, len(k.Grants))
	for i, g := range k.Grants {
		from := sort.Search(len(later), func(i int) bool { return later[i].Sent > g.OK })
		found[i] = first[from]
	}
	return found
}

// Surely says whether g was certainly granted before h.
func Surely(g, h *Grant) bool {
	return g.OK < h.Sent || g.Key == h.Key && g.Key.Sure && g.Pos < h.Pos
}

// LeaseOf is the lease that the service granted, else the one asked for.
func (t *Trace) LeaseOf(op *history.Op) int64 {
	if op.Lease != 0 {
		return op.Lease
	}
	return int64(t.Setup.Lease)
}

// Believed says whether g was ever believed in: an answer may come after its deadline.
func (g *Grant) Believed() bool { return g.End > g.OK }

// Earlier is the one that was proven first; nil is none.
func Earlier(a, b *Grant) *Grant {
	if a == nil || b != nil && b.OK < a.OK {
		return b
	}
	return a
}
