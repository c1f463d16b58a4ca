package history

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// recorded is a sound history whose sources have all ended their records.
func recorded(n int) (Setup, []Op) {
	setup, ops := sample(n)
	setup.Sources = []string{"client-1", "client-2", "resource"}
	here := map[string]int64{}
	for _, op := range ops {
		here[op.Node]++
	}
	for _, name := range setup.Sources {
		ops = append(ops, Op{Index: len(ops), Time: ops[len(ops)-1].Time, Node: name, Type: Note, F: End, Length: here[name]})
	}
	return setup, ops
}

// without leaves out some operations.
func without(ops []Op, gone ...int) (kept []Op) {
	for i, op := range ops {
		if !slices.Contains(gone, i) {
			op.Index = len(kept)
			kept = append(kept, op)
		}
	}
	return kept
}

// Whatever is missing of a source that tells how much it recorded, what is left can be
// judged: nothing of others is changed, and the source is never taken for whole.
func TestMendOfAnyHole(t *testing.T) {
	setup, whole := recorded(200)
	if mended := Mend(setup, whole); len(mended) != len(whole) || Validate(setup, mended) != nil {
		t.Fatal("a whole history was changed")
	}
	draw := rand.New(rand.NewPCG(1, 2))
	broke := 0
	for range 2000 {
		var gone []int
		for range 1 + draw.IntN(6) {
			gone = append(gone, draw.IntN(200))
		}
		unended := draw.IntN(4) == 0
		if unended { // nor is there an end
			gone = append(gone, 200, 201)
		}
		ops := without(whole, gone...)
		if Validate(setup, ops) != nil {
			broke++
		}
		mended := Mend(setup, slices.Clone(ops))
		if err := Validate(setup, mended); err != nil {
			t.Fatalf("without %v: %v", gone, err)
		}
		here, said := map[string]int64{}, map[string]int64{}
		for _, op := range mended {
			if op.F == End {
				said[op.Node] = op.Length
			} else {
				here[op.Node]++
			}
		}
		for _, i := range gone {
			if i >= 200 {
				continue
			}
			node := whole[i].Node
			if length, ended := said[node]; ended && length == here[node] {
				t.Fatalf("without %v: %s passes for whole", gone, node)
			}
		}
	}
	if broke < 1000 {
		t.Errorf("only %d of 2000 broke a rule, so little was put to the test", broke)
	}
}

// The answer to one write is not that to another: the first is of unknown outcome, and nothing is
// known of the second.
func TestMendTellsWritesApart(t *testing.T) {
	op := func(at int64, f F, typ Type, value string) Op {
		return Op{Time: at, Process: 1, Node: "client-1", Type: typ, F: f, Key: "k", Owner: "o", Value: value}
	}
	setup := Setup{Clients: []string{"client-1"}, Keys: []string{"k"}, Sources: []string{"client-1"}}
	ops := []Op{op(1, Write, Invoke, "a"), op(4, Write, OK, "b"), op(5, Write, Invoke, "c"), op(6, Write, OK, "c"),
		{Time: 7, Node: "client-1", Type: Note, F: End, Length: 6}}
	mended := Mend(setup, ops)
	if len(mended) != 4 || mended[0].Value != "a" || mended[1].Type != Invoke || mended[1].Process == mended[0].Process {
		t.Errorf("%+v", mended)
	}
}

// A source whose records are all here has made a mistake, if they break a rule: that is
// no hole, and the history is not judged.
func TestMendHidesNoMistake(t *testing.T) {
	setup, ops := recorded(20)
	for name, spoil := range map[string]func([]Op) []Op{
		"counted as whole": func(ops []Op) []Op {
			ops = without(ops, 1)
			ops[slices.IndexFunc(ops, func(op Op) bool { return op.F == End })].Length--
			return ops
		},
		"time goes back":     func(ops []Op) []Op { ops = without(ops, 1); ops[5].Time = 0; return ops },
		"of no known source": func(ops []Op) []Op { ops = without(ops, 1); ops[0].Node = "client-9"; return ops },
	} {
		is := spoil(slices.Clone(ops))
		if err := Validate(setup, Mend(setup, is)); err == nil {
			t.Errorf("%s: it is judged", name)
		}
	}
}
