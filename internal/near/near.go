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
// Where there is none, those that begin like that, up to a hyphen.
func Nearest(word string, candidates []string) []string {
	type match struct {
		candidate string
		left      int // of the candidate, where word is its beginning
		distance  int
	}
	var matches []match
	for _, c := range candidates {
		if d, left, ok := distance(word, c); ok {
			matches = append(matches, match{c, left, d})
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.distance, b.distance), cmp.Compare(a.candidate, b.candidate))
	})
	whole := len(matches) > 0 && matches[0].left == 0
	matches = slices.DeleteFunc(matches, func(m match) bool { return whole && m.left > 0 })
	var out []string
	for _, m := range matches[:min(3, len(matches))] {
		out = append(out, m.candidate)
	}
	return slices.Compact(out)
}

// distance is in edits from word to the candidate or, if that is too far, to a beginning
// of it, as long as can be; left is the length of the rest.
func distance(word, candidate string) (edits, left int, ok bool) {
	limit := max(1, (len([]rune(word))+1)/3)
	for begin := candidate; begin != ""; begin = begin[:max(0, strings.LastIndex(begin, "-"))] {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(begin))
		if d <= limit && d < len([]rune(begin)) {
			return d, len(candidate) - len(begin), true
		}
	}
	return 0, 0, false
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
