package serve

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
)

//go:embed page/serve.css
var style string

//go:embed page/serve.html.tmpl
var layoutText string

var layout = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("serve").Funcs(template.FuncMap{"link": link, "when": when, "class": class}).Parse(layoutText))
})

// perPage is how many runs a page lists.
const perPage = 200

// mostFiles is how many files a page shows: a million are a page of 100 MB.
const mostFiles = 2000

// folderPage is what the page of a folder shows.
type folderPage struct {
	CSS      template.CSS
	Title    string
	Crumbs   []crumb
	Self     *entry // the folder itself, where it is a run or a matrix
	Runs     []entry
	All      int // runs before the filter
	Found    int
	Query    string
	Verdict  string
	Verdicts []option
	Prev     string
	Next     string
	Files    []file
	More     int  // files that are not shown
	Full     bool // there is more in the folder than was looked at
	Top      bool
}

type crumb struct{ Href, Text string }

type option struct {
	Value, Text string
	Chosen      bool
}

type file struct{ Name, Size, About string }

// abouts say what a file of a run is.
var abouts = map[string]string{
	"report.html": "the report", "index.html": "the index of all runs", "history.jsonl": "every operation, as recorded",
	"results.json": "the judgement, for machines",
	"run.json":     "seed, versions, resolved scenario", "junit.xml": "for test viewers",
	"index.json": "the index, for machines", "index.md": "the index, for a pull request",
	"hunt.json": "what was tried and found, for machines", "trials.jsonl": "every trial and what it has shown",
	"gate.html": "what the gate decided, and why", "side-by-side": "the backends of each scenario beside each other",
	"logs": "what the servers wrote", "violations": "the smallest history of each violation",
	"history.jsonl.part": "as it comes: the run goes on, or was killed",
}

// folder sends the page of a folder: its runs, the newest first, and its files.
func (s *Server) folder(w http.ResponseWriter, r *http.Request, name string) {
	runs, rest, err := s.entries(name)
	if err != nil {
		missing(w)
		return
	}
	p := folderPage{CSS: template.CSS(style), Title: name, All: len(runs), Crumbs: s.crumbs(name), Top: name == "."}
	if p.Top {
		p.Title = path.Base(s.name)
	}
	if self := s.read(name); self.Kind != "folder" {
		p.Self = &self
	}
	p.filter(runs, r.URL.Query())
	p.Full = len(runs)+len(rest) >= mostEntries
	p.More = max(len(rest)-mostFiles, 0)
	rest = rest[:len(rest)-p.More]
	for _, info := range rest {
		f := file{Name: info.Name(), Size: size(info.Size()), About: abouts[info.Name()]}
		if info.IsDir() {
			f.Name, f.Size = f.Name+"/", ""
		}
		p.Files = append(p.Files, f)
	}
	var b bytes.Buffer
	if err := layout().Execute(&b, p); err != nil {
		refuse(w, http.StatusInternalServerError, "The page cannot be made: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	if r.Method == http.MethodGet {
		_, _ = w.Write(b.Bytes()) // the browser went away
	}
}

// filter leaves the runs that a reader asks for, a page of them.
func (p *folderPage) filter(runs []entry, q url.Values) {
	p.Query, p.Verdict = q.Get("q"), q.Get("verdict")
	for _, v := range []reports.Outcome{reports.Violates, reports.Unclear, reports.Good, reports.Failed} {
		p.Verdicts = append(p.Verdicts, option{string(v), v.Words(), string(v) == p.Verdict})
	}
	var found []entry
	for _, e := range runs {
		text := strings.ToLower(strings.Join([]string{e.Name, e.Title, e.Says, e.More}, " "))
		match := p.Verdict == "" || string(e.Verdict) == p.Verdict
		for word := range strings.FieldsSeq(strings.ToLower(p.Query)) {
			match = match && strings.Contains(text, word)
		}
		if match {
			found = append(found, e)
		}
	}
	p.Found = len(found)
	page, _ := strconv.Atoi(q.Get("page"))
	page = min(max(page, 1), max((len(found)+perPage-1)/perPage, 1))
	from, to := (page-1)*perPage, min(page*perPage, len(found))
	p.Runs = found[from:to]
	turn := func(n int) string {
		return "?" + url.Values{"q": {p.Query}, "verdict": {p.Verdict}, "page": {strconv.Itoa(n)}}.Encode()
	}
	if page > 1 {
		p.Prev = turn(page - 1)
	}
	if to < len(found) {
		p.Next = turn(page + 1)
	}
}

func (s *Server) crumbs(name string) []crumb {
	all := []crumb{{"/", path.Base(s.name)}}
	if name == "." {
		return all
	}
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at += "/" + part
		all = append(all, crumb{(&url.URL{Path: at}).EscapedPath() + "/", part})
	}
	return all
}

// link leads to a file beside the page, whatever it is called.
func link(parts ...string) string {
	return "./" + (&url.URL{Path: strings.Join(parts, "/")}).EscapedPath()
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

// class is an outcome as a class of the style.
func class(o reports.Outcome) string {
	return strings.ReplaceAll(strings.ReplaceAll(string(o), "/", ""), " ", "-")
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// clip shortens what a folder says of itself.
func (e *entry) clip() {
	e.Title, e.Says, e.More = begin(e.Title, longestTitle), begin(e.Says, longestTitle), begin(e.More, longestMore)
	for i := range e.Answers {
		e.Answers[i].Title = begin(e.Answers[i].Title, longestMore)
	}
}

// begin is the beginning of a text, which keeps nothing of the rest.
func begin(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(say.Clip(text[:min(len(text), utf8.UTFMax*most)], most))
}
