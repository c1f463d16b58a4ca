package checker

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// tokensBetween finds readers of a read-write lock that were granted it after another reader, with a lower token, while
// a writer was under way whose token lies between. The writer's order with both is open. But had it come after the
// first reader, its own token would be lower than one before it, and else it came before the second one, whose token is
// lower than its own: a token went back whichever is so. The token of one writer is lower than the first reader's or the
// same, and greater than the second one's.
//
// With pairs in a certain order that is all that can be wrong. In an order of single instants, each between request and
// answer, tokens say of a writer and any other grant which of the two was first, and of two readers only by a writer
// between them. Such an order exists if and only if nobody who must be first was sent after the other's answer: take
// each as soon as it was sent and all before it were made. So of a lock that excludes all, whose tokens order every
// pair, no three grants can show what no two do; TestTokensInEveryOrder tries every order.
//
// A sweep by time: a writer is armed by the first answer since its request to a reader with a token as great as its
// own, and disarmed by its own answer. O(n log n).
type tokensBetween struct {
	waiting, armed writers
	found          map[*trace.Grant]between // by the second reader
}

// between is a writer that was under way from the answer to one reader to the request of another one.
type between struct{ first, writer *trace.Grant }

// betweenReaders are the writers between, each by the reader that came second.
func betweenReaders(grants []*trace.Grant) map[*trace.Grant]between {
	s := tokensBetween{waiting: writers{less: lowest}, armed: writers{less: highest}, found: map[*trace.Grant]between{}}
	bySent, byOK := slices.Clone(grants), slices.Clone(grants)
	slices.SortStableFunc(bySent, func(a, b *trace.Grant) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.OK, b.OK))
	})
	slices.SortStableFunc(byOK, func(a, b *trace.Grant) int { return cmp.Compare(a.OK, b.OK) })
	next := 0
	for _, g := range bySent {
		for ; next < len(byOK) && byOK[next].OK < g.Sent; next++ {
			s.answered(byOK[next])
		}
		s.sent(g)
	}
	return s.found
}

// tellBetween tells of a reader that came second.
func (r *run) tellBetween(f *found, k *keyLog, b between, g *trace.Grant) {
	shows, _, had := r.granted(b.first)
	writer, wrote, _ := r.granted(b.writer)
	ops, was, _ := r.granted(g)
	f.add(r, Violation{Key: k.Name, At: max(g.OK, b.writer.OK), Operations: slices.Concat(shows, writer, ops)},
		"%s %s %q at %s, after %s %s it at %s, and got a lower token. The token of the writer %s, who %s it at %s, lies between: "+
			"it came after the one or before the other, and in either order a token went back.",
		g.Who(), was, k.Name, r.seconds(g.OK), b.first.Who(), had, r.seconds(b.first.OK), b.writer.Who(), wrote, r.seconds(b.writer.OK))
}

// sent takes the request of a grant: a writer waits to be armed, a reader meets those that are.
func (s *tokensBetween) sent(g *trace.Grant) {
	switch {
	case g.Token == 0:
	case g.Mode == history.Exclusive:
		heap.Push(&s.waiting, between{writer: g})
	default:
		for len(s.armed.all) > 0 && s.armed.all[0].writer.OK < g.Sent {
			heap.Pop(&s.armed)
		}
		if len(s.armed.all) > 0 && s.armed.all[0].writer.Token > g.Token {
			s.found[g] = s.armed.all[0]
		}
	}
}

// answered takes the answer to a grant: a reader arms the writers whose tokens are not above its own.
func (s *tokensBetween) answered(g *trace.Grant) {
	for g.Mode != history.Exclusive && len(s.waiting.all) > 0 && s.waiting.all[0].writer.Token <= g.Token {
		b := heap.Pop(&s.waiting).(between)
		b.first = g
		heap.Push(&s.armed, b)
	}
}

// writers is a heap of writers.
type writers struct {
	all  []between
	less func(a, b *trace.Grant) bool
}

func lowest(a, b *trace.Grant) bool  { return a.Token < b.Token }
func highest(a, b *trace.Grant) bool { return a.Token > b.Token }

func (w *writers) Len() int           { return len(w.all) }
func (w *writers) Less(i, j int) bool { return w.less(w.all[i].writer, w.all[j].writer) }
func (w *writers) Swap(i, j int)      { w.all[i], w.all[j] = w.all[j], w.all[i] }

// Push implements heap.Interface.
func (w *writers) Push(x any) { w.all = append(w.all, x.(between)) }

// Pop implements heap.Interface.
func (w *writers) Pop() any {
	last := w.all[len(w.all)-1]
	w.all = w.all[:len(w.all)-1]
	return last
}
