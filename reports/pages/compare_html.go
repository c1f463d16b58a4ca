package pages

import (
	_ "embed" // the parts of the page
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/sheet"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

var (
	//go:embed page/compare.css
	compareCSS string
	//go:embed page/compare.js
	compareCode string
	//go:embed page/compare.html.tmpl
	compareTemplate string
)

// The page of a comparison. Its script only moves a line over the charts.
var (
	compareStyle  = sheet.Style + compareCSS
	compareLayout = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("compare.html.tmpl").Funcs(template.FuncMap{
			"mark": say.Mark, "replyClass": reports.Question.Class, "replyWords": reports.Question.Words,
			"replySign": func(q reports.Question) string { return reports.ReplySign(q.Reply) }, "axis": onAxis,
			"n": tenths, "add": func(a, b float64) float64 { return a + b },
			"sub": func(a, b float64) float64 { return a - b }, "half": func(a float64) float64 { return a / 2 },
			"below": func(x float64) float64 { return min(x, plotWidth-24) }, // where its text fits in
			"inc":   func(i int) int { return i + 1 }, "charts": comparePage.charts,
		}).Parse(compareTemplate))
	})
)

// comparePage is what the template shows.
type comparePage struct {
	*Comparison
	CSS       template.CSS
	JS        template.JS
	Policy    string
	Title     string
	Sums      []string
	Questions []compareQuestion
	Figures   []compareFigure
	Near      []runChart // around the zero of the axis; none, where the whole shows as much
	NearOf    string
	Whole     []runChart
	Same      []ComparedSetting
	Other     []ComparedSetting
}

// drawnChart is a chart with what its template needs beside it.
type drawnChart struct {
	C                               runChart
	H                               string // before the ids of its parts
	Width, Left, Right, Wide, NameX float64
}

// charts are those of one kind, near or whole.
func (p comparePage) charts(kind string) (all []drawnChart) {
	for _, c := range map[string][]runChart{"near": p.Near, "whole": p.Whole}[kind] {
		all = append(all, drawnChart{c, kind, plotWidth, plotLeft, plotWidth - plotRight, plotWidth - plotRight - plotLeft, plotLeft - 8})
	}
	return all
}

type compareQuestion struct {
	Question string
	Answers  []reports.Question
}

// compareFigure is one figure of every run.
type compareFigure struct {
	Name, About string
	Values      []string
}

// HTML writes the comparison: one file that needs nothing else and no network.
func (c *Comparison) HTML(w io.Writer) error {
	p := comparePage{
		Comparison: c, CSS: template.CSS(compareStyle), JS: template.JS(compareCode), Policy: sheet.Policy(compareCode), Title: c.title(),
		Sums: c.sums(), Questions: c.questions(), Figures: c.figures(),
	}
	for _, s := range c.Setup {
		if s.Differs {
			p.Other = append(p.Other, s)
		} else {
			p.Same = append(p.Same, s)
		}
	}
	whole := c.whole()
	near, of, ok := c.near(whole)
	p.NearOf = of
	for i, r := range c.Runs {
		if ok {
			p.Near = append(p.Near, r.plot(fmt.Sprintf("run-%d", i+1), near, true))
		}
		p.Whole = append(p.Whole, r.plot(fmt.Sprintf("run-%d", i+1), whole, true))
	}
	if err := compareLayout().Execute(sheet.Straight{Writer: w}, p); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// whole is the stretch of the axis that holds every run.
func (c *Comparison) whole() timeline.Span {
	s := timeline.Span{From: math.MaxInt64, To: math.MinInt64}
	for _, r := range c.Runs {
		s.From = min(s.From, -int64(r.Zero))
		s.To = max(s.To, r.tracks.To-r.tracks.From-int64(r.Zero))
	}
	if s.To <= s.From {
		s.To = s.From + int64(time.Second)
	}
	return s
}

// near is the stretch in which most is to be seen: around the first violation of each
// run, else around the first faults; ok is false where the whole is not much longer.
func (c *Comparison) near(whole timeline.Span) (s timeline.Span, of string, ok bool) {
	s, of = c.aroundViolations(), "the first violation"
	if s.From > s.To {
		s, of = c.aroundFaults(), "the first fault"
	}
	s.From, s.To = max(s.From, whole.From), min(s.To, whole.To)
	return s, of, s.From < s.To && (s.To-s.From)*3 < (whole.To-whole.From)*2
}

// mostNear is how many leases first violations may lie apart to be shown in one stretch.
const mostNear = 4

func (c *Comparison) aroundViolations() timeline.Span {
	s, lease := timeline.Span{From: math.MaxInt64, To: math.MinInt64}, int64(0)
	for _, r := range c.Runs {
		lease = max(lease, int64(r.setup.Lease))
		for _, v := range r.Violations[:min(1, len(r.Violations))] {
			s.From, s.To = min(s.From, int64(v.At)), max(s.To, int64(v.At))
		}
	}
	if s.From > s.To || s.To-s.From > mostNear*lease {
		return timeline.Span{From: 1, To: 0}
	}
	pad := max(lease/10, (s.To-s.From)/3)
	return timeline.Span{From: s.From - pad, To: s.To + pad}
}

func (c *Comparison) aroundFaults() timeline.Span {
	s, lease := timeline.Span{From: math.MaxInt64, To: math.MinInt64}, int64(0)
	for _, r := range c.Runs {
		lease = max(lease, int64(r.setup.Lease))
		if f, ok := r.tracks.FirstFault(); ok {
			zero := r.tracks.From + int64(r.Zero)
			s.From, s.To = min(s.From, f.From-zero), max(s.To, min(f.To, f.From+2*mostNear*int64(r.setup.Lease))-zero)
		}
	}
	if s.From > s.To {
		return timeline.Span{From: 1, To: 0}
	}
	return timeline.Span{From: s.From - lease/2, To: s.To + lease}
}

// sums say in one sentence each how the runs answer the questions.
func (c *Comparison) sums() (all []string) {
	for _, q := range c.questions() {
		by := map[checker.Reply][]string{}
		for i, a := range q.Answers {
			by[a.Reply] = append(by[a.Reply], c.Runs[i].Name)
		}
		var parts []string
		for _, v := range []checker.Reply{checker.No, checker.Yes, checker.NotKnown, checker.NotAsked} {
			if runs := by[v]; len(runs) == len(c.Runs) {
				parts = append(parts, strings.ToLower(reports.ReplyWords(v))+
					map[bool]string{true: ", in both", false: ", in all " + fmt.Sprint(len(runs))}[len(runs) == 2])
			} else if len(runs) > 0 {
				parts = append(parts, strings.ToLower(reports.ReplyWords(v))+" ("+strings.Join(runs, "; ")+")")
			}
		}
		all = append(all, q.Question+" "+say.Upper(strings.Join(parts, ", "))+".")
	}
	return all
}

func (c *Comparison) questions() (all []compareQuestion) {
	for _, r := range c.Runs {
		for i, q := range reports.Questions(r.setup, r.result) {
			if i == len(all) {
				all = append(all, compareQuestion{Question: q.Question})
			}
			q.Sentence = reports.AfterReply(q)
			all[i].Answers = append(all[i].Answers, q)
		}
	}
	return all
}

// figures are the rows of the table of figures. What does not apply is a dash.
func (c *Comparison) figures() []compareFigure {
	rows := []compareFigure{
		{Name: "acquire, p50", About: "from asking to being granted, of the acquires that were granted"},
		{Name: "acquire, p99", About: "of fewer than 100 grants it is one of the longest"},
		{Name: "acquire, longest"},
		{Name: "grants", About: "up to the end of the load"},
		{Name: "grants per second"},
		{Name: "acquires not granted"},
		{Name: "longest time free", About: "nobody held a key although somebody waited for it; and when that began"},
		{Name: "recovery", About: "the longest time that somebody waited, from the begin of a fault, for the next grant to a client that it did not strike"},
		{Name: "two holders", About: "how long two clients believed to hold one key, in sum"},
		{Name: "late writes", About: "on a grant that was no longer the writer's own; refused by the fenced copy"},
		{Name: "first violation", About: "from the first grant"},
		{Name: "unknown outcomes"},
		{Name: "longest unplanned stall", About: "of any node: the machine was busy"},
	}
	for _, r := range c.Runs {
		for i, v := range r.figureValues() {
			rows[i].Values = append(rows[i].Values, v)
		}
	}
	return rows
}

func (r *Compared) figureValues() []string {
	k := r.Figures
	known := func(ok bool, text string) string {
		if ok {
			return text
		}
		return say.None
	}
	granted := k.Acquires > 0
	return []string{
		known(granted, say.Length(k.AcquireP50)), known(granted, say.Length(k.AcquireP99)), known(granted, say.Length(k.AcquireMax)),
		say.Thousands(k.Acquires), fmt.Sprintf("%.1f", k.GrantsPerSecond), say.Thousands(k.NotGranted),
		known(k.LongestFree > 0, say.Length(k.LongestFree)+" at "+onAxis(k.LongestFreeAt-r.Zero)),
		known(k.Recovered+k.Unrecovered > 0, recoveredText(k, r.setup.Lease)),
		known(k.Twice > 0, say.Length(k.Twice)),
		known(k.StaleWrites > 0, fmt.Sprintf("%d, %d refused", k.StaleWrites, k.StaleRefused)),
		known(k.FirstViolation > 0, say.Length(k.FirstViolation)),
		say.Thousands(k.Unknowns), known(k.MaxStall > 0, say.Length(k.MaxStall)),
	}
}

// recoveredText says how long it took until a key was had again, and where it was not.
func recoveredText(k figures.Key, lease time.Duration) string {
	var parts []string
	if k.Recovered > 0 {
		parts = append(parts, say.Length(k.Recovery)+inLeases(k.Recovery, lease))
	}
	if k.Unrecovered > 0 {
		parts = append(parts, "none to the end after "+say.Count(k.Unrecovered, "fault"))
	}
	return strings.Join(parts, "; ")
}

// inLeases puts a time into relation to the lease.
func inLeases(d, lease time.Duration) string {
	if lease <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f leases)", float64(d)/float64(lease))
}

// Lean is how wide a table of the runs is at least, in pixels.
func (p comparePage) Lean() int { return 190 + 170*len(p.Runs) }

// Unlisted is how many violations are beyond those listed.
func (r *Compared) Unlisted() int { return r.Found - len(r.Violations) }

// Repeat is the command that runs it again.
func (r *Compared) Repeat() string { return say.Shell(r.run.Command) }
