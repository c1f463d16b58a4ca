package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

//go:embed page
var files embed.FS

// The parts of the page, in the order in which they are run.
var (
	scripts = []string{"data.js", "scale.js", "draw.js", "marks.js", "latency.js", "view.js", "hover.js", "page.js"}
	style   = asset("page.css")
	code    = joined(scripts)
	layout  = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
		"mark": mark, "seconds": func(d time.Duration) string { return seconds(int64(d)) }, "length": length, "thousands": thousands, "inc": func(i int) int { return i + 1 },
	}).ParseFS(files, "page/page.html.tmpl"))
)

// mostListed is how many violations of one property a page lists.
const mostListed = 50

// page is what the template shows.
type page struct {
	Run        Run
	Setup      history.Setup
	Result     checker.Result
	CSS        template.CSS
	JS         template.JS
	Policy     string
	Name       string
	Facts      []string
	Overall    string
	Questions  []question
	Doubts     []string
	Prose      Prose
	Properties []propertyRow
	Story      []Step
	StoryOf    string
	Tally      []string
	Quantiles  []Quantiles
	Options    []option
	Command    string
	Data       drawing
}

// propertyRow is one row of the table of properties.
type propertyRow struct {
	checker.Property
	Listed []violationRow
	More   int
}

// violationRow is one violation and the stretch of the timeline that shows it.
type violationRow struct {
	checker.Violation
	At       time.Duration
	From, To int64 // µs since the first operation
}

type option struct{ Name, Value string }

// HTML writes the page of a run: one file that needs nothing else and no network.
func HTML(w io.Writer, run Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	t := newTrace(setup, ops)
	run = run.known(setup)
	p := page{
		Run: run, Setup: setup, Result: r, CSS: template.CSS(style), JS: template.JS(code), Policy: policy,
		Overall: overall(r), Questions: questions(r), Doubts: allDoubts(run, r), Prose: Explain(setup, r),
		Name: run.name(), Facts: run.facts("2006-01-02 15:04:05 MST"), Tally: tally(r.Counts), Command: shell(run.Command),
	}
	d := t.draw(run)
	if name, v, ok := First(r); ok {
		p.StoryOf, p.Story = name, t.story(v)
	}
	d.addStory(p.Story)
	l := t.measure()
	d.Points, d.Bands, p.Quantiles = l.points, l.bands, l.table
	p.Data = d.drawing
	for _, pr := range r.Properties {
		p.Properties = append(p.Properties, t.row(pr))
	}
	for name, value := range run.Options {
		p.Options = append(p.Options, option{name, value})
	}
	slices.SortFunc(p.Options, func(a, b option) int { return strings.Compare(a.Name, b.Name) })
	if err := layout.Execute(w, p); err != nil {
		return fmt.Errorf("write the report of run %s: %w", run.ID, err)
	}
	return nil
}

// row lists the violations of a property, each with where to look.
func (t *trace) row(p checker.Property) propertyRow {
	row := propertyRow{Property: p, More: max(len(p.Violations)-mostListed, 0)}
	for _, v := range p.Violations[:len(p.Violations)-row.More] {
		s := span{v.At, v.At}
		for _, i := range v.Operations {
			if i >= 0 && i < len(t.ops) {
				s = span{min(s.from, t.ops[i].Time), max(s.to, t.ops[i].Time)}
			}
		}
		pad := max((s.to-s.from)/8, int64(2*time.Millisecond))
		start := t.startTime()
		row.Listed = append(row.Listed, violationRow{v, time.Duration(v.At - start), (s.from - pad - start) / 1000, (s.to + pad - start) / 1000})
	}
	return row
}

// policy lets the page run and show nothing but what it was written with.
var policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '" + digest(code) + "'"

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// asset reads a file of the page, which is there or the program is not built.
func asset(name string) string {
	b, err := files.ReadFile("page/" + name)
	if err != nil {
		panic("reports: " + err.Error())
	}
	return string(b)
}

func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(asset(name))
	}
	return b.String()
}
