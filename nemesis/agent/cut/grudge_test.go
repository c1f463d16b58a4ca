package cut

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func names(prefix string, n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return all
}

// reach is whom each node exchanges packets with, itself included: TCP needs both ways.
func reach(t *rapid.T, nodes []string, grudges []Grudge) map[string][]string {
	drops, err := Drops(grudges)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]string{}
	for _, a := range nodes {
		for _, b := range nodes {
			if !slices.Contains(drops[a], b) && !slices.Contains(drops[b], a) {
				seen[a] = append(seen[a], b)
			}
		}
	}
	return seen
}

// draw is what every property starts from.
func draw(t *rapid.T, least int) ([]string, *rand.Rand) {
	n := rapid.IntRange(least, 12).Draw(t, "nodes")
	seed := rapid.Uint64().Draw(t, "seed")
	return names("n", n), rand.New(rand.NewPCG(seed, 0))
}

func TestBothIsSymmetricAndOneWayIsNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := rapid.SampledFrom(names("n", 6))
		group := rapid.SliceOfN(node, 0, 6)
		var all []Grudge
		for range rapid.IntRange(0, 4).Draw(t, "grudges") {
			all = append(all, Grudge{From: group.Draw(t, "from"), To: group.Draw(t, "to"), Direction: Both})
		}
		drops, _ := Drops(all)
		for at, from := range drops {
			for _, b := range from {
				if at == b || !slices.Contains(drops[b], at) {
					t.Fatalf("%s drops %s: %v", at, b, drops)
				}
			}
		}
		for i := range all {
			all[i].Direction = In
		}
		in, _ := Drops(all)
		for i := range all {
			all[i].Direction, all[i].From, all[i].To = Out, all[i].To, all[i].From
		}
		out, _ := Drops(all)
		if !reflect.DeepEqual(in, out) {
			t.Fatalf("in of (a,b) is %v, out of (b,a) is %v", in, out)
		}
	})
}

func TestDropsOfEachDirection(t *testing.T) {
	for d, want := range map[Direction]map[string][]string{
		In: {"a": {"b"}}, Out: {"b": {"a"}}, Both: {"a": {"b"}, "b": {"a"}}, "": {"a": {"b"}, "b": {"a"}},
	} {
		got, err := Drops([]Grudge{{From: []string{"a"}, To: []string{"a", "b"}, Direction: d}})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, %v, want %v", d, got, err, want)
		}
	}
	if _, err := Drops([]Grudge{{Direction: "sideways"}}); err == nil {
		t.Error("an unknown direction was taken")
	}
}

func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, r := draw(t, 3)
		sees := map[string]string{}
		for node, seen := range reach(t, nodes, MajoritiesRing(nodes, r)) {
			if len(seen) < len(nodes)/2+1 {
				t.Fatalf("%s reaches %v, no majority of %d", node, seen, len(nodes))
			}
			if other, twice := sees[fmt.Sprint(seen)]; twice {
				t.Fatalf("%s and %s reach the same %v", node, other, seen)
			}
			sees[fmt.Sprint(seen)] = node
		}
	})
}

// sides checks that two groups are whole inside and cut from each other.
func sides(t *rapid.T, nodes []string, grudges []Grudge, size func(a, b int) bool) {
	groups := map[string]int{}
	for _, seen := range reach(t, nodes, grudges) {
		groups[fmt.Sprint(seen)] = len(seen)
	}
	var n []int
	for _, size := range groups {
		n = append(n, size)
	}
	slices.Sort(n)
	if len(n) != 2 || n[0]+n[1] != len(nodes) || !size(n[0], n[1]) {
		t.Fatalf("groups %v", groups)
	}
}

func TestHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, r := draw(t, 2)
		sides(t, nodes, Halves(nodes, r), func(a, b int) bool { return b-a <= 1 })
	})
}

func TestBridge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, r := draw(t, 3)
		bridges := 0
		for _, seen := range reach(t, nodes, Bridge(nodes, r)) {
			if len(seen) == len(nodes) {
				bridges++
			}
		}
		if bridges != 1 {
			t.Fatalf("%d nodes reach all", bridges)
		}
	})
}

func TestASeedRepeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		nodes := rapid.Permutation(names("n", 7)).Draw(t, "nodes")
		for name, shape := range map[string]func([]string, *rand.Rand) []Grudge{
			"halves": Halves, "ring": MajoritiesRing, "bridge": Bridge} {
			a, _ := Drops(shape(slices.Sorted(slices.Values(nodes)), rand.New(rand.NewPCG(seed, 1))))
			b, _ := Drops(shape(nodes, rand.New(rand.NewPCG(seed, 1))))
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("%s: %v and %v", name, a, b)
			}
		}
	})
}

func TestTooFewNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 3 {
		nodes := names("n", n)
		if got := MajoritiesRing(nodes, r); got != nil {
			t.Errorf("a ring of %d: %v", n, got)
		}
		if got := Bridge(nodes, r); got != nil {
			t.Errorf("a bridge of %d: %v", n, got)
		}
	}
}
