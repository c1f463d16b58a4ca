package checker

import (
	"context"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/shapes"
)

// Reductions end with their budget and with an interrupt, and what is left says so.

// keep saves nowhere, and counts.
func keep(saved *int) Save {
	return func(_ int, setup history.Setup, ops []history.Op) (string, history.Setup, []history.Op, error) {
		*saved++
		return "file", setup, ops, nil
	}
}

func TestMinimalAtItsLimit(t *testing.T) {
	saved := 0
	m, v := smallZombie(t)
	m.reduce("mutual-exclusion", v)
	work := m.budget.Work
	if work == 0 {
		t.Fatal("nothing was judged")
	}
	for over, want := range map[int]string{0: "", 1: "not looked for: more than 2e+07 operations"} {
		m, v := smallZombie(t)
		m.budget.Spend(2e7 - over2(over, work))
		bug, err := m.minimize("mutual-exclusion", v, keep(&saved))
		if bug || err != nil || want == "" != (v.Minimal.Why == "") || !strings.HasPrefix(v.Minimal.Why, want) || v.Minimal.Skipped != (want != "") {
			t.Errorf("over by %d: %v, %v, %+v", over, bug, err, v.Minimal)
		}
	}
	if saved != 1 {
		t.Errorf("saved %d", saved)
	}
}

// over2 is what is left of the budget: all that a reduction takes, or nothing.
func over2(over, work int) int {
	if over == 0 {
		return work
	}
	return -1
}

// A reduction that is cut short keeps what it has, which shows the violation, and is
// not called minimal.
func TestMinimalIsCutShort(t *testing.T) {
	whole, v := smallZombie(t)
	all, _ := whole.reduce("mutual-exclusion", v)
	short := 0
	for allowed := 1; ; allowed++ {
		m, v := smallZombie(t)
		m.budget.Most = allowed
		saved := 0
		bug, err := m.minimize("mutual-exclusion", v, keep(&saved))
		if bug || err != nil {
			t.Fatalf("%d questions: %v, %v, %+v", allowed, bug, err, v.Minimal)
		}
		if v.Minimal.Unfinished != "" {
			short++
			if v.Minimal.Why != "" || saved != 1 || len(v.Minimal.Operations) < len(all) {
				t.Errorf("%d questions: %+v", allowed, v.Minimal)
			}
		}
		if v.Minimal.Unfinished == "" && v.Minimal.Why == "" {
			break
		}
	}
	if short == 0 {
		t.Error("no reduction was cut short in its midst")
	}
}

// A large history with many violations: nothing is asked once the interrupt came.
func TestMinimizeAfterAnInterrupt(t *testing.T) {
	setup, ops := shape(t, "zombies", 100000)
	result := Judge(setup, ops)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	saved := 0
	if err := Minimize(ctx, setup, ops, &result, keep(&saved)); err != nil || saved > 0 {
		t.Fatalf("%v, saved %d", err, saved)
	}
	seen := 0
	for _, v := range shown(&result) {
		if seen++; v.Minimal == nil || !v.Minimal.Skipped || !strings.Contains(v.Minimal.Why, "interrupted") {
			t.Fatalf("%+v", v.Minimal)
		}
	}
	if seen < 20 {
		t.Errorf("%d violations", seen)
	}
}

func shape(t testing.TB, name string, n int) (history.Setup, []history.Op) {
	t.Helper()
	for _, s := range shapes.All {
		if s.Name == name {
			return s.Make(n)
		}
	}
	t.Fatalf("no shape %q", name)
	return history.Setup{}, nil
}

// A violation that needs the whole of a large history stops with its budget: what is
// judged after it is at most the question that was under way.
func TestLargeReductionStops(t *testing.T) {
	setup, ops := shape(t, "zombies", 300000)
	m := newMinimizer(t.Context(), setup, ops)
	invented := &Violation{Key: "k", Operations: []int{10, len(ops) / 2, len(ops) - 5}, At: -1}
	if left, _ := m.reduce("mutual-exclusion", invented); left != nil {
		t.Fatal("it was found")
	}
	if most := 5 * (len(ops) + 1) * 2; m.budget.Work > most { // five starts, none of which shows it
		t.Errorf("%d operations were judged, at most %d should be", m.budget.Work, most)
	}
	m = newMinimizer(t.Context(), setup, ops)
	m.budget.Spend(2e7 - len(ops)/2)
	before := m.budget.Questions
	if left, _ := m.reduce("mutual-exclusion", invented); left != nil || m.budget.Work > 2e7+2*len(ops) || m.budget.Questions-before > 4 {
		t.Errorf("%v, %d operations, %d questions", left, m.budget.Work, m.budget.Questions-before)
	}
}
