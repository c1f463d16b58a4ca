package pages

import (
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

const (
	mostListed  = 50 // violations of one property that a page lists
	storiesTold = 20 // of these, those whose story it tells
)

// pageStory is one violation as the page shows it.
type pageStory struct {
	Number   int        `json:"number"`
	Property string     `json:"property"`
	Sure     string     `json:"sure"`
	Message  string     `json:"message"`
	View     [2]int64   `json:"view"` // what to show of the timeline, µs since the first operation
	Steps    []pageStep `json:"steps,omitempty"`
}

// pageStep is one step of it, as the words of its row and its place in the timeline.
type pageStep struct {
	At       int64      `json:"at"` // µs since the first operation
	Lane     int        `json:"lane"`
	Op       int        `json:"op"`
	Kind     story.Kind `json:"kind"`
	Time     string     `json:"time"`
	Who      string     `json:"who"`
	Where    string     `json:"where,omitempty"` // if not where it acts itself
	What     string     `json:"what"`
	Fault    string     `json:"fault,omitempty"`
	Token    int64      `json:"token,string,omitempty"`
	Left     string     `json:"left,omitempty"`
	Over     bool       `json:"over,omitempty"` // the lease, of which Left is
	Unfenced *cell      `json:"unfenced,omitempty"`
	Fenced   *cell      `json:"fenced,omitempty"`
}

// cell is what became of one copy.
type cell struct {
	What string `json:"what"`
	Text string `json:"text"`
}

// tellAll fills in the violations of every property, each of the first ones with its
// story, and which of them to tell first.
func (p *page) tellAll(d *drawer, stories *story.Teller, r checker.Result) {
	first, number, left := story.FirstPlace(r), 0, 0
	p.Head.Told = -1
	for pi, pr := range r.Properties {
		row := propertyRow{Property: pr}
		for vi, v := range pr.Violations {
			number++
			if v.Number == 0 {
				v.Number = number
			}
			told := first == story.Place{Property: pi, Violation: vi}
			if vi >= mostListed && !told {
				row.More++
				continue
			}
			s := d.tellOne(stories, pr.Name, v, vi < storiesTold || told)
			if told {
				p.Head.Told = len(p.Head.Stories)
			}
			p.Head.Stories = append(p.Head.Stories, s)
			row.Listed = append(row.Listed, violationRow{v, s, time.Duration(v.At - d.Begin)})
		}
		left += row.More + pr.Unlisted
		p.Properties = append(p.Properties, row)
	}
	if p.Head.Told >= 0 {
		p.Told = &p.Head.Stories[p.Head.Told]
	}
	if left > 0 {
		p.Untold = fmt.Sprintf("The first %d of each property can be chosen; %s more are not here: results.json lists "+
			"the first 10,000 of a kind, and the rest is only counted.", mostListed, say.Thousands(left))
	}
}

func (d *drawer) tellOne(stories *story.Teller, property string, v checker.Violation, whole bool) pageStory {
	s := pageStory{Number: v.Number, Property: property, Sure: story.Sure(v), Message: v.Message, View: d.around(v)}
	if whole {
		s.Steps = d.pageSteps(stories.Tell(v))
	}
	if n := len(s.Steps); n > 0 {
		s.View = d.widened(s.Steps[0].At, s.Steps[n-1].At)
	}
	return s
}

func (d *drawer) pageSteps(steps []story.Step) (all []pageStep) {
	for _, s := range steps {
		row := pageStep{
			At: s.At.Microseconds(), Lane: d.laneOf(s.Node), Op: s.Op, Kind: s.Kind, Time: say.Seconds(int64(s.At)), Who: s.Who, What: s.What,
			Fault: s.Fault, Token: s.Token, Left: leftWords(s.Left), Over: s.Left != nil && *s.Left <= 0,
			Unfenced: cellOf(s.Unfenced), Fenced: cellOf(s.Fenced),
		}
		if s.Op >= 0 && d.Trace.Ops[s.Op].F == history.Apply && s.Who != s.Node {
			row.Where = s.Node
		}
		if s.Kind == story.StepEnd {
			row.Fault = "" // its sentence tells
		}
		if s.Brief != "" {
			row.What = s.Brief
		}
		all = append(all, row)
	}
	return all
}

// Tokens says whether any step has one: many locks give none.
func (s pageStory) Tokens() bool {
	return slices.ContainsFunc(s.Steps, func(x pageStep) bool { return x.Token != 0 })
}

func cellOf(s *story.State) *cell {
	if s == nil {
		return nil
	}
	return &cell{s.What, s.Text}
}

// around is the stretch of the timeline that shows the operations of a violation.
func (d *drawer) around(v checker.Violation) [2]int64 {
	s := timeline.Span{From: v.At, To: v.At}
	for _, i := range v.Operations {
		if i >= 0 && i < len(d.Trace.Ops) {
			s = timeline.Span{From: min(s.From, d.Trace.Ops[i].Time), To: max(s.To, d.Trace.Ops[i].Time)}
		}
	}
	return d.widened(d.at(s.From), d.at(s.To))
}

// widened adds an eighth to both sides.
func (d *drawer) widened(from, to int64) [2]int64 {
	pad := max((to-from)/8, (2 * time.Millisecond).Microseconds())
	return [2]int64{max(from-pad, 0), min(to+pad, max(d.Length, 0))}
}

// copySign is the sign of what became of a copy, so that colour never carries it alone.
func copySign(what string) string {
	return map[string]string{"accepted": "✓ ", "refused": "✗ "}[what]
}

// sureWords says why a violation is less than certain.
func sureWords(sure string) string {
	return map[string]string{
		"possible": "Possible: it depends on an operation whose outcome is unknown.", "disturbed": "Disturbed: a stall of the machine touches it.",
	}[sure]
}

// short is a message that a list has room for.
func short(message string) string {
	runes := []rune(message)
	if len(runes) <= 100 {
		return message
	}
	return string(runes[:99]) + "…"
}

// noStory says why there is nothing to tell.
func noStory(ops []history.Op, r checker.Result) string {
	switch {
	case len(ops) == 0:
		return "Nothing was recorded, so there is no story to tell."
	case r.Verdict == checker.Unknown:
		return "No violation was found, but too little was seen to say that there is none, so there is no story to tell."
	}
	return "No violation was found, so there is no story to tell."
}

// leftWords says what is left of a lease, as a column has room for.
func leftWords(d *time.Duration) string {
	switch {
	case d == nil:
		return ""
	case *d == 0:
		return "over"
	case *d < 0:
		return fmt.Sprintf("over for %s", say.Length(-*d))
	}
	return say.Length(*d)
}
