package pages

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/text"
)

// IndexMarkdown writes the table of a matrix for a pull request.
func IndexMarkdown(w io.Writer, x Index) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, text.MarkdownSign+"**%s**", x.Summary())
	if state := x.State(); state != "" {
		fmt.Fprintf(out, " %s", text.Escaped(state))
	}
	fmt.Fprintf(out, "\n\nEach cell: %s; ✓ yes, ✗ no, ? not known, – does not apply.\n\n| scenario |", strings.Join(reports.ShortQuestions(), ", "))
	for _, b := range x.Backends {
		fmt.Fprintf(out, " %s |", text.Escaped(b))
	}
	fmt.Fprintf(out, "%s", "\n|---|"+strings.Repeat("---|", len(x.Backends))+"\n")
	for _, s := range x.Scenarios {
		fmt.Fprintf(out, "| %s |", text.Escaped(x.heading(s)))
		for _, b := range x.Backends {
			fmt.Fprintf(out, " %s |", text.Escaped(x.Cell(s, b).brief()))
		}
		fmt.Fprintln(out)
	}
	var notes []string
	for _, c := range x.Cells {
		for _, n := range c.notes() {
			notes = append(notes, fmt.Sprintf("- %s: %s\n", text.Escaped(n.Name), text.Escaped(n.Text)))
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(out, "%s", "\nTo look at:\n\n"+strings.Join(notes, ""))
	}
	return out.Flush()
}

// heading is a scenario with its title.
func (x Index) heading(scenario string) string {
	if title := x.Titles[scenario]; title != "" {
		return scenario + ": " + title
	}
	return scenario
}

// brief is a cell in a few words: "✓ ✗ ✓ ✓ · ✗ violated, after 2.1 s, ≠ expected".
func (c *Cell) brief() string {
	if c == nil {
		return ""
	}
	words := []string{c.Verdict.Sign() + " " + c.Verdict.Words()}
	if tally := c.tally(); tally != "" {
		words[0] = c.Verdict.Sign() + " " + tally
	}
	if middle, spread := c.after(); middle != "" {
		words = append(words, middle+spread)
	}
	if !c.judged() {
		return strings.Join(words, ", ")
	}
	words = append(words, map[bool]string{true: "≠ expected", false: reports.AsExpected}[c.Odd()])
	return reports.ReplySigns(c.Answers) + " · " + strings.Join(words, ", ")
}

// IndexJUnit writes a matrix as JUnit XML: a test case for each run, and one for
// each cell that is n/a, which is skipped. What was not judged is an error, as in JUnit.
func IndexJUnit(w io.Writer, x Index) error {
	suite := junit.XMLSuite{Name: "dlmtest matrix", Time: junit.Seconds(x.Took.Seconds()), Timestamp: x.Started.UTC().Format("2006-01-02T15:04:05")}
	for _, c := range x.Cells {
		if c.Verdict == reports.NoSense {
			suite.Put(junit.XMLCase{Class: c.Scenario, Name: c.Backend, Skipped: &junit.XMLState{Message: c.Reason}})
		}
		for _, r := range c.Runs {
			suite.Put(c.junit(r))
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return fmt.Errorf("write JUnit of %s: %w", x.ID, err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junit is one run as a test case. A run that was repeated is skipped: its repeat says more.
func (c Cell) junit(r CellRun) junit.XMLCase {
	t := junit.XMLCase{Class: c.Scenario, Name: strings.TrimPrefix(c.RunName(r), c.Scenario+" × "), Time: junit.Seconds(r.Took.Seconds()), Out: r.DiffersText()}
	body := strings.Join(append([]string{r.Error, r.Dir}, r.Doubts...), "\n")
	state := &junit.XMLState{Message: r.Says(), Body: strings.TrimSpace(body)}
	switch {
	case r.Repeated:
		t.Skipped = state
	case r.Verdict == reports.Violates:
		t.Failure = state
	case r.Verdict != reports.Good:
		t.Error = state
	}
	return t
}
