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
	offsets  []int64 // own minus judge's, at each stamp of an operation, in the order of time
	missing  bool    // a deadline came without the node's own time
	offset   int64
	constant bool
	settled  bool
}

// stamp keeps the clock readings of an operation of a client. Those of notes are
// left out: the node's agent writes some, and a clock fault need not reach it.
func (r *run) stamp(op *history.Op) {
	if op.Mono == 0 && op.Deadline == 0 {
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
// preemption between the readings can only add to it. So a single late reading,
// with one in line after it, says nothing of the clock. Under a clock fault
// reading after reading is out of line, and one that is the last may be its begin.
func (c *clock) settle() {
	c.settled = true
	if len(c.offsets) == 0 {
		return
	}
	c.offset = slices.Min(c.offsets)
	c.constant = !c.missing
	late := false // the reading before
	for _, o := range c.offsets {
		if late && o > c.offset+clockNoise {
			c.constant = false
		}
		late = o > c.offset+clockNoise
	}
	if late {
		c.constant = false
	}
}

// clock returns the settled clock of a node, nil if none of its readings are known.
func (r *run) clock(node string) *clock {
	c := r.clocks[node]
	if c != nil && !c.settled {
		c.settle()
	}
	return c
}

// raw converts a deadline of a node to the judge's time; false when it is 0, or
// when the node's clock was missing or bent, so that it cannot be converted.
func (r *run) raw(node string, deadline int64) (int64, bool) {
	c := r.clock(node)
	if deadline == 0 || c == nil {
		return 0, false
	}
	return deadline - c.offset, c.constant
}
