// Package text writes what is read without a browser: the text of a terminal, Markdown and JSON.
package text

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/remedies"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
)

// Options says how a text is laid out.
type Options struct {
	Color bool   // ANSI colours; minding NO_COLOR is the caller's business
	Width int    // columns of the terminal; 0: 100
	Path  string // of the page that says more, or ""
	// Figures is what was measured; nil: it is measured now.
	Figures *figures.Figures
	// Program is how the reader calls dlmtest, for the line that repeats the run;
	// empty: as this process was called. A run's own Command says dlmtest.
	Program string
}

// Write writes what a terminal shows at the end of a run.
func Write(w io.Writer, run reports.Run, setup history.Setup, ops []history.Op, r checker.Result, o Options) error {
	run = run.Known(setup)
	p := newPrinter(o)
	p.header(run, setup, r)
	p.answers(setup, r)
	p.early(r)
	p.serverEnds(ops)
	p.silences(setup)
	p.doubts(r)
	p.skipped(ops)
	p.properties(r)
	p.story(setup, ops, r)
	if setup.Shows == "" { // of a part of a history no figure means anything
		if o.Figures == nil {
			measured := figures.Measure(setup, ops, r)
			o.Figures = &measured
		}
		p.figures(*o.Figures)
	}
	p.footer(run, r, o)
	_, err := io.WriteString(w, p.b.String())
	return err
}

type printer struct {
	b     strings.Builder
	width int
	color bool
}

func newPrinter(o Options) *printer {
	if o.Width <= 0 {
		o.Width = 100
	}
	return &printer{width: max(o.Width, 40), color: o.Color}
}

func (p *printer) header(run reports.Run, setup history.Setup, r checker.Result) {
	head := run.Name()
	if run.Library == history.Reference {
		head += " (" + run.Library + ")"
	}
	run.Library = "" // the head has named it
	says, between := visible.Line(reports.Overall(setup, r)), " "
	if len(head)+len(says)+5 > p.width {
		between = "\n   "
	}
	p.line("%s  %s:%s%s", p.tone(reports.Tone(r), say.Mark(r.Verdict)), p.bold(visible.Line(head)), between, p.tone(reports.Tone(r), says))
	if facts := run.Facts(""); len(facts) > 0 {
		p.wrap("   ", strings.Join(facts, ", "))
	}
}

func (p *printer) answers(setup history.Setup, r checker.Result) {
	p.line("")
	for _, a := range reports.Questions(setup, r) {
		p.line("%s %s", p.bold(a.Question), p.tone(a.Class(), a.Words()))
		p.wrap("   ", reports.AfterReply(a))
	}
}

// early says that the load ended before its time.
func (p *printer) early(r checker.Result) {
	if r.Early != "" {
		p.line("")
		p.wrap("", r.Early)
	}
}

// silences say what a library under test does not tell its user.
func (p *printer) silences(setup history.Setup) {
	all := reports.Silences(setup.Promise)
	if len(all) == 0 {
		return
	}
	p.line("\n%s", p.bold("What "+setup.Promise.Library+" does not tell its user"))
	for _, s := range all {
		p.wrap(" - ", s.Sentence())
	}
}

// serverEnds are what a fault has done to servers for good.
func (p *printer) serverEnds(ops []history.Op) {
	all := reports.ServerEnds(ops)
	if len(all) == 0 {
		return
	}
	p.line("\n%s", p.bold("Servers that ended by themselves"))
	for _, s := range all {
		p.wrap(" - ", s)
	}
}

// doubts come before the table: they say how far to believe it.
func (p *printer) doubts(r checker.Result) {
	doubts := reports.Doubts(r)
	if len(doubts) == 0 {
		return
	}
	p.line("\n%s", p.bold("Doubts"))
	for _, d := range doubts {
		p.wrap(" ! ", d)
	}
}

func (p *printer) properties(r checker.Result) {
	t := p.table(table.Row{"verdict", "property", "reason"})
	widest := 8
	for _, pr := range r.Properties {
		widest = max(widest, len(pr.Name))
		t.AppendRow(table.Row{p.paint(pr.Verdict, say.Mark(pr.Verdict)+" "+pr.Verdict.String()), visible.Line(pr.Name),
			visible.Line(strings.TrimSpace(pr.Reason + " " + pr.Tested))})
	}
	p.columns(t, 10, min(widest, p.width/3))
	p.line("\n%s", t.Render())
}

func (p *printer) story(setup history.Setup, ops []history.Op, r checker.Result) {
	name, v, ok := story.First(r)
	if !ok {
		return
	}
	p.line("")
	p.wrap("", "How it came about: "+name)
	p.steps(story.Of(setup, ops, v))
	p.line("")
	p.wrap("", remedies.Question+" "+remedies.Explain(setup, ops, r).Prevented)
}

func (p *printer) steps(steps []story.Step) {
	t, who := p.table(table.Row{"", "at", "who", "what"}), 4
	for i, s := range steps {
		who = max(who, len(s.Who))
		t.AppendRow(table.Row{i + 1, say.Seconds(int64(s.At)), visible.Line(s.Who), p.step(s)})
	}
	p.columns(t, 2, 10, min(who, p.width/4))
	p.line("%s", t.Render())
}

func (p *printer) step(s story.Step) string {
	what := visible.Line(s.What)
	if s.Kind == story.StepLoss || s.Kind == story.StepZombie || s.Kind == story.StepBroken {
		return p.paint(checker.Violated, what)
	}
	return what
}

func (p *printer) footer(run reports.Run, r checker.Result, o Options) {
	p.line("")
	p.wrap("", strings.Join(reports.Tally(r.Counts), ", ")+".")
	if o.Path != "" {
		p.line("report  %s", visible.Line(o.Path))
		if slices.ContainsFunc(r.Properties, func(pr checker.Property) bool { return len(pr.Violations) > 0 }) {
			p.line("explain %s", visible.Line(typed([]string{"dlmtest", "explain", filepath.Dir(o.Path)}, o.Program)))
		}
	}
	if len(run.Command) > 0 {
		p.line("repeat  %s", visible.Line(typed(run.Command, o.Program)))
	}
}

// typed is a command as the reader types it.
func typed(command []string, program string) string {
	if program != "" && command[0] == "dlmtest" {
		command = append([]string{program}, command[1:]...)
	}
	return say.Typed(command)
}

// table has no frame, and a rule beneath its header.
func (p *printer) table(header table.Row) table.Writer {
	t := table.NewWriter()
	t.AppendHeader(header)
	s := table.StyleLight
	s.Options = table.Options{SeparateHeader: true}
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	s.Format.Header = text.FormatDefault
	t.SetStyle(s)
	t.SuppressTrailingSpaces()
	return t
}

// columns gives the last column what the others leave of the width.
func (p *printer) columns(t table.Writer, widths ...int) {
	left := p.width
	var c []table.ColumnConfig
	for i, w := range widths {
		left -= w + 2
		c = append(c, table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: text.WrapHard})
	}
	t.SetColumnConfigs(append(c, table.ColumnConfig{Number: len(widths) + 1, WidthMax: max(left-2, 16), WidthMaxEnforcer: text.WrapSoft}))
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// wrap writes a paragraph behind a lead, folded to the width.
func (p *printer) wrap(lead, s string) {
	indent := strings.Repeat(" ", text.RuneWidthWithoutEscSequences(lead))
	for i, l := range strings.Split(text.WrapSoft(visible.Line(s), p.width-len(indent)), "\n") {
		if i == 0 {
			p.line("%s%s", lead, strings.TrimRight(l, " "))
		} else {
			p.line("%s%s", indent, strings.TrimRight(l, " "))
		}
	}
}

func (p *printer) bold(s string) string {
	if !p.color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (p *printer) paint(v checker.Verdict, s string) string {
	code := [...]string{checker.Unknown: "33", checker.Holds: "32", checker.Violated: "31", checker.NA: "2"}[v]
	if !p.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// tone paints by the class of an answer: what is expected stands out by no colour.
func (p *printer) tone(class, s string) string {
	for v := checker.Unknown; v <= checker.NA; v++ {
		if v.String() == class {
			return p.paint(v, s)
		}
	}
	return p.bold(s)
}

// skippedShown is how many skipped faults a terminal shows; run.json and the history have all.
const skippedShown = 8

// skipped says which faults of the random schedule could not be.
func (p *printer) skipped(ops []history.Op) {
	all := reports.Skipped(ops)
	if len(all) == 0 {
		return
	}
	p.line("\n%s", p.bold("Skipped faults of the random schedule"))
	for _, text := range all[:min(len(all), skippedShown)] {
		p.wrap("   ", visible.Line(text))
	}
	if more := len(all) - skippedShown; more > 0 {
		p.line("   and %d more, in history.jsonl", more)
	}
}
