package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// clockNoise is how far the two clock readings of one stamp may lie apart before
// they say something of the clock: a program can be preempted between them. No
// verdict hangs on a deadline by less than this.
const clockNoise = 1e6 // 1 ms

// clock relates the own MONOTONIC of a node to the judge's time.
type clock struct {
	offsets  []int64 // own minus judge's, at each stamp that carries a deadline
	missing  bool    // a deadline came without the node's own time
	offset   int64
	constant bool
	settled  bool
}

// stamp keeps the clock reading of a claim.
func (r *run) stamp(op *history.Op) {
	if op.Deadline == 0 {
		return
	}
	c := r.clocks[op.Node]
	if c == nil {
		c = &clock{}
		r.clocks[op.Node] = c
	}
	if op.Mono == 0 {
		c.missing = true
		return
	}
	c.offsets = append(c.offsets, op.Mono-op.Time)
}

// settle finds the offset: the least one, as the own clock is read last and a
// preemption between the readings can only add. It is constant if no more than
// one stamp in twenty says otherwise; under a clock fault nearly all do.
func (c *clock) settle() {
	c.settled = true
	if len(c.offsets) == 0 {
		return
	}
	c.offset = slices.Min(c.offsets)
	bent := 0
	for _, o := range c.offsets {
		if o > c.offset+clockNoise {
			bent++
		}
	}
	c.constant = bent*20 <= len(c.offsets) && !c.missing
}

// raw converts a deadline of a node to the judge's time; false when it is 0, or
// when the node's clock was missing or bent, so that it cannot be converted.
func (r *run) raw(node string, deadline int64) (int64, bool) {
	c := r.clocks[node]
	if deadline == 0 || c == nil {
		return 0, false
	}
	if !c.settled {
		c.settle()
	}
	return deadline - c.offset, c.constant
}
