package diff

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	pretty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports/text"
)

// JSON writes a comparison as one object.
func JSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// how says how significance is told.
const how = "Rates: Fisher's exact test, intervals of differences by Newcombe. Measures: Mann-Whitney U test, each run " +
	"one sample. All tests together by Holm at 5 %%, %d of them."

// row is a line of a table, of a property or a measure.
type row struct {
	state               State
	what, old, new, why string
}

// rows are what is worth a line: all but properties that held and hold.
func (c CellDiff) rows(all bool) (rows []row) {
	for _, p := range c.Properties {
		if p.State != Same || p.Old.Violated > 0 || all {
			rows = append(rows, row{p.State, p.Name, p.Old.String(), p.New.String(), p.Why})
		}
	}
	for _, m := range c.Measures {
		rows = append(rows, row{m.State, m.Name, m.value(m.Old, m.OldN), m.value(m.New, m.NewN), m.change() + m.Why})
	}
	return rows
}

// held counts the properties that have no line of their own.
func (c CellDiff) held() (n int) {
	for _, p := range c.Properties {
		if p.State == Same && p.Old.Violated == 0 {
			n++
		}
	}
	return n
}

// String is a rate of violations in figures: "2 of 5 (11.7 % to 77.0 %)".
func (c Count) String() string {
	if c.Conclusive == 0 {
		return "not seen"
	}
	return fmt.Sprintf("%d of %d violated (%s)", c.Violated, c.Conclusive, stats.Wilson(c.Violated, c.Conclusive))
}

func (m Measure) value(v float64, n int) string {
	if n == 0 {
		return "none"
	}
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", v, m.Unit))
}

func (m Measure) change() string {
	if m.OldN == 0 || m.NewN == 0 || m.Old == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f %%, ", m.Change*100)
}

// head is a cell in a line.
func (c CellDiff) head() string {
	line := fmt.Sprintf("%s: %s (%s, before %d)", c.Name, c.State, nouns.Count(c.NewRuns, "run"), c.OldRuns)
	if c.Why != "" {
		line += ": " + c.Why
	}
	return line
}

// Summary counts the cells: "2 cells: 1 regression, 1 same".
func (r Report) Summary() string {
	counts := map[State]int{}
	for _, c := range r.Cells {
		counts[c.State]++
	}
	var parts []string
	for _, s := range states {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	if len(parts) == 0 {
		return "nothing to compare"
	}
	return fmt.Sprintf("%s: %s", nouns.Count(len(r.Cells), "cell"), strings.Join(parts, ", "))
}

// Text writes a comparison for a terminal of so many columns. With all, properties
// that held and hold have lines of their own.
func Text(w io.Writer, r Report, width int, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "old %s\nnew %s\n", visible.Line(r.Old), visible.Line(r.New))
	for _, c := range r.Cells {
		fmt.Fprintf(&b, "\n%s\n", visible.Line(c.head()))
		t := table.NewWriter()
		t.AppendHeader(table.Row{"", "", "old", "new", ""})
		s := table.StyleLight
		s.Options = table.Options{SeparateHeader: true}
		s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
		s.Format.Header = pretty.FormatDefault
		t.SetStyle(s)
		t.SuppressTrailingSpaces()
		rows := c.rows(all)
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 5, WidthMax: max(width-taken(rows), 30), WidthMaxEnforcer: pretty.WrapSoft}})
		for _, row := range rows {
			t.AppendRow(table.Row{row.state, visible.Line(row.what), row.old, row.new, visible.Line(row.why)})
		}
		if len(rows) > 0 {
			fmt.Fprintln(&b, t.Render())
		}
		if n := c.held(); n > 0 && !all {
			fmt.Fprintf(&b, "%d properties hold as before\n", n)
		}
	}
	fmt.Fprintf(&b, "\n%s\n%s", r.Summary(), r.foot())
	_, err := io.WriteString(w, visible.Text(b.String()))
	return err
}

// taken is how many columns the cells before the last take.
func taken(rows []row) int {
	var widest [4]int
	for _, r := range rows {
		for i, s := range []string{string(r.state), r.what, r.old, r.new} {
			widest[i] = max(widest[i], pretty.RuneWidthWithoutEscSequences(s)+2)
		}
	}
	return widest[0] + widest[1] + widest[2] + widest[3] + 2
}

// foot says how significance was told, where anything was tested.
func (r Report) foot() string {
	if r.Tests == 0 {
		return ""
	}
	return fmt.Sprintf(how+"\n", r.Tests)
}

// Markdown writes a comparison for a pull request.
func Markdown(w io.Writer, r Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "### dlmtest diff: %s\n\nold %s, new %s\n", r.Summary(), text.InCode(r.Old), text.InCode(r.New))
	for _, c := range r.Cells {
		fmt.Fprintf(out, "\n**%s**\n", text.Escaped(c.head()))
		if rows := c.rows(false); len(rows) > 0 {
			fmt.Fprintf(out, "\n| | | old | new | |\n|---|---|---|---|---|\n")
			for _, row := range rows {
				fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", row.state, text.Escaped(row.what), row.old, row.new, text.Escaped(row.why))
			}
		}
		if n := c.held(); n > 0 {
			fmt.Fprintf(out, "\n%d properties hold as before.\n", n)
		}
	}
	fmt.Fprintf(out, "\n%s", r.foot())
	return out.Flush()
}
