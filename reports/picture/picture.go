// Package picture draws the timeline around one violation, as SVG and as PNG.
package picture

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Picture is the timeline around one violation, for a slide. SVG and PNG are made from
// one drawing: gonum's vg has both as back ends, and measures texts with a font that is
// part of the program, so the picture is the same on every machine.
type Picture struct {
	title, caption, facts string
	tracks                *timeline.Tracks
	start                 int64
	panels                []*stretch
	left                  int // nodes that are not drawn
	copies                []string
	at                    int64 // of the violation; 0: there is none
	bare                  bool  // it stands in a page that says the title, the caption and the facts
}

// stretch is one panel: a stretch of time. The second of a picture magnifies the end of the first,
// as what breaks in milliseconds comes of leases that last seconds.
type stretch struct {
	*Picture
	window timeline.Span // raw time
	lanes  []*timeline.Lane
	top    float64
	late   bool // only late writes are drawn
}

// Sizes of a picture, in points.
const (
	pictureWide        = 960.0
	pictureMargin      = 28.0
	pictureNames       = 104.0 // what the names of lanes take
	pictureLane        = 28.0
	panelFoot          = 58.0 // between panels: the times of the upper, the faults of the lower
	mostPictured       = 10   // lanes
	mostPicturedWrites = 120  // writes
)

// New chooses what to draw: the stretch of time that the story of a violation
// takes, and the nodes that it names. Without a violation it is the whole run.
func New(run reports.Run, setup history.Setup, ops []history.Op, property string, v checker.Violation) *Picture {
	t := timeline.New(setup, ops)
	var steps []story.Step
	if property != "" {
		steps = story.New(t).Tell(v)
	}
	return Of(t, run.Known(setup), property, v, steps)
}

// Of draws the story of a violation, told in these steps.
func Of(t *timeline.View, run reports.Run, property string, v checker.Violation, steps []story.Step) *Picture {
	p := &Picture{title: run.Name(), facts: strings.Join(run.Facts(""), ", "), tracks: timeline.NewTracks(t), start: t.Begin}
	p.caption = "No violation: the whole run."
	p.copies = []string{"unfenced copy", "fenced copy"}
	fence := t.Setup.Promise.Token || t.Setup.Use.Lockless
	if !fence || !slices.ContainsFunc(p.tracks.Writes, func(w timeline.Write) bool { return w.Fenced != 0 }) {
		p.copies = p.copies[:1]
	}
	if property != "" {
		p.title += ": " + property
		p.caption, p.at = say.Sentence(v.Message), min(max(v.At, p.tracks.From), p.tracks.To) // whatever results.json says
	}
	p.panels = []*stretch{{Picture: p, window: p.tracks.Span}}
	if len(steps) > 0 {
		p.panels[0].window = p.padded(steps, 10)
	}
	p.panels[0].choose(steps)
	p.left = len(p.tracks.Lanes) - len(p.panels[0].lanes)
	p.magnify(steps)
	return p
}

// padded is the stretch of some steps and a part of it more on both sides.
func (p *Picture) padded(steps []story.Step, part int64) timeline.Span {
	from, to := p.start+int64(steps[0].At), p.start+int64(steps[len(steps)-1].At)
	pad := max((to-from)/part, int64(2*time.Millisecond))
	return timeline.Span{From: max(from-pad, p.tracks.From), To: to + pad}
}

// magnify adds a panel from the last grant of the story on, where the first shows it
// too small.
func (p *Picture) magnify(steps []story.Step) {
	last := -1
	for i, s := range steps {
		if s.Kind == story.StepGrant {
			last = i
		}
	}
	if last < 0 {
		return
	}
	near, first := p.padded(steps[last:], 3), p.panels[0]
	if (near.To-near.From)*5 > first.window.To-first.window.From {
		return
	}
	p.panels = append(p.panels, &stretch{Picture: p, window: near})
	first.late = true
	for _, l := range first.lanes {
		if slices.ContainsFunc(steps[last:], func(s story.Step) bool { return s.Node == l.Name }) ||
			slices.ContainsFunc(l.Holds, func(h timeline.Hold) bool { return h.Belief.Meets(timeline.Span{From: near.From, To: p.at}) }) {
			p.panels[1].lanes = append(p.panels[1].lanes, l)
		}
	}
}

// choose takes the lanes of the story first, then of who held the lock meanwhile.
func (p *stretch) choose(steps []story.Step) {
	if p.window.To <= p.window.From {
		p.window.To = p.window.From + int64(time.Second)
	}
	weight := func(l *timeline.Lane) (n int) {
		for _, s := range steps {
			if s.Node == l.Name {
				n += 100
			}
		}
		for _, f := range p.tracks.Faults {
			if f.Victim == l.Name && f.Span.Meets(p.window) {
				n += 50
			}
		}
		for _, h := range l.Holds {
			if h.Belief.Meets(p.window) {
				n++
			}
		}
		return n
	}
	all := slices.DeleteFunc(slices.Clone(p.tracks.Lanes), func(l *timeline.Lane) bool { return l.Role == reports.Server && weight(l) == 0 })
	best := slices.SortedStableFunc(slices.Values(all), func(a, b *timeline.Lane) int { return cmp.Compare(weight(b), weight(a)) })
	best = best[:min(len(best), mostPictured)]
	p.lanes = slices.DeleteFunc(all, func(l *timeline.Lane) bool { return !slices.Contains(best, l) })
}

// rows is how many rows a panel has.
func (p *stretch) rows() float64 { return float64(len(p.lanes) + len(p.copies)) }

func (p *stretch) bottom() float64 { return p.top + p.rows()*pictureLane }

// lines is the caption, broken to the width; what is too much is left out.
func (p *Picture) lines() []string {
	const most = 3
	wide := func(s string) bool {
		return (&picturePen{}).wide(13.5, false, s) > pictureWide-2*pictureMargin
	}
	var all []string
	line := ""
	// A number stays with its unit.
	for word := range strings.FieldsSeq(strings.NewReplacer(" s ", "\u00a0s ", " s.", "\u00a0s.", " ms", "\u00a0ms").Replace(p.caption)) {
		word = say.Clip(word, 100)
		if longer := strings.TrimSpace(line + " " + word); line != "" && wide(longer) {
			all, line = append(all, line), word
		} else {
			line = longer
		}
	}
	all = append(all, line)
	if len(all) > most {
		all = all[:most]
		all[most-1] += " …"
	}
	return all
}

// head is what the title and the caption take, foot the legend and the facts.
func (p *Picture) head() float64 {
	if p.bare {
		return 0
	}
	return 44 + 20*float64(len(p.lines()))
}

func (p *Picture) foot() float64 { return map[bool]float64{true: 66, false: 104}[p.bare] }

// height is that of the picture, in points.
func (p *Picture) height() float64 {
	height := p.head() + 34 + p.foot() + float64(len(p.panels)-1)*panelFoot
	for _, stretch := range p.panels {
		height += stretch.rows() * pictureLane
	}
	return height
}
