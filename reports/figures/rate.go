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
	PerSecond        float64 `json:"per_second"`         // over the whole run
	BusiestPerSecond float64 `json:"busiest_per_second"` // of the busiest bin
	Longest          int64   `json:"longest_without_ns"` // between two grants of anybody, of any key
	Bin              int64   `json:"bin_ns"`
}

func (m *Measurement) measureGrants() string {
	if len(m.Trace.Grants) == 0 {
		return "Nobody was granted the lock."
	}
	bin := roundBin(m.Length / windows)
	m.rate = make([]float64, m.Length/bin+1)
	g := GrantRate{Count: len(m.Trace.Grants), Bin: bin, PerSecond: float64(len(m.Trace.Grants)) / math.Max(float64(m.Length)/1e9, 1e-3)}
	last := int64(-1)
	for _, at := range m.grantTimes() {
		m.rate[min(max(at-m.Begin, 0)/bin, int64(len(m.rate)-1))] += float64(time.Second) / float64(bin)
		if last >= 0 {
			g.Longest = max(g.Longest, at-last)
		}
		last = at
	}
	g.BusiestPerSecond = slices.Max(m.rate)
	m.Grants = &g
	return ""
}

func (m *Measurement) grantTimes() []int64 {
	times := make([]int64, len(m.Trace.Grants))
	for i, g := range m.Trace.Grants {
		times[i] = g.OK
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
		say.Count(g.Count, "grant"), say.Length(time.Duration(m.Length)), say.Figure(g.PerSecond),
		say.Number(math.Round(g.BusiestPerSecond*float64(g.Bin)/1e9)), say.Length(time.Duration(g.Bin)), say.Length(time.Duration(g.Longest)))
	f.Head = []string{"Part of the run", "time", "grants", "per second"}
	m.rateRow(f, "no fault in force", false)
	if len(m.Faults) > 0 {
		m.rateRow(f, "a fault in force", true)
	}
}

// rateRow counts the grants while a fault was in force, or while none was.
func (m *Measurement) rateRow(f *Figure, name string, faulty bool) {
	spans, n, lasted := m.faultSpans(), 0, 0.0
	for _, s := range spans {
		lasted += s[1] - s[0]
	}
	if !faulty {
		lasted = m.since(m.End) - lasted
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
