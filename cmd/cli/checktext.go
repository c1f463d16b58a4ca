package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker/models"
)

// shown is how many violations are told in text; --json has all.
const shown = 10

func (j *judged) text(w io.Writer, leftOut string, took time.Duration) {
	fmt.Fprintf(w, "%s: %s\n", j.File, strings.ToUpper(j.Verdict.String()))
	fmt.Fprintf(w, "  model     %s\n  format    %s\n", j.Model, j.Format)
	c := j.Counts
	fmt.Fprintf(w, "  read      %d events: %d operations ok, %d failed, %d unknown, keys %d, in %.3f s\n", c.Events,
		c.OK, c.Failed, c.Unknown, c.Keys, took.Seconds())
	if leftOut != "" {
		fmt.Fprintf(w, "  left out  %s\n", leftOut)
	}
	if j.Oracle != "" {
		fmt.Fprintf(w, "  Porcupine %s (the whole history)\n", j.Oracle)
	}
	for _, why := range j.Unjudged {
		fmt.Fprintf(w, "  unjudged  %s\n", why)
	}
	if c.Passed > 0 {
		fmt.Fprintf(w, "  passed    over %d events of renewals, which do not matter to a %s\n", c.Passed, j.Model)
	}
	if j.Verdict != models.Violated {
		fmt.Fprintf(w, "  %s\n", j.Reason)
	}
	if j.Verdict != models.Violated && j.Readings != "" {
		fmt.Fprintf(w, "  %s\n", j.Readings)
	}
	if j.Verdict != models.Violated {
		return
	}
	if j.Readings != "" {
		fmt.Fprintf(w, "  %s\n", j.Readings)
	}
	for i, v := range j.Violations[:min(shown, len(j.Violations))] {
		fmt.Fprintf(w, "  %d. %s %s.\n", i+1, v.Message, places("Lines", v.Events))
		if v.Minimal != nil {
			fmt.Fprintf(w, "     %s\n", smallest(v.Minimal))
		}
	}
	if j.File != "-" {
		fmt.Fprintf(w, "  explain   dlmtest explain %s N --model %s\n", j.File, j.Model)
	}
	if more := j.Found - min(shown, len(j.Violations)); more > 0 {
		fmt.Fprintf(w, "  %d more, of which --json has up to 1000.\n", more)
	}
}

// places names events by their lines, or, where one line has several, by their numbers in
// the history.
func places(word string, refs []models.Ref) string {
	var lines, numbers []string
	seen, twice := map[int]bool{}, false
	for _, at := range refs {
		twice = twice || seen[at.Line]
		seen[at.Line] = true
		lines, numbers = append(lines, fmt.Sprint(at.Line)), append(numbers, fmt.Sprint(at.Index+1))
	}
	if twice && len(seen) == 1 {
		return strings.Replace(strings.Replace(word, "Lines", "Events", 1), "lines", "events", 1) + " " + strings.Join(numbers, ", ")
	}
	return word + " " + strings.Join(lines, ", ")
}

// smallest says which lines show a violation alone, and what Porcupine says of them.
func smallest(m *models.Minimal) string {
	if m.Why != "" {
		return "No smallest history: " + m.Why + "."
	}
	text := "Shown by " + places("lines", m.Events) + " alone"
	if m.Unfinished != "" {
		text += ", and perhaps by fewer, as " + m.Unfinished
	}
	if m.Oracle != "" {
		text += "; Porcupine: " + m.Oracle
	}
	if m.File != "" {
		text += "; " + m.File
	}
	if m.Drawing != "" {
		text += ", drawn in " + m.Drawing
	}
	return text + "."
}
