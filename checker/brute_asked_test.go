package checker

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// toldOther lets some answers of a history tell of another mode or number of permits, and some requests or answers of none.
func toldOther(t *rapid.T, ops []history.Op) {
	for i := range ops {
		op := &ops[i]
		if op.F != history.Acquire && op.F != history.Change || op.Type != history.OK && op.Type != history.Invoke {
			continue
		}
		switch n := rapid.IntRange(0, 9).Draw(t, "tells"); {
		case n == 0 && op.F == history.Acquire: // a change says what is wanted
			op.Mode, op.Permits = "", 0
		case n == 1 && op.Type == history.OK && op.Permits > 0:
			op.Permits = 3 - op.Permits
		case n == 1 && op.Type == history.OK && op.Mode != "":
			op.Mode = map[history.Mode]history.Mode{shared: exclusive, exclusive: shared}[op.Mode]
		}
	}
}

// otherOnes are the answers that tell of something else than their process had asked for just before.
func otherOnes(ops []history.Op) (all []int) {
	for i, op := range ops {
		for j := i - 1; j >= 0 && op.Type == history.OK && (op.F == history.Acquire || op.F == history.Change); j-- {
			asked := ops[j]
			if asked.Process != op.Process {
				continue
			}
			if asked.Mode+op.Mode == shared+exclusive || asked.Mode+op.Mode == exclusive+shared || asked.Permits*op.Permits == 2 {
				all = append(all, i)
			}
			break
		}
	}
	return all
}

// renewsOther lets renewals say what they ask for and what they are told, or not, and their answers come late, as those of
// another process of their client.
func renewsOther(t *rapid.T, setup *history.Setup, ops []history.Op) {
	late := map[int]int{}
	for i := range ops {
		op := &ops[i]
		if op.F != history.Extend {
			continue
		}
		n := rapid.IntRange(0, 3).Draw(t, "says")
		if setup.Kind == history.Semaphore {
			op.Permits = int32(min(n, 2))
		} else {
			op.Mode = []history.Mode{"", shared, exclusive, shared}[n]
		}
		if op.Type == history.Invoke {
			late[op.Process] = i
		} else {
			from := late[op.Process]
			ops[from].Process, op.Process = 1000+from, 1000+from
			op.Time += rapid.Int64Range(0, 3).Draw(t, "late") * 15 * ms
		}
	}
	history.Sort(ops)
}

// says is what an operation says of how its lock is held; "": nothing.
func says(op *history.Op) string {
	return map[int32]string{1: "1", 2: "2"}[op.Permits] + string(op.Mode)
}

// answerTo is the answer to an invoke; nil: there is none.
func answerTo(ops []history.Op, invoke *history.Op) *history.Op {
	for i := range ops[invoke.Index+1:] {
		if op := &ops[invoke.Index+1+i]; op.Process == invoke.Process && op.Type != history.Note {
			return op
		}
	}
	return nil
}

// heldBefore is how an owner certainly held its lock all the while from an operation on until another one; "": who knows.
func heldBefore(ops []history.Op, owner string, from, until int) (held string) {
	for i := range ops[:until] {
		op := &ops[i]
		done := answerTo(ops, op)
		switch {
		case op.Type != history.Invoke:
		case op.F == history.Acquire && done != nil && done.Owner == owner:
			held = cmp.Or(says(done), says(op))
		case op.Owner != owner || op.F != history.Change && op.F != history.Release:
		case done == nil || done.Type == history.Info || done.Index > from || op.F == history.Release && says(op) != "1" || op.F == history.Release && held != "2":
			return "?"
		case done.Type == history.OK && op.F == history.Change:
			held = cmp.Or(says(done), says(op))
		case done.Type == history.OK:
			held = "1"
		}
	}
	return held
}

// renewedOnes are the renewals that tell of something that their client neither held meanwhile nor asked for.
func renewedOnes(ops []history.Op) (all []int) {
	for i := range ops {
		done := answerTo(ops, &ops[i])
		if ops[i].Type != history.Invoke || ops[i].F != history.Extend || done == nil || done.Type != history.OK {
			continue
		}
		held := cmp.Or(heldBefore(ops, ops[i].Owner, i, done.Index), says(&ops[i]))
		if held != "" && held != "?" && says(done) != "" && says(done) != held && says(done) != says(&ops[i]) {
			all = append(all, done.Index)
		}
	}
	return all
}

func TestOtherThanAskedAgrees(t *testing.T) {
	for _, kind := range []history.Kind{history.ReadWrite, history.Semaphore} {
		renewed := 0
		bothWays(t, 10, func(t *rapid.T) bool {
			setup, ops := sharing(t, kind)
			toldOther(t, ops)
			renewsOther(t, &setup, ops)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			r, f, want := newRun(setup, ops), found{}, slices.Concat(otherOnes(ops), renewedOnes(ops))
			r.otherThanAsked(&f)
			if f.certain != len(want) || f.possible > 0 || len(want) > 0 && honestClaims(r).property("honest-claims").Verdict != Violated {
				t.Fatalf("%+v, want %v", f.list, want)
			}
			m := minimizer{setup: setup, ops: ops}
			renewed += len(renewedOnes(ops))
			for i := range f.list {
				v := &f.list[i]
				if !m.namesOther(v) || !slices.ContainsFunc(want, func(i int) bool { return slices.Contains(v.Operations, i) && ops[i].Time == v.At }) {
					t.Fatalf("%+v, want one of %v", v, want)
				}
			}
			return len(want) > 0
		})
		if renewed == 0 {
			t.Errorf("%s: no renewal tells of another hold", kind)
		}
	}
}

// Porcupine is not asked about answers of something else than was asked for, and about all others it is.
func TestNamesOther(t *testing.T) {
	for _, c := range []struct {
		kind        history.Kind
		asked, done history.Op
		want        bool
	}{
		{history.ReadWrite, history.Op{F: history.Acquire, Mode: shared}, history.Op{Mode: exclusive}, true},
		{history.ReadWrite, history.Op{F: history.Acquire}, history.Op{Mode: exclusive}, false},
		{history.ReadWrite, history.Op{F: history.Extend}, history.Op{Mode: exclusive}, true},
		{history.ReadWrite, history.Op{F: history.Extend, Mode: shared}, history.Op{Mode: shared}, false},
		{history.ReadWrite, history.Op{F: history.Extend, Mode: shared}, history.Op{}, false},
		{history.Semaphore, history.Op{F: history.Extend}, history.Op{Permits: 1}, true},
		{history.Semaphore, history.Op{F: history.Extend, Permits: 1}, history.Op{}, false},
		{history.Semaphore, history.Op{F: history.Release}, history.Op{Permits: 1}, false},
		{history.Mutex, history.Op{F: history.Extend}, history.Op{Mode: exclusive, Permits: 1}, false},
	} {
		c.asked.Type, c.done.Type, c.done.F = history.Invoke, history.OK, c.asked.F
		m := minimizer{setup: history.Setup{Kind: c.kind}, ops: []history.Op{c.asked, c.done}}
		if got := m.namesOther(&Violation{Operations: []int{0, 1}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
