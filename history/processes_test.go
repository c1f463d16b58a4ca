package history

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestProcesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Processes
		want := map[int]bool{}
		id := rapid.OneOf(rapid.IntRange(-3, 3), rapid.IntRange(500, 520), rapid.Int(), rapid.SampledFrom([]int{math.MinInt, math.MaxInt}))
		for range rapid.IntRange(0, 200).Draw(t, "n") {
			x := id.Draw(t, "id")
			if p.Has(x) != want[x] {
				t.Fatalf("%d: %v, want %v", x, p.Has(x), want[x])
			}
			if rapid.Bool().Draw(t, "add") {
				p.Add(x)
				want[x] = true
			}
		}
	})
}
