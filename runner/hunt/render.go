package hunt

import (
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/reports/text"
)

// Summary says it all in one sentence or two.
func (r *Report) Summary() string {
	text := fmt.Sprintf("%s of %s in %s of %.0f s (%.1f runs a minute), %s seen.",
		nouns.Count(len(r.Findings), "finding"), r.Lock,
		nouns.Count(r.Trials, "trial"), r.Seconds, r.PerMinute(), nouns.Count(r.Features, "feature"))
	if r.Stopped != "" {
		text += " It ended early: " + r.Stopped + "."
	}
	if r.Little != "" {
		text += " Too little was tried: " + r.Little + "."
	}
	return text
}

// Line is the command that runs the scenario of a finding, for a shell.
func (f *Finding) Line() string {
	var words []string
	for _, w := range f.Command {
		if strings.ContainsAny(w, " '\"$*") {
			w = settings.Shell([]string{w})
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// Rates says in how many runs it was seen, and at the reference lock.
func (f *Finding) Rates() string {
	text := fmt.Sprintf("%d of %d runs", f.Found, f.Of)
	if f.ReferenceOf > 0 {
		text += fmt.Sprintf("; the reference lock: %d of %d", f.ReferenceFound, f.ReferenceOf)
	}
	return text
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
			say("- a run that shows it: [%s](%s/report.html)", e(f.Run), f.Run)
		}
		say("- scenario: [%s](%s)\n", f.Scenario, f.Scenario)
		for n, t := range f.Story {
			say("%d. %.3f s **%s** %s", n+1, t.At, e(t.Who), e(t.What))
		}
		say("\n```\n%s\n```\n", f.Line())
	}
	say("## What was tried\n")
	say("| fault | trigger | tried | seen | missed | skipped |\n|---|---|---|---|---|---|")
	for _, c := range r.Coverage {
		say("| %s | %s | %d | %d | %d | %d |", c.Fault, e(c.Trigger), c.Tried, c.Seen, c.Missed, c.Skipped)
	}
	if never := r.Unreached(); len(never) > 0 {
		say("\nNever seen at a victim: %s.", strings.Join(never, ", "))
	}
	if len(r.Left) > 0 {
		say("\n## Violations that are no findings\n\n| property and cause | decision | times | why |\n|---|---|---|---|")
		for _, d := range r.Left {
			say("| %s | %s | %d | %s |", e(d.Cause), d.Decision, d.Times, e(d.Why))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// HTML writes the report as one page that needs nothing else.
// pictures are those of findings, as SVG.
func (r *Report) HTML(w io.Writer, pictures map[*Finding][]byte) error {
	return page.Execute(w, struct {
		*Report
		Shown []shown
	}{r, shownOf(r, pictures)})
}

// shown is a finding in the page. An image runs no script, whoever drew it.
type shown struct {
	*Finding
	Picture template.URL
}

func shownOf(r *Report, pictures map[*Finding][]byte) (all []shown) {
	for _, f := range r.Findings {
		s := shown{Finding: f}
		if data := pictures[f]; len(data) > 0 {
			s.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(data))
		}
		all = append(all, s)
	}
	return all
}

var page = template.Must(template.New("hunt").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="dlmtest">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hunt of {{.Lock}}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
article { border-left: .3rem solid #c0392b; padding: .2rem 1rem; margin: 1.5rem 0 }
table { border-collapse: collapse; display: block; overflow-x: auto } td, th { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #8884; vertical-align: top }
td.n { white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: 600 } img { max-width: 100%; background: #fff }
pre { overflow-x: auto; padding: .6rem; background: #8882 } .zero { opacity: .5 }
</style></head><body>
<h1>Hunt of {{.Lock}}</h1>
<p>{{.Summary}}</p>
{{range .Shown}}<article><h2>{{.Property}}</h2>
<p>{{.Message}}</p>
<p>It counts because {{.Why}}. Shown in {{.Rates}}. Found after {{printf "%.0f" .Seconds}} s, in trial {{.Trial}}.</p>
<p>Smallest: {{.Size}}.{{with .Note}} Note: {{.}}.{{end}}</p>
{{with .Picture}}<p><img src="{{.}}" alt="Who held the key when, in the run that shows it"></p>
{{end}}{{with .Story}}<table><caption>How it came about</caption><tr><th>at</th><th>who</th><th>what</th></tr>
{{range .}}<tr><td class="n">{{printf "%.3f" .At}} s</td><td>{{.Who}}</td><td>{{.What}}</td></tr>
{{end}}</table>
{{end}}<p>{{with .Run}}<a href="{{.}}/report.html">The report of that run</a> · {{end}}<a href="{{.Scenario}}">{{.Scenario}}</a></p>
<pre>{{.Line}}</pre></article>
{{else}}<p>Nothing was found that this lock does worse than it should.</p>{{end}}
<h2>What was tried</h2>
<table><tr><th>fault</th><th>trigger</th><th>tried</th><th>seen</th><th>missed</th><th>skipped</th></tr>
{{range .Coverage}}<tr{{if not .Seen}} class="zero"{{end}}><td>{{.Fault}}</td><td>{{.Trigger}}</td><td class="n">{{.Tried}}</td><td class="n">{{.Seen}}</td><td class="n">{{.Missed}}</td><td class="n">{{.Skipped}}</td></tr>
{{end}}</table>
{{with .Unreached}}<p>Never seen at a victim: {{range $i, $k := .}}{{if $i}}, {{end}}{{$k}}{{end}}.</p>{{end}}
{{with .Left}}<h2>Violations that are no findings</h2>
<table><tr><th>property and cause</th><th>decision</th><th>times</th><th>why</th></tr>
{{range .}}<tr><td>{{.Cause}}</td><td>{{.Decision}}</td><td class="n">{{.Times}}</td><td>{{.Why}}</td></tr>
{{end}}</table>{{end}}
<h2>Again</h2><pre>{{range .Command}}{{.}} {{end}}{{with .Shard}}--shard {{.}}{{end}}</pre>
</body></html>
`))
