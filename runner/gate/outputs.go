package gate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/junit"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/runner"
)

// Files of a gate's folder, beside those of a matrix.
const (
	reportFile   = "gate.json"
	linesFile    = "gate.jsonl"
	textFile     = "gate.txt"
	markdownFile = "gate.md"
	junitFile    = "gate.xml"
	sarifFile    = "gate.sarif"
	pageFile     = "gate.html"
)

// Save writes every form of a report, each whole or not at all.
func Save(in *os.Root, r Report) error {
	return errors.Join(
		runner.Write(in, reportFile, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(r)
		}),
		runner.Write(in, linesFile, func(w io.Writer) error { return Lines(w, r) }),
		runner.Write(in, textFile, func(w io.Writer) error { return Text(w, in.Name(), r, true) }),
		runner.Write(in, markdownFile, func(w io.Writer) error { return Markdown(w, r) }),
		runner.Write(in, junitFile, func(w io.Writer) error { return JUnit(w, r) }),
		runner.Write(in, sarifFile, func(w io.Writer) error { return SARIF(w, r) }),
		runner.Write(in, pageFile, func(w io.Writer) error { return Page(w, r) }),
	)
}

// Lines writes a JSON object a line: one for each property that was judged, then one
// for the whole.
func Lines(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	for _, c := range r.Cells {
		for _, j := range c.Properties {
			if err := e.Encode(struct {
				Event string `json:"event"`
				Cell  string `json:"cell"`
				Judgement
			}{"judged", c.Name, j}); err != nil {
				return err
			}
		}
	}
	return e.Encode(map[string]any{"event": "gate", "state": r.State, "summary": r.Summary(), "stopped": r.Stopped,
		"missing": r.Missing(), "took": r.Took, "file": r.File})
}

// JUnit writes a report as JUnit XML: a suite for each cell, a case for each property.
// What is inconclusive is an error there, since viewers show what is skipped as green.
func JUnit(w io.Writer, r Report) error {
	var suites []junit.Suite
	for _, c := range r.Cells {
		s := junit.Suite{Name: c.Name, Started: r.Started, Took: c.Took}
		for _, j := range c.Properties {
			s.Cases = append(s.Cases, j.junit(c, r))
		}
		suites = append(suites, s)
	}
	return junit.WriteSuites(w, "dlmtest gate "+r.Name, r.Took, suites)
}

func (j Judgement) junit(c CellReport, r Report) junit.Case {
	t := junit.Case{Class: strings.ReplaceAll(c.Name, "/", "."), Name: j.Property, Message: j.Why}
	said := append([]string{fmt.Sprintf("%s:%d: %s", r.File, j.Line, j.Why)}, j.more()...)
	said = append(said, c.Notes...)
	switch j.State {
	case Pass:
		t.Out = strings.Join(said, "\n") // the bound beside the green
		return t
	case Skipped, Stopped: // of a cell that stopped another property has failed, so it is red
		t.State = junit.CaseSkipped
	case Fail:
		t.State = junit.CaseFailed
		said = append(said, c.evidence("", j)...)
		if run, ok := c.proof(j); ok { // viewers show the message alone
			t.Message = strings.TrimPrefix(strings.TrimSuffix(run.Violation(j.Property), ".")+"; "+j.Why, "; ")
		}
	default:
		t.State = junit.CaseError
	}
	t.Body = strings.Join(said, "\n")
	return t
}

// Markdown writes the summary of a job, or a comment on a pull request.
func Markdown(w io.Writer, r Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "### dlmtest gate %s: %s\n\n%s, in %s.\n", text.Escaped(r.Name), strings.TrimSpace(r.Word()), r.Summary(), seconds(r.Took))
	if r.Stopped != "" {
		fmt.Fprintf(out, "\n**%s**\n", text.Escaped(r.Stopped))
	}
	fmt.Fprintf(out, "\n| | cell | property | expected | seen |\n|---|---|---|---|---|\n")
	for _, state := range states {
		for _, c := range r.Cells {
			for _, g := range c.groups(false) {
				if g.State == state {
					fmt.Fprintf(out, "| %s %s | %s | %s | %s | %s |\n", sign[state], words[state],
						text.Escaped(c.Name), text.Escaped(strings.Join(g.properties, ", ")), g.expected(), text.Escaped(g.Why))
				}
			}
		}
	}
	for _, c := range r.Cells {
		for _, j := range c.Properties {
			run, ok := c.proof(j)
			if lines := happened(run, j.Property); ok && j.State == Fail && len(lines) > 0 {
				fmt.Fprintf(out, "\n**%s: %s failed**\n\n", text.Escaped(c.Name), text.Escaped(j.Property))
				for _, line := range lines {
					name, says, _ := strings.Cut(line, ":")
					says = strings.TrimSpace(says)
					if says = text.Escaped(says); name == "repeat" {
						says = text.InCode(say.Shell(run.Command))
					}
					fmt.Fprintf(out, "- %s: %s\n", name, says)
				}
			}
		}
	}
	var notes []string
	for _, c := range r.Cells {
		if c.done() > 0 {
			notes = append(notes, fmt.Sprintf("- %s: %s\n", text.Escaped(c.Name), reports.AnswersText(c.Answers)))
		}
		for _, n := range c.Notes {
			notes = append(notes, fmt.Sprintf("- %s: %s\n", text.Escaped(c.Name), text.Escaped(n)))
		}
	}
	for _, m := range r.Missing() {
		notes = append(notes, fmt.Sprintf("- not run: %s\n", text.Escaped(m)))
	}
	if len(notes) > 0 {
		fmt.Fprintf(out, "%s", "\nTo know:\n\n"+strings.Join(notes, ""))
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// expected is an expectation in a table, with the link of a weakness.
func (j Judgement) expected() string {
	if j.Link == "" {
		return string(j.Want)
	}
	return fmt.Sprintf("[%s](%s)", j.Want, strings.NewReplacer("(", "%28", ")", "%29", "|", "%7C", "<", "%3C", ">",
		"%3E", "\n", "", " ", "%20").Replace(j.Link))
}

// sign is the mark of a state, so that words never carry it alone.
var sign = map[State]string{Fail: "❌", Broken: "💥", Inconclusive: "❔", Stopped: "⏹", Undecided: "❔", Pass: "✅", Skipped: "➖"}
