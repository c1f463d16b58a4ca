// Package story tells a violation: the grants that it rests on, what was done under them, the faults that
// struck their holders, and what was lost.
package story

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Of tells how a violation came about, in order: the grants that it rests
// on, what was read and written under them, the faults that struck their
// holders, and what was lost. It holds no step that does not bear on it.
func Of(setup history.Setup, ops []history.Op, v checker.Violation) []Step {
	return New(timeline.New(setup, ops)).Tell(v)
}

// First is the violation to tell first: the earliest, certain before possible
// and undisturbed before disturbed.
func First(r checker.Result) (property string, v checker.Violation, ok bool) {
	at := FirstPlace(r)
	if at.Property < 0 {
		return "", v, false
	}
	p := r.Properties[at.Property]
	return p.Name, p.Violations[at.Violation], true
}

// damage ranks a property by what its violation does: in the world, to the data, to neither.
func damage(property string) int {
	switch c, _ := checker.Find(property); {
	case c.Owed == checker.Data && c.OfUse():
		return 0
	case c.Owed == checker.Data:
		return 1
	}
	return 2
}

// Firmer orders violations: the one that proves more first, then the earlier.
func Firmer(a, b checker.Violation) int {
	return cmp.Or(softness(a)-softness(b), cmp.Compare(a.At, b.At))
}

// FirstOf is the firmest violation of a property in a sentence; "": the property is not violated.
func FirstOf(p checker.Property) string {
	if p.Verdict != checker.Violated || len(p.Violations) == 0 {
		return ""
	}
	return say.Sentence(slices.MinFunc(p.Violations, Firmer).Message)
}

// softness is how little a violation proves.
func softness(v checker.Violation) (n int) {
	if v.Possible {
		n++
	}
	if v.Disturbed {
		n += 2
	}
	return n
}

// Teller tells the stories of one history.
type Teller struct {
	*timeline.View
	losing []*trace.Write // see lossy
	sought bool
}

// New makes a teller of what has happened.
func New(t *timeline.View) *Teller { return &Teller{View: t} }

// telling gathers the steps of one story.
type telling struct {
	*Teller
	v      checker.Violation
	named  map[int]bool   // operations that the violation names
	grants []*trace.Grant // that it rests on
	window timeline.Span
	steps  []told
	dry    drought
}

// told is a step with its raw time, for the order.
type told struct {
	at int64
	g  *trace.Grant // that it is about; nil: that of its operation
	Step
}

// Tell tells how a violation came about: see Story.
func (t *Teller) Tell(v checker.Violation) []Step {
	s := &telling{Teller: t, v: v, named: map[int]bool{}}
	if !s.gather() {
		return nil
	}
	dry := s.gatherDrought()
	if !dry {
		s.follow()
	}
	for _, g := range s.grants {
		s.tellGrant(g)
	}
	s.tellHolds()
	s.tellFaults()
	if dry {
		s.tellDrought()
	} else {
		s.tellHolder()
		s.tellRest()
	}
	if !dry && (s.Setup.Use.Name != "" || !slices.ContainsFunc(s.steps, func(x told) bool { return x.Kind == StepLoss || x.Kind == StepZombie })) {
		s.add(s.window.To, -1, "judge", "", StepBroken, "%s", s.v.Message)
	}
	slices.SortStableFunc(s.steps, func(a, b told) int { return cmp.Compare(a.at, b.at) })
	steps := make([]Step, len(s.steps))
	for i, x := range s.steps {
		s.detail(&x)
		steps[i] = x.Step
	}
	return steps
}

// gather finds the grants that the violation names and the stretch of time from
// the first of them to the outcome of the last operation named.
func (s *telling) gather() bool {
	s.window = timeline.Span{From: 1<<63 - 1, To: s.v.At}
	for _, i := range s.v.Operations {
		if i < 0 || i >= len(s.Ops) {
			continue
		}
		s.named[i] = true
		s.window.From = min(s.window.From, s.Ops[i].Time)
		s.window.To = max(s.window.To, s.Ops[i].Time, s.outcome(i))
		g := s.ByOwner[s.Ops[i].Owner]
		if end, ok := s.Ended(i); g == nil && ok {
			g = s.ByOwner[s.Ops[end].Owner]
		}
		if g != nil && !slices.Contains(s.grants, g) {
			s.grants = append(s.grants, g)
			s.window.From = min(s.window.From, g.OK)
		}
	}
	slices.SortFunc(s.grants, func(a, b *trace.Grant) int { return a.Op - b.Op })
	return len(s.named) > 0
}

// outcome is the raw time at which the write of an operation took effect, or 0.
func (s *telling) outcome(i int) int64 {
	if e := s.ByEffect[s.Ops[i].Value]; e != nil && e.Note >= 0 {
		return s.Ops[e.Note].Time
	}
	if s.Ops[i].F != history.Write {
		return 0
	}
	if w := s.WriteOf(s.Ops[i].Value); w != nil && w.Apply >= 0 {
		return s.Ops[w.Apply].Time
	}
	return 0
}

func (s *telling) add(at int64, op int, who, node string, kind Kind, format string, args ...any) *told {
	step := Step{At: time.Duration(at - s.Begin), Who: who, Node: node, What: fmt.Sprintf(format, args...), Op: op, Kind: kind}
	s.steps = append(s.steps, told{at: at, Step: step})
	return &s.steps[len(s.steps)-1]
}

// addOp adds a step at an operation, unless it lies outside the window.
func (s *telling) addOp(i int, who string, kind Kind, format string, args ...any) *told {
	if op := &s.Ops[i]; s.window.Holds(op.Time) {
		return s.add(op.Time, i, who, op.Node, kind, format, args...)
	}
	return &told{}
}

// tellRest adds the operations that the violation names and no step covers.
func (s *telling) tellRest() {
	covered := map[int]bool{}
	for _, x := range s.steps {
		covered[x.Op] = true
	}
	for _, i := range slices.Sorted(maps.Keys(covered)) {
		if i < 0 || s.Ops[i].Value == "" {
			continue
		}
		s.covers(covered, i)
		if w := s.WriteOf(s.Ops[i].Value); w != nil && (i == w.Apply || i == w.Done) {
			covered[w.Invoke], covered[w.Apply], covered[w.Done] = true, true, true
		}
	}
	for _, g := range s.grants {
		covered[g.Invoke] = true
	}
	var rest []int
	for _, i := range slices.Sorted(maps.Keys(s.named)) {
		if end, ok := s.Ended(i); !covered[i] && !(ok && (covered[end] || s.named[end])) {
			rest = append(rest, i)
		}
	}
	for len(rest) > 0 {
		same := 1
		for same < len(rest) && s.asksAgain(rest[0], rest[same]) {
			same++
		}
		s.addOp(rest[0], cmp.Or(s.Ops[rest[0]].Node, "judge"), StepOther, "%s", s.words(rest[:same]))
		rest = rest[same:]
	}
}

// asksAgain says that i and j ask for the same thing.
func (s *telling) asksAgain(i, j int) bool {
	a, b := &s.Ops[i], &s.Ops[j]
	return asks[a.F] != "" && a.Type == history.Invoke && b.Type == a.Type && b.F == a.F && b.Node == a.Node && b.Key == a.Key && b.Mode == a.Mode
}

// words are those of one operation, or of several that ask for the same thing.
func (s *telling) words(ops []int) string {
	first := &s.Ops[ops[0]]
	if !s.asksAgain(ops[0], ops[0]) {
		return s.spoken(first)
	}
	again := ""
	if len(ops) > 1 {
		again = fmt.Sprintf(", %d times until %s", len(ops), say.Seconds(s.Ops[ops[len(ops)-1]].Time-s.Ops[0].Time))
	}
	return fmt.Sprintf("%s %q%s%s.", asks[first.F], first.Key, s.askedAs(first.Mode), again)
}

// Sure is how certain a violation is, in a word.
func Sure(v checker.Violation) string {
	switch {
	case v.Possible:
		return "possible"
	case v.Disturbed:
		return "disturbed"
	}
	return "certain"
}

// Place is a violation in a result: the property, and which of its violations.
type Place struct{ Property, Violation int }

// FirstPlace is the place of the violation to tell first: a certain one, the damage before its cause.
func FirstPlace(r checker.Result) Place {
	best := Place{-1, -1}
	for pi, p := range r.Properties {
		for vi, v := range p.Violations {
			if p.Verdict != checker.Violated {
				continue
			}
			if best.Property < 0 {
				best = Place{pi, vi}
				continue
			}
			other := r.Properties[best.Property]
			if o := other.Violations[best.Violation]; cmp.Or(softness(v)-softness(o), damage(p.Name)-damage(other.Name), Firmer(v, o)) < 0 {
				best = Place{pi, vi}
			}
		}
	}
	return best
}

// Numbered finds a violation by its number; 0 is the one to tell first.
func Numbered(r checker.Result, number int) (property string, v checker.Violation, ok bool) {
	if number == 0 {
		return First(r)
	}
	for _, p := range r.Properties {
		for _, v := range p.Violations {
			if v.Number == number {
				return p.Name, v, true
			}
		}
	}
	return "", v, false
}
