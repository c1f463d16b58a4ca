// Package near finds what somebody meant to type. Scenario files, flags and
// names of backends all use it, so that every unknown word gets the same help.
package near

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidates that word may be a slip for, the best first,
// at most three: those within a third of the word's length in edits, rounded, at
// least one edit, without regard to case. Two letters that changed places are two.
func Nearest(word string, candidates []string) []string {
	type match struct {
		candidate string
		distance  int
	}
	limit := max(1, (len([]rune(word))+1)/3)
	var matches []match
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(c))
		if d <= limit && d < len([]rune(c)) {
			matches = append(matches, match{c, d})
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.candidate, b.candidate))
	})
	var out []string
	for _, m := range matches[:min(3, len(matches))] {
		out = append(out, m.candidate)
	}
	return slices.Compact(out)
}

// Hint ends an error message about an unknown word: what was meant or, where
// nothing is near, what there is.
func Hint(word string, candidates []string) string {
	if best := Nearest(word, candidates); len(best) > 0 {
		return `; did you mean "` + best[0] + `"?`
	}
	sorted := slices.Sorted(slices.Values(candidates))
	return "; there are " + strings.Join(sorted, ", ")
}
