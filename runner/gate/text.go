package gate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/say"
)

// words are what a state is called in a text, as go test calls it where it can.
var words = map[State]string{Fail: "FAIL", Broken: "ERROR", Inconclusive: "INCONCLUSIVE", Stopped: "STOPPED",
	Undecided: "INCONCLUSIVE", Pass: "PASS", Skipped: "SKIP"}

// Text writes what a terminal shows at the end of a gate, in the manner of go test:
// what was decided of each property of each cell, then one word for all. dir is the
// gate's folder. Properties of which the same is to be said share a line, and those
// that are not promised are left out, unless all is asked.
func Text(w io.Writer, dir string, r Report, all bool) error {
	var b strings.Builder
	for _, c := range r.Cells {
		c.text(&b, dir, r, all)
	}
	if r.Stopped != "" {
		fmt.Fprintln(&b, visible.Line(r.Stopped))
	}
	for _, line := range r.Missing() {
		fmt.Fprintf(&b, "not run: %s\n", visible.Line(line))
	}
	fmt.Fprintf(&b, "%s\n%s\t%s\t%s\n", r.Summary(), r.Word(), r.File, seconds(r.Took))
	_, err := io.WriteString(w, visible.Text(b.String()))
	return err
}

// Word is the gate's answer in the last line: ok, FAIL, ERROR or INCONCLUSIVE.
func (r Report) Word() string {
	if r.State == Pass {
		return "ok  "
	}
	return words[r.State]
}

func (c CellReport) text(b *strings.Builder, dir string, r Report, all bool) {
	fmt.Fprintf(b, "=== %s: %s of %d, %s\n", visible.Line(c.Name), nouns.Count(c.done(), "run"), c.Count, seconds(c.Took))
	if c.done() > 0 {
		fmt.Fprintf(b, "    %s\n", reports.AnswersText(c.Answers))
	}
	for _, note := range c.Notes {
		fmt.Fprintf(b, "    note: %s\n", visible.Line(note))
	}
	for _, g := range c.groups(all) {
		fmt.Fprintf(b, "--- %s: %s/%s (%s)\n", words[g.State], visible.Line(c.Name), g.name(), seconds(c.Took))
		fmt.Fprintf(b, "    %s:%d: %s\n", visible.Line(r.File), g.Line, visible.Line(g.Why))
		if len(g.properties) > 1 {
			fmt.Fprintf(b, "    %s\n", strings.Join(g.properties, ", "))
		}
		for _, line := range g.more() {
			fmt.Fprintf(b, "    %s\n", visible.Line(line))
		}
		if g.State == Fail || g.State == Inconclusive || g.State == Broken {
			for _, line := range c.evidence(dir, g.Judgement) {
				fmt.Fprintf(b, "    %s\n", visible.Line(line))
			}
		}
	}
}

// done is how many runs ended, repeats not counted.
func (c CellReport) done() (n int) {
	for _, s := range bySeed(c.Runs) {
		if s.last.Verdict != reports.NotRun && s.last.Verdict != reports.Waiting {
			n++
		}
	}
	return n
}

// more is what else there is to say of a judgement.
func (j Judgement) more() (lines []string) {
	if j.Want == Weakness {
		lines = append(lines, "known: "+j.Reason, "see:   "+j.Link)
	}
	if j.FirstRun > 0 {
		line := fmt.Sprintf("first seen in run %d", j.FirstRun)
		if j.Detection > 0 {
			line += fmt.Sprintf("; a run first violated something %s after its first grant (median)", seconds(j.Detection))
		}
		lines = append(lines, line)
	}
	return lines
}

// evidence is what happened and where to look first: the first run that shows why.
func (c CellReport) evidence(dir string, j Judgement) []string {
	run, ok := c.proof(j)
	if !ok {
		return nil
	}
	return append(happened(run, j.Property), "report:  "+filepath.Join(dir, filepath.FromSlash(ReportOf(run))),
		"explain: "+say.Shell([]string{"dlmtest", "explain", filepath.Join(dir, filepath.FromSlash(run.Dir))}))
}

// happened is what a run has shown of a property, what would have prevented it, and how to see it again.
func happened(run pages.CellRun, property string) (lines []string) {
	says := run.Violation(property)
	if says == "" {
		return nil // it is not violated there
	}
	lines = append(lines, "what:    "+says)
	if run.Remedy != "" {
		lines = append(lines, "remedy:  "+run.Remedy)
	}
	lines = append(lines, fmt.Sprintf("seed:    %d", run.Seed))
	if len(run.Command) > 0 {
		lines = append(lines, "repeat:  "+say.Shell(run.Command))
	}
	return lines
}

// proof is the first run that shows why a property was decided as it was.
func (c CellReport) proof(j Judgement) (pages.CellRun, bool) {
	want := reports.Violates
	if j.State != Fail || j.Want == MustDetect {
		want = ""
	}
	for _, s := range bySeed(c.Runs) {
		for _, run := range s.both() {
			shown := shows(run, j.Property)
			if run.Dir == "" || (want != "" && shown != want) || (want == "" && shown == reports.Good && j.Want == Holds) {
				continue
			}
			return run, true
		}
	}
	return pages.CellRun{}, false
}

// both are the runs of a seed, the disturbed one first.
func (s seedRuns) both() []pages.CellRun {
	if s.first == nil {
		return []pages.CellRun{s.last}
	}
	return []pages.CellRun{*s.first, s.last}
}

// Missing lists the runs that did not take place for want of time, or after an interrupt.
func (r Report) Missing() (lines []string) {
	for _, c := range r.Cells {
		var seeds []string
		for _, run := range c.Runs {
			if run.Verdict == reports.NotRun || run.Verdict == reports.Waiting {
				seeds = append(seeds, fmt.Sprint(run.Seed))
			}
		}
		if len(seeds) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s of %d, seed %s", c.Name, nouns.Count(len(seeds), "run"), c.Count, strings.Join(seeds, ", ")))
		}
	}
	return lines
}

// Summary counts what was decided: "12 properties of 2 cells in 10 runs: 1 fail, 11 pass".
func (r Report) Summary() string {
	counts, judged, ran, left, again, gone := map[State]int{}, 0, 0, 0, 0, 0
	for _, c := range r.Cells {
		ran += c.done()
		left += c.Left
		for _, j := range c.Properties {
			if j.State != Skipped {
				counts[j.State]++
				judged++
			}
			if j.Gone {
				gone++
			}
		}
		for _, run := range c.Runs {
			if run.Repeated {
				again++
			}
		}
	}
	var parts []string
	for _, s := range states {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	text := fmt.Sprintf("%s of %s in %s: %s", nouns.Irregular(judged, "property", "properties"),
		nouns.Count(len(r.Cells), "cell"), nouns.Count(ran, "run"), strings.Join(parts, ", "))
	for _, extra := range []struct {
		n    int
		text string
	}{{again, "disturbed and repeated"}, {left, "not needed, as all was decided"}} {
		if extra.n > 0 {
			text += fmt.Sprintf("; %s %s", nouns.Count(extra.n, "run"), extra.text)
		}
	}
	if gone > 0 {
		text += fmt.Sprintf("; %s not seen any more", nouns.Irregular(gone, "known weakness", "known weaknesses"))
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
