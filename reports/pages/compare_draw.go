package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Sizes of a chart, in units of its view box.
const (
	plotWidth = 1120.0
	plotLeft  = 112.0 // what the names of the lanes take
	plotRight = 10.0
	plotTop   = 24.0 // what the labels of faults and the flags of violations take
	plotFoot  = 22.0 // what the axis takes
)

// Bounds that keep a page small, however long a history is.
const (
	mostLanes     = 12
	mostGrantBars = 500 // bars of their own, with a title each; more are one path
	mostBands     = 120
	mostStale     = 200
	mostFlags     = 60
	flagWide      = 24.0
	letterWide    = 6.2
)

// runChart is the timeline of one run, ready to be drawn: x and widths are in units.
type runChart struct {
	Name, ID      string
	Height, Plot  float64 // Plot is where the lanes end
	Ticks         []chartTick
	Lanes         []chartLane
	Bands         []chartBar
	Labels, Texts []chartText
	Paths         []chartPath
	Bars          []chartBar
	Flags         []chartFlag
	Notes         []string
	From, To      int64 // µs on the axis
}

type chartTick struct {
	X    float64
	Text string
}

type chartLane struct {
	Y, H, Mid float64
	Name      string
	Struck    bool
}

type chartText struct {
	X, Y float64
	Text string
	Dark bool // it stands on a light bar
}

type chartPath struct{ Class, D string }

type chartBar struct {
	Class, Title string
	X, Y, W, H   float64
}

type chartFlag struct {
	X, W  float64
	Text  string
	Title string
	Href  string
}

// runPlotter draws one run over a stretch of the axis.
type runPlotter struct {
	runChart
	run    *Compared
	axis   timeline.Span // ns from the zero of the axis
	zero   int64         // raw time of that zero
	lane   float64
	joined int
	thick  bool // shares of time are drawn
}

// plot draws a run. Detail is for a short stretch: it has higher lanes, and tokens.
func (r *Compared) plot(id string, axis timeline.Span, detail bool) runChart {
	p := &runPlotter{run: r, axis: axis, zero: r.tracks.From + int64(r.Zero), lane: 13}
	p.Name, p.ID, p.From, p.To = r.Name, id, axis.From/1000, axis.To/1000
	if detail {
		p.lane = 20
	}
	lanes := p.lanes()
	p.Plot = plotTop + float64(len(lanes)+1)*p.lane
	p.Height = p.Plot + plotFoot
	p.Ticks = axisTicks(axis)
	p.bands()
	for i, l := range lanes {
		p.draw(l, plotTop+float64(i)*p.lane, detail)
	}
	p.writes(plotTop + float64(len(lanes))*p.lane)
	p.flags()
	if p.thick {
		p.Notes = append(p.Notes, "There are too many grants to tell apart: the height of a column is the share of the "+
			"time that a client held, and how many writes came, beside the most.")
	}
	if p.joined > 0 && !p.thick {
		p.Notes = append(p.Notes, say.Thousands(p.joined)+" bars lie closer than a pixel and are drawn as one with their neighbours.")
	}
	return p.runChart
}

// lanes are the nodes to draw: all, or those that tell most.
func (p *runPlotter) lanes() []*timeline.Lane {
	all := p.run.tracks.Lanes
	if len(all) > mostLanes {
		weight := map[*timeline.Lane]int{}
		for _, l := range all {
			weight[l] = len(l.Holds)
			for _, f := range p.run.tracks.Faults {
				if f.Victim == l.Name {
					weight[l] += 1 << 40
					break
				}
			}
			for _, x := range p.run.tracks.Twice[:min(len(p.run.tracks.Twice), 1000)] {
				if x.A == l.Name || x.B == l.Name {
					weight[l] += 1 << 20
				}
			}
		}
		best := slices.SortedStableFunc(slices.Values(all), func(a, b *timeline.Lane) int { return cmp.Compare(weight[b], weight[a]) })[:mostLanes]
		all = slices.DeleteFunc(slices.Clone(all), func(l *timeline.Lane) bool { return !slices.Contains(best, l) })
		p.Notes = append(p.Notes, fmt.Sprintf("%d of %d nodes are drawn: those that faults struck, then those with "+
			"most to tell.", mostLanes, len(p.run.tracks.Lanes)))
	}
	for i, l := range all {
		y := plotTop + float64(i)*p.lane
		p.Lanes = append(p.Lanes, chartLane{Y: y, H: p.lane, Mid: y + p.lane/2, Name: l.Name})
	}
	y := plotTop + float64(len(all))*p.lane
	p.Lanes = append(p.Lanes, chartLane{Y: y, H: p.lane, Mid: y + p.lane/2, Name: "writes"})
	return all
}

// draw draws what one node did.
func (p *runPlotter) draw(l *timeline.Lane, y float64, detail bool) {
	mid := y + p.lane/2
	p.path("wait", l.Waits, mid-1, 2)
	h := p.lane - 6
	var beliefs, valid []timeline.Span
	for _, g := range l.Holds {
		if p.visible(g.Belief) {
			beliefs, valid = append(beliefs, g.Belief), append(valid, g.Valid...)
		}
	}
	switch {
	case p.dense(beliefs):
		p.shares("belief", beliefs, y+3, h)
		p.shares("valid", valid, y+3, h)
	case len(beliefs) > mostGrantBars/mostLanes*2 || !detail:
		p.path("belief", beliefs, y+3, h)
		p.path("valid", valid, y+3, h)
	default:
		p.bars(l, y+3, h)
	}
	var twice []timeline.Span
	for _, x := range p.run.tracks.Twice {
		if x.A == l.Name || x.B == l.Name {
			twice = append(twice, x.Span)
		}
	}
	p.path("overlap", twice, y+1, 2)
	p.path("overlap", twice, y+p.lane-3, 2)
}

// bars draws each grant of a lane on its own, with its token if there is room.
func (p *runPlotter) bars(l *timeline.Lane, y, h float64) {
	for _, g := range l.Holds {
		if !p.visible(g.Belief) {
			continue
		}
		x, to := p.x(g.Belief.From), p.x(g.Belief.To)
		title := fmt.Sprintf("%s believes to hold %q from %s for %s", l.Name, g.Key, p.time(g.Belief.From), say.Length(g.Belief.Length()))
		if g.Token != 0 {
			title += fmt.Sprintf(", token %d", g.Token)
		}
		p.Bars = append(p.Bars, chartBar{"belief", title, x, y, max(to-x, 0.8), h})
		for _, v := range g.Valid {
			if p.visible(v) {
				p.Bars = append(p.Bars, chartBar{"valid", title + "; its lease is good here", p.x(v.From), y, max(p.x(v.To)-p.x(v.From), 0.8), h})
			}
		}
		if text := strconv.FormatInt(g.Token, 10); g.Token != 0 && to-x > letterWide*float64(len(text))+6 {
			mid := (x + to) / 2
			valid := slices.ContainsFunc(g.Valid, func(v timeline.Span) bool { return p.x(v.From) < mid && mid < p.x(v.To) })
			p.Texts = append(p.Texts, chartText{mid, y + h - 3.5, text, !valid})
		}
	}
}

// path draws spans as one path; what is closer than a pixel to the one before is
// drawn as one with it.
func (p *runPlotter) path(class string, spans []timeline.Span, y, h float64) {
	const apart = 0.7
	var d strings.Builder
	from, to := 0.0, -1.0
	flush := func() {
		if to >= from {
			d.WriteString("M" + tenths(from) + " " + tenths(y) + "h" + tenths(max(to-from, apart)) + "v" + tenths(h) + "H" + tenths(from) + "z")
		}
	}
	for _, s := range spans {
		if !p.visible(s) {
			continue
		}
		a, b := p.x(s.From), p.x(s.To)
		if to >= from && a < max(to, from+apart)+apart {
			if b-a < apart {
				p.joined++
			}
			to = max(to, b)
			continue
		}
		flush()
		from, to = a, b
	}
	flush()
	if d.Len() > 0 {
		p.Paths = append(p.Paths, chartPath{class, d.String()})
	}
}
