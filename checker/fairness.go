package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// fairness looks for clients that were overtaken while they waited. Two requests
// under way at once have no order of arrival that a client could know, so only
// two things tell it for certain. The token of a lock that queues is the place in
// its queue. And a client that has waited for a lease, and for a second at least, with nothing at fault, has come
// before who asks then: a fault before that cost it its place at most, and it has a new one by then. Where the service
// answered late meanwhile, that is left open: see late.
// O(n log n).
func fairness(r *run) outcome {
	q := queue{run: r}
	q.lost = r.faultyAs("crash", func(f *trace.Fault) bool { return f.Kind == "crash" }) // tokens may begin again
	q.late = r.late()
	for _, k := range r.keys {
		q.key(k)
	}
	o := outcome{verdict: Holds, found: q.found,
		reason: fmt.Sprintf("Nobody was overtaken in %s during which others were granted the key.", nouns.Count(q.waits, "wait")),
		summary: fmt.Sprintf("%d of %s during which others were granted the key %s overtaken.", q.found.certain,
			nouns.Count(q.waits, "wait"), was(q.found.certain)),
	}
	if q.waits > 0 {
		return o
	}
	if q.excused > 0 {
		o.verdict, o.reason = Unknown, fmt.Sprintf(
			"In %s others that asked later were granted the key first, and a fault may have cost the place in the queue; no other wait tells an order.",
			nouns.Count(q.excused, "wait"))
		return o
	}
	if o = r.orUnseen(o); o.verdict == Holds {
		o.verdict, o.reason = NA, "Nobody was granted a key while another client waited for it, in an order that is known."
	}
	return o
}

// queue is where waiters stand.
type queue struct {
	*run
	found found
	waits int // in which others were granted the key, in an order that is known
	// excused are those that seem to have been overtaken, and that a fault may have cost their places. Tokens that rise acquit nobody of
	// that, as they may count the grants and not the places.
	excused int
	lost    []trace.Span
	late    []trace.Span
}

// late are the times in which who gave back or renewed, and so waited for nobody, had no answer for more than a quarter of a
// lease, though no fault kept it from the service. On a machine as busy as that the session of a waiter may end, and its place
// with it, though nothing is at fault.
func (r *run) late() []trace.Span {
	var spans []trace.Span
	for i := range r.Ops {
		op := &r.Ops[i]
		invoke, ended := r.Started(i)
		if !ended || op.F != history.Release && op.F != history.Extend {
			continue
		}
		asked := r.Ops[invoke].Time
		if op.Time-asked > int64(r.Setup.Lease)/4 && !trace.Meets(r.ownFaults(op.Node), asked, op.Time) {
			spans = append(spans, trace.Span{From: asked, To: op.Time})
		}
	}
	return trace.Union(spans)
}

func (q *queue) key(k *keyLog) {
	places := peaks{n: len(k.Grants), value: func(i int) int64 { return k.Grants[i].Token }}
	asked := q.asked(k)
	starts := peaks{n: len(k.Grants), value: func(i int) int64 { return asked(k.Grants[i]) }}
	// Where tokens rise with the answers, as they mostly do, nobody's place was taken.
	rising := slices.IsSortedFunc(k.Grants, func(a, b *trace.Grant) int { return cmp.Compare(a.Token, b.Token) })
	first := 0 // of the grants proven after the wait began
	for _, w := range k.Waits {
		for ; first < len(k.Grants) && k.Grants[first].OK <= w.From; first++ {
		}
		w, known := q.lasted(w)
		if first == len(k.Grants) || !known || q.Ops[w.Invoke].F != history.Acquire {
			continue
		}
		g, until := q.waited(w)
		still := until
		if g != nil && q.Ops[g.Op].Sent == 0 { // the key was not its before the others had it
			still = g.OK
		}
		if k.Grants[first].OK >= still {
			continue
		}
		byPlace := -1
		byTime, from, open := q.latest(k, &starts, w, still)
		placed := g != nil && g.Token != 0 && !trace.Meets(q.lost, w.From, until)
		if placed && !rising {
			byPlace = places.in(k.granted(w.From, until))
		}
		ahead := byPlace >= 0 && k.Grants[byPlace].Token > g.Token
		switch {
		case byTime >= 0 || ahead || placed && !q.later(k, &starts, w, still):
			q.waits++
		case placed:
			q.excused++
		}
		switch {
		case ahead:
			q.tell(k, w, k.Grants[byPlace], false, "which had a place behind it in the queue")
		case byTime >= 0 && starts.value(byTime) > from:
			q.tell(k, w, k.Grants[byTime], open, "which asked "+length(starts.value(byTime)-w.From)+" after it")
		}
	}
}

// asked tells when the first hold of a grant was asked for, at the earliest. Threads of a client that ask at once may share one grant, and their
// answers may cross: the first hold is the one of which the least depth was told. Where nobody was told of depth 1, it may be any acquire of
// that client that had no answer.
func (q *queue) asked(k *keyLog) func(*trace.Grant) int64 {
	unanswered := map[string]int64{} // of each client, when it asked first
	for _, w := range k.Waits {
		if node := q.Ops[w.Invoke].Node; w.Done < 0 || q.Ops[w.Done].Type == history.Info {
			if first, ok := unanswered[node]; !ok || w.From < first {
				unanswered[node] = w.From
			}
		}
	}
	return func(g *trace.Grant) int64 {
		invoke, depth := q.firstHold(g)
		at := q.Ops[invoke].Time
		if first, ok := unanswered[g.Node]; ok && depth > 1 && first < at {
			return first
		}
		return at
	}
}

// firstHold is the invoke of the acquire of a grant that was told the least depth, and that depth.
func (q *queue) firstHold(g *trace.Grant) (invoke int, depth int32) {
	invoke, depth = g.Invoke, q.Ops[g.Op].Depth
	for _, i := range g.Nest.Told {
		if asked, ok := q.Started(i); ok && q.Ops[i].Depth < depth {
			invoke, depth = asked, q.Ops[i].Depth
		}
	}
	return invoke, depth
}

// waited is the grant that a wait ended with, nil if there was none, and the time
// until which it certainly waited: who gives up leaves the queue before it says so,
// and of an unknown outcome nothing is certain.
func (q *queue) waited(w trace.Wait) (g *trace.Grant, until int64) {
	switch op := &q.Ops[w.Done]; op.Type {
	case history.OK:
		g := q.ByOwner[op.Owner]
		return g, g.Sent
	case history.Fail: // it has left the queue for no longer than that takes
		return nil, w.To - int64(q.Setup.Lease)/2
	case history.Note, history.Invoke: // it was killed, or asked to end, or another process of it asked for something: it waited until then
		return nil, w.To
	}
	return nil, w.From
}

// latest is the grant whose client asked last, of those that w still waited beside when it had waited for long enough, by from, since a time from
// which on nothing was at fault that may have cost it its place: servers, or its client. Who lost it asks anew within as long as it was hindered, as
// clients try again at times that double. It is a grant that was asked for behind from, if there is one; -1: none.
func (q *queue) latest(k *keyLog, starts *peaks, w trace.Wait, until int64) (by int, from int64, open bool) {
	by = -1
	noise := q.faultsFor(q.Ops[w.Invoke].Node)
	for clear := range clearOf(trace.Span{From: w.From, To: until}, noise) {
		arrived := clear.From + q.arrives()
		if clear.From > w.From {
			over := sort.Search(len(noise), func(i int) bool { return noise[i].To >= clear.From })
			arrived = after(arrived, clear.From-noise[over].From)
		}
		late := firstLate(q.late, clear.From)
		for _, to := range []int64{min(clear.To, late), clear.To} {
			i := starts.in(k.granted(arrived, to))
			if i < 0 {
				continue
			}
			by, from, open = i, arrived, to > late
			if starts.value(i) > arrived {
				return by, from, open
			}
		}
	}
	return by, from, open
}

// later says whether somebody that asked when w had waited for long enough was granted the key before a time, faults or not.
func (q *queue) later(k *keyLog, starts *peaks, w trace.Wait, until int64) bool {
	arrived := w.From + q.arrives()
	first, end := k.granted(arrived, until)
	return starts.first(first, end, arrived) >= 0
}

// firstLate is when the service first answered late in what came after a time.
func firstLate(late []trace.Span, from int64) int64 {
	if i := sort.Search(len(late), func(i int) bool { return late[i].To >= from }); i < len(late) {
		return late[i].From
	}
	return trace.Forever
}

// orderKnown says which waiters are known to have come first.
func (r *run) orderKnown() string {
	return fmt.Sprintf("Who came first is known where tokens tell it, or where it had waited for %s when the other asked.", length(r.arrives()))
}

// arrives is when a request is in the queue at the latest, while nothing is at fault.
func (r *run) arrives() int64 { return max(int64(r.Setup.Lease), int64(time.Second)) }

func (q *queue) tell(k *keyLog, w trace.Wait, by *trace.Grant, open bool, how string) {
	ops := []int{w.Invoke, w.Done, by.Invoke, by.Op}
	if first, _ := q.firstHold(by); first != by.Invoke {
		done, _ := q.Ended(first)
		ops = append(ops, first, done)
	}
	q.found.add(q.run, Violation{Key: k.Name, At: by.OK, Possible: open, Operations: ops},
		"%s waited for %q since %s and was overtaken at %s by %s, %s.",
		q.client(w.Invoke), k.Name, q.seconds(w.From), q.seconds(by.OK), by.Who(), how)
}

// granted are the indexes, in k.grants, of those proven after from and before to;
// where from is not before to, end is not after first.
func (k *keyLog) granted(from, to int64) (first, end int) {
	first = sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].OK > from })
	end = sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].OK >= to })
	return first, end
}
