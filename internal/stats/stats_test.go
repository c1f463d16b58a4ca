package stats

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// The examples of Newcombe, Two-sided confidence intervals for the single
// proportion, Statistics in Medicine 17 (1998), table I, method 3.
func TestWilsonAgainstPublishedValues(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
		{0, 0, 0, 1}, {5, 5, 0.5655, 1},
	} {
		if got := Wilson(c.k, c.n); !near(got.Low, c.low, 5e-5) || !near(got.High, c.high, 5e-5) {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, got.Low, got.High, c.low, c.high)
		}
	}
}

// The examples of Newcombe's paper on differences, table II, method 10, as the first
// rate less the second.
func TestNewcombeAgainstPublishedValues(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		low, high  float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090}, {6, 7, 2, 7, 0.0582, 0.8062},
		{5, 56, 0, 29, -0.0381, 0.1926}, {0, 10, 0, 20, -0.1611, 0.2775}, {0, 10, 0, 10, -0.2775, 0.2775},
		{10, 10, 0, 20, 0.6791, 1}, {10, 10, 0, 10, 0.6075, 1},
	} {
		got := Newcombe(c.b, c.m, c.a, c.n)
		if !near(got.Low, c.low, 1e-4) || !near(got.High, c.high, 1e-4) {
			t.Errorf("%d/%d − %d/%d: %.4f to %.4f, want %.4f to %.4f", c.a, c.n, c.b, c.m, got.Low, got.High, c.low, c.high)
		}
	}
}

// Fisher's own example, the lady who tastes tea, and tables worked out by hand.
func TestFisherAgainstPublishedValues(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		p          float64
	}{
		{3, 4, 1, 4, 34.0 / 70}, {4, 4, 0, 4, 2.0 / 70}, {0, 5, 5, 5, 2.0 / 252}, {0, 5, 0, 5, 1}, {0, 0, 3, 3, 1},
		{1, 12, 9, 12, 0.002759456}, // the example of R's and SciPy's documentation for men and women who study
	} {
		if got := Fisher(c.a, c.n, c.b, c.m); !near(got, c.p, 1e-6) {
			t.Errorf("%d/%d against %d/%d: p %.9f, want %.9f", c.a, c.n, c.b, c.m, got, c.p)
		}
	}
}

// With values all different the exact p-value is a count of orders.
func TestDifferAgainstCounting(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		p    float64
	}{
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20}, {[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{1, 2, 3, 5}, []float64{4, 6, 7, 8}, 4.0 / 70}, {[]float64{1}, []float64{2}, 1},
		{nil, []float64{1}, 1}, {[]float64{2, 2, 2}, []float64{2, 2, 2}, 1},
	} {
		if got := Differ(c.a, c.b); !near(got, c.p, 1e-9) {
			t.Errorf("%v, %v: p %v, want %v", c.a, c.b, got, c.p)
		}
	}
	if got := Least(5, 5); !near(got, 2.0/252, 1e-9) {
		t.Errorf("least of 5 and 5: %v", got)
	}
}

// With ties the module is held against every way of dealing the values out.
func TestDifferAgainstAllDeals(t *testing.T) {
	value := rapid.SliceOfN(rapid.Float64Range(0, 4), 1, 6)
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		for _, s := range [][]float64{a, b} {
			for i := range s {
				s[i] = math.Floor(s[i])
			}
		}
		if got, want := Differ(a, b), deals(a, b); !near(got, want, 1e-9) {
			t.Errorf("%v, %v: p %v, want %v", a, b, got, want)
		}
	})
}

// deals is the two-sided p-value of the U test by counting.
func deals(a, b []float64) float64 {
	all := append(slices.Clone(a), b...)
	u := func(in func(i int) bool) (sum float64) {
		for i, x := range all {
			for j, y := range all {
				if in(i) && !in(j) {
					if x > y {
						sum++
					} else if x == y {
						sum += 0.5
					}
				}
			}
		}
		return sum
	}
	seen := u(func(i int) bool { return i < len(a) })
	below, above, deals := 0.0, 0.0, 0.0
	for mask := range 1 << len(all) {
		if bits.OnesCount(uint(mask)) != len(a) {
			continue
		}
		deals++
		switch is := u(func(i int) bool { return mask>>i&1 == 1 }); {
		case is < seen:
			below++
		case is > seen:
			above++
		default:
			below++
			above++
		}
	}
	return min(1, 2*min(below, above)/deals)
}

func TestHolm(t *testing.T) {
	// Holm's steps: 0.05/4, 0.05/3, 0.05/2, 0.05; the third fails, so the fourth does.
	if got := Holm([]float64{0.04, 0.01, 0.03, 0.005}); !slices.Equal(got, []bool{false, true, false, true}) {
		t.Error(got)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Error(got)
	}
}

func TestBoundIsRoundedUp(t *testing.T) {
	if got := Bound(20); got != "16.2 %" {
		t.Error(got)
	}
	if got := Bound(0); got != "100.0 %" {
		t.Error(got)
	}
	if got := Wilson(1, 1).String(); got != "20.6 % to 100.0 %" {
		t.Error(got)
	}
}

func TestQuantiles(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	if Median(values) != 3 || Median([]float64{1, 2}) != 1.5 || Quantile(values, 0.99) != 5 || Quantile(values, 0.5) != 3 ||
		Quantile(values, 0) != 1 || Quantile(nil, 0.5) != 0 || Median(nil) != 0 {
		t.Error("quantiles are wrong")
	}
	if values[0] != 5 {
		t.Error("the values were sorted in place")
	}
}

// An interval lies in its range, holds the rate that was seen, and gets no wider by
// more runs with the same rate.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(1, 200).Draw(t, "m")
		a, b := rapid.IntRange(0, n).Draw(t, "a"), rapid.IntRange(0, m).Draw(t, "b")
		i, more, d := Wilson(a, n), Wilson(2*a, 2*n), Newcombe(a, n, b, m)
		p, q := float64(a)/float64(n), float64(b)/float64(m)
		if i.Low < 0 || i.High > 1 || i.Low > p || i.High < p || more.High-more.Low > i.High-i.Low {
			t.Errorf("%d of %d: %+v", a, n, i)
		}
		if d.Low < -1-1e-9 || d.High > 1+1e-9 || d.Low > q-p || d.High < q-p {
			t.Errorf("%d of %d, %d of %d: %+v", a, n, b, m, d)
		}
		f := Fisher(a, n, b, m)
		if f < 0 || f > 1 || !near(f, Fisher(b, m, a, n), 1e-9) {
			t.Errorf("Fisher of %d of %d, %d of %d: %v", a, n, b, m, f)
		}
	})
}

func ExampleBound() {
	fmt.Println("20 of 20 hold: a failure rate below", Bound(20))
	// Output: 20 of 20 hold: a failure rate below 16.2 %
}

func TestRate(t *testing.T) {
	if got := (Rate{19, 20}).String(); got != "19 of 20 (95 %: 76.3 % to 99.2 %)" {
		t.Error(got)
	}
}
