package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// plantStray lets a write that has an entry in the log stand there although the copies refused it, or have no entry of it.
func plantStray(t *rapid.T, ops []history.Op) []history.Op {
	var entries []int
	for i := range ops {
		if ops[i].F == history.Apply {
			entries = append(entries, i)
		}
	}
	if len(entries) == 0 {
		return ops
	}
	entry := rapid.SampledFrom(entries).Draw(t, "stray")
	value := ops[entry].Value
	for i := range ops {
		op := &ops[i]
		if op.F != history.Write && op.F != history.Apply || op.Value != value || op.Type == history.Invoke {
			continue
		}
		for _, c := range []*history.Copy{op.Unfenced, op.Fenced} {
			if c != nil {
				c.Accepted = false
			}
		}
	}
	if rapid.Bool().Draw(t, "unlogged") {
		ops = slices.Delete(ops, entry, entry+1)
		for i := range ops {
			ops[i].Index = i
		}
	}
	return ops
}

// shows says whether an operation shows that a value stands in a copy.
func shows(op *history.Op, s side, value string) bool {
	c := s.of(op)
	return c != nil && (op.F == history.Apply && c.Previous == value ||
		(op.F == history.ReadSeen || op.F == history.Read && op.Type == history.OK) && c.Value == value)
}

// behind says whether one value of a copy was written behind another, by what each replaced.
func (b brute) behind(s side, value, other string) bool {
	for range b.r.Ops {
		i := slices.IndexFunc(b.r.Ops, func(op history.Op) bool { return op.F == history.Apply && op.Value == value && s.of(&op).Accepted })
		if i < 0 {
			return false
		}
		if value = s.of(&b.r.Ops[i]).Previous; value == other {
			return true
		}
	}
	return false
}

// strayed asks of each value that a copy shows and has not accepted whether it has replaced what its writer had not read.
func (b brute) strayed(s side) (y tally) {
	acked := func(value string) int {
		return slices.IndexFunc(b.r.Ops, func(o history.Op) bool {
			return o.F == history.Write && o.Type == history.OK && o.Value == value && (s.of(&o) == nil || s.of(&o).Accepted)
		})
	}
	for i := range b.r.Ops {
		invoke := &b.r.Ops[i]
		if invoke.F != history.Write || invoke.Type != history.Invoke || !slices.ContainsFunc(b.r.Ops, func(o history.Op) bool { return shows(&o, s, invoke.Value) }) {
			continue
		}
		entry := slices.IndexFunc(b.r.Ops, func(o history.Op) bool { return o.F == history.Apply && o.Value == invoke.Value })
		switch {
		case entry >= 0 && s.of(&b.r.Ops[entry]).Accepted:
		case entry >= 0:
			if c := s.of(&b.r.Ops[entry]); c.Base != c.Previous && c.Previous != "" {
				y.add(acked(c.Previous) < 0)
			}
		default:
			read := s.of(invoke).Base
			if slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
				return o.F == history.Apply && s.of(&o).Accepted && acked(o.Value) >= 0 && b.r.Ops[acked(o.Value)].Time < invoke.Time &&
					b.behind(s, o.Value, read) && b.behind(s, o.Value, "") && (read == "" || b.behind(s, read, ""))
			}) {
				y.add(false)
			}
		}
	}
	return y
}

func TestStandingAgrees(t *testing.T) {
	for _, s := range []side{unfenced, fencedOf} {
		bothWays(t, 20, func(t *rapid.T) bool {
			setup, ops := clash(t)
			ops = plantStray(t, ops)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			r := newRun(setup, ops)
			u := updates{r: r, side: s}
			u.strayed()
			want := brute{r}.strayed(s)
			if u.found.tally() != want {
				t.Fatalf("%+v, want %+v", u.found.list, want)
			}
			return want.certain > 0
		})
	}
}
