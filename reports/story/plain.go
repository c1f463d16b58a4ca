package story

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/say"
)

// spoken says what happened by an operation that no other step tells.
func (s *telling) spoken(op *history.Op) string {
	as, why := s.askedAs(op.Mode), ""
	if op.Error != "" {
		why = ": " + strings.TrimSuffix(say.Error(op.Error), ".")
	}
	switch copies := decided(op, s.Setup.Promise.Token); {
	case op.F == history.Read && op.Type == history.Invoke:
		return fmt.Sprintf("asks to read %q.", op.Key)
	case op.F == history.Read && op.Type == history.OK && op.Unfenced != nil:
		return fmt.Sprintf("reads %s.", values(op))
	case op.F == history.ReadSeen && op.Unfenced != nil:
		return fmt.Sprintf("shows %s to %s.", values(op), s.nameOf(op))
	case op.F == history.Write && op.Type == history.Invoke:
		return fmt.Sprintf("sends its write of %s.", say.Value(op.Value))
	case op.F == history.Write && op.Type == history.OK:
		return fmt.Sprintf("is told that its write of %s is done.", say.Value(op.Value))
	case op.F == history.Apply && op.Unfenced != nil:
		return fmt.Sprintf("decides the write of %s, sent as %q. %s", say.Value(op.Value), op.Owner, copies)
	case op.F == history.Effect && op.Type == history.OK:
		return "is told that what it asked for is done."
	case asks[op.F] != "" && op.Type == history.Fail:
		return fmt.Sprintf("%s %q%s, and is refused%s.", asks[op.F], op.Key, as, why)
	case asks[op.F] != "" && op.Type == history.Info:
		return fmt.Sprintf("%s %q%s, and is never told what came of it%s.", asks[op.F], op.Key, as, why)
	case asks[op.F] != "" && op.Type == history.OK:
		return fmt.Sprintf("%s %q%s, and is told ok%s.", asks[op.F], op.Key, as, why)
	}
	return plain(op)
}

// values are what both copies showed.
func values(op *history.Op) string {
	u, f := op.Unfenced, op.Fenced
	if f == nil || u.Value == f.Value {
		return say.Value(u.Value)
	}
	return fmt.Sprintf("%s in the unfenced copy, %s in the fenced one", say.Value(u.Value), say.Value(f.Value))
}

// nameOf is the client whose grant an operation names, else that name.
func (s *telling) nameOf(op *history.Op) string {
	if g := s.ByOwner[op.Owner]; g != nil {
		return g.Node
	}
	return fmt.Sprintf("%q", op.Owner)
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
	case op.F == history.Holder:
		words = fmt.Sprintf("looks at the servers, which name %s as the holder", cmp.Or(op.Owner, "nobody"))
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
		words += ": " + strings.TrimSuffix(say.Error(op.Error), ".")
	}
	return words + "."
}
