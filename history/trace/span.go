package trace

import (
	"cmp"
	"slices"
	"sort"
)

// Span is a stretch of raw time, without its end; where several are swept together, of an owner.
type Span struct {
	From, To int64
	Owner    int // any number that tells them apart
}

// Union sorts spans and joins those that meet.
func Union(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	joined := []Span{}
	for _, s := range spans {
		if n := len(joined) - 1; n >= 0 && s.From <= joined[n].To {
			joined[n].To = max(joined[n].To, s.To)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// Meets says whether one of spans, which are in order, lasts at some time of [from, to].
func Meets(spans []Span, from, to int64) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= from })
	return i < len(spans) && spans[i].From <= to
}

// Append appends a span, joined to the last one if they touch.
func Append(spans []Span, from, to int64) []Span {
	if n := len(spans) - 1; n >= 0 && spans[n].To == from {
		spans[n].To = to
		return spans
	}
	return append(spans, Span{From: from, To: to})
}
