package pages

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// drawing is the data behind the timeline, as flat arrays: at 100,000 operations
// an object for each would weigh ten times as much and be slow to read. Times are
// microseconds since the first operation; strings are indexes into Strings, of
// which the first is "".
type drawing struct {
	Length   int64    `json:"length"`
	Strings  []string `json:"strings"`
	Lanes    []*lane  `json:"lanes"`
	Faults   []int64  `json:"faults"`   // lane, from, to, kind, proof, op, 1 if it was missed
	Overlaps []int64  `json:"overlaps"` // lane, lane, from, to, key
	Stalls   []int64  `json:"stalls"`   // lane, from, to, op; holds by the harness too
	Points   []int64  `json:"points"`   // acquires: end, took, op, 1 if granted
	Bands    []int64  `json:"bands"`    // from, to, p50, p99
	Ops      rawOps   `json:"ops"`
	Lease    int64    `json:"lease"`
}

// lane is one row of the timeline.
type lane struct {
	Name  string       `json:"name"`
	Role  reports.Role `json:"role"`
	Rows  int          `json:"rows"`  // beliefs of one client in several keys lie beneath each other
	Waits []int64      `json:"waits"` // from, to, op, 1 if granted
	Bars  []int64      `json:"bars"`  // from, to, op, row
	Valid []int64      `json:"valid"` // from, to, op, row
	Ticks []int64      `json:"ticks"` // at, op, what
	Marks []int64      `json:"marks"` // resource: at, op, unfenced, fenced, 1 if stale, lane of the writer, when it set out
}

// What a tick shows.
const (
	tickRenewed = iota
	tickRefused
	tickLost
	tickAbstained
)

// drawer fills a drawing from a trace.
type drawer struct {
	*timeline.View
	drawing
	strings map[string]int64
	lanes   map[string]int
	early   int // how many strings there are without the raw operations
}

// drawingOf encodes a trace. Nothing here looks at a verdict.
func drawingOf(t *timeline.View, run reports.Run) *drawer {
	d := &drawer{View: t, strings: map[string]int64{"": 0}, lanes: map[string]int{}}
	d.Length, d.Strings, d.Lease = d.at(t.End), []string{""}, int64(t.Setup.Lease)/1000
	d.addLanes(run)
	for _, g := range t.Grants {
		d.addGrant(g)
	}
	for i := range t.Ops {
		if op := &t.Ops[i]; op.Type == history.Invoke && timeline.IsAcquire(op.F) {
			d.addWait(i, op)
		}
	}
	for _, w := range t.Recorded() {
		d.addMark(w)
	}
	d.addFaults()
	d.addOverlaps()
	d.sort()
	d.early = len(d.Strings)
	d.encodeOps()
	return d
}

func (d *drawer) at(raw int64) int64 { return (raw - d.Begin) / 1000 }

func (d *drawer) str(s string) int64 {
	i, ok := d.strings[s]
	if !ok {
		i = int64(len(d.Strings))
		d.strings[s], d.Strings = i, append(d.Strings, s)
	}
	return i
}

// addLanes makes a lane for each node, clients first, the resource last.
func (d *drawer) addLanes(run reports.Run) {
	for _, name := range d.Setup.Clients {
		d.lane(name, reports.Client)
	}
	for _, role := range []reports.Role{reports.Client, reports.Server} {
		for _, n := range run.Nodes {
			if n.Role == role {
				d.lane(n.Name, role)
			}
		}
	}
	for i := range d.Trace.Ops { // nodes that nobody announced
		switch op := &d.Trace.Ops[i]; {
		case op.F == history.Fault && op.Fault != nil && op.Fault.Phase != history.Skipped:
			d.lane(op.Fault.Target, reports.Server)
		case op.F != history.Apply && op.F != history.Happened && op.F != history.ReadSeen &&
			op.F != history.HostClock && op.F != history.Final && op.Type != history.Note:
			d.lane(op.Node, reports.Client)
		}
	}
	slices.SortStableFunc(d.Lanes, func(a, b *lane) int { return cmp.Compare(rank(a.Role), rank(b.Role)) })
	resource := "resource"
	for _, n := range run.Nodes {
		if n.Role == reports.Resource {
			resource = n.Name
		}
	}
	d.Lanes = slices.DeleteFunc(d.Lanes, func(l *lane) bool { return l.Name == resource })
	d.Lanes = append(d.Lanes, &lane{Name: resource, Role: reports.Resource, Rows: 2})
	for i, l := range d.Lanes {
		d.lanes[l.Name] = i
	}
}

func rank(r reports.Role) int {
	return slices.Index([]reports.Role{reports.Client, reports.Server, reports.Resource}, r)
}

func (d *drawer) lane(name string, role reports.Role) {
	if _, ok := d.lanes[name]; !ok && name != "" {
		d.lanes[name] = len(d.Lanes)
		d.Lanes = append(d.Lanes, &lane{Name: name, Role: role, Rows: 1})
	}
}

// laneOf is the lane of a node; the resource's where it has none.
func (d *drawer) laneOf(node string) int {
	if i, ok := d.lanes[node]; ok {
		return i
	}
	return len(d.Lanes) - 1
}

// sort puts all that the drawing searches by time in the order of time.
func (d *drawer) sort() {
	for _, l := range d.Lanes {
		l.Ticks = byTime(l.Ticks, 3)
		l.Marks = byTime(l.Marks, 7)
		l.Waits = byTime(l.Waits, 4)
	}
}

// byTime sorts a flat array of records by their first field.
func byTime(flat []int64, width int) []int64 {
	chunks := slices.SortedStableFunc(slices.Chunk(flat, width), func(a, b []int64) int { return cmp.Compare(a[0], b[0]) })
	return slices.Concat(chunks...)
}
