package reports

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// drought is the part of a story in which somebody waits for a key and nobody is
// granted it.
type drought struct {
	key      string
	from     int64 // raw time since when nobody was granted the key
	holder   *grant
	next     *grant // the grant that ends it; nil: none came
	wait     int    // the first acquire that the violation names
	waits    []int  // invokes of acquires that met it, in order
	refusals []int  // ends of acquires without a grant
	stuck    bool   // no fault is open: whoever waits, waits in vain
	left     int    // when stuck, the latest end of an acquire whose outcome is unknown; -1: none
}

// gatherDrought finds out whether the violation is of a key that was granted to
// nobody, during a fault or while somebody waited in vain, and widens the story to
// what surrounds it: from the grant of who held the key to the next one.
func (s *teller) gatherDrought() bool {
	d := drought{key: s.v.Key, from: s.v.At - int64(s.setup.Lease) - int64(s.setup.Promise.Bound), wait: -1, left: -1}
	fault, others := false, len(s.grants) > 0
	for i := range s.named {
		op := &s.ops[i]
		fault = fault || op.F == history.Fault
		others = others || !isAcquire(op.F) && op.F != history.Stop
		if op.Type == history.Invoke && isAcquire(op.F) && (d.wait < 0 || i < d.wait) {
			d.wait = i
		}
	}
	d.stuck = !fault && !others
	if !fault && !d.stuck || d.wait < 0 {
		return false
	}
	if d.stuck {
		d.from = s.v.At - 2*int64(s.setup.Lease) - int64(3*time.Second)
	}
	s.grants = nil
	s.window.from = min(s.window.from, d.from)
	for _, g := range s.byKey[d.key] {
		switch at := s.ops[g.ok].Time; {
		case at <= d.from:
			d.holder = g
		case at > s.v.At && d.next == nil:
			d.next = g
		}
	}
	if d.holder != nil {
		s.grants, s.window.from = []*grant{d.holder}, s.ops[d.holder.ok].Time
	}
	if d.next != nil {
		s.window.to = s.ops[d.next.ok].Time
	}
	since := d.from
	if d.stuck {
		s.gatherLeft(&d)
		since = s.window.from
	}
	s.dry = d
	s.dry.meet(s.trace, since, s.window.to)
	return true
}

// gatherLeft finds the latest acquire with an unknown outcome before a time in which all
// wait in vain, as it may have left something behind, and begins the story with it.
func (s *teller) gatherLeft(d *drought) {
	for i := range s.ops {
		op := &s.ops[i]
		if op.Time >= s.v.At {
			break
		}
		if op.Type == history.Info && isAcquire(op.F) && op.Key == d.key {
			d.left = i
		}
	}
	if d.left < 0 {
		return
	}
	s.named[d.left] = true
	if start, ok := s.started[d.left]; ok {
		s.window.from = min(s.window.from, s.ops[start].Time)
	}
}

// meet finds the acquires of others that met the drought, or the time since then.
func (d *drought) meet(t *trace, since, to int64) {
	for i := range t.ops {
		op := &t.ops[i]
		if !isAcquire(op.F) || op.Type != history.Invoke || op.Key != d.key || op.Time > to || d.holder != nil && op.Node == d.holder.node && (!d.stuck || i <= d.holder.ok) {
			continue
		}
		end, ended := t.ended[i]
		if ended && t.ops[end].Time < since {
			continue
		}
		if !ended || t.ops[end].Time >= d.from {
			d.waits = append(d.waits, i)
		}
		if ended && t.ops[end].Type != history.OK && t.ops[end].Time <= to && end != d.left {
			d.refusals = append(d.refusals, end)
		}
	}
}

func (s *teller) tellDrought() {
	d := s.dry
	if h := d.holder; h == nil || h.belief.to < d.from {
		s.add(d.from, -1, "service", "", StepHolder, "No client believes to hold %q.", d.key)
	}
	if d.left >= 0 {
		op := &s.ops[d.left]
		s.addOp(d.left, op.Node, StepOther, "is not told whether it was granted %q: %s. What it asked for may still stand at the service.", d.key, plainError(op.Error))
	}
	s.tellWaiting()
	s.tellRefusals()
	limit := "a lease and the bound that this lock states"
	if d.stuck {
		limit = "two leases and 3 s, with nothing at fault"
	}
	s.add(s.v.At, -1, "judge", "", StepBroken, "Nobody has been granted %q for %s by now: longer than %s.", d.key, length(time.Duration(s.v.At-d.from)), limit)
	if d.next == nil {
		s.add(s.window.to, -1, "judge", "", StepBroken, "%s", s.v.Message)
		return
	}
	s.addOp(d.next.ok, d.next.node, StepGrant, "acquires %q: the first grant in %s.", d.key, length(time.Duration(s.ops[d.next.ok].Time-d.from)))
}

// tellWaiting tells who waits when the limit is passed, and since when.
func (s *teller) tellWaiting() {
	var nodes []string
	first := s.dry.wait
	seen := map[string]bool{}
	for _, i := range s.dry.waits {
		if op := &s.ops[i]; op.Time <= s.v.At && !seen[op.Node] {
			seen[op.Node] = true
			nodes = append(nodes, op.Node)
		}
		if s.ops[i].Time < s.ops[first].Time {
			first = i
		}
	}
	if len(nodes) == 0 {
		return
	}
	since, verb := s.ops[first].Time, "wait"
	if len(nodes) == 1 {
		verb = "waits"
	}
	text := fmt.Sprintf("%s %s for %q", names(nodes), verb, s.dry.key)
	if since < s.dry.from {
		text += ", since " + seconds(since-s.startTime()) + " at the earliest"
	}
	s.add(max(since, s.dry.from), first, "others", s.ops[first].Node, StepWait, "%s.", text)
}

// tellRefusals tells of the waits that ended without a grant, all in one step.
func (s *teller) tellRefusals() {
	all := s.dry.refusals
	if len(all) == 0 {
		return
	}
	var nodes []string
	longest, seen := int64(0), map[string]bool{}
	last := all[0]
	for _, i := range all {
		if !seen[s.ops[i].Node] {
			seen[s.ops[i].Node] = true
			nodes = append(nodes, s.ops[i].Node)
		}
		longest = max(longest, s.ops[i].Time-s.ops[s.started[i]].Time)
		last = max(last, i)
	}
	verb, often := "give up", ""
	if len(nodes) == 1 {
		verb = "gives up"
	}
	if len(all) > len(nodes) {
		often = fmt.Sprintf(", %d times in all", len(all))
	}
	s.addOp(last, "others", StepWait, "%s %s after waiting up to %s%s: %s.", names(nodes), verb, length(time.Duration(longest)), often, plainError(s.ops[last].Error))
}
