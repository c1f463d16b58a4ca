package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
)

// NodeClock is how far a node's own clocks were from the others'. REALTIME counts
// from that of most nodes at the begin of the run, MONOTONIC from the judge's clock.
type NodeClock struct {
	Node      string `json:"node"`
	Readings  int    `json:"readings"`
	RealLeast int64  `json:"realtime_least_ns"`
	RealMost  int64  `json:"realtime_most_ns"`
	MonoLeast int64  `json:"monotonic_least_ns"`
	MonoMost  int64  `json:"monotonic_most_ns"`
	monos     int
}

// nodeOffsets is the least offset of REALTIME in each window of the run: the own
// clock is read after the judge's, and being preempted between them only adds to it.
type nodeOffsets struct {
	node string
	at   []int64 // raw ns of the first reading of a window that has any
	by   []int64 // ns
}

// clockNoise is how far readings may be apart that say nothing of a clock, see package checker.
const clockNoise = int64(time.Millisecond)

// finalNode is how the worker is called that acquires every key at the end; it runs on
// the node of a client.
const finalNode = "final"

func (m *Measurement) measureClocks() string {
	truth, known := m.commonRealtime()
	if !known {
		return "No reading of a node's own clock was recorded."
	}
	nodes := map[string]int{}
	width := max(m.Length/windows, 1)
	for i := range m.Ops {
		op := &m.Ops[i]
		node := op.Node
		if op.Real == 0 || node == "" || node == finalNode {
			continue
		}
		n, ok := nodes[node]
		if !ok {
			n = len(m.Clocks)
			nodes[node] = n
			m.Clocks = append(m.Clocks, NodeClock{Node: node, RealLeast: math.MaxInt64, RealMost: math.MinInt64})
			m.drifts = append(m.drifts, nodeOffsets{node: node})
		}
		c, off := &m.Clocks[n], op.Real-op.Time-truth
		c.Readings++
		c.RealLeast, c.RealMost = min(c.RealLeast, off), max(c.RealMost, off)
		if op.Mono != 0 {
			mono := op.Mono - op.Time
			if c.monos == 0 {
				c.MonoLeast, c.MonoMost = mono, mono
			}
			c.monos++
			c.MonoLeast, c.MonoMost = min(c.MonoLeast, mono), max(c.MonoMost, mono)
		}
		m.drifts[n].add(op.Time, off, width)
	}
	byNode := say.Sorted(namesOf(m.Clocks))
	slices.SortFunc(m.Clocks, func(a, b NodeClock) int { return slices.Index(byNode, a.Node) - slices.Index(byNode, b.Node) })
	return ""
}

func namesOf(clocks []NodeClock) (all []string) {
	for _, c := range clocks {
		all = append(all, c.Node)
	}
	return all
}

// add keeps the least offset of a window. A step of the clock begins a window, so
// that it is drawn as one.
func (o *nodeOffsets) add(at, off, width int64) {
	if n := len(o.at) - 1; n >= 0 && at < o.at[n]+width && (off-o.by[n] < 10*clockNoise && o.by[n]-off < 10*clockNoise || len(o.at) > 4*windows) {
		o.by[n] = min(o.by[n], off)
		return
	}
	o.at, o.by = append(o.at, at), append(o.by, off)
}

// commonRealtime is REALTIME less the judge's clock as most nodes read it at first.
func (m *Measurement) commonRealtime() (int64, bool) {
	seen := map[string]bool{}
	var all []int64
	for i := range m.Ops {
		if op := &m.Ops[i]; op.Real != 0 && op.Node != "" && !seen[op.Node] {
			seen[op.Node] = true
			all = append(all, op.Real-op.Time)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[(len(all)-1)/2], true
}

// off is how far a clock was away at most.
func (c NodeClock) off() int64 { return max(c.RealMost, -c.RealLeast) }

func drawClocks(m *Measurement, f *Figure) {
	f.Head = []string{"Node", "readings", "REALTIME off by", "MONOTONIC off by"}
	var wrong []NodeClock
	quiet := int64(0)
	for i, c := range m.Clocks {
		if i < mostTableRows {
			f.row(c.Node, say.Thousands(c.Readings), offRange(c.RealLeast, c.RealMost), offRange(c.MonoLeast, c.MonoMost))
		}
		if c.off() > 10*clockNoise {
			wrong = append(wrong, c)
		} else {
			quiet = max(quiet, c.off())
		}
	}
	f.Folded = len(f.Rows) > 12
	m.drawOffsets(f, wrong, quiet)
	f.Says = fmt.Sprintf("%s read %s; no REALTIME was off by more than %s.", say.Count(len(m.Clocks), "node"),
		say.Verb(len(m.Clocks), "its own clock", "their own clocks"), say.Length(time.Duration(quiet)))
	if len(wrong) > 0 {
		worst := slices.MaxFunc(wrong, func(a, b NodeClock) int { return cmp.Compare(a.off(), b.off()) })
		f.Says = fmt.Sprintf("The REALTIME of %s was off, by up to %s; every other one was within %s.",
			say.Names(namesOf(wrong)), say.Length(time.Duration(worst.off())), say.Length(time.Duration(quiet)))
	}
	f.Note = "As each node's own program reads them. A server's clocks are taken every 0.25 s while a fault bends them; " +
		"that its program reads the same is in the proof of the fault."
	if len(m.Clocks) < len(m.Setup.Clients)+len(m.Setup.Servers) {
		f.Note += " Of servers that no such fault hit there is no reading."
	}
}

// mostLines is how many clocks a drawing shows; a run has up to 100 clients.
const mostLines = 200

// drawOffsets has a line for each clock that was off, and one for the rest.
func (m *Measurement) drawOffsets(f *Figure, wrong []NodeClock, quiet int64) {
	c := m.overTime(170)
	tinted := []chart.Ink{"p50", "p99", "unfenced", "fenced", "bad"}
	low, high := -float64(quiet), float64(quiet)
	var keys []chart.Entry
	for n, d := range m.drifts {
		if n == mostLines {
			break
		}
		i := slices.IndexFunc(wrong, func(c NodeClock) bool { return c.Node == d.node })
		tint := chart.Ink("wait")
		if i >= 0 {
			tint = tinted[min(i, len(tinted)-1)]
		}
		var points plotter.XYs
		for n := range d.at {
			y := float64(d.by[n])
			if n > 0 && math.Abs(y-float64(d.by[n-1])) > float64(10*clockNoise) && !sloping(d, n) {
				points = append(points, plotter.XY{X: m.since(d.at[n]), Y: float64(d.by[n-1])}) // a step, not a slope
			}
			points = append(points, plotter.XY{X: m.since(d.at[n]), Y: y})
			low, high = min(low, y), max(high, y)
		}
		c.Line(points, tint)
		if i >= 0 && i < len(tinted) {
			keys = append(keys, chart.Entry{Ink: string(tint), Name: d.node, Shape: "line"})
		}
	}
	if len(wrong) < len(m.Clocks) {
		keys = append(keys, chart.Entry{Ink: "wait", Name: say.Verb(min(len(wrong), 1)+1, "every node", "the other nodes"), Shape: "line"})
	}
	pad := max((high-low)*0.06, 1e5)
	c.Y.Min, c.Y.Max = low-pad, high+pad
	c.Y.Tick.Marker = chart.Fewer(func(x float64) string { return signed(time.Duration(x)) })
	c.Entries = append(keys, c.Entries...)
	f.add("How far the REALTIME of each node was off, over time", c)
}

// sloping says whether a clock moved as much before or after as it did up to reading
// n: then it drifts or is slewed, and did not step.
func sloping(d nodeOffsets, n int) bool {
	rate := func(n int) float64 {
		if n < 1 || n >= len(d.at) || d.at[n] == d.at[n-1] {
			return 0
		}
		return float64(d.by[n]-d.by[n-1]) / float64(d.at[n]-d.at[n-1])
	}
	here := rate(n)
	like := func(other float64) bool { return other != 0 && other/here > 0.5 && other/here < 2 }
	return like(rate(n-1)) || like(rate(n+1))
}

func offRange(least, most int64) string {
	if least == 0 && most == 0 {
		return "0"
	}
	return signed(time.Duration(least)) + " to " + signed(time.Duration(most))
}

func signed(d time.Duration) string {
	switch {
	case d > 0:
		return "+" + say.Length(d)
	case d < 0:
		return "−" + say.Length(-d)
	}
	return "0"
}
