package reports

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// chartWidth is that of the page's text, in pixels.
const chartWidth = 1116

// chart is one drawing over linear axes, unless they are made otherwise.
type chart struct {
	*plot.Plot
	height float64
	legend []entry
	until  float64 // where X ends, whatever is drawn beyond; 0: where the data ends
}

// entry is one line of a chart's legend, which is text of the page.
type entry struct{ Ink, Name, Shape string }

func newChart(height float64) *chart {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: ink("line"), Width: 1}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = 4
		a.Padding = 0
		a.Tick.Label.Color, a.Tick.Label.Font = ink("muted"), sans
		a.Label.TextStyle.Color, a.Label.TextStyle.Font = ink("muted"), sans
	}
	p.Y.Tick.Length = 0
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal = draw.LineStyle{Color: ink("line"), Width: 1}
	p.Add(grid)
	return &chart{Plot: p, height: height}
}

// sans has the widths of Arial and Helvetica, one of which every reader has.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 12}

// overTime is a chart whose X is the seconds of a run, with its faults as bands.
func (t *view) overTime(height float64) *chart {
	c := newChart(height)
	c.until = math.Max(t.since(t.End), 1e-3)
	c.X.Min, c.X.Max = 0, c.until
	c.X.Tick.Marker = ticks(func(x float64) string { return number(x) + " s" })
	if spans := t.faultSpans(); len(spans) > 0 {
		c.Add(faultBands{spans})
		c.key("fault", "a fault was in force", "band")
	}
	return c
}

// since is an instant in seconds of the run.
func (t *view) since(raw int64) float64 { return float64(raw-t.Begin) / 1e9 }

// faultSpans is when any fault was in force, in seconds of the run. Those nearer than
// a pixel are one.
func (t *view) faultSpans() (spans [][2]float64) {
	near := t.since(t.End) / chartWidth
	for _, s := range t.faultTimes() {
		from, to := t.since(s.from), t.since(s.to)
		if n := len(spans) - 1; n >= 0 && from <= spans[n][1]+near {
			spans[n][1] = math.Max(spans[n][1], to)
			continue
		}
		spans = append(spans, [2]float64{from, to})
	}
	return spans
}

// faultTimes is when each fault that began was in force, by the time of its begin.
func (t *view) faultTimes() (all []span) {
	for _, f := range t.Faults {
		if f.Begin >= 0 {
			all = append(all, t.lasted(f))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// key adds a line to the legend. Shapes: line, dash, dot, band.
func (c *chart) key(tint, name, shape string) { c.legend = append(c.legend, entry{tint, name, shape}) }

// line draws points as a line, broken where one is NaN.
func (c *chart) line(points plotter.XYs, tint ink, dash ...vg.Length) {
	for _, part := range parts(points) {
		l, err := plotter.NewLine(part)
		if err != nil {
			panic(err)
		}
		l.LineStyle = draw.LineStyle{Color: tint, Width: 1.75, Dashes: dash}
		c.Add(l)
	}
}

func parts(points plotter.XYs) (all []plotter.XYs) {
	var part plotter.XYs
	for _, p := range append(points, plotter.XY{Y: math.NaN()}) {
		if !math.IsNaN(p.Y) {
			part = append(part, p)
			continue
		}
		if len(part) > 0 {
			all = append(all, part)
		}
		part = nil
	}
	return all
}

// dots draws a mark at each point.
func (c *chart) dots(points plotter.XYs, tint ink, shape glyph, radius vg.Length) {
	if len(points) > 0 {
		c.Add(marks{points, tint, shape, radius})
	}
}

// upright draws a dashed line at x from top to bottom.
func (c *chart) upright(x float64, tint ink) {
	c.line(plotter.XYs{{X: x, Y: c.Y.Min}, {X: x, Y: c.Y.Max}}, tint, 5, 3)
}

// logDurations makes Y logarithmic, in µs, over whole decades around least and most.
func (c *chart) logDurations(least, most float64) {
	least, most = math.Max(least, 1), math.Max(most, 2)
	c.Y.Min, c.Y.Max = math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(most)))
	if c.Y.Max <= c.Y.Min {
		c.Y.Max = 10 * c.Y.Min
	}
	c.Y.Scale = plot.LogScale{}
	c.Y.Tick.Marker = decades{}
}
