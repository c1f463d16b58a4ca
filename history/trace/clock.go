package trace

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// ClockNoise is how far the two clock readings of one stamp may lie apart before
// they say something of the clock: a program can be preempted between them. No
// verdict depends on a deadline by less than this.
const ClockNoise = 1e6 // 1 ms

// Clock relates the own MONOTONIC of a node to the judge's time.
type Clock struct {
	offsets  []int64 // own minus judge's, at each stamp of an operation, in the order of time
	Missing  bool    // a deadline came without the node's own time
	Offset   int64
	Constant bool
	settled  bool
}

// stamp keeps the clock readings of an operation of a client. Those of notes are
// left out: the node's agent writes some, and a clock fault need not reach it.
func (t *Trace) stamp(op *history.Op) {
	if op.Mono == 0 && op.Deadline == 0 {
		return
	}
	c := t.clocks[op.Node]
	if c == nil {
		c = &Clock{}
		t.clocks[op.Node] = c
	}
	if op.Mono == 0 {
		c.Missing = true
		return
	}
	c.offsets = append(c.offsets, op.Mono-op.Time)
}

// settle finds the offset: the least one, as the own clock is read last and a
// preemption between the readings can only add to it. So a single late reading,
// with one in line after it, says nothing of the clock. Under a clock fault
// reading after reading is out of line, and one that is the last may be its begin.
func (c *Clock) settle() {
	c.settled = true
	if len(c.offsets) == 0 {
		return
	}
	c.Offset = slices.Min(c.offsets)
	c.Constant = !c.Missing
	late := false // the reading before
	for _, o := range c.offsets {
		if late && o > c.Offset+ClockNoise {
			c.Constant = false
		}
		late = o > c.Offset+ClockNoise
	}
	if late {
		c.Constant = false
	}
}

// Clock returns the settled clock of a node, nil if none of its readings are known.
func (t *Trace) Clock(node string) *Clock {
	c := t.clocks[node]
	if c != nil && !c.settled {
		c.settle()
	}
	return c
}

// Raw converts a deadline of a node to the judge's time; false when it is 0, or
// when the node's clock was missing or bent, so that it cannot be converted.
func (t *Trace) Raw(node string, deadline int64) (int64, bool) {
	c := t.Clock(node)
	if deadline == 0 || c == nil {
		return 0, false
	}
	return deadline - c.Offset, c.Constant
}

// readings are what a node's own MONOTONIC said at the times of its operations, in their order.
type readings struct{ at, own []int64 }

// readings are those of a node, nil where they are missing or the clock went back.
func (t *Trace) readings(node string) *readings {
	if r, known := t.byOwn[node]; known {
		return r
	}
	r := &readings{}
	for i := range t.Ops {
		op := &t.Ops[i]
		if op.Node != node || op.Type == history.Note {
			continue
		}
		if n := len(r.own) - 1; op.Mono == 0 || n >= 0 && op.Mono < r.own[n] {
			r = nil
			break
		}
		r.at, r.own = append(r.at, op.Time), append(r.own, op.Mono)
	}
	if r != nil && len(r.own) == 0 {
		r = nil
	}
	t.byOwn[node] = r
	return r
}

// before is the last time at which the clock was read below a reading.
func (r *readings) before(own int64) int64 {
	i, _ := slices.BinarySearch(r.own, own)
	if i == 0 {
		return -Forever
	}
	return r.at[i-1]
}

// since is the first time at which the clock was read at or above a reading.
func (r *readings) since(own int64) int64 {
	i, _ := slices.BinarySearch(r.own, own)
	if i == len(r.own) {
		return Forever
	}
	return r.at[i]
}
