package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
)

// letters are what Counts calls the properties that a lock is most often asked about; the others keep their names.
var letters = map[string]string{
	"mutual-exclusion": "ME", "lease-exclusion": "LE", "fencing-monotonic": "FM", "fenced-writes": "FW",
	"no-lost-update/unfenced": "LU", "no-lost-update/fenced": "LF", "availability": "AV",
}

// Counts writes a matrix as a table in Markdown, a row a scenario: what its runs violated, how many of them where not all did,
// and the least time from the first grant to a violation. A run that was repeated does not count.
func Counts(w io.Writer, x reports.Index) error {
	var b strings.Builder
	b.WriteString("| scenario |")
	for _, backend := range x.Backends {
		b.WriteString(" " + reports.Escaped(backend) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(x.Backends)) + "\n")
	for _, s := range x.Scenarios {
		b.WriteString("| " + reports.Escaped(s) + " |")
		for _, backend := range x.Backends {
			b.WriteString(" " + counted(x.Cell(s, backend)) + " |")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// counted is a cell of the table. A run that reached no verdict is unknown.
func counted(c *reports.Cell) string {
	if c == nil {
		return "–"
	}
	var names []string
	violated, runs, unknown, first := map[string]int{}, 0, 0, time.Duration(0)
	for _, r := range c.Runs {
		if r.Repeated {
			continue
		}
		runs++
		for _, p := range r.Properties {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
			if p.Verdict == checker.Violated {
				violated[p.Name]++
			}
		}
		switch r.Verdict {
		case reports.Violates:
			if first == 0 || r.FirstViolation < first {
				first = r.FirstViolation
			}
		case reports.Good:
		default:
			unknown++
		}
	}
	if runs == 0 {
		return "–"
	}
	var said []string
	for _, name := range names {
		if n := violated[name]; n > 0 {
			said = append(said, of(cmp.Or(letters[name], reports.Escaped(name)), n, runs))
		}
	}
	if first > 0 {
		said = append(said, fmt.Sprintf("%.1f s", first.Seconds()))
	}
	if unknown > 0 {
		said = append(said, of("unknown", unknown, runs))
	}
	return cmp.Or(strings.Join(said, " "), "holds")
}

// of is a word alone where it is true of all runs, else with how many: "ME 2/3".
func of(word string, n, all int) string {
	if n == all {
		return word
	}
	return fmt.Sprintf("%s %d/%d", word, n, all)
}
