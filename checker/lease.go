package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// overlaps sweeps over spans in the order of their start and reports each span
// that begins while one of another owner lasts, with the latest ending of
// those. A history of a mutex with owners is linearizable if and only if the
// spans from the return of each acquire to the call of its release never
// overlap: the schedule that puts each acquire at its return and each release
// at its call has the fewest and shortest holds, so it is legal if any is.
// O(n log n). It reorders spans.
func overlaps(spans []trace.Span, report func(earlier, later trace.Span)) {
	byFrom := func(a, b trace.Span) int { return cmp.Compare(a.From, b.From) }
	if !slices.IsSortedFunc(spans, byFrom) {
		slices.SortStableFunc(spans, byFrom)
	}
	var longest, second trace.Span // the latest ends so far, of two different owners
	longest.Owner, second.Owner = -1, -1
	for _, s := range spans {
		if s.From >= s.To {
			continue
		}
		rival := longest
		if rival.Owner == s.Owner {
			rival = second
		}
		if rival.Owner >= 0 && rival.To > s.From {
			report(rival, s)
		}
		switch {
		case s.Owner == longest.Owner:
			longest.To = max(longest.To, s.To)
		case longest.Owner < 0 || s.To > longest.To:
			longest, second = s, longest
		case second.Owner < 0 || s.To > second.To:
			second = s
		}
	}
}

// leaseExclusion finds validity intervals of one key that overlap: no stopped
// client is needed for that, the service or its algorithm broke its own word.
func leaseExclusion(r *run) outcome {
	switch untold := r.Setup.Promise.Validity == history.Untold; {
	case untold && r.Setup.Kind.Shares():
		return r.untoldShares()
	case untold:
		return r.untoldLeases()
	case r.Setup.Kind.Shares():
		return r.sharedLeases()
	}
	var f found
	bent, open := map[string]int{}, false // whose clocks were bent, and whether that leaves anything open
	var spans, most []trace.Span
	for _, k := range r.keys {
		spans, most = spans[:0], most[:0]
		for i, g := range k.Grants {
			from := len(spans)
			var known bool
			if spans, known = r.OwedValidity(spans, g, i); known {
				most = append(most, spans[from:]...)
				continue
			}
			bent[g.Node]++
			if spans, most, known = r.bentValidity(spans[:from], most, g, i); !known {
				open = true
			}
		}
		pairs := map[[2]int]bool{}
		overlaps(spans, func(a, b trace.Span) {
			pair := [2]int{min(a.Owner, b.Owner), max(a.Owner, b.Owner)}
			if pairs[pair] {
				return
			}
			pairs[pair] = true
			g, h := k.Grants[a.Owner], k.Grants[b.Owner]
			f.add(r, Violation{Key: k.Name, At: b.From, Operations: []int{g.Op, h.Op}},
				"%s was granted %q at %s, while the grant of %s was valid until %s.",
				h.Who(), k.Name, r.seconds(h.OK), g.Who(), r.until(a.To))
		})
		if len(bent) > 0 {
			overlaps(most, func(a, b trace.Span) {
				open = open || !pairs[[2]int{min(a.Owner, b.Owner), max(a.Owner, b.Owner)}]
			})
		}
		r.countSlight(spans, pairs)
	}
	r.grantedLate(&f)
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("No two of %s were valid at once.", nouns.Count(len(r.Grants), "grant")),
		summary: fmt.Sprintf("%s began while the lease of another client was valid.", nouns.Count(f.certain, "grant")),
	}
	if open {
		o.verdict, o.reason = Unknown, r.bentReason(bent)
	}
	return r.orUnseen(o)
}

// bentValidity is r.ValidityBounds, where no server's clock was wrong as well: then nobody knows what the service owes.
func (r *run) bentValidity(least, most []trace.Span, g *trace.Grant, owner int) (atLeast, atMost []trace.Span, ok bool) {
	if r.begun(true, func(k history.FaultKind) bool { return k.Name == "clock" }) > 0 {
		return least, most, false
	}
	return r.ValidityBounds(least, most, g, owner)
}

// countSlight counts the overlaps that are none only as a deadline is taken to end clockNoise
// earlier. It makes spans longer.
func (r *run) countSlight(spans []trace.Span, counted map[[2]int]bool) {
	for i := range spans {
		if spans[i].To < trace.Forever-trace.ClockNoise {
			spans[i].To += trace.ClockNoise
		}
	}
	overlaps(spans, func(a, b trace.Span) {
		pair := [2]int{min(a.Owner, b.Owner), max(a.Owner, b.Owner)}
		if !counted[pair] {
			counted[pair] = true
			r.counts.SlightOverlaps++
			r.counts.SlightLongest = max(r.counts.SlightLongest, min(a.To, b.To)-b.From)
		}
	})
}

func (r *run) until(t int64) string {
	if t == trace.Forever {
		return "for ever"
	}
	return r.seconds(t)
}

func (r *run) bentReason(bent map[string]int) string {
	var node string
	n := 0
	for name, grants := range bent {
		n += grants
		if node == "" || name < node {
			node = name
		}
	}
	return fmt.Sprintf("The deadlines of %s cannot be converted: %s.", nouns.Count(n, "grant"), r.bentClock(node))
}

// bentClock says why the deadlines of a node cannot be converted.
func (r *run) bentClock(node string) string {
	why := "moved against the judge's"
	if c := r.Clock(node); c != nil && c.Missing {
		why = "was not recorded"
	}
	return fmt.Sprintf("the clock of %s %s", node, why)
}

// validityBound compares each claim with what its algorithm allows: the lease,
// less the time since its request was sent, less the drift that it states. The
// node's clock is the settled one, as the readings of one stamp may be apart. By a
// bent clock it is not known how much time its node has seen since the request: there
// the claim must stay within the lease.
func validityBound(r *run) outcome {
	var f found
	seen, missing := 0, 0
	r.eachAnswer(func(g *trace.Grant, i int) {
		op := &r.Ops[i]
		if op.Deadline == 0 {
			if !r.Setup.Promise.Renews {
				seen++
				f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, i}},
					"%s claimed %q at %s for ever, although its lock gives a lease.", g.Who(), g.Key.Name, r.seconds(op.Time))
			}
			return
		}
		if op.Mono == 0 {
			missing++
			return
		}
		lease := r.LeaseOf(op)
		drift := int64(r.Setup.Promise.DriftFactor*float64(lease)) + int64(r.Setup.Promise.DriftFixed)
		own, elapsed := op.Mono, int64(0)
		if c := r.Clock(op.Node); c != nil && c.Constant {
			if own = op.Time + c.Offset; op.Sent != 0 {
				elapsed = op.Time - op.Sent
			}
		}
		claimed, allowed := op.Deadline-own, lease-elapsed-drift
		if claimed > lease && r.clockSet(i) { // what it counted from may be later than what its clock says now
			missing++
			return
		}
		if op.Sent == 0 && claimed <= allowed+trace.ClockNoise { // that it is within its lease does not say that it is short enough
			missing++
			return
		}
		seen++
		if claimed > allowed+trace.ClockNoise {
			f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: []int{g.Op, i}},
				"%s claimed %q at %s for %s, %s more than its lease allows.",
				g.Who(), g.Key.Name, r.seconds(op.Time), length(claimed), length(claimed-allowed))
		}
	})
	byLease := f.certain
	compared := r.restsTold(&f)
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s %s within lease, less elapsed time, less drift.", countOf("All of ", seen, "claim"), verb(seen, "stay")),
		summary: fmt.Sprintf("%d of %s %s longer than lease, less elapsed time, less drift.", byLease, nouns.Count(seen, "claim"), verb(byLease, "last")),
	}
	switch longer := f.certain - byLease; {
	case longer > 0:
		o.summary += fmt.Sprintf(" %s found that a lease ends before its claim.", nouns.Count(longer, "look"))
	case compared > 0:
		o.reason += fmt.Sprintf(" Looks at the servers bear out %d of them.", compared)
	}
	if seen == 0 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("No claim can be judged: %d of %s %s the node's own clock or the "+
			"time of sending.", missing, nouns.Count(missing, "claim"), verb(missing, "lack"))
	}
	return o
}

// eachAnswer calls do with each answer that told a holder that it holds its lock.
func (r *run) eachAnswer(do func(*trace.Grant, int)) {
	for _, g := range r.Grants {
		for _, i := range r.Renewed(g) {
			do(g, i)
		}
	}
}

// clockSet says that a fault may have set the clock of an operation's node while it was under way. A fault is told as it
// begins, and its heal once it is done: each counts a quarter of a lease.
func (r *run) clockSet(i int) bool {
	op := &r.Ops[i]
	if c := r.Clock(op.Node); c == nil || c.Constant {
		return false
	}
	invoke, ok := r.Started(i)
	if !ok {
		return false
	}
	slack := int64(r.Setup.Lease) / 4
	return slices.ContainsFunc(r.Faults, func(f *trace.Fault) bool {
		within := func(from, to int64) bool { return from <= op.Time && to >= r.Ops[invoke].Time }
		return f.Kind == "clock" && f.Target == op.Node && (within(f.From, after(f.From, slack)) || within(f.To-slack, f.To))
	})
}
