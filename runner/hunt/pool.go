package hunt

import (
	"cmp"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/scenarios"
)

// Pool keeps the trials that have shown something new, to vary them.
type Pool struct {
	known map[string]int // in how many trials each feature was seen
	kept  []kept
}

type kept struct {
	number  int // of the trial
	trial   scenarios.Scenario
	fresh   int     // features that it was the first to show
	gap     float64 // see Seen
	varied  int     // how often it was
	pressed bool    // see Press
}

// Add files what a trial has shown, and says how many features nobody had seen. The kept ones
// stand in the order of their numbers, so that a choice among them does not rest on which ended first.
func (p *Pool) Add(number int, t scenarios.Scenario, s Seen) (fresh int) {
	if p.known == nil {
		p.known = map[string]int{}
	}
	for _, f := range s.Features {
		if p.known[f]++; p.known[f] == 1 {
			fresh++
		}
	}
	if fresh >= keptFrom {
		at, _ := slices.BinarySearchFunc(p.kept, number, func(k kept, n int) int { return cmp.Compare(k.number, n) })
		p.kept = slices.Insert(p.kept, at, kept{number: number, trial: t, fresh: fresh, gap: s.Gap})
	}
	return fresh
}

// Press has a trial varied above all others: it has shown a violation more than once, too seldom to count, and the
// reference lock has not. One of those like it may show it each time.
func (p *Pool) Press(number int, t scenarios.Scenario) {
	at, there := slices.BinarySearchFunc(p.kept, number, func(k kept, n int) int { return cmp.Compare(k.number, n) })
	if !there {
		p.kept = slices.Insert(p.kept, at, kept{number: number, trial: t, fresh: 1, gap: far})
	}
	p.kept[at].pressed = true
}

// pressure is how many times as often a pressed trial is varied.
const pressure = 8

// keptFrom is how many new features make a trial worth varying: one alone is often a number
// that happens to be new.
const keptFrom = 3

// Features is how many were seen.
func (p *Pool) Features() int { return len(p.known) }

// weight of a kept trial: more where it showed more and where two beliefs came near each
// other, less each time that it was varied.
func (k kept) weight() float64 {
	near := 1 / (1 + math.Abs(k.gap))
	w := math.Sqrt(float64(k.fresh)) * (0.5 + near) / float64(1+k.varied)
	if k.pressed {
		w *= pressure
	}
	return w
}

// pooled makes the choice between drawing and varying another one than those of the draw.
const pooled = 0x68756e74

// varyFrom is how many trials are drawn before one is varied: each theme has its turn first.
var varyFrom = len(themes)

// Next is the trial of a seed: drawn, or one of the kept ones varied.
func (p *Pool) Next(seed uint64, number int, s Space) scenarios.Scenario {
	d := newDie(seed ^ pooled)
	if number <= varyFrom || len(p.kept) == 0 || d.one(2) {
		return Draw(seed, s)
	}
	sum := 0.0
	for _, k := range p.kept {
		sum += k.weight()
	}
	at := d.Float64() * sum
	for i := range p.kept {
		if at -= p.kept[i].weight(); at <= 0 || i == len(p.kept)-1 {
			p.kept[i].varied++
			return Mutate(seed, s, p.kept[i].trial)
		}
	}
	return Draw(seed, s)
}
