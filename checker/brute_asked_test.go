package checker

import (
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

func TestOtherThanAskedAgrees(t *testing.T) {
	for _, kind := range []history.Kind{history.ReadWrite, history.Semaphore} {
		bothWays(t, 10, func(t *rapid.T) bool {
			setup, ops := sharing(t, kind)
			toldOther(t, ops)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			r, f, want := newRun(setup, ops), found{}, otherOnes(ops)
			r.otherThanAsked(&f)
			if f.certain != len(want) || f.possible > 0 || len(want) > 0 && honestClaims(r).property("honest-claims").Verdict != Violated {
				t.Fatalf("%+v, want %v", f.list, want)
			}
			m := minimizer{setup: setup, ops: ops}
			for i := range f.list {
				v := &f.list[i]
				if !m.namesOther(v) || !slices.ContainsFunc(want, func(i int) bool { return slices.Contains(v.Operations, i) && ops[i].Time == v.At }) {
					t.Fatalf("%+v, want one of %v", v, want)
				}
			}
			return len(want) > 0
		})
	}
}
