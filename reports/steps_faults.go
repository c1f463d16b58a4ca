package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// tellFaults tells of faults on the holders and on servers while the story
// lasts; those on bystanders do not belong.
func (s *teller) tellFaults() {
	for _, f := range s.faults {
		lasted := s.lasted(f)
		if lasted.to < s.window.from || lasted.from > s.window.to || !s.concerned(f.target) {
			continue
		}
		proof := ""
		switch {
		case f.missed:
			proof = " It was not seen at its victim."
		case f.proof != "":
			proof = " Seen there: " + strings.TrimSuffix(f.proof, ".") + "."
		}
		s.add(lasted.from, f.beg, "fault", f.target, StepFault, "%s of %s begins.%s", strings.ToUpper(f.kind[:min(1, len(f.kind))])+f.kind[min(1, len(f.kind)):], f.target, proof)
		if f.end >= 0 {
			s.addOp(f.end, "fault", StepHeal, "The %s of %s ends, after %s.", f.kind, f.target, length(duration(lasted)))
		}
	}
}

// concerned says whether a node holds one of the grants, or is no client.
func (s *teller) concerned(node string) bool {
	if slices.ContainsFunc(s.grants, func(g *grant) bool { return g.node == node }) {
		return true
	}
	for i := range s.named {
		if s.ops[i].Node == node {
			return true
		}
	}
	return !slices.Contains(s.setup.Clients, node)
}

// faultAt is the fault that a node suffers at an instant, or nil.
func (s *teller) faultAt(node string, at int64) *fault {
	for _, f := range s.faults {
		if f.target == node && s.lasted(f).holds(at) {
			return f
		}
	}
	return nil
}

// tellHolder tells who held the key by the server's own word, once: at the
// first look after the last of the grants.
func (s *teller) tellHolder() {
	if len(s.grants) < 2 {
		return
	}
	last := s.grants[len(s.grants)-1]
	for i := last.ok; i < len(s.ops) && s.ops[i].Time <= s.window.to; i++ {
		op := &s.ops[i]
		if op.F != history.Holder || op.Key != last.key {
			continue
		}
		who := "nobody"
		if g := s.byOwner[op.Owner]; g != nil {
			who = g.node
		} else if op.Owner != "" {
			who = op.Owner
		}
		s.addOp(i, "service", StepHolder, "Read at the server: %s holds %q.", who, last.key)
		return
	}
}

// plain says what an operation is, in words.
func plain(op *history.Op) string {
	words := fmt.Sprintf("%s %s", op.F, op.Type)
	if op.Type == history.Note {
		words = string(op.F)
	}
	if op.Key != "" {
		words += fmt.Sprintf(" of %q", op.Key)
	}
	if op.Token != 0 {
		words += fmt.Sprintf(" with token %d", op.Token)
	}
	if op.Error != "" {
		words += ": " + strings.TrimSuffix(op.Error, ".")
	}
	return words + "."
}
