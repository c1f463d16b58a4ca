package checker

import (
	"cmp"
	"slices"
	"strings"
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

// state is how a grant may be held, with what was asked of it and may still come.
type state struct {
	held    string
	unknown []string // "1": one permit less; else the mode
}

// came are the states that one may have turned into.
func (s state) came() (all []state) {
	all = []state{s}
	for i, u := range s.unknown {
		left := slices.Delete(slices.Clone(s.unknown), i, i+1)
		switch {
		case u != "1":
			all = append(all, state{u, left}.came()...)
		case s.held == "2":
			all = append(all, state{"1", left}.came()...)
		}
	}
	return all
}

// heldBefore is how an owner may have held its lock from an operation on until another one; none: who knows.
func heldBefore(ops []history.Op, owner string, from, until int) (may []state, doubted bool) {
	for i := range ops[:until] {
		op := &ops[i]
		done := answerTo(ops, op)
		first := state{}
		if len(may) > 0 {
			first = may[0]
		}
		switch {
		case op.Type != history.Invoke:
		case op.F == history.Acquire && done != nil && done.Owner == owner:
			may = []state{{held: cmp.Or(says(done), says(op))}}
		case op.Owner != owner:
		case op.F == history.Extend && done != nil && done.Type == history.OK && done.Index < from && says(done) != "" && says(done) != says(op) &&
			len(first.unknown) > 0 && !turning(ops, owner, i, done.Index):
			var told []state
			for _, s := range may {
				for _, c := range s.came() {
					if c.held == says(done) {
						told = append(told, c)
					}
				}
			}
			if len(told) > 0 { // else the answer was false
				may = told
			}
		case op.F != history.Change && op.F != history.Release:
		case done == nil || done.Index > from || op.F == history.Release && (says(op) != "1" || first.held != "2"):
			return nil, doubted
		case done.Type == history.Info:
			doubted = true
			for n := range may {
				may[n].unknown = append(slices.Clone(may[n].unknown), says(op))
			}
		case done.Type == history.OK && op.F == history.Change:
			for n := range may {
				may[n].held = cmp.Or(says(done), says(op))
			}
		case done.Type == history.OK:
			for n := range may {
				may[n].held = "1"
			}
		}
	}
	return may, doubted
}

// turning says that a change or release of an owner was under way between two operations.
func turning(ops []history.Op, owner string, from, until int) bool {
	for i := range ops[:until] {
		done := answerTo(ops, &ops[i])
		if op := &ops[i]; op.Type == history.Invoke && op.Owner == owner && (op.F == history.Change || op.F == history.Release) && (done == nil || done.Index > from) {
			return true
		}
	}
	return false
}

// renewedOnes are the renewals that tell of something that their client neither held meanwhile nor asked for.
func renewedOnes(ops []history.Op) (all []int) {
	for i := range ops {
		done := answerTo(ops, &ops[i])
		if ops[i].Type != history.Invoke || ops[i].F != history.Extend || done == nil || done.Type != history.OK || says(done) == "" {
			continue
		}
		may, _ := heldBefore(ops, ops[i].Owner, i, done.Index)
		bad := len(may) > 0 && says(done) != says(&ops[i])
		for _, s := range may {
			bad = bad && !slices.ContainsFunc(s.came(), func(c state) bool {
				held := cmp.Or(c.held, says(&ops[i]))
				return held == "" || held == says(done)
			})
		}
		if bad {
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
			f = withoutRoomless(f)
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

// withoutRoomless leaves out what is told beside others, or of what had been given back: the scenes ask for that.
func withoutRoomless(f found) found {
	f.list = slices.DeleteFunc(f.list, func(v Violation) bool {
		return strings.Contains(v.Message, "left no room for that") || strings.Contains(v.Message, "all that it had been told to have")
	})
	f.certain = len(f.list)
	return f
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
