package story

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// tellFaults tells of faults on the holders and on servers while the story lasts, each once for all its
// victims. Those on bystanders do not belong, but for a suspect.
func (s *telling) tellFaults() {
	suspect := s.suspect()
	for _, e := range s.Episodes() {
		lasted, first := s.During(e), e.Victims[0]
		if lasted.To < s.window.From || lasted.From > s.window.To || first != suspect && !slices.ContainsFunc(e.Victims, s.concerned) {
			continue
		}
		if first.Begin < 0 {
			s.add(lasted.From, first.First, "fault", first.Target, StepFault, "The %s of %s never came: %s", e.Kind,
				first.Target, say.Sentence(say.Error(first.Proof)))
			continue
		}
		s.add(lasted.From, first.First, "fault", first.Target, StepFault, "%s%s", e.Begins(), e.Seen())
		if words := e.Ends(say.Length(lasted.Length()), s.IsClient); e.End >= 0 && words != "" {
			s.addOp(e.End, "fault", StepHeal, "%s", words)
		}
		if again := again(e); again > e.End && e.End >= 0 {
			s.addOp(again, "fault", StepHeal, "Connections that were cut make progress again, %s after the heal.",
				say.Length(timeline.Span{From: s.Ops[e.End].Time, To: s.Ops[again].Time}.Length()))
		}
	}
}

// suspect is the first victim of the last fault before all wait in vain, whoever suffers it: what it left may
// keep the key. Nil: the story is of something else.
func (s *telling) suspect() (last *trace.Fault) {
	if !s.dry.stuck {
		return nil
	}
	for _, e := range s.Episodes() {
		if from := s.During(e).From; from <= s.dry.from && (last == nil || from >= s.Lasted(last).From) {
			last = e.Victims[0]
		}
	}
	return last
}

// again is the note of the last victim whose connections flow again; 0: none.
func again(e *timeline.Episode) (last int) {
	for _, f := range e.Victims {
		last = max(last, f.AgainOp)
	}
	return last
}

// concerned says whether a victim holds one of the grants, or is no client.
func (s *telling) concerned(f *trace.Fault) bool {
	if slices.ContainsFunc(s.grants, func(g *trace.Grant) bool { return g.Node == f.Target }) {
		return true
	}
	for i := range s.named {
		if s.Ops[i].Node == f.Target {
			return true
		}
	}
	return !s.IsClient(f.Target)
}

// faultAt is the fault that a node suffers at an instant, or nil.
func (s *telling) faultAt(node string, at int64) *trace.Fault {
	for _, f := range s.Faults {
		if f.Target == node && s.Lasted(f).Holds(at) {
			return f
		}
	}
	return nil
}

// tellHolds tells where the harness itself held a client of the story.
func (s *telling) tellHolds() {
	for _, i := range s.Held {
		op := &s.Ops[i]
		if !slices.Contains(s.grants, s.ByOwner[op.Owner]) {
			continue
		}
		if from := op.Time - op.Length; s.window.Holds(from) {
			s.add(from, i, "harness", op.Node, StepHold, "holds %s%s, for %s.",
				op.Node, checkpointWords(op.Value), say.Length(timeline.Span{From: from, To: op.Time}.Length()))
		}
	}
}

// checkpointWords says where a checkpoint is; nothing of one that was not recorded.
func checkpointWords(name string) string {
	return map[string]string{
		"waiting": " before it asks for the lock", "between": " between two requests of its acquire", "acquired": " right after its grant",
		"before-write": " between its read and its write", "writing": " right before its write",
		"renewing": " before it renews", "releasing": " between its write and its release",
	}[name]
}

// tellHolder tells who held the key by the server's own word, once: at the
// first look after the last of the grants.
func (s *telling) tellHolder() {
	if len(s.grants) < 2 {
		return
	}
	last := s.grants[len(s.grants)-1]
	for i := last.Op; i < len(s.Ops) && s.Ops[i].Time <= s.window.To; i++ {
		op := &s.Ops[i]
		if op.F != history.Holder || op.Key != last.Key.Name || op.Error != "" {
			continue
		}
		who := "nobody"
		if g := s.ByOwner[op.Owner]; g != nil {
			who = g.Node
		} else if op.Owner != "" {
			who = op.Owner
		}
		s.addOp(i, "service", StepHolder, "Read at the server: %s holds %q.", who, last.Key.Name)
		return
	}
}
