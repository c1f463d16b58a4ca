package reports

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/checker"
)

// The page of a comparison. Its script only moves a line over the charts.
var (
	compareStyle  = style + asset("compare.css")
	compareCode   = asset("compare.js")
	compareLayout = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("compare.html.tmpl").Funcs(template.FuncMap{
			"mark": mark, "replyClass": question.class, "replyWords": question.words,
			"replySign": func(q question) string { return sign(q.Reply) }, "axis": onAxis, "n": tenths, "add": func(a, b float64) float64 { return a + b },
			"sub": func(a, b float64) float64 { return a - b }, "half": func(a float64) float64 { return a / 2 },
			"below": func(x float64) float64 { return min(x, plotWidth-24) }, // where its text fits in
			"inc":   func(i int) int { return i + 1 }, "charts": comparePage.charts,
		}).ParseFS(files, "page/compare.html.tmpl"))
	})
	comparePolicy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '" + digest(compareCode) + "'"
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
	Answers  []question
}

// compareFigure is one figure of every run.
type compareFigure struct {
	Name, About string
	Values      []string
}

// HTML writes the comparison: one file that needs nothing else and no network.
func (c *Comparison) HTML(w io.Writer) error {
	p := comparePage{
		Comparison: c, CSS: template.CSS(compareStyle), JS: template.JS(compareCode), Policy: comparePolicy, Title: c.title(),
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
	if err := compareLayout().Execute(straightener{w}, p); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// whole is the stretch of the axis that holds every run.
func (c *Comparison) whole() span {
	s := span{math.MaxInt64, math.MinInt64}
	for _, r := range c.Runs {
		s.from = min(s.from, -int64(r.Zero))
		s.to = max(s.to, r.tracks.to-r.tracks.from-int64(r.Zero))
	}
	if s.to <= s.from {
		s.to = s.from + int64(time.Second)
	}
	return s
}

// near is the stretch in which most is to be seen: around the first violation of each
// run, else around the first faults; ok is false where the whole is not much longer.
func (c *Comparison) near(whole span) (s span, of string, ok bool) {
	s, of = c.aroundViolations(), "the first violation"
	if s.from > s.to {
		s, of = c.aroundFaults(), "the first fault"
	}
	s.from, s.to = max(s.from, whole.from), min(s.to, whole.to)
	return s, of, s.from < s.to && (s.to-s.from)*3 < (whole.to-whole.from)*2
}

// mostNear is how many leases first violations may lie apart to be shown in one stretch.
const mostNear = 4

func (c *Comparison) aroundViolations() span {
	s, lease := span{math.MaxInt64, math.MinInt64}, int64(0)
	for _, r := range c.Runs {
		lease = max(lease, int64(r.setup.Lease))
		for _, v := range r.Violations[:min(1, len(r.Violations))] {
			s.from, s.to = min(s.from, int64(v.At)), max(s.to, int64(v.At))
		}
	}
	if s.from > s.to || s.to-s.from > mostNear*lease {
		return span{1, 0}
	}
	pad := max(lease/10, (s.to-s.from)/3)
	return span{s.from - pad, s.to + pad}
}

func (c *Comparison) aroundFaults() span {
	s, lease := span{math.MaxInt64, math.MinInt64}, int64(0)
	for _, r := range c.Runs {
		lease = max(lease, int64(r.setup.Lease))
		if f, ok := r.tracks.firstFault(); ok {
			zero := r.tracks.from + int64(r.Zero)
			s.from, s.to = min(s.from, f.from-zero), max(s.to, min(f.to, f.from+2*mostNear*int64(r.setup.Lease))-zero)
		}
	}
	if s.from > s.to {
		return span{1, 0}
	}
	return span{s.from - lease/2, s.to + lease}
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
				parts = append(parts, strings.ToLower(inWords(v))+
					map[bool]string{true: ", in both", false: ", in all " + fmt.Sprint(len(runs))}[len(runs) == 2])
			} else if len(runs) > 0 {
				parts = append(parts, strings.ToLower(inWords(v))+" ("+strings.Join(runs, "; ")+")")
			}
		}
		all = append(all, q.Question+" "+upperFirst(strings.Join(parts, ", "))+".")
	}
	return all
}

func upperFirst(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

func (c *Comparison) questions() (all []compareQuestion) {
	for _, r := range c.Runs {
		for i, q := range questions(r.setup, r.result) {
			if i == len(all) {
				all = append(all, compareQuestion{Question: q.Question})
			}
			q.Sentence = afterReply(q)
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

const none = "–"

func (r *Compared) figureValues() []string {
	k := r.Figures
	known := func(ok bool, text string) string {
		if ok {
			return text
		}
		return none
	}
	granted := k.Acquires > 0
	return []string{
		known(granted, length(k.AcquireP50)), known(granted, length(k.AcquireP99)), known(granted, length(k.AcquireMax)),
		thousands(k.Acquires), fmt.Sprintf("%.1f", k.GrantsPerSecond), thousands(k.NotGranted),
		known(k.LongestFree > 0, length(k.LongestFree)+" at "+onAxis(k.LongestFreeAt-r.Zero)),
		known(k.Recovered+k.Unrecovered > 0, k.recovered(r.setup.Lease)),
		known(k.Twice > 0, length(k.Twice)),
		known(k.StaleWrites > 0, fmt.Sprintf("%d, %d refused", k.StaleWrites, k.StaleRefused)),
		known(k.FirstViolation > 0, length(k.FirstViolation)),
		thousands(k.Unknowns), known(k.MaxStall > 0, length(k.MaxStall)),
	}
}

// recovered says how long it took until a key was had again, and where it was not.
func (k KeyFigures) recovered(lease time.Duration) string {
	var parts []string
	if k.Recovered > 0 {
		parts = append(parts, length(k.Recovery)+inLeases(k.Recovery, lease))
	}
	if k.Unrecovered > 0 {
		parts = append(parts, "none to the end after "+count(k.Unrecovered, "fault"))
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
func (r *Compared) Repeat() string { return shell(r.run.Command) }
