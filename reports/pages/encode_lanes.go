package pages

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// mostRows is how many beliefs at once a lane can show beneath each other.
const mostRows = 4

// addGrant draws a belief with its validity, renewals and losses.
func (d *drawer) addGrant(g *trace.Grant) {
	l := d.Lanes[d.laneOf(g.Node)]
	row := int64(d.freeRow(l, d.at(g.OK)))
	l.Bars = append(l.Bars, d.at(g.OK), d.at(g.Until), int64(g.Op), row)
	for _, v := range d.Valid(g) {
		l.Valid = append(l.Valid, d.at(v.From), d.at(v.To), int64(g.Op), row)
	}
	for _, i := range d.Renewed(g)[1:] {
		l.Ticks = append(l.Ticks, d.at(d.Trace.Ops[i].Time), int64(i), tickRenewed)
	}
	for _, i := range g.Events {
		switch d.Trace.Ops[i].F {
		case history.Extend:
			l.Ticks = append(l.Ticks, d.at(d.Trace.Ops[i].Time), int64(i), tickRefused)
		case history.Lost:
			l.Ticks = append(l.Ticks, d.at(d.Trace.Ops[i].Time), int64(i), tickLost)
		case history.Abstain:
			l.Ticks = append(l.Ticks, d.at(d.Trace.Ops[i].Time), int64(i), tickAbstained)
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
	if end, ok := d.Ended(i); ok {
		to = d.at(d.Trace.Ops[end].Time)
		if d.Trace.Ops[end].Type == history.OK {
			granted = 1
		}
	}
	l := d.Lanes[d.laneOf(op.Node)]
	l.Waits = append(l.Waits, d.at(op.Time), to, int64(i), granted)
}

// addMark draws a write where the resource decided it.
func (d *drawer) addMark(w *trace.Write) {
	if w.Apply < 0 {
		return
	}
	a, from := &d.Trace.Ops[w.Apply], &d.Trace.Ops[w.Invoke]
	l := d.Lanes[len(d.Lanes)-1]
	l.Marks = append(l.Marks, d.at(a.Time), int64(w.Apply), timeline.Outcome(a.Unfenced), timeline.Outcome(a.Fenced), timeline.Flag(d.Stale(w)),
		int64(d.laneOf(from.Node)), d.at(from.Time))
}

func (d *drawer) addFaults() {
	for _, f := range d.Trace.Faults {
		s := d.Lasted(f)
		d.Faults = append(d.Faults, int64(d.laneOf(f.Target)), d.at(s.From), d.at(s.To), d.str(f.Kind), d.str(f.Proof), int64(f.First), timeline.Flag(f.Missed))
	}
	for i := range d.Trace.Ops {
		if op := &d.Trace.Ops[i]; op.F == history.Stall || op.F == history.Held {
			d.Stalls = append(d.Stalls, int64(d.laneOf(op.Node)), d.at(op.Time-op.Length), d.at(op.Time), int64(i))
		}
	}
}

// addOverlaps draws where two clients believe to hold one key.
func (d *drawer) addOverlaps() {
	for _, k := range d.Keys {
		for _, o := range d.Trace.Overlaps(k) {
			d.Overlaps = append(d.Overlaps, int64(d.laneOf(o.A.Node)), int64(d.laneOf(o.B.Node)), d.at(o.From), d.at(o.To), d.str(k.Name))
		}
	}
	d.Overlaps = slices.Concat(slices.SortedStableFunc(slices.Chunk(d.Overlaps, 5), func(a, b []int64) int { return int(a[2] - b[2]) })...)
}
