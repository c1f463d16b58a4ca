// Package stats says how far figures of a few runs can be believed: intervals of a
// rate, and whether two rates or two samples differ by more than chance.
//
// Distributions and the U test are those of go-moremath, which benchstat rests on. No
// module was found for Wilson's and Newcombe's intervals; they are a line each.
package stats

import (
	"fmt"
	"math"

	moremath "github.com/aclements/go-moremath/stats"
)

// z is the quantile of the normal distribution for two-sided intervals of 95 %.
const z = 1.959963984540054

// Interval is one of 95 %, of a rate within 0 and 1 or of a difference of two.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Wilson is the score interval of a rate of which k of n were seen, without a
// correction for continuity. Of no observation it is all from 0 to 1.
//
// E. B. Wilson, Probable inference, the law of succession, and statistical
// inference, JASA 22 (1927); recommended for small n by Brown, Cai and DasGupta,
// Interval estimation for a binomial proportion, Statistical Science 16 (2001).
func Wilson(k, n int) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	count, p := float64(n), float64(k)/float64(n)
	middle := p + z*z/(2*count)
	half := z * math.Sqrt(p*(1-p)/count+z*z/(4*count*count))
	scale := 1 + z*z/count
	i := Interval{max(0, (middle-half)/scale), min(1, (middle+half)/scale)}
	if k == 0 { // exactly, whatever the rounding
		i.Low = 0
	}
	if k == n {
		i.High = 1
	}
	return i
}

// Newcombe is the interval of the difference of two rates, b of m less a of n, made
// of their Wilson intervals.
//
// R. G. Newcombe, Interval estimation for the difference between independent
// proportions, Statistics in Medicine 17 (1998), method 10.
func Newcombe(a, n, b, m int) Interval {
	if n <= 0 || m <= 0 {
		return Interval{-1, 1}
	}
	p, q := float64(a)/float64(n), float64(b)/float64(m)
	x, y := Wilson(a, n), Wilson(b, m)
	return Interval{
		q - p - math.Hypot(q-y.Low, x.High-p),
		q - p + math.Hypot(y.High-q, p-x.Low),
	}
}

// Fisher is the two-sided p-value of Fisher's exact test: how often chance alone
// would part a of n and b of m at least as much, if both had one rate.
//
// R. A. Fisher, The Design of Experiments (1935); two-sided by the sum of all tables
// that are no likelier than the one seen.
func Fisher(a, n, b, m int) float64 {
	if n <= 0 || m <= 0 {
		return 1
	}
	d := moremath.HypergeometicDist{N: n + m, K: a + b, Draws: n}
	seen, sum := d.PMF(float64(a)), 0.0
	for k := max(0, a+b-m); k <= min(n, a+b); k++ {
		if p := d.PMF(float64(k)); p <= seen*(1+1e-7) { // equal ones differ by rounding
			sum += p
		}
	}
	return min(1, sum)
}

// Bound says below which rate n passes of n prove failures to be: "16.2 %". It is
// rounded up, so that it never claims more than was proven.
func Bound(n int) string { return Percent(math.Ceil(Wilson(0, n).High*1000) / 1000) }

// Percent writes a rate with a digit behind the point.
func Percent(rate float64) string { return fmt.Sprintf("%.1f %%", rate*100) }

// String writes an interval of a rate, rounded outwards: "20.6 % to 100.0 %".
func (i Interval) String() string {
	return Percent(math.Floor(i.Low*1000)/1000) + " to " + Percent(math.Ceil(i.High*1000)/1000)
}

// Rate is how often something was seen.
type Rate struct {
	Seen int `json:"seen"`
	Of   int `json:"of"`
}

// String says it with its interval: "19 of 20 (95 %: 76.3 % to 99.2 %)".
func (r Rate) String() string {
	return fmt.Sprintf("%d of %d (95 %%: %s)", r.Seen, r.Of, Wilson(r.Seen, r.Of))
}
