// Package chart draws figures over axes: gonum/plot as SVG whose colours are the variables of the page.
package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Width is that of the page's text, in pixels.
const Width = 1116

// Chart is one drawing over linear axes, unless they are made otherwise.
type Chart struct {
	*plot.Plot
	height  float64
	Entries []Entry
	Until   float64 // where X ends, whatever is drawn beyond; 0: where the data ends
}

// Entry is one line of a chart's legend, which is text of the page.
type Entry struct{ Ink, Name, Shape string }

// New makes a chart of this height, without anything drawn.
func New(height float64) *Chart {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: Ink("line"), Width: 1}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = 4
		a.Padding = 0
		a.Tick.Label.Color, a.Tick.Label.Font = Ink("muted"), sans
		a.Label.TextStyle.Color, a.Label.TextStyle.Font = Ink("muted"), sans
	}
	p.Y.Tick.Length = 0
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal = draw.LineStyle{Color: Ink("line"), Width: 1}
	p.Add(grid)
	return &Chart{Plot: p, height: height}
}

// sans has the widths of Arial and Helvetica, one of which every reader has.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 12}

// Key adds a line to the legend. Shapes: line, dash, dot, band.
func (c *Chart) Key(tint, name, shape string) {
	c.Entries = append(c.Entries, Entry{tint, name, shape})
}

// Line draws points as a line, broken where one is NaN.
func (c *Chart) Line(points plotter.XYs, tint Ink, dash ...vg.Length) {
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

// Dots draws a mark at each point.
func (c *Chart) Dots(points plotter.XYs, tint Ink, shape glyph, radius vg.Length) {
	if len(points) > 0 {
		c.Add(marks{points, tint, shape, radius})
	}
}

// Upright draws a dashed line at x from top to bottom.
func (c *Chart) Upright(x float64, tint Ink) {
	c.Line(plotter.XYs{{X: x, Y: c.Y.Min}, {X: x, Y: c.Y.Max}}, tint, 5, 3)
}

// LogDurations makes Y logarithmic, in µs, over whole decades around least and most.
func (c *Chart) LogDurations(least, most float64) {
	least, most = math.Max(least, 1), math.Max(most, 2)
	c.Y.Min, c.Y.Max = math.Pow(10, math.Floor(math.Log10(least))), math.Pow(10, math.Ceil(math.Log10(most)))
	if c.Y.Max <= c.Y.Min {
		c.Y.Max = 10 * c.Y.Min
	}
	c.Y.Scale = plot.LogScale{}
	c.Y.Tick.Marker = decades{}
}
