package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// drought is the part of a story in which somebody waits for a key and nobody is
// granted it.
type drought struct {
	key      string
	from     int64 // raw time since when nobody was granted the key
	holder   *trace.Grant
	next     *trace.Grant // the grant that ends it; nil: none came
	wait     int          // the first acquire that the violation names
	waits    []int        // invokes of acquires that met it, in order
	refusals []int        // ends of acquires without a grant
	stuck    bool         // no fault is open: whoever waits, waits in vain
	left     int          // when stuck, the latest end of an acquire whose outcome is unknown; -1: none
}

// gatherDrought finds out whether the violation is of a key that was granted to
// nobody, during a fault or while somebody waited in vain, and widens the story to
// what surrounds it: from the grant of who held the key to the next one.
func (s *telling) gatherDrought() bool {
	d := drought{key: s.v.Key, from: s.v.At - int64(s.Setup.Lease) - int64(s.Setup.Promise.Bound), wait: -1, left: -1}
	fault := false
	others := slices.ContainsFunc(s.grants, func(g *trace.Grant) bool { return g.OK <= s.v.At }) // a later one ends it
	for i := range s.named {
		op := &s.Ops[i]
		fault = fault || op.F == history.Fault
		others = others || !timeline.IsAcquire(op.F) && op.F != history.Stop && op.F != history.Final
		if op.Type == history.Invoke && timeline.IsAcquire(op.F) && (d.wait < 0 || i < d.wait) {
			d.wait = i
		}
	}
	d.stuck = !fault && !others
	if d.wait < 0 || !fault && !(d.stuck && s.v.At-s.Ops[d.wait].Time >= int64(checker.Patience(s.Setup.Lease))) { // of less it is no drought
		return false
	}
	if d.stuck {
		d.from = s.v.At - int64(checker.Patience(s.Setup.Lease))
	}
	s.grants = slices.DeleteFunc(s.grants, func(g *trace.Grant) bool { return g.Key.Name != d.key || g.OK > d.from })
	s.window.From = min(s.window.From, d.from)
	for _, g := range s.GrantsOf(d.key) {
		switch at := g.OK; {
		case at <= d.from:
			d.holder = g
		case at > s.v.At && d.next == nil:
			d.next = g
		}
	}
	if d.holder != nil && !slices.Contains(s.grants, d.holder) {
		s.grants = append(s.grants, d.holder)
	}
	for i, g := range s.grants {
		if at := s.Ops[g.Op].Time; i == 0 || at < s.window.From {
			s.window.From = at
		}
	}
	if d.next != nil {
		s.window.To = s.Ops[d.next.Op].Time
	}
	since := d.from
	if d.stuck {
		s.gatherLeft(&d)
		since = s.window.From
	}
	s.dry = d
	s.dry.meet(s.View, since, s.window.To)
	return true
}

// gatherLeft finds the latest acquire with an unknown outcome before a time in which all
// wait in vain, as it may have left something behind, and begins the story with it.
func (s *telling) gatherLeft(d *drought) {
	for i := range s.Ops {
		op := &s.Ops[i]
		if op.Time >= s.v.At {
			break
		}
		if op.Type == history.Info && timeline.IsAcquire(op.F) && op.Key == d.key {
			d.left = i
		}
	}
	if d.left < 0 {
		return
	}
	s.named[d.left] = true
	if start, ok := s.Started(d.left); ok {
		s.window.From = min(s.window.From, s.Ops[start].Time)
	}
}

// meet finds the acquires of others that met the drought, or the time since then.
func (d *drought) meet(t *timeline.View, since, to int64) {
	for i := range t.Ops {
		op := &t.Ops[i]
		if !timeline.IsAcquire(op.F) || op.Type != history.Invoke || op.Key != d.key || op.Time > to || d.holder != nil &&
			op.Node == d.holder.Node && (!d.stuck || i <= d.holder.Op) {
			continue
		}
		end, ended := t.Ended(i)
		if ended && t.Ops[end].Time < since {
			continue
		}
		if !ended || t.Ops[end].Time >= d.from {
			d.waits = append(d.waits, i)
		}
		if ended && t.Ops[end].Type != history.OK && t.Ops[end].Time <= to && end != d.left {
			d.refusals = append(d.refusals, end)
		}
	}
}

func (s *telling) tellDrought() {
	d := s.dry
	if h := d.holder; h == nil || h.Until < d.from {
		s.add(d.from, -1, "service", "", StepHolder, "No client believes to hold %q.", d.key)
	}
	if d.left >= 0 {
		op := &s.Ops[d.left]
		s.addOp(d.left, op.Node, StepOther, "is not told whether it was granted %q%s. What it asked for may still "+
			"stand at the service.", d.key, because(op.Error))
	}
	s.tellWaiting()
	s.tellRefusals()
	limit := "a lease and the bound that this lock states"
	if d.stuck {
		limit = "two leases and 3 s"
		if !slices.ContainsFunc(s.Faults, s.lasts) {
			limit += ", with nothing at fault"
		}
	}
	s.add(s.v.At, -1, "judge", "", StepBroken,
		"Nobody has been granted %q for %s by now: longer than %s.", d.key, say.Length(time.Duration(s.v.At-d.from)), limit)
	if d.next == nil {
		s.add(s.window.To, -1, "judge", "", StepBroken, "%s", s.v.Message)
		return
	}
	s.addOp(d.next.Op, d.next.Node, StepGrant, "acquires %q: the first grant in %s.", d.key, say.Length(time.Duration(s.Ops[d.next.Op].Time-d.from)))
}

// lasts says whether a fault lasts while all wait in vain; of a client that is dead, and of what strikes only once, nothing does.
func (s *telling) lasts(f *trace.Fault) bool {
	kind := history.FaultOf(f.Kind)
	once := kind.Ends == "" || kind.EndsLeases && s.IsClient(f.Target)
	return f.Begin >= 0 && !once && s.Lasted(f).Meets(timeline.Span{From: s.dry.from, To: s.v.At})
}

// tellWaiting tells who waits when the limit is passed, and since when.
func (s *telling) tellWaiting() {
	asking := map[string][]string{} // as a reader, as the writer, or without a word: who
	first := s.dry.wait
	seen := map[string]bool{}
	for _, i := range s.dry.waits {
		if op := &s.Ops[i]; op.Time <= s.v.At && !seen[op.Node] {
			seen[op.Node] = true
			asking[s.askedAs(op.Mode)] = append(asking[s.askedAs(op.Mode)], op.Node)
		}
		if s.Ops[i].Time < s.Ops[first].Time {
			first = i
		}
	}
	if len(asking) == 0 {
		return
	}
	var parts []string
	for _, as := range slices.Sorted(maps.Keys(asking)) {
		verb := map[bool]string{true: "waits", false: "wait"}[len(asking[as]) == 1]
		parts = append(parts, fmt.Sprintf("%s %s for %q%s", say.Names(asking[as]), verb, s.dry.key, as))
	}
	text := strings.Join(parts, " and ")
	since := s.Ops[first].Time
	if since < s.dry.from {
		text += ", since " + say.Seconds(since-s.Begin) + " at the earliest"
	}
	s.add(max(since, s.dry.from), first, "others", s.Ops[first].Node, StepWait, "%s.", text)
}

// tellRefusals tells of the waits that ended without a grant, all in one step.
func (s *telling) tellRefusals() {
	all := s.dry.refusals
	if len(all) == 0 {
		return
	}
	var nodes []string
	longest, seen := int64(0), map[string]bool{}
	last := all[0]
	for _, i := range all {
		if !seen[s.Ops[i].Node] {
			seen[s.Ops[i].Node] = true
			nodes = append(nodes, s.Ops[i].Node)
		}
		started, _ := s.Started(i)
		longest = max(longest, s.Ops[i].Time-s.Ops[started].Time)
		last = max(last, i)
	}
	verb, often := "give up", ""
	if len(nodes) == 1 {
		verb = "gives up"
	}
	if len(all) > len(nodes) {
		often = fmt.Sprintf(", %d times in all", len(all))
	}
	s.addOp(last, "others", StepWait, "%s %s after waiting up to %s%s%s.", say.Names(nodes), verb,
		say.Length(time.Duration(longest)), often, because(s.Ops[last].Error))
}

// because is an error at the end of a sentence, if there is one.
func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + say.Error(err)
}
