package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definitions of the well-known uses, each asked of every operation against every
// other, on small random histories in which anything may happen in any order.

// deeds draws what up to four owners do with two keys: grants, effects, writes, releases.
func deeds(t *rapid.T, items []string, use history.Use) *run {
	b := newBuilder()
	b.setup.Use, b.setup.Keys = use, []string{"k", "l"}
	number := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	var helds []*held
	for i := range 4 {
		h := b.grant(int64(i)*ms, int64(i)*ms+ms/2, fmt.Sprintf("client-%d", i), b.setup.Keys[number("key", 1)], int64(i+1))
		helds = append(helds, h)
		b.process[h.node] = 0 // each deed below has a process of its own
	}
	left := map[string][2]string{}
	for i := range number("deeds", 12) {
		h := helds[number("who", 3)]
		b.process[h.node] = 100 + i
		at := int64(10+2*number("at", 40)) * ms
		u, f := rapid.Bool().Draw(t, "unfenced"), rapid.Bool().Draw(t, "fenced")
		switch number("deed", 5) {
		case 0:
			b.process[h.node] = 200 + i
			b.does(at, h, history.Release, history.OK)
		case 1, 2:
			value := history.Numbered(fmt.Sprint("w", i), history.Pair{Unfenced: number("left", 2) - i, Fenced: number("left", 2) - i})
			was := left[h.key]
			base := [2]string{"", was[1]}
			if u {
				base[0] = was[0]
			}
			op := b.op(at, h.node, history.Invoke, history.Write, h.key)
			op.Owner, op.Token, op.Value = h.owner, h.token, value
			apply := b.op(at+ms/4+int64(i), "resource", history.Note, history.Apply, h.key)
			apply.Owner, apply.Token, apply.Value = h.owner, h.token, value
			apply.Unfenced = &history.Copy{Base: base[0], Previous: was[0], Accepted: true}
			apply.Fenced = &history.Copy{Base: base[1], Previous: was[1], Accepted: f}
			if was[0] = value; f {
				was[1] = value
			}
			left[h.key] = was
		default:
			value := fmt.Sprint("e", i)
			op := b.op(at, h.node, history.Invoke, history.Effect, h.key)
			op.Owner, op.Token, op.Value = h.owner, h.token, value
			item := items[number("item", len(items)-1)]
			note := b.op(at+ms/4+int64(i), "resource", history.Note, history.Happened, h.key)
			note.Owner, note.Token, note.Value = h.owner, h.token, value
			note.Unfenced, note.Fenced = &history.Copy{Value: item, Accepted: u}, &history.Copy{Value: item, Accepted: f}
		}
	}
	setup, ops := b.done()
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	return newRun(setup, ops)
}

// useAgrees compares the operations that must be named with those of the violations.
func useAgrees(t *testing.T, draw func(*rapid.T) *run, brute func(*run) []int, judge func(*run) outcome) {
	t.Helper()
	bothWays(t, 10, func(t *rapid.T) bool {
		r := draw(t)
		want, o := brute(r), judge(r)
		if len(o.found.list) != len(want) {
			t.Fatalf("%+v, want %v", o.found.list, want)
		}
		for _, i := range want {
			if !slices.ContainsFunc(o.found.list, func(v Violation) bool { return slices.Contains(v.Operations, i) }) {
				for _, op := range r.Ops {
					t.Logf("%d %dµs %s %s %s %s", op.Index, (op.Time-origin)/1000, op.Node, op.Type, op.F, op.Key)
				}
				for _, g := range r.Grants {
					t.Logf("%s %s %d-%d", g.Node, g.Key.Name, (g.OK-origin)/1000, (g.End-origin)/1000)
				}
				t.Fatalf("%+v, want %v", o.found.list, want)
			}
		}
		return len(want) > 0
	})
}

// accepted are the effects of a world, by their place in the log.
func accepted(r *run, s side, prefix string) (notes []int) {
	for i := range r.Ops {
		op := &r.Ops[i]
		if c := s.of(op); op.F == history.Happened && c.Accepted && strings.HasPrefix(c.Value, prefix) {
			notes = append(notes, i)
		}
	}
	return notes
}

func TestOnlyOnceAgrees(t *testing.T) {
	for _, s := range []side{unfenced, fencedOf} {
		useAgrees(t, func(t *rapid.T) *run {
			return deeds(t, []string{"charge order 1", "charge order 2", "charge order 3", "run slot 1"}, history.Use{Name: history.Payment})
		}, func(r *run) (twice []int) {
			all := accepted(r, s, "charge ")
			for n, i := range all {
				if slices.ContainsFunc(all[:n], func(j int) bool {
					return r.Ops[j].Key == r.Ops[i].Key && s.of(&r.Ops[j]).Value == s.of(&r.Ops[i]).Value
				}) {
					twice = append(twice, i)
				}
			}
			return twice
		}, func(r *run) outcome { return r.onlyOnce(s, charges) })
	}
}

func TestNoInterleavingAgrees(t *testing.T) {
	for _, s := range []side{unfenced, fencedOf} {
		useAgrees(t, func(t *rapid.T) *run {
			return deeds(t, []string{"version 1 block 1 of 2", "version 1 block 2 of 2"}, history.Use{Name: history.File, Blocks: 2})
		}, func(r *run) (torn []int) {
			all := accepted(r, s, "version ")
			for n, i := range all {
				before := slices.DeleteFunc(slices.Clone(all[:n]), func(j int) bool { return r.Ops[j].Key != r.Ops[i].Key })
				own := slices.ContainsFunc(before, func(j int) bool { return r.Ops[j].Owner == r.Ops[i].Owner })
				if own && r.Ops[before[len(before)-1]].Owner != r.Ops[i].Owner {
					torn = append(torn, i)
				}
			}
			return torn
		}, func(r *run) outcome { return r.noInterleaving(s) })
	}
}

func TestNeverOversoldAgrees(t *testing.T) {
	for _, s := range []side{unfenced, fencedOf} {
		useAgrees(t, func(t *rapid.T) *run {
			return deeds(t, []string{"nothing"}, history.Use{Name: history.Inventory, Stock: 2})
		}, func(r *run) (over []int) {
			number := func(value string) int {
				p, _ := history.PairOf(value)
				switch {
				case value == "":
					return 2
				case s.name == "fenced":
					return p.Fenced
				}
				return p.Unfenced
			}
			sold := func(i int) int {
				c := s.of(&r.Ops[i])
				if r.Ops[i].F != history.Apply || !c.Accepted {
					return 0
				}
				return max(0, number(c.Base)-number(r.Ops[i].Value))
			}
			for i := range r.Ops {
				sales := 0
				for j := range i + 1 {
					if r.Ops[j].Key == r.Ops[i].Key {
						sales += sold(j)
					}
				}
				if sold(i) > 0 && sales > 2 {
					over = append(over, i)
				}
			}
			return over
		}, func(r *run) outcome { return r.neverOversold(s) })
	}
}

func TestOneRebuilderAgrees(t *testing.T) {
	useAgrees(t, func(t *rapid.T) *run {
		return deeds(t, []string{"begin version 1"}, history.Use{Name: history.Cache})
	}, func(r *run) (both []int) {
		end := func(invoke int) int64 { // what its owner puts last before it begins again, else at all, else its release
			to := int64(trace.Forever)
			next := len(r.Ops)
			for i := range r.Ops {
				if op := &r.Ops[i]; i > invoke && op.Owner == r.Ops[invoke].Owner && op.Type == history.Invoke && op.F == history.Effect {
					next = i
					break
				}
			}
			for i := range r.Ops {
				if op := &r.Ops[i]; op.Owner == r.Ops[invoke].Owner && op.Type == history.Invoke && op.F == history.Release {
					if i > invoke { // only its first counts
						to = op.Time
					}
					break
				}
			}
			for _, before := range []int{len(r.Ops), next} {
				for i := range r.Ops[:before] {
					if op := &r.Ops[i]; i > invoke && op.Owner == r.Ops[invoke].Owner && op.Type == history.Invoke && op.F == history.Write {
						to = op.Time
					}
				}
			}
			return to
		}
		var begun []int
		for i := range r.Ops {
			op := &r.Ops[i]
			note := slices.IndexFunc(r.Ops, func(o history.Op) bool { return o.F == history.Happened && o.Value == op.Value })
			if op.F != history.Effect || op.Type != history.Invoke || !r.Ops[note].Unfenced.Accepted && !r.Ops[note].Fenced.Accepted {
				continue
			}
			if slices.ContainsFunc(begun, func(j int) bool { return r.Ops[j].Key == op.Key && end(j) > op.Time }) {
				both = append(both, i)
			}
			begun = append(begun, i)
		}
		return both
	}, oneRebuilder)
}
