package pages

import (
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// rawOps is the history by columns, so that the page can show any operation as
// it was recorded. A column of what most operations lack is sparse: index first.
type rawOps struct {
	Time    []int64     `json:"time"` // µs since the one before
	Node    []int64     `json:"node"`
	Process []int64     `json:"process"`
	Type    []int64     `json:"type"`
	F       []int64     `json:"f"`
	Key     []int64     `json:"key"`
	Owner   []int64     `json:"owner"`
	Token   []int64     `json:"token"`
	Value   []int64     `json:"value"`
	Grants  [][4]int64  `json:"grants"`  // index, sent µs before, lease µs, deadline µs after; -1: none
	Copies  [][11]int64 `json:"copies"`  // index, then of both copies: what it is (0 none, 1 accepted, 2 not), value, base, previous, token
	Errors  [][2]int64  `json:"errors"`  // index, message
	Faults  [][6]int64  `json:"faults"`  // index, id, kind, target, phase, proof
	Lengths [][2]int64  `json:"lengths"` // index, µs
}

func (d *drawer) encodeOps() {
	r, last := &d.Ops, int64(0)
	for i := range d.Trace.Ops {
		op := &d.Trace.Ops[i]
		at := d.at(op.Time)
		r.Time = append(r.Time, at-last)
		last = at
		r.Node = append(r.Node, d.str(op.Node))
		r.Process = append(r.Process, int64(op.Process))
		r.Type = append(r.Type, d.str(string(op.Type)))
		r.F = append(r.F, d.str(string(op.F)))
		r.Key = append(r.Key, d.str(op.Key))
		r.Owner = append(r.Owner, d.str(op.Owner))
		r.Token = append(r.Token, op.Token)
		r.Value = append(r.Value, d.str(op.Value))
		d.encodeRest(int64(i), op)
	}
}

func (d *drawer) encodeRest(i int64, op *history.Op) {
	r := &d.Ops
	if op.Sent != 0 || op.Lease != 0 || op.Deadline != 0 {
		g := [4]int64{i, -1, op.Lease / 1000, -1}
		if op.Sent != 0 {
			g[1] = (op.Time - op.Sent) / 1000
		}
		if op.Deadline != 0 {
			g[3] = (d.Until(op) - op.Time) / 1000
		}
		r.Grants = append(r.Grants, g)
	}
	if op.Unfenced != nil || op.Fenced != nil {
		row := [11]int64{i}
		d.encodeCopy(row[1:6], op.Unfenced)
		d.encodeCopy(row[6:11], op.Fenced)
		r.Copies = append(r.Copies, row)
	}
	if op.Error != "" {
		r.Errors = append(r.Errors, [2]int64{i, d.str(op.Error)})
	}
	if f := op.Fault; f != nil {
		r.Faults = append(r.Faults, [6]int64{i, int64(f.ID), d.str(f.Kind), d.str(f.Target), d.str(string(f.Phase)), d.str(f.Proof)})
	}
	if op.Length != 0 {
		r.Lengths = append(r.Lengths, [2]int64{i, op.Length / 1000})
	}
}

func (d *drawer) encodeCopy(into []int64, c *history.Copy) {
	if c != nil {
		copy(into, []int64{timeline.Outcome(c), d.str(c.Value), d.str(c.Base), d.str(c.Previous), c.Token})
	}
}
