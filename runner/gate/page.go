package gate

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/sheet"
)

// The page of a gate runs no script and loads nothing.
var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	pageStyle  string
	pageLayout = template.Must(template.New("gate.html").Funcs(template.FuncMap{
		"css":  func() template.CSS { return template.CSS(sheet.Style + pageStyle) },
		"word": func(s State) string { return strings.ToLower(words[s]) }, "sign": State.mark, "class": State.class, "seconds": seconds,
	}).Parse(pageText))
)

// class is the style of a state.
func (s State) class() string {
	switch s {
	case Pass:
		return checker.Holds.String()
	case Fail:
		return checker.Violated.String()
	case Skipped:
		return checker.NA.String()
	}
	return checker.Unknown.String()
}

// mark is the sign of a state, so that colour never carries it alone.
func (s State) mark() string {
	switch s {
	case Pass:
		return "✓"
	case Fail:
		return "✗"
	case Broken:
		return "!"
	case Skipped:
		return "–"
	}
	return "?"
}

// pageCell is a cell as the page shows it.
type pageCell struct {
	CellReport
	Ran    int
	Said   string // the answers of its runs
	Rows   []pageRow
	Failed []pageFailure
}

// pageRow is what was decided of a property, or of several of which the same is to be said.
type pageRow struct {
	Judgement
	Name string
	More []string
}

// pageFailure is what a run showed of a property that failed.
type pageFailure struct {
	Property, Says, Remedy, Report, Repeat string
	Seed                                   uint64
}

// Page writes the report as one file of HTML: expectation, verdict and statistic of each property, the cells that
// failed first.
func Page(w io.Writer, r Report) error {
	page := struct {
		Report
		Cells []pageCell
	}{Report: r}
	for _, c := range r.Cells {
		page.Cells = append(page.Cells, c.page())
	}
	slices.SortStableFunc(page.Cells, func(a, b pageCell) int { return slices.Index(states, a.State) - slices.Index(states, b.State) })
	return pageLayout.Execute(w, page)
}

func (c CellReport) page() pageCell {
	p := pageCell{CellReport: c, Ran: c.done()}
	if p.Ran > 0 {
		p.Said = reports.AnswersText(c.Answers)
	}
	groups := c.groups(false)
	for _, state := range states { // what failed first
		for _, g := range groups {
			if g.State == state {
				row := pageRow{Judgement: g.Judgement, Name: strings.Join(g.properties, ", ")}
				if g.FirstRun > 0 {
					row.More = g.more()[len(g.more())-1:]
				}
				p.Rows = append(p.Rows, row)
			}
		}
	}
	for _, j := range c.Properties {
		run, ok := c.proof(j)
		if says := run.Violation(j.Property); ok && j.State == Fail && says != "" {
			p.Failed = append(p.Failed, pageFailure{j.Property, says, run.Remedy, ReportOf(run), say.Shell(run.Command), run.Seed})
		}
	}
	return p
}
