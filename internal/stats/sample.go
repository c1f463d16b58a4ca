package stats

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

// Alpha is below which probability of chance something counts as significant.
const Alpha = 0.05

// Differ is the two-sided p-value of the Mann-Whitney U test: how often chance alone
// would part two samples as much. It supposes no distribution, minds ties, and is
// exact for up to 25 values a side (50 without ties). Of an empty sample, or where all
// values are equal, it is 1.
//
// It is twice the smaller one-sided value. The two-sided value of the module, which
// benchmath of golang.org/x/perf uses as well, is wrong where values are tied: it
// looks one sample's U up in the distribution of the other's, and those then differ.
func Differ(a, b []float64) float64 {
	return min(1, 2*min(less(a, b), less(b, a)))
}

// less is the p-value against the alternative that a tends to be smaller than b.
func less(a, b []float64) float64 {
	r, err := moremath.MannWhitneyUTest(a, b, moremath.LocationLess)
	if err != nil || math.IsNaN(r.P) { // an empty sample, or all values are equal
		return 1
	}
	return r.P
}

// Least is the smallest p-value that Differ can give for samples of n and m: with
// too few runs nothing can be significant.
func Least(n, m int) float64 {
	if n <= 0 || m <= 0 {
		return 1
	}
	low, high := make([]float64, n), make([]float64, m)
	for i := range low {
		low[i] = float64(i)
	}
	for i := range high {
		high[i] = float64(n + i)
	}
	return Differ(low, high)
}

// Holm says which of several p-values are significant together, so that the more is
// looked at, the more it takes: at 5 % not even one of them all is chance.
//
// S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian
// Journal of Statistics 6 (1979).
func Holm(ps []float64) []bool {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	significant := make([]bool, len(ps))
	for rank, i := range order {
		if ps[i] >= Alpha/float64(len(ps)-rank) {
			break
		}
		significant[i] = true
	}
	return significant
}

// Quantile is the value below which a share q of all values lies, by the nearest
// rank: a value that was really measured. Of none it is 0.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Median is the middle of some values, of an even number the mean of the two. Of
// none it is 0.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
