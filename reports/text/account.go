package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
)

// mostTold is how many violations of a property a list in a terminal shows: the story comes after it.
const mostTold = 5

// List writes one line for each violation, of the first ones of each property.
func List(w io.Writer, all []story.Account, o Options) error {
	p := newPrinter(o)
	t := p.table(table.Row{"", "at", "what", "violation"})
	at, what := 4, 4
	of := map[string]int{}
	for _, a := range all {
		if of[a.What]++; of[a.What] > mostTold {
			continue
		}
		at, what = max(at, len(a.At)), max(what, len(a.What))
		message := visible.Line(a.Message)
		if a.Sure != "certain" {
			message = "(" + a.Sure + ") " + message
		}
		t.AppendRow(table.Row{a.Number, a.At, a.What, message})
	}
	p.columns(t, 4, at, min(what, p.width/3))
	p.line("%s", p.bold(say.Count(len(all), "violation")))
	p.line("%s", t.Render())
	var more []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if n := of[name] - mostTold; n > 0 {
			more = append(more, say.Thousands(n)+" of "+visible.Line(name))
		}
	}
	if len(more) > 0 {
		p.wrap("", "not shown: "+strings.Join(more, ", ")+"; each has its number, and --json lists all")
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Account tells one violation as a story, with the operations that show it. How to
// judge these again is told where again is not empty.
func Account(w io.Writer, a *story.Account, again string, o Options) error {
	p := newPrinter(o)
	p.line("%s", p.paint(checker.Violated, fmt.Sprintf("Violation %d of %d: %s", a.Number, a.Of, visible.Line(a.What)))+" ("+a.Sure+", "+a.At+")")
	p.wrap("   ", a.Message)
	p.wrap("   ", a.About)
	if len(a.Story) > 0 {
		p.line("\n%s", p.bold("How it came about"))
		p.steps(a.Story)
	}
	p.line("\n%s", p.bold(accountHeading(a)))
	t := p.table(table.Row{"", "at", "who", "what"})
	index, at, who := 4, 4, 4
	for _, l := range a.Lines {
		named := " "
		if l.Named {
			named = "*"
		}
		number := fmt.Sprintf("%s %d", named, l.Index)
		index, at, who = max(index, len(number)), max(at, len(l.At)), max(who, len(l.Who))
		t.AppendRow(table.Row{number, l.At, visible.Line(l.Who), visible.Line(l.What)})
	}
	p.columns(t, index, at, min(who, p.width/4))
	p.line("%s", t.Render())
	p.line("")
	accountEvidence(a, p, again)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// accountHeading says what the operations are.
func accountHeading(a *story.Account) string {
	if a.Minimal == nil || a.Minimal.Why != "" {
		return "The operations that it names"
	}
	if a.Minimal.Unfinished != "" {
		return fmt.Sprintf("A history that shows it, and not the smallest: %s; * named by it", say.Count(len(a.Lines), "line"))
	}
	return fmt.Sprintf("The smallest history that shows it: %s; * named by it", say.Count(len(a.Lines), "line"))
}

func accountEvidence(a *story.Account, p *printer, again string) {
	switch m := a.Minimal; {
	case m == nil:
		p.wrap("", fmt.Sprintf("A smallest history is looked for only for the first %d violations of a property.", checker.MinimalKept))
	case m.Why != "":
		p.wrap("", "There is no smallest history: "+m.Why+".")
	default:
		if m.Unfinished != "" {
			p.wrap("", "This is not the smallest history that shows it, as "+m.Unfinished+".")
		} else {
			p.wrap("", "Without any one of these operations this violation is gone.")
		}
		if a.Oracle != "" {
			p.wrap("Porcupine  ", a.Oracle)
		}
		if again != "" {
			p.line("judge      %s", visible.Line(again))
		}
		if m.Drawing != "" {
			p.line("drawing    %s", visible.Line(m.Drawing))
		}
	}
	for _, n := range a.Notes {
		p.wrap("", n)
	}
}
