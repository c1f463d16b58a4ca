package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// starvation finds writers that waited while others that asked later were let in, and readers that waited while such
// writers were: a reader may go in beside readers at any time. Who is granted beside readers that
// hold already is no sooner for it, so what counts is who asked after the waiter by more than what a fault
// leaves behind. Who is refused and asks again waits on: there it is one that came behind the request that was
// then refused, too. Once the service answers late the place of a waiter may be gone, so what comes after that is
// left open: see late. A fault may cost it its place, so its wait counts as one that begins anew when it has a place again. Who is killed, or asked
// to end, has waited until then.
func starvation(r *run) outcome {
	use := map[history.Mode]string{history.Shared: "read", history.Exclusive: "write"}
	var f found
	waits, excused, longest, late := 0, 0, int64(0), r.late()
	for _, k := range r.keys {
		overtakers := overtaking(k)
		written := slices.ContainsFunc(k.Waits, func(w trace.Wait) bool { return trace.ModeOf(&r.Ops[w.Invoke]) != history.Shared })
		tell := func(w trace.Wait, since int64) {
			op := &r.Ops[w.Invoke]
			by := overtakers[trace.ModeOf(op)]
			i, from, open := r.passing(k, by, w, since, late, r.faultsFor(op.Node))
			if i < 0 {
				if i, _, _ = r.passing(k, by, w, since, late, nil); i >= 0 {
					excused++
				}
				return
			}
			g, again := k.Grants[i], ""
			if from > since {
				again = ", with nothing at fault since " + r.seconds(from)
			}
			f.add(r, Violation{Key: k.Name, At: g.OK, Possible: open, Operations: []int{w.Invoke, w.Done, g.Invoke, g.Op}},
				"%s waited to %s %q since %s%s, and %s, which asked %s after it, was granted it to %s at %s.",
				op.Node, use[trace.ModeOf(op)], k.Name, r.seconds(since), again, g.Who(), length(g.Invoked-since), use[g.Mode], r.seconds(g.OK))
		}
		for _, w := range k.Waits {
			op := &r.Ops[w.Invoke]
			if op.F != history.Acquire || !written || w.Done >= 0 && r.Ops[w.Done].Type == history.Info {
				continue
			}
			if until, known := r.knownEnd(w); known {
				w = until
			}
			w.To = min(w.To, max(r.End, w.From)) // who waits at the end has waited so long
			waits++
			longest = max(longest, w.To-w.From)
			tell(w, w.From)
		}
		told := toldOf(&f)
		for _, mode := range []history.Mode{history.Exclusive, history.Shared} {
			for _, s := range r.alone(k, func(op *history.Op) bool { return op.F == history.Acquire && trace.ModeOf(op) == mode }) {
				for _, w := range s.waits {
					if end := r.Ops[w.Done].Type; told[w.Invoke] || w.From == s.from || end == history.Info {
						continue
					} else if end == history.Fail {
						w.To -= r.aftermath() // who gives up leaves the queue before it says so
					}
					tell(w, s.from)
				}
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The longest of %s took %s.", nouns.Count(waits, "wait"), length(longest)),
		summary: fmt.Sprintf("%d of %s went on while others that asked later were let in.", f.certain, nouns.Count(waits, "wait")),
	}
	switch {
	case waits == 0:
		o.verdict, o.reason = Unknown, "No writer waited."
	case excused > 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf(
			"%s went on while others that asked later were let in, and a fault may have cost the place in the queue.", nouns.Count(excused, "wait"))
	}
	return o
}

// passing is the first grant, of the overtakers of a wait, that was asked for when that had gone on beyond our patience with nothing at fault
// (noise), by from at the latest. A fault may have cost it its place; who lost it asks anew within as long as it was hindered: see queue.latest.
// -1: none. Open says that the service had answered late before.
func (r *run) passing(k *keyLog, overtakers *peaks, w trace.Wait, since int64, late, noise []trace.Span) (by int, from int64, open bool) {
	by = -1
	for _, clear := range without(trace.Span{From: since, To: w.To}, noise) {
		placed := clear.From
		if clear.From > since {
			over := sort.Search(len(noise), func(i int) bool { return noise[i].To >= clear.From })
			placed = after(placed, clear.From-noise[over].From)
		}
		first, end := k.granted(max(w.From, clear.From), clear.To)
		i := overtakers.first(first, end, max(w.From, after(placed, r.patience())))
		if i < 0 {
			continue
		}
		if later := k.Grants[i].OK >= firstLate(late, clear.From); by < 0 || !later {
			by, from, open = i, placed, later
		}
		if !open {
			break
		}
	}
	return by, from, open
}

// overtaking are the grants that may overtake who waits as a writer or a reader, by when they were asked for.
func overtaking(k *keyLog) map[history.Mode]*peaks {
	return map[history.Mode]*peaks{
		history.Exclusive: {n: len(k.Grants), value: func(i int) int64 { return k.Grants[i].Invoked }},
		history.Shared: {n: len(k.Grants), value: func(i int) int64 {
			if k.Grants[i].Mode == history.Shared {
				return -trace.Forever
			}
			return k.Grants[i].Invoked
		}},
	}
}
