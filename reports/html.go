package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
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
)

//go:embed page
var files embed.FS

// The parts of the page, in the order in which they are run.
var (
	scripts = []string{"unpack.js", "data.js", "scale.js", "story.js", "search.js", "focus.js", "draw.js", "marks.js",
		"latency.js", "overview.js", "view.js", "hover.js", "page.js"}
	style  = asset("page.css") + asset("figures.css")
	code   = joined(scripts)
	layout = sync.OnceValue(func() *template.Template { // read when it is needed: every node starts this program
		return template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
			"mark": mark, "seconds": func(d time.Duration) string { return seconds(int64(d)) }, "length": length,
			"thousands": thousands, "inc": func(i int) int { return i + 1 },
			"sign": copySign, "short": short, "sureWords": sureWords,
			"base": path.Base, "afterReply": afterReply, "replyClass": question.class,
			"replyWords": func(q question) string { return inWords(q.Reply) }, "replySign": func(q question) string { return sign(q.Reply) },
		}).ParseFS(files, "page/page.html.tmpl", "page/figures.html.tmpl", "page/repeat.html.tmpl"))
	})
)

// Style is the look of every page.
var Style = style

// page is what the template shows.
type page struct {
	Run       Run
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
	Questions []question
	Doubts    []string
	Ended     []string  // servers that ended by themselves
	Silences  []Silence // of a library under test
	Prose     Prose
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
func HTML(w io.Writer, run Run, setup history.Setup, ops []history.Op, r checker.Result) error {
	t := newView(setup, ops)
	run = run.known(setup)
	p := page{
		Run: run, Setup: setup, Result: r, CSS: template.CSS(style), JS: template.JS(code), Policy: policy,
		Overall: overall(setup, r), Tone: tone(r), Fence: setup.Promise.Token || setup.Use.Lockless,
		Questions: questions(setup, r), Doubts: allDoubts(run, r), Ended: ServerEnds(ops), Silences: Silences(setup.Promise), Prose: t.explain(r),
		Name: run.name(), Facts: run.facts("2006-01-02 15:04:05 MST"), Tally: tally(r.Counts), Command: shell(run.Command),
	}
	p.About = firstSentences(run.About, 2)
	p.measure(t, run, r)
	d := t.draw(run)
	l := t.measure()
	d.Points, d.Bands = l.points, l.bands
	var err error
	if p.packs, err = d.pack(); err != nil {
		return fmt.Errorf("pack the timeline of run %s: %w", run.ID, err)
	}
	if name, v, ok := First(r); ok {
		if p.Picture, err = t.picture(run, name, v).inPage(); err != nil {
			return fmt.Errorf("draw violation %d of run %s: %w", v.Number, run.ID, err)
		}
	}
	p.tellAll(d, r)
	p.NoStory = noStory(ops, r)
	for name, value := range run.Options {
		if value == "" {
			continue // the default
		}
		p.Options = append(p.Options, option{name, value})
	}
	slices.SortFunc(p.Options, func(a, b option) int { return strings.Compare(a.Name, b.Name) })
	if err := layout().Execute(straightener{w}, p); err != nil {
		return fmt.Errorf("write the report of run %s: %w", run.ID, err)
	}
	return nil
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
