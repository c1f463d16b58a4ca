package pages

import (
	"strings"

	"github.com/dlmtest/dlmtest/reports/timeline"
)

const (
	columnWide = 2.0 // units
	columns    = int((plotWidth - plotLeft - plotRight) / columnWide)
)

// dense says whether spans are too many to be told from each other.
func (p *runPlotter) dense(spans []timeline.Span) bool {
	n := 0
	for _, s := range spans {
		if p.visible(s) {
			n++
		}
	}
	return n > columns
}

// shares draws how much of the time spans take, as columns whose height is the share.
func (p *runPlotter) shares(class string, spans []timeline.Span, y, h float64) {
	share := make([]float64, columns)
	wide := float64(p.axis.To-p.axis.From) / float64(columns)
	for _, s := range spans {
		from, to := float64(max(s.From-p.zero, p.axis.From)-p.axis.From)/wide, float64(min(s.To-p.zero, p.axis.To)-p.axis.From)/wide
		for i := int(from); i < columns && float64(i) < to; i++ {
			share[i] = min(share[i]+min(to, float64(i+1))-max(from, float64(i)), 1)
		}
	}
	p.columns(class, share, y, h)
}

// counts draws how many instants fall into each column, in proportion to the fullest.
func (p *runPlotter) counts(class string, at []timeline.Span, y, h float64) {
	share := make([]float64, columns)
	most := 1.0
	for _, s := range at {
		if p.visible(s) {
			i := min(int(float64(s.From-p.zero-p.axis.From)/float64(p.axis.To-p.axis.From)*float64(columns)), columns-1)
			share[i]++
			most = max(most, share[i])
		}
	}
	for i := range share {
		share[i] /= most
	}
	p.columns(class, share, y, h)
}

// columns draws columns that stand on one line; of equal neighbours one wide one.
func (p *runPlotter) columns(class string, share []float64, y, h float64) {
	p.thick = true
	var d strings.Builder
	for i := 0; i < len(share); {
		high, end := tenths(share[i]*h), i+1
		for end < len(share) && tenths(share[end]*h) == high {
			end++
		}
		if high != "0" {
			d.WriteString("M" + tenths(plotLeft+float64(i)*columnWide) + " " + tenths(y+h) + "v-" + high + "h" +
				tenths(float64(end-i)*columnWide) + "v" + high + "z")
		}
		i = end
	}
	if d.Len() > 0 {
		p.Paths = append(p.Paths, chartPath{class, d.String()})
	}
}
