package reports

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/dlmtest/dlmtest/checker"
)

// mostTold is how many violations a list in a terminal shows.
const mostTold = 100

// ListText writes one line for each violation.
func ListText(w io.Writer, all []Account, o TextOptions) error {
	p := newPrinter(o)
	t := p.table(table.Row{"", "at", "what", "violation"})
	at, what := 4, 4
	for _, a := range all[:min(mostTold, len(all))] {
		at, what = max(at, len(a.At)), max(what, len(a.What))
		message := plainText(a.Message)
		if a.Sure != "certain" {
			message = "(" + a.Sure + ") " + message
		}
		t.AppendRow(table.Row{a.Number, a.At, a.What, message})
	}
	p.columns(t, 4, at, min(what, p.width/3))
	p.line("%s", p.bold(count(len(all), "violation")))
	p.line("%s", t.Render())
	if more := len(all) - mostTold; more > 0 {
		p.line("and %s more, which have numbers, too; --json lists all", thousands(more))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Text tells one violation as a story, with the operations that show it. How to
// judge these again is told where again is not empty.
func (a *Account) Text(w io.Writer, again string, o TextOptions) error {
	p := newPrinter(o)
	p.line("%s", p.paint(checker.Violated, fmt.Sprintf("Violation %d of %d: %s", a.Number, a.Of, plainText(a.What)))+" ("+a.Sure+", "+a.At+")")
	p.wrap("   ", a.Message)
	p.wrap("   ", a.About)
	if len(a.Story) > 0 {
		p.line("\n%s", p.bold("How it came about"))
		p.steps(a.Story)
	}
	p.line("\n%s", p.bold(a.heading()))
	t := p.table(table.Row{"", "at", "who", "what"})
	index, at, who := 4, 4, 4
	for _, l := range a.Lines {
		named := " "
		if l.Named {
			named = "*"
		}
		number := fmt.Sprintf("%s %d", named, l.Index)
		index, at, who = max(index, len(number)), max(at, len(l.At)), max(who, len(l.Who))
		t.AppendRow(table.Row{number, l.At, plainText(l.Who), plainText(l.What)})
	}
	p.columns(t, index, at, min(who, p.width/4))
	p.line("%s", t.Render())
	p.line("")
	a.evidence(p, again)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// heading says what the operations are.
func (a *Account) heading() string {
	if a.Minimal == nil || a.Minimal.Why != "" {
		return "The operations that it names"
	}
	if a.Minimal.Unfinished != "" {
		return fmt.Sprintf("A history that shows it, and not the smallest: %s; * named by it", count(len(a.Lines), "line"))
	}
	return fmt.Sprintf("The smallest history that shows it: %s; * named by it", count(len(a.Lines), "line"))
}

func (a *Account) evidence(p *printer, again string) {
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
			p.line("judge      %s", plainText(again))
		}
		if m.Drawing != "" {
			p.line("drawing    %s", plainText(m.Drawing))
		}
	}
	for _, n := range a.Notes {
		p.wrap("", n)
	}
}
