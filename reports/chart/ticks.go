package chart

import (
	"math"
	"time"

	"gonum.org/v1/plot"

	"github.com/dlmtest/dlmtest/reports/say"
)

// decades labels the powers of ten of µs.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(least, most float64) (all []plot.Tick) {
	for us := least; us <= most*1.001; us *= 10 {
		all = append(all, plot.Tick{Value: us, Label: say.Length(time.Duration(us * 1e3))})
	}
	return all
}

// Ticks labels round values, eight or so.
type Ticks func(float64) string

// Ticks implements plot.Ticker.
func (label Ticks) Ticks(least, most float64) []plot.Tick { return rounded(least, most, 8, label) }

// Fewer are ticks of an axis that is not long.
type Fewer func(float64) string

// Ticks implements plot.Ticker.
func (label Fewer) Ticks(least, most float64) []plot.Tick { return rounded(least, most, 5, label) }

func rounded(least, most, parts float64, label func(float64) string) (all []plot.Tick) {
	step := roundStep((most - least) / parts)
	if !(most > least) || (most-least)/step > 100 || math.IsInf(least/step, 0) {
		return nil
	}
	for i := math.Ceil(least / step); i*step <= most+step*1e-6; i++ {
		all = append(all, plot.Tick{Value: i * step, Label: label(i * step)})
	}
	return all
}

// roundStep is the first of 1, 2, 5, 10, … of any power that is at least so large.
func roundStep(least float64) float64 {
	if !(least > 0) || math.IsInf(least, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= least {
			return n * power
		}
	}
	return 10 * power
}
