package figures

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
)

// GrantRate is how many grants a run had, and how fast they came.
type GrantRate struct {
	Count            int     `json:"count"`
	PerSecond        float64 `json:"per_second"`         // of the load, without the start of the cluster and the final acquires
	BusiestPerSecond float64 `json:"busiest_per_second"` // of the busiest bin
	Longest          int64   `json:"longest_without_ns"` // between two grants of anybody, of any key
	Bin              int64   `json:"bin_ns"`
}

func (m *Measurement) measureGrants() string {
	if len(m.grantTimes()) == 0 {
		return "Nobody was granted the lock."
	}
	bin := roundBin(m.Length / windows)
	m.rate = make([]float64, m.Length/bin+1)
	times := m.grantTimes()
	g := GrantRate{Count: len(times), Bin: bin, PerSecond: float64(len(times)) / math.Max(m.Load().Length().Seconds(), 1e-3)}
	for i, at := range times {
		m.rate[min(max(at-m.Begin, 0)/bin, int64(len(m.rate)-1))] += float64(time.Second) / float64(bin)
		if i > 0 {
			g.Longest = max(g.Longest, at-times[i-1])
		}
	}
	g.BusiestPerSecond = slices.Max(m.rate)
	m.Grants = &g
	return ""
}

// grantTimes are those of the load: the final acquires are the harness's own.
func (m *Measurement) grantTimes() (times []int64) {
	load := m.Load()
	for _, g := range m.Trace.Grants {
		if g.OK <= load.To {
			times = append(times, g.OK)
		}
	}
	return times
}

// roundBin is the first of 10 ms, 20 ms, 50 ms, 100 ms, … that is at least so long.
func roundBin(least int64) int64 {
	for unit := int64(10 * time.Millisecond); ; unit *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
}

func drawGrants(m *Measurement, f *Figure) {
	g := m.Grants
	c := m.overTime(170)
	c.Y.Min, c.Y.Max = 0, g.BusiestPerSecond*1.05
	c.Y.Tick.Marker = chart.Fewer(func(x float64) string { return say.Number(x) + "/s" })
	bin := float64(g.Bin) / 1e9
	for i, rate := range m.rate {
		if rate > 0 {
			c.Add(chart.Box{FromX: float64(i) * bin, FromY: 0, ToX: math.Min(float64(i+1)*bin, c.X.Max), ToY: rate, Tint: chart.Ink("valid")})
		}
	}
	c.Entries = append([]chart.Entry{{Ink: "valid", Name: "grants a second, in bins of " + say.Length(time.Duration(g.Bin)), Shape: "band"}}, c.Entries...)
	f.add("Grants per second over time", c)
	f.Says = fmt.Sprintf("%s in %s: %s a second, and %s in the busiest %s. The longest time between two was %s.",
		say.Count(g.Count, "grant"), say.Length(m.Load().Length()), say.Figure(g.PerSecond),
		say.Number(math.Round(g.BusiestPerSecond*float64(g.Bin)/1e9)), say.Length(time.Duration(g.Bin)), say.Length(time.Duration(g.Longest)))
	f.Head = []string{"Part of the load", "time", "grants", "per second"}
	m.rateRow(f, "no fault in force", false)
	if len(m.Faults) > 0 {
		m.rateRow(f, "a fault in force", true)
	}
}

// rateRow counts the grants while a fault was in force, or while none was.
func (m *Measurement) rateRow(f *Figure, name string, faulty bool) {
	load, spans, n, lasted := m.Load(), m.faultSpans(), 0, 0.0
	for _, s := range spans {
		lasted += max(min(s[1], m.since(load.To))-max(s[0], m.since(load.From)), 0)
	}
	if !faulty {
		lasted = load.Length().Seconds() - lasted
	}
	next := 0
	for _, at := range m.grantTimes() {
		x := m.since(at)
		for next < len(spans) && spans[next][1] < x {
			next++
		}
		if in := next < len(spans) && spans[next][0] <= x; in == faulty {
			n++
		}
	}
	rate := "–"
	if lasted > 0.01 {
		rate = say.Figure(float64(n) / lasted)
	}
	f.row(name, say.Length(time.Duration(lasted*1e9)), say.Thousands(n), rate)
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return say.Figure(100*float64(n)/float64(of)) + " %"
}
