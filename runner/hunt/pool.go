package hunt

import (
	"cmp"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/runner/matrix"
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

// pooled makes the choice between trials to vary another one than those of the draw.
const pooled = 0x68756e74

// place is what a hunt decides of a trial by its number alone: whether it is drawn, and on whose turn.
type place struct {
	turn  int
	drawn bool
}

// variesEach is the trial of so many that is a variation, once each theme has had its turn.
const variesEach = 3

// placed is the place of the n-th trial, from 0, of a shard of so many.
func placed(n int, shard matrix.Shard) place {
	p := place{turn: n, drawn: true}
	if late := n - len(rota); late >= 0 {
		p = place{turn: n - (late+1)/variesEach, drawn: (late+1)%variesEach != 0}
	}
	if shard.Count > 0 { // each has every so many-th round of themes
		p.turn += (p.turn/len(rota)*(shard.Count-1) + shard.Index - 1) * len(rota)
	}
	return p
}

// Next is the trial of a seed: drawn, or one of the kept ones varied.
func (p *Pool) Next(seed uint64, at place, s Space) scenarios.Scenario {
	if at.drawn || len(p.kept) == 0 {
		return Draw(seed, at.turn, s)
	}
	sum := 0.0
	for _, k := range p.kept {
		sum += k.weight()
	}
	left := newDie(seed^pooled).Float64() * sum
	for i := range p.kept {
		if left -= p.kept[i].weight(); left <= 0 || i == len(p.kept)-1 {
			p.kept[i].varied++
			return Mutate(seed, at.turn, s, p.kept[i].trial)
		}
	}
	return Draw(seed, at.turn, s)
}
