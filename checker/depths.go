package checker

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// nestedAsk is a request of a holder for one hold more of its lock, or one less.
type nestedAsk struct {
	from, to int // its invoke and its ok
	by       int // 1 or -1
	told     int // how often the lock is held from then on
	unsure   bool
}

// stray is an answer that tells a holder wrongly how often it has its lock, and how often that is.
type stray struct{ op, want int }

// mostAtOnce is how many requests under way at a time have their orders tried, which are up to 2^n sets.
const mostAtOnce = 10

// strays are the answers under g that no order of its requests explains. Threads of one client may ask at a time, so each
// request takes effect at some instant between its invoke and its ok. The sets of those that may have taken
// effect are followed from answer to answer, as in Wing and Gong, "Testing and Verifying Concurrent Objects"
// (1993). After a wrong answer it goes on as if the right one had been given.
func (n *nested) strays(g *trace.Grant) (wrong []stray) {
	asks := n.asks(g)
	invoked := slices.Clone(asks)
	slices.SortFunc(invoked, func(a, b nestedAsk) int { return cmp.Compare(a.from, b.from) })
	open := make([]nestedAsk, 0, mostAtOnce) // a bit of a set is a place here
	now := map[uint]int{0: 1}                // the depth by the set of open requests that have taken effect
	if n.crossedFirst(g) {
		now[0] = 0
	}
	for _, done := range asks {
		if done.unsure {
			return wrong
		}
		for len(invoked) > 0 && invoked[0].from < done.to {
			open, invoked = append(open, invoked[0]), invoked[1:]
		}
		if len(open) > mostAtOnce {
			return wrong
		}
		spread(now, open)
		place := slices.IndexFunc(open, func(a nestedAsk) bool { return a.to == done.to })
		next, want := map[uint]int{}, -1
		for set, depth := range now {
			if set&(1<<place) != 0 {
				next[closed(set, place)] = depth
			}
		}
		if len(next) == 0 {
			for set, depth := range now {
				next[closed(set, place)] = depth + done.by
				want = max(want, depth+done.by)
			}
			wrong = append(wrong, stray{done.to, max(want, 0)})
		}
		now, open = next, slices.Delete(open, place, place+1)
	}
	return wrong
}

// beyond are the answers under g, behind an operation of unknown outcome, that no outcome explains: they tell more holds than
// its client has asked for, or fewer than it surely has.
func (n *nested) beyond(g *trace.Grant) (wrong []stray) {
	if g.Nest.Open == 0 || n.Ops[g.Op].Depth > 1 || n.crossedFirst(g) {
		return nil
	}
	for _, a := range n.asks(g) {
		if !a.unsure {
			continue
		}
		switch least, most := n.bounds(g, a); {
		case a.told > most:
			wrong = append(wrong, stray{a.to, most})
		case a.told < least:
			wrong = append(wrong, stray{a.to, least})
		}
	}
	return wrong
}

// bounds are how often the holder of g, which was granted it once, has its lock at least and at most by an answer. What the
// client asked for before g was answered, and may have been served later, adds to it as well.
func (n *nested) bounds(g *trace.Grant, by nestedAsk) (least, most int) {
	least, most = n.balance(g, by)
	if n.lastsFor(g, by) < n.Ops[by.to].Time { // it may have lost all of it, and begun anew
		least = 0
	}
	return max(least, 0), most
}

// balance is what was asked for by an answer, one hold more or one less, as little and as much as it can come to. It is below 0
// where more may have been given back than was had.
func (n *nested) balance(g *trace.Grant, by nestedAsk) (least, most int) {
	least = 1
	for _, a := range n.requestsOf(g) {
		if a.from >= by.to {
			break
		}
		own := a.from == by.from
		surely := a.from > g.Op && (own || a.to >= 0 && a.to < by.from && n.Ops[a.to].Type == history.OK)
		switch {
		case a.to >= 0 && (n.Ops[a.to].Type == history.Fail || n.Ops[a.to].Type == history.OK && a.to < g.Invoke):
		case a.by > 0:
			most++
			if surely && (own || slices.Contains(g.Nest.Again, a.to)) {
				least++
			}
		default:
			least--
			if surely {
				most--
			}
		}
	}
	return least, most
}

// refusedSurely says that the last release of g was refused, though its holder surely had one hold more than it had given back.
func (n *nested) refusedSurely(g *trace.Grant) bool {
	if n.Ops[g.Op].Depth > 1 || n.crossedFirst(g) {
		return false
	}
	least, _ := n.balance(g, nestedAsk{from: g.Release, to: g.Done, by: -1})
	return least >= 0
}

// outermost says that an ok is certainly that of a first hold or of the last release, or a renewal, which no client can know by itself.
func (n *nested) outermost(i int) bool {
	op := &n.Ops[i]
	invoke, _ := n.Started(i)
	g := n.ByOwner[cmp.Or(op.Owner, n.Ops[invoke].Owner)]
	switch {
	case op.F == history.Extend:
		return true
	case g == nil:
		return false
	case op.F == history.Release:
		return g.Done == i && g.Nest.Open == 0 && n.SaidFree(g)
	}
	return g.Op == i && op.Depth <= 1 && n.heldNothing(g)
}

// lastsFor is until when g is owed what its holder had as it asked. What a release that was told to be the last ends is the belief of
// its client: the lease of one hold more goes on.
func (n *nested) lastsFor(g *trace.Grant, ask nestedAsk) int64 {
	at := n.Ops[ask.from].Time
	if ask.from != g.Release {
		return n.owedUntil(g, at)
	}
	if deadline, known := n.dueAt(trace.Loss{Grant: g, Op: ask.to, Claim: n.LastTold(g)}); known {
		return min(deadline, n.leasedUntil(g), g.Told)
	}
	return at
}

// requestsOf are the acquires and releases of a key by the client of g, by their invoke; to is -1 where there is no end.
func (n *nested) requestsOf(g *trace.Grant) []nestedAsk {
	if n.asked == nil {
		n.asked = map[wanted][]nestedAsk{}
		for i := range n.Ops {
			op := &n.Ops[i]
			by := 0
			switch op.F {
			case history.Acquire, history.Try:
				by = 1
			case history.Release:
				by = -1
			}
			if op.Type == history.Invoke && by != 0 {
				a, who := nestedAsk{from: i, to: -1, by: by}, wanted{op.Node, op.Key}
				if done, ended := n.Ended(i); ended {
					a.to = done
				}
				n.asked[who] = append(n.asked[who], a)
			}
		}
	}
	return n.asked[wanted{g.Node, g.Key.Name}]
}

// asks are the requests under g that were answered by ok, in the order of their answers.
func (n *nested) asks(g *trace.Grant) (all []nestedAsk) {
	told := slices.Clone(g.Nest.Again)
	if g.EndOp == g.Release && g.Done >= 0 && n.Ops[g.Done].Type == history.OK && !slices.Contains(told, g.Done) {
		told = append(told, g.Done)
	}
	if n.crossedFirst(g) {
		told = append(append(told, g.Op), g.Nest.Told...)
	}
	slices.Sort(told)
	for _, i := range told {
		from, _ := n.Started(i)
		a := nestedAsk{from: from, to: i, by: 1, told: int(n.Ops[i].Depth), unsure: g.Nest.Open > 0 && i >= g.Nest.Open}
		if n.Ops[i].F == history.Release {
			a.by = -1
		} else {
			a.told = max(a.told, 1)
		}
		all = append(all, a)
	}
	return all
}

// crossedFirst says that the first answer of g was not that of its first hold, and what became of all holds before is
// known.
func (n *nested) crossedFirst(g *trace.Grant) bool { return len(g.Nest.Told) > 0 && g.Whole() }

// spread adds to the sets of requests that may have taken effect those with one more, and so on.
func spread(now map[uint]int, open []nestedAsk) {
	queue := make([]uint, 0, len(now))
	for set := range now {
		queue = append(queue, set)
	}
	for len(queue) > 0 {
		set := queue[0]
		queue = queue[1:]
		for place, a := range open {
			more := set | 1<<place
			if _, known := now[more]; known || !a.unsure && now[set]+a.by != a.told {
				continue
			}
			now[more] = now[set] + a.by
			queue = append(queue, more)
		}
	}
}

// closed takes a place out of a set: those behind it move up.
func closed(set uint, place int) uint {
	low := set & (1<<place - 1)
	return set>>(place+1)<<place | low
}

// unanswered marks what is not known of holds within holds of which a request is under way when the history ends. It is
// given the outermost hold of each holder and the last request of each process.
func (n *nested) unanswered(by map[holder]*trace.Grant, last map[int]int) {
	for _, from := range last {
		op := &n.Ops[from]
		var g *trace.Grant
		switch op.F {
		case history.Acquire, history.Try:
			g = by[n.holder(op, op.Key)]
			w, known := n.lasted(trace.Wait{Invoke: from, Done: -1, From: op.Time, To: trace.Forever})
			if _, answered := n.Ended(from); known && !answered {
				n.keptWaiting(g, w)
			}
		case history.Release:
			g = n.ByOwner[op.Owner]
		}
		if _, ended := n.Ended(from); !ended && g != nil && (op.F != history.Release || len(g.Nest.Again)+len(g.Nest.Told) > 0) {
			g.Unsure(from)
		}
	}
}

// crossed says that a request, asked for before g was answered, was granted as the first hold though nobody had given
// g back. Whichever of the two was served first, the other was one hold more.
func (n *nested) crossed(g *trace.Grant, op *history.Op, from int) bool {
	at := n.Ops[from].Time
	return g != nil && from < g.Op && n.owedUntil(g, g.OK) >= op.Time && g.OK <= after(max(op.Sent, at), n.LeaseOf(op))
}
