package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// tellFaults tells of faults on the holders and on servers while the story
// lasts, each once for all its victims; those on bystanders do not belong.
func (s *teller) tellFaults() {
	for _, e := range s.episodes() {
		lasted, first := s.during(e), e.victims[0]
		if lasted.to < s.window.from || lasted.from > s.window.to || !slices.ContainsFunc(e.victims, s.concerned) {
			continue
		}
		if first.Begin < 0 {
			s.add(lasted.from, first.First, "fault", first.Target, StepFault, "The %s of %s never came: %s", e.kind,
				first.Target, sentence(plainError(first.Proof)))
			continue
		}
		s.add(lasted.from, first.First, "fault", first.Target, StepFault, "%s%s", e.begins(), e.seen())
		if words := e.ends(length(duration(lasted)), s.isClient); e.end >= 0 && words != "" {
			s.addOp(e.end, "fault", StepHeal, "%s", words)
		}
		if again := e.again(); again > e.end && e.end >= 0 {
			s.addOp(again, "fault", StepHeal, "Connections that were cut make progress again, %s after the heal.",
				length(duration(span{s.Ops[e.end].Time, s.Ops[again].Time})))
		}
	}
}

// again is the note of the last victim whose connections flow again; 0: none.
func (e *episode) again() (last int) {
	for _, f := range e.victims {
		last = max(last, f.AgainOp)
	}
	return last
}

// concerned says whether a victim holds one of the grants, or is no client.
func (s *teller) concerned(f *trace.Fault) bool {
	if slices.ContainsFunc(s.grants, func(g *trace.Grant) bool { return g.Node == f.Target }) {
		return true
	}
	for i := range s.named {
		if s.Ops[i].Node == f.Target {
			return true
		}
	}
	return !s.isClient(f.Target)
}

func (t *view) isClient(node string) bool { return slices.Contains(t.Setup.Clients, node) }

// faultAt is the fault that a node suffers at an instant, or nil.
func (s *teller) faultAt(node string, at int64) *trace.Fault {
	for _, f := range s.Faults {
		if f.Target == node && s.lasted(f).holds(at) {
			return f
		}
	}
	return nil
}

// tellHolds tells where the harness itself held a client of the story.
func (s *teller) tellHolds() {
	for _, i := range s.Held {
		op := &s.Ops[i]
		if !slices.Contains(s.grants, s.ByOwner[op.Owner]) {
			continue
		}
		if from := op.Time - op.Length; s.window.holds(from) {
			s.add(from, i, "harness", op.Node, StepHold, "holds %s%s, for %s.", op.Node, checkpointWords(op.Value), length(duration(span{from, op.Time})))
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
func (s *teller) tellHolder() {
	if len(s.grants) < 2 {
		return
	}
	last := s.grants[len(s.grants)-1]
	for i := last.Op; i < len(s.Ops) && s.Ops[i].Time <= s.window.to; i++ {
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

// plain says what an operation is, in words.
func plain(op *history.Op) string {
	words := fmt.Sprintf("%s %s", op.F, op.Type)
	switch {
	case op.F == history.Stop:
		words = "is asked to end"
	case op.F == history.Held && op.Value != "":
		words = "is held at the checkpoint " + op.Value
	case op.F == history.End:
		words = fmt.Sprintf("ends its records: %d in all", op.Length)
	case op.Type == history.Note:
		words = string(op.F)
	}
	if op.Key != "" {
		words += fmt.Sprintf(" of %q", op.Key)
	}
	switch op.Mode {
	case history.Shared:
		words += " as a reader"
	case history.Exclusive:
		words += " as the writer"
	}
	if op.F == history.Effect && op.Type == history.Invoke && op.Unfenced != nil && op.Fenced != nil {
		words += ", " + cmp.Or(op.Unfenced.Value, op.Fenced.Value)
	}
	if op.Token != 0 {
		words += fmt.Sprintf(" with token %d", op.Token)
	}
	if op.Error != "" {
		words += ": " + strings.TrimSuffix(plainError(op.Error), ".")
	}
	return words + "."
}
