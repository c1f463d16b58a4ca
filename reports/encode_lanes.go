package reports

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// mostRows is how many beliefs at once a lane can show beneath each other.
const mostRows = 4

// addGrant draws a belief with its validity, renewals and losses.
func (d *drawer) addGrant(g *grant) {
	l := d.Lanes[d.laneOf(g.node)]
	row := int64(d.freeRow(l, d.at(g.belief.from)))
	l.Bars = append(l.Bars, d.at(g.belief.from), d.at(g.belief.to), int64(g.ok), row)
	for _, v := range g.valid {
		l.Valid = append(l.Valid, d.at(v.from), d.at(v.to), int64(g.ok), row)
	}
	for _, i := range g.renewed {
		l.Ticks = append(l.Ticks, d.at(d.ops[i].Time), int64(i), tickRenewed)
	}
	for _, i := range g.events {
		switch d.ops[i].F {
		case history.Extend:
			l.Ticks = append(l.Ticks, d.at(d.ops[i].Time), int64(i), tickRefused)
		case history.Lost:
			l.Ticks = append(l.Ticks, d.at(d.ops[i].Time), int64(i), tickLost)
		case history.Abstain:
			l.Ticks = append(l.Ticks, d.at(d.ops[i].Time), int64(i), tickAbstained)
		}
	}
}

// freeRow is the first row of a lane in which nothing lasts beyond from.
func (d *drawer) freeRow(l *lane, from int64) int {
	var until [mostRows]int64
	for bar := range backChunks(l.Bars, 4, 64) {
		until[bar[3]] = max(until[bar[3]], bar[1])
	}
	for row := range mostRows {
		if until[row] <= from {
			l.Rows = max(l.Rows, row+1)
			return row
		}
	}
	return mostRows - 1
}

// backChunks walks the last records of a flat array, newest first.
func backChunks(flat []int64, width, most int) func(yield func([]int64) bool) {
	return func(yield func([]int64) bool) {
		for end := len(flat); end > 0 && most > 0; end, most = end-width, most-1 {
			if !yield(flat[end-width : end]) {
				return
			}
		}
	}
}

func (d *drawer) addWait(i int, op *history.Op) {
	to, granted := d.Length, int64(0)
	if end, ok := d.ended[i]; ok {
		to = d.at(d.ops[end].Time)
		if d.ops[end].Type == history.OK {
			granted = 1
		}
	}
	l := d.Lanes[d.laneOf(op.Node)]
	l.Waits = append(l.Waits, d.at(op.Time), to, int64(i), granted)
}

// addMark draws a write where the resource decided it.
func (d *drawer) addMark(w *write) {
	if w.apply < 0 {
		return
	}
	a, from := &d.ops[w.apply], &d.ops[w.invoke]
	l := d.Lanes[len(d.Lanes)-1]
	l.Marks = append(l.Marks, d.at(a.Time), int64(w.apply), outcome(a.Unfenced), outcome(a.Fenced), flag01(d.stale(w)), int64(d.laneOf(from.Node)), d.at(from.Time))
}

// outcome is 0 where there is no such copy, 1 accepted, 2 rejected.
func outcome(c *history.Copy) int64 {
	switch {
	case c == nil:
		return 0
	case c.Accepted:
		return 1
	}
	return 2
}

func (d *drawer) addFaults() {
	for _, f := range d.faults {
		s := d.lasted(f)
		d.Faults = append(d.Faults, int64(d.laneOf(f.target)), d.at(s.from), d.at(s.to), d.str(f.kind), d.str(f.proof), int64(f.beg), flag01(f.missed))
	}
	for i := range d.ops {
		if op := &d.ops[i]; op.F == history.Stall || op.F == history.Gate {
			d.Stalls = append(d.Stalls, int64(d.laneOf(op.Node)), d.at(op.Time-op.Length), d.at(op.Time), int64(i))
		}
	}
}

// mostBeside is with how many others, those that last longest, a grant is compared for its
// drawing: where more believe at once they cover each other.
const mostBeside = 64

// addOverlaps finds where two clients believe to hold one key: in the order of
// grants, each is compared with those not yet over.
func (d *drawer) addOverlaps() {
	for key, grants := range d.byKey {
		var open []*grant
		for _, g := range grants {
			open = slices.DeleteFunc(open, func(h *grant) bool { return h.belief.to <= g.belief.from })
			for _, h := range open {
				if d.ops[h.ok].Process == d.ops[g.ok].Process {
					continue // reentrant: one client holding twice is no overlap
				}
				if !d.excess(open, h, g) {
					continue
				}
				to := min(h.belief.to, g.belief.to)
				d.Overlaps = append(d.Overlaps, int64(d.laneOf(h.node)), int64(d.laneOf(g.node)), d.at(g.belief.from), d.at(to), d.str(key))
			}
			if open = append(open, g); len(open) > mostBeside {
				first := slices.IndexFunc(open, func(h *grant) bool {
					return !slices.ContainsFunc(open, func(o *grant) bool { return o.belief.to < h.belief.to })
				})
				open = slices.Delete(open, first, first+1)
			}
		}
	}
	d.Overlaps = slices.Concat(slices.SortedStableFunc(slices.Chunk(d.Overlaps, 5), func(a, b []int64) int { return int(a[2] - b[2]) })...)
}

func flag01(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
