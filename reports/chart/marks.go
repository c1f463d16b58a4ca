package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// FaultBands are stretches of X, over the whole height.
type FaultBands struct{ Spans [][2]float64 }

// Plot implements plot.Plotter.
func (b FaultBands) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, s := range b.Spans {
		from := x(math.Max(s[0], p.X.Min))
		to := vg.Length(math.Max(float64(x(math.Min(s[1], p.X.Max))), float64(from)+1.5))
		c.FillPolygon(Ink("fault").shade(), []vg.Point{{X: from, Y: c.Min.Y}, {X: to, Y: c.Min.Y}, {X: to, Y: c.Max.Y}, {X: from, Y: c.Max.Y}})
	}
}

// Box is a filled rectangle from one corner to the other, in data.
type Box struct {
	FromX, FromY, ToX, ToY float64
	Tint                   color.Color
}

// Plot implements plot.Plotter.
func (b Box) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	left, right := x(b.FromX), vg.Length(math.Max(float64(x(b.ToX)), float64(x(b.FromX))+1.5))
	c.FillPolygon(b.Tint, []vg.Point{{X: left, Y: y(b.FromY)}, {X: right, Y: y(b.FromY)}, {X: right, Y: y(b.ToY)}, {X: left, Y: y(b.ToY)}})
}

// marks are many marks of one look, as one path: a thousand elements would weigh more
// and be slow to show.
type marks struct {
	points plotter.XYs
	tint   Ink
	shape  glyph
	radius vg.Length
}

// glyph draws one mark around a point; a line says that it is not filled.
type glyph struct {
	add  func(p *vg.Path, at vg.Point, r vg.Length)
	line vg.Length
}

var (
	// Dot is round where it is large enough to tell.
	Dot = glyph{add: func(p *vg.Path, at vg.Point, r vg.Length) {
		if r >= 2 {
			round(p, at, r)
			return
		}
		p.Move(vg.Point{X: at.X - r, Y: at.Y})
		p.Line(vg.Point{X: at.X, Y: at.Y + r})
		p.Line(vg.Point{X: at.X + r, Y: at.Y})
		p.Line(vg.Point{X: at.X, Y: at.Y - r})
		p.Close()
	}}
	Square = glyph{add: func(p *vg.Path, at vg.Point, r vg.Length) {
		p.Move(vg.Point{X: at.X - r, Y: at.Y - r})
		p.Line(vg.Point{X: at.X - r, Y: at.Y + r})
		p.Line(vg.Point{X: at.X + r, Y: at.Y + r})
		p.Line(vg.Point{X: at.X + r, Y: at.Y - r})
		p.Close()
	}}
	// Ring is a mark through which others are seen.
	Ring = glyph{add: round, line: 1.25}
	// Cross is a mark that is seen among others.
	Cross = glyph{add: func(p *vg.Path, at vg.Point, r vg.Length) {
		for _, side := range []vg.Length{1, -1} {
			p.Move(vg.Point{X: at.X - r, Y: at.Y - side*r})
			p.Line(vg.Point{X: at.X + r, Y: at.Y + side*r})
		}
	}, line: 1.75}
)

func round(p *vg.Path, at vg.Point, r vg.Length) {
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
}

// Plot implements plot.Plotter. What lies beyond the axes is left out.
func (m marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var path vg.Path
	for _, at := range m.points {
		if at := (vg.Point{X: x(at.X), Y: y(at.Y)}); c.Contains(at) {
			m.shape.add(&path, at, m.radius)
		}
	}
	switch {
	case len(path) == 0:
	case m.shape.line > 0:
		c.SetLineStyle(draw.LineStyle{Color: m.tint, Width: m.shape.line})
		c.Stroke(path)
	default:
		c.SetColor(m.tint)
		c.Fill(path)
	}
}
