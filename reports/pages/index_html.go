package pages

import (
	_ "embed" // the parts of the page
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/sheet"
)

var (
	//go:embed page/index.css
	indexCSS string
	//go:embed page/index.js
	indexCode string
	//go:embed page/index.html.tmpl
	indexTemplate string
)

// The page of a matrix. Its script only filters what is there, and moves the focus.
var (
	indexStyle  = sheet.Style + indexCSS
	indexLayout = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("index.html.tmpl").Funcs(template.FuncMap{
			"sign": reports.Outcome.Sign, "words": reports.Outcome.Words, "class": reports.Outcome.Class, "shell": say.Shell, "thousands": say.Thousands,
			"tiles": Cell.tiles, "shorts": reports.ShortQuestions,
		}).Parse(indexTemplate))
	})
)

// indexPage is what the template of the index shows.
type indexPage struct {
	Index
	CSS     template.CSS
	JS      template.JS
	Policy  string
	Facts   []string
	Rows    []indexRow
	Summary string
	Tally   []indexCount
	Odd     int         // cells that are not as expected
	Differ  []indexOdd  // cells that are not as expected
	Folded  []indexOdd  // more of these
	Notes   []indexNote // what else a reader should look at
	Skipped []Cell      // n/a, with their reasons
}

// indexCount is how many cells have an outcome.
type indexCount struct {
	Verdict reports.Outcome
	Cells   int
}

type indexRow struct {
	Scenario, Title string
	Compared        string // leads to the page that compares its backends
	Odd             bool   // a cell is not as expected
	Cells           []indexCell
}

// tiles are the answers of a cell, if any of its runs reached a judgement.
func (c Cell) tiles() []reports.Tile {
	if !c.judged() {
		return nil
	}
	return reports.AnswerTiles(c.Answers, c.differs())
}

// indexCell is a cell as a reader sees it.
type indexCell struct {
	Cell
	None  bool   // there is no such cell
	Of    string // the properties violated
	Rate  string // of several runs how many show the verdict
	Soon  string // when the first violation came, in short
	Tally string
	Parts []indexCount // of several runs, by outcome
	After string
	Odd   bool // it differs from what is expected
	Calm  bool // it was judged and is as expected
	Title string
	Main  string // leads to the first run that shows the verdict
	Links []indexLink
}

type indexLink struct{ Href, Text string }

// indexNote is a run that a reader should look at.
type indexNote struct {
	Name, Text string
	Verdict    reports.Outcome
	Links      []indexLink
	Differs    bool // from what is expected, in a run that counts
}

// IndexHTML writes the page of a matrix: one file that needs no network and no
// script, and leads to the reports of the runs beside it.
func IndexHTML(w io.Writer, x Index) error {
	p := indexPage{Index: x, CSS: template.CSS(indexStyle), JS: template.JS(indexCode), Policy: sheet.Policy(indexCode), Summary: x.Summary(), Facts: x.facts()}
	for _, s := range x.Scenarios {
		row := indexRow{Scenario: s, Title: x.Titles[s]}
		if to := x.Compared[s]; to != "" {
			row.Compared = local(to)
		}
		for _, b := range x.Backends {
			cell := newIndexCell(x.Cell(s, b))
			row.Cells, row.Odd = append(row.Cells, cell), row.Odd || cell.Odd
		}
		p.Rows = append(p.Rows, row)
	}
	slices.SortStableFunc(p.Rows, func(a, b indexRow) int { return oddFirst(a, b) })
	var all []reports.Outcome
	for _, c := range x.Cells {
		all = append(all, c.Verdict)
		p.Notes = append(p.Notes, slices.DeleteFunc(c.notes(), func(n indexNote) bool { return n.Differs })...)
		if c.Odd() {
			p.Odd++
			p.Differ = append(p.Differ, c.odd())
		}
		if c.Verdict == reports.NoSense {
			p.Skipped = append(p.Skipped, c)
		}
	}
	if p.Tally = counted(all); len(p.Differ) > mostOdd {
		p.Differ, p.Folded = p.Differ[:mostOdd], p.Differ[mostOdd:]
	}
	if err := indexLayout().Execute(sheet.Straight{Writer: w}, p); err != nil {
		return fmt.Errorf("write the index of %s: %w", x.ID, err)
	}
	return nil
}

// counted counts outcomes, the worst first.
func counted(all []reports.Outcome) (counts []indexCount) {
	for _, o := range reports.Outcomes {
		n := 0
		for _, other := range all {
			if other == o {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, indexCount{o, n})
		}
	}
	return counts
}

func newIndexCell(c *Cell) indexCell {
	if c == nil {
		return indexCell{None: true}
	}
	cell := indexCell{Cell: *c, Tally: c.tally(), Odd: c.Odd(), Calm: c.judged() && !c.Odd(), Title: c.Reason}
	middle, spread := c.after()
	cell.Soon, cell.After = middle, middle+spread
	var of []string
	var all []reports.Outcome
	for i, r := range c.Runs {
		if !r.Repeated {
			all = append(all, r.Verdict)
		}
		for _, name := range r.named(checker.Violated) {
			if !slices.Contains(of, name) {
				of = append(of, name)
			}
		}
		links := r.links(fmt.Sprintf("run %d", i+1))
		cell.Links = append(cell.Links, links...)
		if r.Verdict == c.Verdict && cell.Main == "" && len(links) > 0 {
			cell.Main = links[0].Href
		}
		if r.Error != "" {
			cell.Title = r.Error
		}
	}
	cell.Of = strings.Join(of, ", ")
	if len(all) > 1 {
		cell.Parts = counted(all)
	}
	for _, part := range cell.Parts {
		if part.Verdict == c.Verdict {
			cell.Rate = fmt.Sprintf("%d/%d", part.Cells, len(all))
		}
	}
	return cell
}

// links leads to the report of a run that has one.
func (r CellRun) links(text string) []indexLink {
	if r.Dir == "" {
		return nil
	}
	return []indexLink{{local(path.Join(r.Dir, "report.html")), text}}
}

// local is a link to a file in the folder of the index.
func local(file string) string {
	link := url.URL{Path: file}
	return "./" + strings.TrimPrefix(link.String(), "./")
}

// mostOdd is how many such cells stand above the table; more can be unfolded.
const mostOdd = 8

// notes lists the runs of a cell that failed, were repeated, are inconclusive or
// differ from what is expected.
func (c Cell) notes() (all []indexNote) {
	for _, r := range c.Runs {
		var words []string
		if text := r.DiffersText(); text != "" {
			words = append(words, text)
		}
		switch {
		case r.Error != "":
			words = append(words, r.Error)
		case r.Repeated, r.Verdict == reports.Unclear:
			words = append(append(words, r.Says()), r.Doubts...)
		}
		if len(words) > 0 {
			all = append(all, indexNote{Name: c.RunName(r), Text: strings.Join(words, " · "), Verdict: r.Verdict,
				Links: r.links("report"), Differs: len(r.ways()) > 0 && !r.Repeated})
		}
	}
	return all
}

// facts are the figures of a matrix.
func (x Index) facts() []string {
	facts := []string{"started " + x.Started.Format("2006-01-02 15:04:05 MST"), "took " + say.Length(x.Took)}
	if x.Count > 1 {
		facts = append(facts, fmt.Sprintf("%d runs a cell", x.Count))
	}
	if x.Parallel > 1 {
		facts = append(facts, fmt.Sprintf("%d at a time", x.Parallel))
	}
	if s := x.Shard; s != nil {
		facts = append(facts, fmt.Sprintf("shard %d of %d: %d of %d runs", s.Index, s.Count, s.Own(), len(s.Plan)))
	}
	if len(x.Merged) > 0 {
		facts = append(facts, "merged from "+strings.Join(x.Merged, ", "))
	}
	return facts
}

// Own counts the runs of the shard itself.
func (s *Shard) Own() (n int) {
	for _, r := range s.Plan {
		if r.Shard == s.Index {
			n++
		}
	}
	return n
}

// at is when the index was written.
func (x Index) at() string { return x.Started.Add(x.Took).Format(time.TimeOnly) }

// State says whether the matrix has ended, for the heading of an index; "": it has.
func (x Index) State() string {
	switch {
	case x.Stopped != "":
		return x.Stopped
	case !x.Ended:
		return "This matrix had not ended at " + x.at() + ", when this was written: it goes on, or was killed."
	}
	return ""
}

// oddFirst puts the rows that are not as expected first.
func oddFirst(a, b indexRow) int {
	switch {
	case a.Odd == b.Odd:
		return 0
	case a.Odd:
		return -1
	}
	return 1
}
