package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
)

const (
	noOperation = "No operation has ended."
	noSuccess   = "No acquire, renewal or release has succeeded."
)

func (m *Measurement) measureLatency() string {
	if m.Latencies = m.measure().table; len(m.Latencies) == 0 {
		return noOperation
	}
	return ""
}

// tints are the colours of the classes that have a line.
var tints = map[string]struct {
	tint   chart.Ink
	shape  string
	dashed bool
}{"acquire": {"p50", "line", false}, "renew": {"fenced", "line", false}, "release": {"unfenced", "line", false}, "acquire-refused": {"bad", "dash", true}}

// drawLatency draws latency against the share of operations that took no longer,
// on the scale of HdrHistogram's own plots: each step to the right is a tenth of
// the operations left.
func drawLatency(m *Measurement, f *Figure) {
	l := m.measure()
	c := chart.New(230)
	least, most, nines := math.Inf(1), 0.0, 1.0
	for i := range l.whole {
		if h := &l.whole[i]; tints[classes[i].operation].tint != "" && h.TotalCount() > 0 {
			least, most = math.Min(least, float64(h.Min())), math.Max(most, float64(h.most))
			nines = math.Max(nines, math.Ceil(math.Log10(float64(h.TotalCount()))))
		}
	}
	if most > 0 {
		c.LogDurations(least, most)
		c.X.Min, c.X.Max = 0, math.Min(nines, 6)
		c.X.Tick.Marker = shares{}
		for i := range l.whole {
			if look := tints[classes[i].operation]; look.tint != "" && l.whole[i].TotalCount() > 0 {
				h := &l.whole[i]
				c.Key(string(look.tint), classes[i].name, look.shape)
				if look.dashed {
					c.Line(rising(h, c.X.Max), look.tint, 5, 3)
				} else {
					c.Line(rising(h, c.X.Max), look.tint)
				}
			}
		}
		f.add("Latency of acquires, renewals and releases against the share of operations that took no longer", c)
	}
	f.Head = []string{"Operation", "count", "p50", "p90", "p99", "p99.9", "max"}
	for _, q := range m.Latencies {
		f.row(q.Name, say.Thousands(q.Count), say.Length(q.P50), say.Length(q.P90), say.Length(q.P99), say.Length(q.P999), say.Length(q.Max))
	}
	f.Note = "p99 is the time that 99 of 100 operations did not exceed; of fewer than 100 it is one of the longest. An " +
		"acquire's time contains its wait for other holders."
	f.Says = latencySays(m.Latencies)
}

func latencySays(all []Quantiles) string {
	for _, q := range all {
		if q.Operation == "acquire" {
			return fmt.Sprintf("Half of %s of the lock took no longer than %s, waiting for others included; the slowest took %s.",
				say.Count(q.Count, "acquire"), say.Length(q.P50), say.Length(q.Max))
		}
	}
	return "Nobody was granted the lock; the table has what else took time."
}

// rising is the quantiles of a histogram, X being the nines: 1 for 90 %, 2 for 99 %.
func rising(w *window, most float64) (points plotter.XYs) {
	const step = 0.05
	for x := 0.0; x <= most+step/2; x += step {
		share := 1 - math.Pow(10, -x)
		points = append(points, plotter.XY{X: x, Y: math.Max(float64(w.at(100*share)), 1)})
		if share*float64(w.TotalCount()) >= float64(w.TotalCount())-1 {
			return append(points, plotter.XY{X: x, Y: float64(w.most)})
		}
	}
	return points
}

// shares labels the nines.
type shares struct{}

// Ticks implements plot.Ticker.
func (shares) Ticks(_, most float64) []plot.Tick {
	all := []plot.Tick{{Value: 0, Label: "min"}, {Value: math.Log10(2), Label: "p50"}}
	for x, label := range []string{1: "p90", 2: "p99", 3: "p99.9", 4: "p99.99", 5: "p99.999", 6: "p99.9999"} {
		if x > 0 && float64(x) <= most {
			all = append(all, plot.Tick{Value: float64(x), Label: label})
		}
	}
	return all
}

// anyWindow says whether there is a latency to show over time.
func (m *Measurement) anyWindow() string {
	for i, w := range m.measure().whole {
		if classes[i].windowed && w.TotalCount() > 0 {
			return ""
		}
	}
	return noSuccess
}

// drawLatencyOverTime has a panel for each kind of operation that succeeded.
func drawLatencyOverTime(m *Measurement, f *Figure) {
	l := m.measure()
	slow, missing := "", ""
	for i, class := range classes {
		if !class.windowed {
			continue
		}
		if l.whole[i].TotalCount() == 0 {
			missing += " No " + map[string]string{"acquire": "acquire", "renew": "renewal", "release": "release"}[class.operation] + " succeeded."
			continue
		}
		over := l.coarse(i)
		c := m.overTime(150)
		c.LogDurations(float64(l.whole[i].Min()), float64(l.whole[i].most))
		c.Line(over.steps(50), "p50")
		c.Line(over.steps(99), "p99", 5, 3)
		var top plotter.XYs
		for w, at := range over.windows {
			if at != nil {
				top = append(top, plotter.XY{X: (float64(w) + 0.5) * over.width, Y: float64(at.most)})
			}
		}
		c.Dots(top, "muted", chart.Dot, 2.2)
		c.Entries = append([]chart.Entry{{Ink: "p50", Name: "p50", Shape: "line"},
			{Ink: "p99", Name: "p99", Shape: "dash"}, {Ink: "muted", Name: "longest", Shape: "dot"}}, c.Entries...)
		f.add(fmt.Sprintf("%s: p50, p99 and the longest in each %s of the run", class.name, say.Length(time.Duration(over.width*1e9))), c)
		if class.operation == "acquire" {
			slow = m.slowest(over)
		}
	}
	f.Says = strings.TrimSpace(slow + missing)
	f.Note = "The table of latency above has the figures of the whole run."
}

// overTime is the windows of one class, wide enough to hold a few operations each.
type overTime struct {
	windows []*window
	width   float64 // s
}

// perWindow is how many operations a window should hold on average.
const perWindow = 10

func (l latency) coarse(class int) overTime {
	join := 1
	for join < windows/8 && l.whole[class].TotalCount()*int64(join) < perWindow*windows {
		join++
	}
	o := overTime{width: float64(l.width) * float64(join) / 1e9}
	for part := range slices.Chunk(l.over[class], join) {
		var sum *window
		for _, w := range part {
			if w == nil {
				continue
			}
			if sum == nil {
				sum = newWindow(2)
			}
			sum.Merge(w.Histogram)
			sum.most = max(sum.most, w.most)
		}
		o.windows = append(o.windows, sum)
	}
	return o
}

// steps is one quantile of every window, as a line that breaks where nothing ended.
func (o overTime) steps(q float64) (points plotter.XYs) {
	for i, w := range o.windows {
		from := float64(i) * o.width
		if w == nil {
			points = append(points, plotter.XY{X: from, Y: math.NaN()})
			continue
		}
		y := float64(w.at(q))
		points = append(points, plotter.XY{X: from, Y: y}, plotter.XY{X: from + o.width, Y: y})
	}
	return points
}

// slowest says when acquires took the longest, and whether a fault was in force.
func (m *Measurement) slowest(o overTime) string {
	worst := -1
	for i, w := range o.windows {
		if w != nil && (worst < 0 || w.most > o.windows[worst].most) {
			worst = i
		}
	}
	if worst < 0 {
		return ""
	}
	most := float64(o.windows[worst].most) / 1e6
	from, to := float64(worst)*o.width-most, float64(worst+1)*o.width
	where := "while no fault was in force"
	if slices.ContainsFunc(m.faultSpans(), func(s [2]float64) bool { return s[0] <= to && s[1] >= from }) {
		where = "about the time of a fault"
	}
	if len(m.Faults) == 0 {
		where = "in a run without faults"
	}
	return fmt.Sprintf("The longest acquire took %s and ended at about %s s, %s.",
		say.Length(micros(o.windows[worst].most)), say.Number(math.Round(to*10)/10), where)
}
