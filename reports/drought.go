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
}

// gatherDrought finds out whether the violation is of a key that was granted to
// nobody during a fault, and widens the story to what surrounds it: from the
// grant of who held the key to the next one.
func (s *teller) gatherDrought() bool {
	d := drought{key: s.v.Key, from: s.v.At - int64(s.setup.Lease) - int64(s.setup.Promise.Bound), wait: -1}
	fault := false
	for i := range s.named {
		fault = fault || s.ops[i].F == history.Fault
		if s.ops[i].Type == history.Invoke && isAcquire(s.ops[i].F) && (d.wait < 0 || i < d.wait) {
			d.wait = i
		}
	}
	if !fault || d.wait < 0 {
		return false
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
	s.dry = d
	s.dry.meet(s.trace, s.window.to)
	return true
}

// meet finds the acquires of others that met the drought.
func (d *drought) meet(t *trace, to int64) {
	for i := range t.ops {
		op := &t.ops[i]
		if !isAcquire(op.F) || op.Type != history.Invoke || op.Key != d.key || op.Time > to || d.holder != nil && op.Node == d.holder.node {
			continue
		}
		end, ended := t.ended[i]
		if ended && t.ops[end].Time < d.from {
			continue
		}
		d.waits = append(d.waits, i)
		if ended && t.ops[end].Type != history.OK && t.ops[end].Time <= to {
			d.refusals = append(d.refusals, end)
		}
	}
}

func (s *teller) tellDrought() {
	d := s.dry
	if h := d.holder; h == nil || h.belief.to < d.from {
		s.add(d.from, -1, "service", "", StepHolder, "No client believes to hold %q.", d.key)
	}
	s.tellWaiting()
	s.tellRefusals()
	s.add(s.v.At, -1, "judge", "", StepBroken, "Nobody has been granted %q for %s by now: longer than a lease and the bound that this lock states.",
		d.key, length(time.Duration(s.v.At-d.from)))
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
