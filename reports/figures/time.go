package figures

import (
	"cmp"
	"math"
	"slices"

	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// overTime is a chart whose X is the seconds of a run, with its faults as bands.
func (m *Measurement) overTime(height float64) *chart.Chart {
	c := chart.New(height)
	c.Until = math.Max(m.since(m.End), 1e-3)
	c.X.Min, c.X.Max = 0, c.Until
	c.X.Tick.Marker = chart.Ticks(func(x float64) string { return say.Number(x) + " s" })
	if spans := m.faultSpans(); len(spans) > 0 {
		c.Add(chart.FaultBands{Spans: spans})
		c.Key("fault", "a fault was in force", "band")
	}
	return c
}

// since is an instant in seconds of the run.
func (m *Measurement) since(raw int64) float64 { return float64(raw-m.Begin) / 1e9 }

// faultSpans is when any fault was in force, in seconds of the run. Those nearer than
// a pixel are one.
func (m *Measurement) faultSpans() (spans [][2]float64) {
	near := m.since(m.End) / chart.Width
	for _, s := range m.faultTimes() {
		from, to := m.since(s.From), m.since(s.To)
		if n := len(spans) - 1; n >= 0 && from <= spans[n][1]+near {
			spans[n][1] = math.Max(spans[n][1], to)
			continue
		}
		spans = append(spans, [2]float64{from, to})
	}
	return spans
}

// faultTimes is when each fault that began was in force, by the time of its begin.
func (m *Measurement) faultTimes() (all []timeline.Span) {
	for _, f := range m.Faults {
		if f.Begin >= 0 {
			all = append(all, m.Lasted(f))
		}
	}
	slices.SortFunc(all, func(a, b timeline.Span) int { return cmp.Compare(a.From, b.From) })
	return all
}
