package checker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// The steps on the way to a minimal history.

// smallZombie is a history with one violation of mutual-exclusion, and what it is minimized with.
func smallZombie(t *testing.T) (*minimizer, *Violation) {
	t.Helper()
	b := newBuilder()
	h, _ := zombie(b)
	b.write(4*sec, h)
	setup, ops := b.done()
	setup.Expect.Faults = 3
	result := Judge(setup, ops)
	p := result.Property("mutual-exclusion")
	if len(p.Violations) != 1 {
		t.Fatalf("%+v", p)
	}
	return newMinimizer(t.Context(), setup, ops), &p.Violations[0]
}

// An invoke and its completion go together, and so do the notes of a fault at a victim.
func TestUnits(t *testing.T) {
	fault := func(id int, target string, phase history.Phase) history.Op {
		return history.Op{Type: history.Note, F: history.Fault, Fault: fault1(id, target, phase)}
	}
	op := func(process int, typ history.Type) history.Op {
		return history.Op{Process: process, Type: typ, Key: "k"}
	}
	ops := []history.Op{
		op(1, history.Invoke), op(2, history.Invoke), fault(1, "a", history.Begin), op(1, history.OK), // 3
		fault(1, "b", history.Begin), op(1, history.Invoke), op(2, history.Info), fault(1, "a", history.Observed), // 7
		fault(1, "a", history.Heal), op(1, history.Fail), op(0, history.Note), op(0, history.Note), fault(2, "a", history.Begin),
	}
	m := newMinimizer(t.Context(), history.Setup{}, ops)
	if got := fmt.Sprint(m.units); got != "[[0 3] [1 6] [2 7 8] [4] [5 9] [10] [11] [12]]" {
		t.Errorf("units %s", got)
	}
	v := &Violation{Operations: []int{1, 2, 3, 6}}
	if got := fmt.Sprint(m.named(v), m.named(&Violation{Operations: []int{0, 1, 3}})); got != "[0 1 2] [0 1]" {
		t.Errorf("named %s", got)
	}
	if got := fmt.Sprint(m.of([]int{4, 0})); got != "[0 3 5 9]" {
		t.Errorf("of %s", got)
	}
}

// What is related has the owner, the value or the process of what is named, or no key.
func TestRelated(t *testing.T) {
	op := func(process int, owner, value, key string) history.Op {
		return history.Op{Type: history.Note, Process: process, Owner: owner, Value: value, Key: key}
	}
	ops := []history.Op{op(0, "", "", "k"), op(1, "a", "v", "k"), op(1, "b", "", "k"), op(2, "a", "w", "k"), op(3, "c", "v", "k"), op(4, "d", "x", "k"), op(0, "", "", ""), op(0, "", "", "l")}
	m := newMinimizer(t.Context(), history.Setup{}, ops)
	m.budget.Work = 5
	if got := fmt.Sprint(m.related(&Violation{Operations: []int{1}})); got != "[1 2 3 4 6]" || m.budget.Work != 5+len(ops) {
		t.Errorf("%s; %d judged", got, m.budget.Work)
	}
	if got := fmt.Sprint(m.related(&Violation{Operations: []int{0}})); got != "[6]" {
		t.Errorf("of what names nothing: %s", got)
	}
	if got := len(m.all(nil)); got != len(ops) {
		t.Errorf("%d of all", got)
	}
}

// A part is numbered anew, of the one key, and owes nothing to the scenario.
func TestPart(t *testing.T) {
	ops := []history.Op{{Index: 0, Value: "a"}, {Index: 1, Value: "b"}, {Index: 2, Value: "c"}}
	m := newMinimizer(t.Context(), history.Setup{Keys: []string{"k", "l"}, Expect: history.Expect{Faults: 1}}, ops)
	setup, part := m.part(&Violation{Key: "l"}, []int{0, 2})
	if fmt.Sprint(setup.Keys) != "[l]" || setup.Expect != (history.Expect{}) || len(part) != 2 || part[1].Index != 1 || part[1].Value != "c" || ops[2].Index != 2 {
		t.Errorf("%+v, %+v", setup, part)
	}
	if setup, _ := m.part(&Violation{}, nil); fmt.Sprint(setup.Keys) != "[k l]" {
		t.Errorf("of no key: %v", setup.Keys)
	}
}

// Two violations are one only if all that they say is the same.
func TestSameViolation(t *testing.T) {
	v := Violation{At: 1, Key: "k", Operations: []int{1, 2}, Message: "one"}
	for i, other := range []Violation{
		{At: 1, Key: "k", Operations: []int{1, 2}, Message: "another"}, {At: 2, Key: "k", Operations: []int{1, 2}}, {At: 1, Key: "l", Operations: []int{1, 2}},
		{At: 1, Key: "k", Operations: []int{1, 2}, Possible: true}, {At: 1, Key: "k", Operations: []int{1, 2}, Disturbed: true}, {At: 1, Key: "k", Operations: []int{1}},
	} {
		if got := v.same(&other); got != (i == 0) {
			t.Errorf("%+v: %v", other, got)
		}
	}
}

// Of those that count and of the others so many are made minimal each; what is not
// found again is doubted.
func TestMinimalOfEachKind(t *testing.T) {
	m, one := smallZombie(t)
	var all []Violation
	for i := range 3 * (MinimalKept + 5) {
		all = append(all, Violation{Operations: one.Operations, At: -1, Possible: i%3 == 1, Disturbed: i%3 == 2})
	}
	result := Result{Properties: []Property{{Name: "mutual-exclusion", Violations: all}}}
	minimize(t, m.setup, m.ops, &result)
	firm, other := 0, 0
	for i, v := range all {
		kept := &firm
		if i%3 > 0 {
			kept = &other
		}
		if *kept++; (v.Minimal != nil) != (*kept <= MinimalKept) {
			t.Errorf("violation %d, possible %v, disturbed %v: %+v", i, v.Possible, v.Disturbed, v.Minimal)
		}
	}
	if len(result.Doubts) != 2*MinimalKept || !strings.Contains(result.Doubts[0], "has no minimal history: it is not found again") {
		t.Errorf("%d doubts", len(result.Doubts))
	}
}

// What cannot be saved is an error; what is saved wrongly is said, and doubted.
func TestMinimalIsReadAgain(t *testing.T) {
	m, v := smallZombie(t)
	result := Result{Properties: []Property{{Name: "mutual-exclusion", Violations: []Violation{*v}}}}
	broken := errors.New("the disk is full")
	err := Minimize(t.Context(), m.setup, m.ops, &result, func(int, history.Setup, []history.Op) (string, history.Setup, []history.Op, error) {
		return "", history.Setup{}, nil, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		spoil func(*history.Setup, []history.Op) []history.Op
		want  string
	}{
		{func(_ *history.Setup, ops []history.Op) []history.Op { return ops }, ""},
		{func(_ *history.Setup, ops []history.Op) []history.Op {
			note := history.Op{Index: len(ops), Time: ops[len(ops)-1].Time, Type: history.Note, F: history.Final}
			return append(slices.Clone(ops), note)
		}, "operations, not "},
		{func(s *history.Setup, ops []history.Op) []history.Op { s.Shows = "recovery"; return ops }, "mutual-exclusion is n/a in it"},
		{func(_ *history.Setup, ops []history.Op) []history.Op { ops[1].Index = 7; return ops }, "7"},
	} {
		result := Result{Properties: []Property{{Name: "mutual-exclusion", Violations: []Violation{*v}}}}
		err := Minimize(t.Context(), m.setup, m.ops, &result, func(_ int, setup history.Setup, ops []history.Op) (string, history.Setup, []history.Op, error) {
			if setup.Shows != "mutual-exclusion" {
				t.Errorf("it is saved as what shows %q", setup.Shows)
			}
			ops = c.spoil(&setup, ops)
			return "file", setup, ops, nil
		})
		got := result.Properties[0].Violations[0].Minimal
		if err != nil || !strings.Contains(got.Why, c.want) || (got.Why == "") != (c.want == "") || (len(result.Doubts) == 0) != (c.want == "") {
			t.Errorf("%v, %+v, %v; want %q", err, got, result.Doubts, c.want)
		}
	}
	if why := (&Minimal{}).Again("no such property", v, m.setup, m.ops); why == "" {
		t.Error("a property that is none was found again")
	}
}
