package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// span is a time for which owner certainly holds or validly claims a key.
type span struct {
	from, to int64
	owner    int // any number that tells owners apart
}

// overlaps sweeps over spans in the order of their start and reports each span
// that begins while one of another owner lasts, with the latest ending of
// those. A history of a mutex with owners is linearizable if and only if the
// spans from the return of each acquire to the call of its release never
// overlap: the schedule that puts each acquire at its return and each release
// at its call has the fewest and shortest holds, so it is legal if any is.
// O(n log n). It reorders spans.
func overlaps(spans []span, report func(earlier, later span)) {
	byFrom := func(a, b span) int { return cmp.Compare(a.from, b.from) }
	if !slices.IsSortedFunc(spans, byFrom) {
		slices.SortStableFunc(spans, byFrom)
	}
	var longest, second span // the latest ends so far, of two different owners
	longest.owner, second.owner = -1, -1
	for _, s := range spans {
		if s.from >= s.to {
			continue
		}
		rival := longest
		if rival.owner == s.owner {
			rival = second
		}
		if rival.owner >= 0 && rival.to > s.from {
			report(rival, s)
		}
		switch {
		case s.owner == longest.owner:
			longest.to = max(longest.to, s.to)
		case longest.owner < 0 || s.to > longest.to:
			longest, second = s, longest
		case second.owner < 0 || s.to > second.to:
			second = s
		}
	}
}

// leaseExclusion finds validity intervals of one key that overlap: no stopped
// client is needed for that, the service or its algorithm broke its own word.
func leaseExclusion(r *run) outcome {
	if r.setup.Kind.Shares() {
		return r.sharedLeases()
	}
	var f found
	bent := map[string]int{}
	var spans []span
	for _, k := range r.keys {
		spans = spans[:0]
		for i, g := range k.grants {
			var known bool
			if spans, known = r.validity(spans, g, i); !known {
				bent[g.node]++
			}
		}
		pairs := map[[2]int]bool{}
		overlaps(spans, func(a, b span) {
			pair := [2]int{min(a.owner, b.owner), max(a.owner, b.owner)}
			if pairs[pair] {
				return
			}
			pairs[pair] = true
			g, h := k.grants[a.owner], k.grants[b.owner]
			f.add(r, Violation{Key: k.name, At: b.from, Operations: []int{g.op, h.op}},
				"%s was granted %q at %s, while the grant of %s was valid until %s.",
				h.who(), k.name, r.seconds(h.ok), g.who(), r.until(a.to))
		})
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("No two of %s were valid at once.", nouns.Count(len(r.grants), "grant")),
		summary: fmt.Sprintf("%s began while the lease of another client was valid.", nouns.Count(f.certain, "grant")),
	}
	if len(bent) > 0 {
		o.verdict, o.reason = Unknown, r.bentReason(bent)
	}
	return r.orUnseen(o)
}

func (r *run) until(t int64) string {
	if t == forever {
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
	if r.clocks[node] != nil && r.clocks[node].missing {
		why = "was not recorded"
	}
	return fmt.Sprintf("the clock of %s %s", node, why)
}

// validity appends the validity intervals of g: its belief cut at the deadline
// as it stands at each moment, not while its session is suspended, and not after
// its holder was told of its loss, even if it did not look and believed on. The death
// of the holder cuts no lease: nobody has given it back, and requests of the dead
// may be under way. It says false when a deadline cannot be converted to the
// judge's time.
func (r *run) validity(spans []span, g *grant, owner int) ([]span, bool) {
	current := span{from: g.ok, owner: owner}
	var known bool
	if current.to, known = r.deadlineAt(g, r.ops[g.op].Deadline); !known {
		return spans, false
	}
	end := min(g.end, g.told)
	if g.killed && g.deadline(r) != 0 {
		end = forever
	}
	push := func(to int64) {
		if to = min(to, end); to > current.from {
			spans = append(spans, span{current.from, to, owner})
		}
	}
	for _, c := range g.claims {
		push(min(current.to, c.at))
		current.from, current.to = c.at, c.at
		if !c.cut {
			if current.to, known = r.deadlineAt(g, c.deadline); !known {
				return spans, false
			}
		}
	}
	push(current.to)
	return spans, true
}

// deadlineAt converts a deadline and takes off what the clocks leave open.
func (r *run) deadlineAt(g *grant, deadline int64) (int64, bool) {
	if deadline == 0 {
		return forever, true
	}
	to, known := r.raw(g.node, deadline)
	return to - clockNoise, known
}

// validityBound compares each claim with what its algorithm allows: the lease,
// less the time since its request was sent, less the drift that it states. The
// node's clock is the settled one, as the readings of one stamp may be apart. A
// bent clock has none: there both sides are seen from the instant of the answer.
func validityBound(r *run) outcome {
	var f found
	seen, missing := 0, 0
	judge := func(g *grant, i int) {
		op := &r.ops[i]
		if op.Deadline == 0 {
			return
		}
		if op.Mono == 0 || op.Sent == 0 {
			missing++
			return
		}
		seen++
		lease := r.leaseOf(op)
		drift := int64(r.setup.Promise.DriftFactor*float64(lease)) + int64(r.setup.Promise.DriftFixed)
		own := op.Mono
		if c := r.clock(op.Node); c != nil && c.constant {
			own = op.Time + c.offset
		}
		claimed, allowed := op.Deadline-own, lease-(op.Time-op.Sent)-drift
		if claimed > allowed+clockNoise {
			f.add(r, Violation{Key: g.key.name, At: op.Time, Operations: []int{g.op, i}},
				"%s claimed %q at %s for %s, %s more than its lease allows.",
				g.who(), g.key.name, r.seconds(op.Time), length(claimed), length(claimed-allowed))
		}
	}
	for _, g := range r.grants {
		judge(g, g.op)
		for _, c := range g.claims {
			if r.ops[c.op].Type == history.OK {
				judge(g, c.op)
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("%s %s within lease, less elapsed time, less drift.", countOf("All of ", seen, "claim"), verb(seen, "stay")),
		summary: fmt.Sprintf("%d of %s %s longer than lease, less elapsed time, less drift.", f.certain, nouns.Count(seen, "claim"), verb(f.certain, "last")),
	}
	if seen == 0 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("No claim can be judged: %d of %s %s the node's own clock or the time of sending.", missing, nouns.Count(missing, "claim"), verb(missing, "lack"))
	}
	return o
}
