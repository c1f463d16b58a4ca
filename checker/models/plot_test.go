package models_test

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// points are one line of the plot.
type points []struct {
	operations int
	time       time.Duration
}

func (p *points) add(operations int, t time.Duration) {
	*p = append(*p, struct {
		operations int
		time       time.Duration
	}{operations, t})
}

// Len and XY are how gonum asks.
func (p points) Len() int { return len(p) }

func (p points) XY(i int) (x, y float64) { return float64(p[i].operations), p[i].time.Seconds() }

// draw writes the plot to the file that PLOT names.
func (g *goals) draw() {
	path := os.Getenv("PLOT")
	if path == "" {
		return
	}
	file, err := os.Create(path)
	if err == nil {
		_, err = drawPlot(file, g.plot)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		g.b.Fatal(err)
	}
	fmt.Println("wrote", path)
}

// The size of the plot, and the margin that is left free on each side: gonum
// measures words in its own font, and a browser may have a wider one.
const (
	plotWidth, plotHeight = 18 * vg.Centimeter, 12 * vg.Centimeter
	plotMargin            = 0.4 * vg.Centimeter
)

// drawPlot draws the lines, log-log.
func drawPlot(to io.Writer, lines map[string]*points) (int64, error) {
	p := plot.New()
	p.Title.Text = "A mutex, 20 clients: time to the verdict"
	p.X.Label.Text, p.Y.Label.Text = "operations", "seconds"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
	p.BackgroundColor = color.White
	p.Add(plotter.NewGrid())
	for i, name := range []string{porcupineLine, wholeLine, judgeLine, scanLine} {
		line, marks, err := plotter.NewLinePoints(lines[name])
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		line.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		p.Add(line, marks)
		p.Legend.Add(name, line, marks)
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} { // from one label to another
		axis.Min, axis.Max = math.Pow(10, math.Floor(math.Log10(axis.Min))), math.Pow(10, math.Ceil(math.Log10(axis.Max)))
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = plotMargin, -plotMargin
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.Crop(draw.New(canvas), plotMargin, -plotMargin, plotMargin, -plotMargin))
	return canvas.WriteTo(to)
}

// decades puts a label at every power of ten, all in one style, and small ticks between.
type decades struct{}

// Ticks is how gonum asks.
func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for digit := 1.0; digit < 10; digit++ {
			tick := plot.Tick{Value: digit * math.Pow(10, power)}
			if digit == 1 {
				tick.Label = "10" + superscript.Replace(fmt.Sprintf("%.0f", power))
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³",
	"4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

const (
	porcupineLine = "Porcupine, from memory"
	wholeLine     = "reading the file and judging"
	judgeLine     = "judging, from memory"
	scanLine      = "scanning the file"
)
