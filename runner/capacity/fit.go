// Package capacity says what locks and sessions cost at their servers: straight lines
// through what was measured at several sizes, with their errors, and what they
// come to at sizes that nobody can try here.
package capacity

import "math"

// Line is a straight line through points, by least squares.
type Line struct {
	Slope  float64 `json:"slope"`  // what one more costs
	Error  float64 `json:"error"`  // of the slope: half of its 95 % interval
	Start  float64 `json:"start"`  // what none costs
	R2     float64 `json:"r2"`     // the share of the spread that the line explains
	Points int     `json:"points"` // through how many
}

// Fit draws the line through (xs[i], ys[i]). Two points fit any line, so with fewer
// than three the error is infinite.
func Fit(xs, ys []float64) Line {
	n := float64(len(xs))
	l := Line{Points: len(xs), Error: math.Inf(1)}
	var mx, my float64
	for i := range xs {
		mx, my = mx+xs[i]/n, my+ys[i]/n
	}
	var sxx, sxy, syy float64
	for i := range xs {
		sxx += (xs[i] - mx) * (xs[i] - mx)
		sxy += (xs[i] - mx) * (ys[i] - my)
		syy += (ys[i] - my) * (ys[i] - my)
	}
	if sxx == 0 {
		return l
	}
	l.Slope = sxy / sxx
	l.Start = my - l.Slope*mx
	rest := max(0, syy-l.Slope*sxy)
	if l.R2 = 1; syy > 0 {
		l.R2 = 1 - rest/syy
	}
	if len(xs) > 2 {
		l.Error = student(len(xs)-2) * math.Sqrt(rest/(n-2)/sxx)
	}
	return l
}

// At is what n cost by the line, beyond what none costs, and its error.
func (l Line) At(n float64) (cost, err float64) { return l.Slope * n, l.Error * n }

// student is the 97.5 % quantile of Student's t with so many degrees of freedom.
func student(freedom int) float64 {
	table := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	return 2.13 // an upper bound from here on
}
