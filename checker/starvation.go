package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// starvation finds writers that waited while readers that asked later were let in. Who is granted beside readers that
// hold already is no sooner for it, so what counts is a reader that asked after the writer by more than what a fault
// leaves behind. Who is refused and asks again waits on: there it is a reader that came behind the request that was
// then refused, too. Once the service answers late the place of a writer may be gone, so what comes after that is
// left open: see late. A fault may cost it its place, so what comes after that is not judged. Who is killed, or asked
// to end, has waited until then.
func starvation(r *run) outcome {
	var f found
	waits, longest, late := 0, int64(0), r.late()
	for _, k := range r.keys {
		later := peaks{n: len(k.Grants), value: func(i int) int64 { // readers, by when they asked
			if k.Grants[i].Mode != history.Shared {
				return -trace.Forever
			}
			return k.Grants[i].Invoked
		}}
		tell := func(w trace.Wait, since int64) {
			op := &r.Ops[w.Invoke]
			noise := r.faultsFor(op.Node)
			if i := sort.Search(len(noise), func(i int) bool { return noise[i].To >= since }); i < len(noise) {
				w.To = min(w.To, noise[i].From)
			}
			if w.To-since <= r.patience() {
				return
			}
			first, end := k.granted(w.From, w.To)
			if i := later.first(first, end, max(w.From, since+r.patience())); i >= 0 {
				g := k.Grants[i]
				f.add(r, Violation{Key: k.Name, At: g.OK, Possible: g.OK >= firstLate(late, since), Operations: []int{w.Invoke, w.Done, g.Invoke, g.Op}},
					"%s waited to write %q since %s, and %s, which asked %s after it, read it at %s.",
					op.Node, k.Name, r.seconds(since), g.Who(), length(g.Invoked-since), r.seconds(g.OK))
			}
		}
		for _, w := range k.Waits {
			op := &r.Ops[w.Invoke]
			if op.F != history.Acquire || trace.ModeOf(op) == history.Shared || w.Done >= 0 && r.Ops[w.Done].Type == history.Info {
				continue
			}
			if until, known := r.lasted(w); known {
				w = until
			}
			w.To = min(w.To, max(r.End, w.From)) // who waits at the end has waited so long
			waits++
			longest = max(longest, w.To-w.From)
			tell(w, w.From)
		}
		told := toldOf(&f)
		for _, s := range r.alone(k, func(op *history.Op) bool { return op.F == history.Acquire && trace.ModeOf(op) != history.Shared }) {
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
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The longest of %s of a writer took %s.", nouns.Count(waits, "wait"), length(longest)),
		summary: fmt.Sprintf("%d of %s of a writer went on while later readers were let in.", f.certain, nouns.Count(waits, "wait")),
	}
	if waits == 0 {
		o.verdict, o.reason = Unknown, "No writer waited."
	}
	return o
}
