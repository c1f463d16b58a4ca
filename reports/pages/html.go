// Package pages writes the HTML pages: of a run, of runs side by side (compare), and of a matrix (index).
package pages

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/picture"
	"github.com/dlmtest/dlmtest/reports/remedies"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/sheet"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

//go:embed page/*.js page/*.tmpl
var files embed.FS

// The parts of the page, in the order in which they are run.
var (
	scripts = []string{"unpack.js", "data.js", "scale.js", "story.js", "search.js", "focus.js", "draw.js", "marks.js",
		"latency.js", "overview.js", "view.js", "hover.js", "page.js"}
	code   = sync.OnceValue(func() string { return joined(scripts) })
	layout = sync.OnceValue(func() *template.Template { // read when it is needed: every node starts this program
		return template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
			"mark": say.Mark, "seconds": func(d time.Duration) string { return say.Seconds(int64(d)) }, "length": say.Length,
			"thousands": say.Thousands, "inc": func(i int) int { return i + 1 },
			"sign": copySign, "short": short, "sureWords": sureWords,
			"base": path.Base, "nouns": nouns.Count, "afterReply": reports.AfterReply, "replyClass": reports.Question.Class,
			"replyWords": func(q reports.Question) string { return reports.ReplyWords(q.Reply) },
			"replySign":  func(q reports.Question) string { return reports.ReplySign(q.Reply) },
		}).ParseFS(files, "page/page.html.tmpl", "page/figures.html.tmpl", "page/repeat.html.tmpl"))
	})
)

// page is what the template shows.
type page struct {
	Run       reports.Run
	Setup     history.Setup
	Result    checker.Result
	CSS       template.CSS
	JS        template.JS
	Policy    string
	Name      string
	Facts     []string
	Overall   string
	Tone      string // the class of Overall
	Fence     bool   // the resource has tokens to check
	Questions []reports.Question
	Doubts    []string
	Ended     []string          // servers that ended by themselves
	Silences  []reports.Silence // of a library under test
	Prose     remedies.Prose
	measured
	Properties []propertyRow
	About      string        // the first two sentences of the scenario's
	Picture    template.HTML // of the violation that is told first; "": there is none
	Told       *pageStory    // the story that is told first; nil: there is none
	Untold     string
	NoStory    string
	Tally      []string
	Options    []option
	Command    string
	packs
}

// propertyRow is one row of the table of properties.
type propertyRow struct {
	checker.Property
	Listed []violationRow
	More   int
}

// violationRow is one violation and what the page tells of it.
type violationRow struct {
	checker.Violation
	Told pageStory
	At   time.Duration
}

type option struct{ Name, Value string }

// HTML writes the page of a run: one file that needs nothing else and no network.
func HTML(w io.Writer, run reports.Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	t := timeline.New(setup, ops)
	run = run.Known(setup)
	p := page{
		Run: run, Setup: setup, Result: r, CSS: template.CSS(sheet.Style), JS: template.JS(code()), Policy: sheet.Policy(code()),
		Overall: reports.Overall(setup, r), Tone: reports.Tone(r), Fence: setup.Promise.Token || setup.Use.Lockless,
		Questions: reports.Questions(setup, r), Doubts: reports.Doubts(r), Ended: reports.ServerEnds(ops),
		Silences: reports.Silences(setup.Promise), Prose: remedies.Of(t, r),
		Name: run.Name(), Facts: run.Facts("2006-01-02 15:04:05 MST"), Tally: reports.Tally(r.Counts), Command: say.Shell(run.Command),
	}
	p.About = say.FirstSentences(run.About, 2)
	m := p.measure(t, run, r)
	stories := story.New(t)
	d := drawingOf(t, run)
	d.Points, d.Bands = m.Acquires()
	var err error
	if p.packs, err = d.pack(); err != nil {
		return fmt.Errorf("pack the timeline of run %s: %w", run.ID, err)
	}
	if name, v, ok := story.First(r); ok {
		if p.Picture, err = picture.Of(t, run, name, v, stories.Tell(v)).InPage(); err != nil {
			return fmt.Errorf("draw violation %d of run %s: %w", v.Number, run.ID, err)
		}
	}
	p.tellAll(d, stories, r)
	p.NoStory = noStory(ops, r)
	for name, value := range run.Options {
		if value == "" {
			continue // the default
		}
		p.Options = append(p.Options, option{name, value})
	}
	slices.SortFunc(p.Options, func(a, b option) int { return strings.Compare(a.Name, b.Name) })
	if err := layout().Execute(sheet.Straight{Writer: w}, p); err != nil {
		return fmt.Errorf("write the report of run %s: %w", run.ID, err)
	}
	return nil
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
