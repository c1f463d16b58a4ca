package pages

import (
	"strconv"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// x is where a raw time is, held inside the plot.
func (p *runPlotter) x(at int64) float64 {
	return onPlot(p.axis).X(at - p.zero)
}

func (p *runPlotter) visible(s timeline.Span) bool {
	return p.axis.Meets(timeline.Span{From: s.From - p.zero, To: s.To - p.zero})
}

// onPlot places a stretch of the axis in the plot.
func onPlot(axis timeline.Span) timeline.Scale {
	return timeline.Scale{Span: axis, Left: plotLeft, Right: plotWidth - plotRight}
}

// axisTicks divides an axis at round times.
func axisTicks(axis timeline.Span) (all []chartTick) {
	on := onPlot(axis)
	for _, t := range on.Ticks() {
		all = append(all, chartTick{on.X(t.At), t.Text})
	}
	return all
}

// time is a raw time on the axis.
func (p *runPlotter) time(at int64) string { return onAxis(time.Duration(at - p.zero)) }

// onAxis writes a time on the axis with its sign: "+1.250 s".
func onAxis(d time.Duration) string {
	if d < 0 {
		return "−" + say.Seconds(-int64(d))
	}
	return "+" + say.Seconds(int64(d))
}

// tenths writes a coordinate to a tenth.
func tenths(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
