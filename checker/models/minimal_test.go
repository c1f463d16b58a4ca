package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// hereMinimal reduces a history of a register in this process.
func hereMinimal(model string, o Options, ops []Op) (left []int, err error) {
	if said := answerMinimal(model, question{o, ops}); json.Unmarshal([]byte(said), &left) != nil {
		return nil, errors.New(said)
	}
	return left, nil
}

// TestMinimal reduces random histories of every model: what is left shows the
// violation, does no longer without any one operation and what rests on it, and
// Porcupine finds no order for it either.
func TestMinimal(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			proven, most := 0, 0
			checks(t, 300)
			rapid.Check(t, func(t *rapid.T) {
				events := random(t, s, 3+int(rapid.Uint8Range(0, 12).Draw(t, "operations")))
				o := s.o
				o.Ask = inProcess
				m, _ := Named(s.model)
				result, err := decide(m, o, events)
				if err != nil || result.Verdict != Violated {
					return
				}
				mini := NewMinimizer(t.Context(), nil, m, o, events)
				mini.search = hereMinimal
				for _, v := range result.Violations[:min(3, len(result.Violations))] {
					left, _, err := mini.Minimize(v)
					if err != nil {
						t.Fatalf("%s: %v", v.Message, err)
					}
					proveMinimal(t, mini, v, left)
					proven++
					most = max(most, len(left))
				}
			})
			if proven < 20 {
				t.Errorf("%d minimal histories: too few to say anything", proven)
			}
			t.Logf("%d minimal histories, the largest of %d events", proven, most)
		})
	}
}

func proveMinimal(t *rapid.T, mini *Minimizer, v Violation, left []int) {
	var events []Event
	for _, i := range left {
		events = append(events, mini.events[i])
	}
	o := mini.options
	ops := Ops(mini.model, o, events)
	if len(ops) != 1 {
		t.Fatalf("%s: the smallest history of %v breaks an assumption", v.Message, left)
	}
	if said := inProcess(mini.model.Name, o, audible(mini.model.Name, o, ops[0])); said != Illegal {
		t.Fatalf("%s: Porcupine says %s of %v", v.Message, said, left)
	}
	p := &piece{indexes: left, events: events, ops: ops[0]}
	shows := func(ops []Op) bool {
		if onlySearched(mini.model.Name) {
			return len(ops) > 0 && inProcess(mini.model.Name, o, audible(mini.model.Name, o, ops)) == Illegal
		}
		return mini.shows(p, v, ops)
	}
	if !shows(p.ops) {
		t.Fatalf("%s: %v does not show it", v.Message, left)
	}
	needs := needing(mini.model.Name, p.ops)
	for i := range p.ops {
		if rest := leftWithout(p.ops, needs, i); shows(rest) {
			t.Fatalf("%s: %v does not need %+v", v.Message, left, p.ops[i])
		}
	}
}

// audible are the operations that Porcupine is asked about.
func audible(model string, o Options, ops []Op) []Op {
	return slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return onlySearched(model) && o.silent(op.F, op.Type, op.Value) })
}

// leftWithout leaves out an operation and all that needs it.
func leftWithout(ops []Op, needs [][]int, i int) (rest []Op) {
	gone := map[int]bool{i: true}
	for before := 0; before < len(gone); {
		before = len(gone)
		for j := range ops {
			if slices.ContainsFunc(needs[j], func(n int) bool { return gone[n] }) {
				gone[j] = true
			}
		}
	}
	for j := range ops {
		if !gone[j] {
			rest = append(rest, ops[j])
		}
	}
	return rest
}

// TestNeeding leaves operations out of random legal histories, each with those
// that need it: they must stay legal, or a minimal history shows what never was.
func TestNeeding(t *testing.T) {
	for _, s := range shapes {
		if s.model == "try" || s.model == "ownerless" {
			continue // a piece cannot show that nobody held the lock
		}
		t.Run(s.String(), func(t *testing.T) {
			tried := 0
			checks(t, 400)
			rapid.Check(t, func(t *rapid.T) {
				events := random(t, s, 3+int(rapid.Uint8Range(0, 9).Draw(t, "operations")))
				m, _ := Named(s.model)
				all := Ops(m, s.o, events)
				if len(all) != 1 || inProcess(s.model, s.o, all[0]) != Legal {
					return
				}
				ops, needs := all[0], needing(s.model, all[0])
				for i := range ops {
					tried++
					if rest := leftWithout(ops, needs, i); inProcess(s.model, s.o, rest) == Illegal {
						t.Fatalf("%s: without %+v it is illegal: %s", s, ops[i], fmt.Sprintf("%+v", rest))
					}
				}
			})
			if tried < 100 {
				t.Errorf("%d tried: too few to say anything", tried)
			}
		})
	}
}
