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
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/text"
)

// letters are what Counts calls the properties that a lock is most often asked about; the others keep their names.
var letters = map[string]string{
	"mutual-exclusion": "ME", "lease-exclusion": "LE", "fencing-monotonic": "FM", "fenced-writes": "FW",
	"no-lost-update/unfenced": "LU", "no-lost-update/fenced": "LF", "availability": "AV",
}

// Counts writes matrices as one table in Markdown, a row a scenario: what the runs of all of them violated, how many where
// not all did, and the least time from the first grant to a violation. A run that was repeated does not count.
func Counts(w io.Writer, all ...pages.Index) error {
	var backends, scenarios []string
	for _, x := range all {
		backends, scenarios = either(backends, x.Backends), either(scenarios, x.Scenarios)
	}
	slices.Sort(scenarios)
	var b strings.Builder
	b.WriteString("| scenario |")
	for _, backend := range backends {
		b.WriteString(" " + text.Escaped(backend) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(backends)) + "\n")
	for _, s := range scenarios {
		b.WriteString("| " + text.Escaped(s) + " |")
		for _, backend := range backends {
			var runs []pages.CellRun
			for _, x := range all {
				if c := x.Cell(s, backend); c != nil {
					runs = append(runs, c.Runs...)
				}
			}
			b.WriteString(" " + counted(runs) + " |")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// either is what stands in one list or the other, in their order.
func either(one, other []string) []string {
	for _, name := range other {
		if !slices.Contains(one, name) {
			one = append(one, name)
		}
	}
	return one
}

// counted is a cell of the table. A run that reached no verdict is unknown; one that was never made says nothing of the lock.
func counted(of []pages.CellRun) string {
	var names []string
	violated, runs, unknown, missing, first := map[string]int{}, 0, 0, 0, time.Duration(0)
	for _, r := range of {
		if r.Repeated {
			continue
		}
		if r.Verdict == reports.NotRun || r.Verdict == reports.Waiting {
			missing++
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
		return map[bool]string{true: "not run", false: "–"}[missing > 0]
	}
	var said []string
	for _, name := range names {
		if n := violated[name]; n > 0 {
			said = append(said, share(cmp.Or(letters[name], text.Escaped(name)), n, runs))
		}
	}
	if first > 0 {
		said = append(said, fmt.Sprintf("%.1f s", first.Seconds()))
	}
	if unknown > 0 {
		said = append(said, share("unknown", unknown, runs))
	}
	if len(said) == 0 {
		said = append(said, "holds")
	}
	if missing > 0 {
		said = append(said, share("not run", missing, runs+missing))
	}
	return strings.Join(said, " ")
}

// share is a word alone where it is true of all runs, else with how many: "ME 2/3".
func share(word string, n, all int) string {
	if n == all {
		return word
	}
	return fmt.Sprintf("%s %d/%d", word, n, all)
}
