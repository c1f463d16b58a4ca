package checker

import (
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// tell says in a line what a property that holds was put to the test by, which kinds of defect
// the run could not have shown, and what was seen and not counted. Who reads a green should
// know how far it goes.
func (c Checker) tell(r *run) string {
	var by, missing, parts []string
	for _, t := range c.tests {
		if t.only != nil && !t.only(r) {
			continue
		}
		if n := r.factOf(t.fact); n > 0 {
			by = append(by, t.words(n))
		} else {
			missing = append(missing, fmt.Sprintf("%s (%s)", t.shows, t.none))
		}
	}
	switch {
	case len(by) > 0:
		parts = append(parts, "Tested by "+listedWords(by)+".")
	case len(missing) > 0:
		parts = append(parts, "Not put to the test.")
	}
	if len(missing) > 0 {
		parts = append(parts, "This run could not have shown: "+strings.Join(missing, "; ")+".")
	}
	if c.passed != nil {
		if text := c.passed(r); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// factOf counts a fact, once.
func (r *run) factOf(f *fact) int {
	n, known := r.known.facts[f]
	if !known {
		if r.known.facts == nil {
			r.known.facts = map[*fact]int{}
		}
		n = f.count(r)
		r.known.facts[f] = n
	}
	return n
}

// listedWords writes "a, b and c".
func listedWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// passedOver are overlaps of beliefs and of leases that are no violations.
func (r *run) passedOver() string {
	var parts []string
	if c := r.counts; c.IdleOverlaps > 0 {
		text := fmt.Sprintf("%s of up to %s not counted, as the stale holder did nothing", nouns.Count(c.IdleOverlaps, "idle overlap"), length(c.IdleLongest))
		if !r.Setup.Strict {
			text += "; --strict counts them"
		}
		parts = append(parts, text+".")
	}
	return strings.Join(parts, " ")
}

// slightly says how many leases overlapped by no more than two readings of a clock may lie apart.
func (r *run) slightly() string {
	c := r.counts
	if c.SlightOverlaps == 0 {
		return ""
	}
	return fmt.Sprintf("%s of leases not counted, the longest %.3f ms: below 1 ms two clocks cannot tell.",
		nouns.Count(c.SlightOverlaps, "overlap"), float64(c.SlightLongest)/1e6)
}
