package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Account is all that can be told of one violation.
type Account struct {
	Number  int    `json:"number"` // from 1, as in results.json
	Of      int    `json:"of"`     // how many violations there are
	What    string `json:"what"`   // the property, or the model
	About   string `json:"about"`  // when that is violated, in a sentence
	Sure    string `json:"sure"`   // certain, possible or disturbed
	At      string `json:"at"`     // when, since the first operation; of a file without times: its line
	Message string `json:"message"`
	Story   []Step `json:"story,omitempty"`

	// Lines are the operations of the smallest history that shows it; those that it
	// names where there is none.
	Lines   []Line           `json:"operations"`
	Minimal *checker.Minimal `json:"minimal,omitempty"`
	Oracle  string           `json:"oracle,omitempty"` // what Porcupine said of that history
	Notes   []string         `json:"notes,omitempty"`  // what else is to know
}

// Line is one operation, or note, as it was recorded.
type Line struct {
	Index int    `json:"index"` // in the whole history, from 0; of a file: its line, from 1
	At    string `json:"at"`
	Who   string `json:"who"`
	What  string `json:"what"`
	Named bool   `json:"named"` // the violation names it
}

// Accounts tells of every violation of a result, in the order of their numbers,
// without stories: see Account.Tell.
func Accounts(ops []history.Op, r checker.Result) []Account {
	var all []Account
	for _, p := range r.Properties {
		for _, v := range p.Violations {
			all = append(all, Account{Number: v.Number, What: p.Name, About: about(p.Name), Sure: Sure(v), At: since(ops, v.At),
				Message: say.Sentence(v.Message), Minimal: v.Minimal, Oracle: v.Oracle})
		}
	}
	for i := range all {
		all[i].Of = len(all)
	}
	return all
}

// Tell adds the story of a violation and its operations.
func (a *Account) Tell(setup history.Setup, ops []history.Op, v checker.Violation) {
	a.Story = Of(setup, ops, v)
	indexes := v.Operations
	if v.Minimal != nil && len(v.Minimal.Operations) > 0 {
		indexes = v.Minimal.Operations
	}
	for _, i := range indexes {
		if i >= 0 && i < len(ops) {
			op := &ops[i]
			a.Lines = append(a.Lines, Line{i, since(ops, op.Time), cmp.Or(op.Node, "judge"), verbatim(op), slices.Contains(v.Operations, i)})
		}
	}
}

func about(property string) string {
	c, _ := checker.Find(property)
	return c.About
}

func since(ops []history.Op, at int64) string {
	if len(ops) == 0 {
		return ""
	}
	return say.Seconds(at - ops[0].Time)
}

// verbatim says what an operation is, with all that a violation can hang on.
func verbatim(op *history.Op) string {
	words := strings.TrimSuffix(plain(op), ".")
	add := func(known bool, format string, args ...any) {
		if known {
			words += fmt.Sprintf(format, args...)
		}
	}
	add(op.Value != "", ", value %s", op.Value)
	for _, c := range []struct {
		name string
		copy *history.Copy
	}{{"unfenced", op.Unfenced}, {"fenced", op.Fenced}} {
		if c.copy != nil {
			add(op.F == history.Apply, ", %s copy %s", c.name, copyWords(op, c.copy))
			add(op.F == history.Happened, ", %s: %s", c.name, worldWords(c.copy))
			add(op.F == history.Write && op.Type == history.Invoke, ", %s copy based on %s", c.name, say.Value(c.copy.Base))
			add(op.F == history.Write && op.Type == history.OK, ", %s copy %s", c.name, map[bool]string{true: "accepted", false: "refused"}[c.copy.Accepted])
		}
	}
	if f := op.Fault; f != nil {
		add(true, " %d (%s on %s): %s", f.ID, f.Kind, f.Target, f.Phase)
	}
	return words + "."
}
