package nemesis

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var mixed = Mix{Every: time.Second, For: 8 * time.Second, Items: []Item{
	{Weight: 3, Fault: Fault{Kind: "pause", Target: "a-client", Min: time.Second, Max: 3 * time.Second}},
	{Weight: 1, Fault: Fault{Kind: "partition", Target: "minority", Min: 2 * time.Second, Max: 2 * time.Second}},
	{Fault: Fault{Kind: "pause", Target: "holder", On: "acquired", Until: UntilGranted, Min: time.Second, Max: 4 * time.Second}},
}}

// What a seed draws is part of what it promises: the same run with a newer dlmtest.
func TestDrawIsTheSameForEver(t *testing.T) {
	var lines []string
	for _, f := range Draw(7, mixed) {
		lines = append(lines, fmt.Sprintf("%v %s %s %v-%v", f.At, f.Kind, f.Target, f.Min, f.Max))
	}
	want := `318ms pause a-client 1.051s-1.051s
1.106s pause holder 1s-4s
1.263s pause holder 1s-4s
1.286s partition minority 2s-2s
3.358s pause a-client 2.803s-2.803s
3.613s partition minority 2s-2s
3.885s partition minority 2s-2s
4.523s pause a-client 2.711s-2.711s
4.924s partition minority 2s-2s
5.252s pause a-client 1.12s-1.12s
6.518s pause a-client 2.607s-2.607s
6.857s pause a-client 2.897s-2.897s`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("seed 7 draws\n%s\nwant\n%s", got, want)
	}
}

func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		m := Mix{Every: ms("every", 5, 3000), For: ms("for", 0, 20000)}
		for i := range rapid.IntRange(0, 5).Draw(t, "items") {
			low := ms("min", 1, 3000)
			f := Fault{Kind: fmt.Sprint(i), Min: low, Max: low + ms("more", 0, 3000)}
			if rapid.Bool().Draw(t, "until") {
				f.Until = UntilGranted
			}
			m.Items = append(m.Items, Item{Weight: rapid.IntRange(0, 9).Draw(t, "weight"), Fault: f})
		}
		seed := rapid.Uint64().Draw(t, "seed")
		all := Draw(seed, m)
		if !reflect.DeepEqual(all, Draw(seed, m)) {
			t.Fatal("the same seed drew another schedule")
		}
		last := time.Duration(0)
		for _, f := range all {
			var i int
			if _, err := fmt.Sscan(f.Kind, &i); err != nil || i >= len(m.Items) {
				t.Fatalf("%+v is not of the mix", f)
			}
			of := m.Items[i].Fault
			switch {
			case f.At < last || f.At >= m.For || !f.Random:
				t.Fatalf("%+v after %v, in %v", f, last, m.For)
			case f.Until != "" && (f.Min != of.Min || f.Max != of.Max):
				t.Fatalf("%+v: what something may end has the limits of %+v", f, of)
			case f.Until == "" && (f.Min != f.Max || f.Min < of.Min || f.Max > of.Max):
				t.Fatalf("%+v is not within %+v", f, of)
			}
			last = f.At
		}
	})
}

// Weights and gaps come out as they were asked for, over many seeds.
func TestDrawKeepsWeightsAndGaps(t *testing.T) {
	counts, all := map[string]int{}, 0
	for seed := range uint64(500) {
		for _, f := range Draw(seed, mixed) {
			counts[f.Target]++
			all++
		}
	}
	if mean := float64(all) / 500; mean < 7.5 || mean > 8.5 {
		t.Errorf("%v faults a schedule, want 8: one a second", mean)
	}
	for target, share := range map[string]float64{"a-client": 0.6, "minority": 0.2, "holder": 0.2} {
		if got := float64(counts[target]) / float64(all); got < share-0.03 || got > share+0.03 {
			t.Errorf("%s is %.3f of all, want %.3f", target, got, share)
		}
	}
}
