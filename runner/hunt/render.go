package hunt

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/sheet"
	"github.com/dlmtest/dlmtest/reports/text"
)

// Summary says it all in one sentence or two.
func (r *Report) Summary() string {
	text := fmt.Sprintf("%s of %s in %s%s of %.0f s (%.1f runs a minute), %s seen.",
		nouns.Count(len(r.Findings), "finding"), r.Lock,
		nouns.Count(r.Trials, "trial"), r.sharing(), r.Seconds, r.PerMinute(), nouns.Count(r.Features, "feature"))
	if r.Stopped != "" {
		text += " It ended early: " + r.Stopped + "."
	}
	if r.Little != "" {
		text += " Too little was tried: " + r.Little + "."
	}
	return text
}

// sharing says how many trials had the cluster of an earlier one.
func (r *Report) sharing() string {
	if r.Shared == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d on the cluster of an earlier one)", r.Shared)
}

// Line is the command that runs the scenario of a finding, for a shell.
func (f *Finding) Line() string { return say.Shell(f.Command) }

// Rates says in how many runs it was seen, and at the reference lock.
func (f *Finding) Rates() string {
	text := fmt.Sprintf("%d of %d runs", f.Found, f.Of)
	if f.ReferenceOf > 0 {
		text += fmt.Sprintf("; the reference lock: %d of %d", f.ReferenceFound, f.ReferenceOf)
	}
	return text
}

// link is the path of a file of the folder as the target of a link of Markdown.
func link(file string) string {
	return strings.NewReplacer("(", "%28", ")", "%29").Replace((&url.URL{Path: filepath.ToSlash(file)}).EscapedPath())
}

// Markdown writes the report as a page of Markdown.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	e := text.Escaped
	say("# Hunt of %s\n", e(r.Lock))
	say("%s\n", e(r.Summary()))
	for i, f := range r.Findings {
		say("## %d. %s\n", i+1, e(f.Property))
		say("%s\n", e(f.Message))
		say("- counts because: %s", e(f.Why))
		say("- shown in %s; found after %.0f s, in trial %d, and in %s more", f.Rates(), f.Seconds, f.Trial,
			nouns.Count(f.Again, "trial"))
		say("- smallest: %s", e(f.Size))
		if f.Note != "" {
			say("- note: %s", e(f.Note))
		}
		if f.Run != "" {
			say("- a run that shows it: [%s](%s/report.html)", e(f.Run), link(f.Run))
		}
		say("- scenario: [%s](%s)\n", e(f.Scenario), link(f.Scenario))
		for n, t := range f.Story {
			say("%d. %.3f s **%s** %s", n+1, t.At, e(t.Who), e(t.What))
		}
		say("\n%s\n", text.InCode(f.Line())) // a merged hunt is somebody else's
	}
	say("## What was tried\n")
	r.tries(say, e)
	if len(r.Left) > 0 {
		say("\n## Violations that are no findings\n\n| property and cause | decision | times | why |\n|---|---|---|---|")
		for _, d := range r.Left {
			say("| %s | %s | %d | %s |", e(d.Cause), d.Decision, d.Times, e(d.Why))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tries says how often each fault was tried.
func (r *Report) tries(say func(string, ...any), e func(string) string) {
	if len(r.Coverage) == 0 {
		say("%s", r.NoFault())
		return
	}
	say("| fault | trigger | tried | seen | missed | skipped |\n|---|---|---|---|---|---|")
	for _, c := range r.Coverage {
		say("| %s | %s | %d | %d | %d | %d |", e(c.Fault), e(c.Trigger), c.Tried, c.Seen, c.Missed, c.Skipped)
	}
	if never := r.Unreached(); len(never) > 0 {
		say("\nNever seen at a victim: %s.", e(strings.Join(never, ", ")))
	}
}

// NoFault says what was tried where no trial had a fault.
func (r *Report) NoFault() string {
	return fmt.Sprintf("Contention alone: none of %s had a fault.", nouns.Count(r.Trials, "trial"))
}

// The page of a hunt runs no script and loads nothing.
var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	pageStyle string
	page      = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("hunt").Funcs(template.FuncMap{
			"css": func() template.CSS { return template.CSS(sheet.Style + pageStyle) }}).Parse(pageText))
	})
)

// HTML writes the report as one page that needs nothing else.
// pictures are those of findings, as SVG.
func (r *Report) HTML(w io.Writer, pictures map[*Finding][]byte) error {
	return page().Execute(w, struct {
		*Report
		Shown []*shown
	}{r, shownOf(r, pictures)})
}

// shown is a finding in the page, with those that the same trial has shown. An image runs no script, whoever drew it.
type shown struct {
	*Finding
	Picture template.URL
	Others  []*Finding
}

func shownOf(r *Report, pictures map[*Finding][]byte) (all []*shown) {
	for _, f := range r.Findings {
		if i := slices.IndexFunc(all, func(s *shown) bool { return s.Trial == f.Trial }); i >= 0 {
			all[i].Others = append(all[i].Others, f)
			continue
		}
		s := &shown{Finding: f}
		if data := pictures[f]; len(data) > 0 {
			s.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(data))
		}
		all = append(all, s)
	}
	return all
}
