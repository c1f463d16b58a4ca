package reports

import (
	"strconv"
	"strings"
	"time"
)

// x is where a raw time is, held inside the plot.
func (p *runPlotter) x(at int64) float64 {
	share := float64(at-p.zero-p.axis.from) / float64(max(p.axis.to-p.axis.from, 1))
	return plotLeft + min(max(share, 0), 1)*(plotWidth-plotLeft-plotRight)
}

func (p *runPlotter) visible(s span) bool {
	return s.to-p.zero >= p.axis.from && s.from-p.zero <= p.axis.to
}

// time is a raw time on the axis.
func (p *runPlotter) time(at int64) string { return onAxis(time.Duration(at - p.zero)) }

// onAxis writes a time on the axis with its sign: "+1.250 s".
func onAxis(d time.Duration) string {
	if d < 0 {
		return "−" + seconds(-int64(d))
	}
	return "+" + seconds(int64(d))
}

// axisTicks divides an axis at round times.
func axisTicks(axis span) (all []chartTick) {
	length := float64(axis.to-axis.from) / 1e9
	step := 0.001
	for _, s := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200} {
		if step = s; length/s <= 14 {
			break
		}
	}
	step = max(step, length/14)
	ns := int64(step * 1e9)
	for at := (axis.from / ns) * ns; at <= axis.to && len(all) < 40; at += ns {
		if at >= axis.from {
			all = append(all, chartTick{plotLeft + float64(at-axis.from)/float64(max(axis.to-axis.from, 1))*(plotWidth-plotLeft-plotRight), tickText(at, step)})
		}
	}
	return all
}

func tickText(at int64, step float64) string {
	digits := 0
	for s := step; s < 0.999 && digits < 3; s *= 10 {
		digits++
	}
	text := strconv.FormatFloat(float64(max(at, -at))/1e9, 'f', digits, 64) + " s"
	switch {
	case at < 0:
		return "−" + text
	case at > 0:
		return "+" + text
	}
	return text
}

// tenths writes a coordinate to a tenth.
func tenths(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// clipped shortens a text to so many letters.
func clipped(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:max(most-1, 0)]) + "…"
	}
	return s
}
