package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// draw draws the picture on a canvas of this height.
func (p *Picture) draw(c vg.Canvas) {
	height := p.height()
	d := &picturePen{c: c, height: height}
	d.rect(0, 0, pictureWide, height, "paper")
	y := p.head()
	if !p.bare {
		d.text(pictureMargin, 44, 21, true, "ink", say.Clip(p.title, 74))
		for i, line := range p.lines() {
			d.text(pictureMargin, 64+20*float64(i), 13.5, false, "ink", line)
		}
	}
	for i, stretch := range p.panels {
		y += map[bool]float64{true: 34, false: panelFoot}[i == 0]
		stretch.top = y
		y = stretch.bottom()
	}
	if len(p.panels) > 1 {
		p.drawLens(d, p.panels[0], p.panels[1])
	}
	for _, stretch := range p.panels {
		stretch.draw(d)
	}
	p.drawLegend(d, y+50)
	facts := p.facts
	if p.left > 0 {
		facts += fmt.Sprintf("; %s not drawn", say.Count(p.left, "node"))
	}
	if p.bare {
		return
	}
	d.text(pictureMargin, height-16, 10.5, false, "muted", say.Clip(facts+" · dlmtest", 150))
}

func (p *stretch) draw(d *picturePen) {
	p.drawGrid(d)
	p.drawFaults(d)
	y := p.top
	for _, l := range p.lanes {
		p.drawLane(d, l, y)
		y += pictureLane
	}
	for _, name := range p.copies {
		d.textRight(pictureNames+pictureMargin-10, y+pictureLane/2+4, 12.5, true, "ink", name)
		y += pictureLane
	}
	p.drawMoment(d)
	p.drawWrites(d)
}

// scale places the times of a panel beside the names of its lanes.
func (p *stretch) scale() timeline.Scale {
	return timeline.Scale{Span: p.window, Left: pictureMargin + pictureNames, Right: pictureWide - pictureMargin}
}

func (p *stretch) x(at int64) float64 { return p.scale().X(at) }

// drawLens shows which part of the upper panel the lower one magnifies.
func (p *Picture) drawLens(d *picturePen, whole, near *stretch) {
	from, to := whole.x(near.window.From), whole.x(near.window.To)
	d.shape("lens", from, whole.top, to, whole.top, to, whole.bottom(), pictureWide-pictureMargin, near.top,
		pictureMargin+pictureNames, near.top, from, whole.bottom())
}

func (p *stretch) drawGrid(d *picturePen) {
	for i := range len(p.lanes) + len(p.copies) + 1 {
		y := p.top + float64(i)*pictureLane
		d.line(pictureMargin+pictureNames, y, pictureWide-pictureMargin, y, 0.5, "line")
	}
	since := timeline.Scale{Span: timeline.Span{From: p.window.From - p.start, To: p.window.To - p.start}} // as a reader counts
	for _, t := range since.Ticks() {
		x := p.x(t.At + p.start)
		d.line(x, p.top, x, p.bottom(), 0.5, "line")
		d.textCentre(min(x, pictureWide-pictureMargin-8), p.bottom()+15, 10.5, false, "muted", strings.TrimPrefix(t.Text, "+"))
	}
}

func (p *stretch) drawFaults(d *picturePen) {
	last, shown := 0.0, map[int]bool{}
	wash, lanes := newBars(d, "faultwash"), map[string]*bars{}
	for _, l := range p.lanes {
		lanes[l.Name] = newBars(d, "fault")
	}
	for _, f := range p.tracks.Faults {
		if !f.Span.Meets(p.window) {
			continue
		}
		x, to := p.x(f.From), p.x(f.To)
		if !shown[f.Id] {
			wash.draw(x, max(to-x, 1), p.bottom()-p.top, p.top)
		}
		for i, l := range p.lanes {
			if l.Name == f.Victim {
				lanes[l.Name].draw(x, max(to-x, 1), pictureLane-2, p.top+float64(i)*pictureLane+1)
			}
		}
		label := fmt.Sprintf("%s of %s for %s", f.Kind, p.victims(f.Id), say.Length(f.Span.Length()))
		if !f.Seen {
			label += " (not seen at the victim)"
		}
		if !shown[f.Id] && x >= last {
			label = say.Clip(label, int((pictureWide-pictureMargin-x)/6))
			d.text(x, p.top-7, 11, true, "faultline", label)
			last = x + d.wide(11, true, label) + 10
		}
		shown[f.Id] = true
	}
}

// victims are those of a fault that is seen in the window, in words.
func (p *stretch) victims(fault int) string {
	var names []string
	for _, f := range p.tracks.Faults {
		if f.Id == fault && f.Span.Meets(p.window) && !slices.Contains(names, f.Victim) {
			names = append(names, f.Victim)
		}
	}
	slices.Sort(names)
	if len(names) > 2 {
		return fmt.Sprintf("%s and %d others", names[0], len(names)-1)
	}
	return strings.Join(names, " and ")
}

func (p *stretch) drawLane(d *picturePen, l *timeline.Lane, y float64) {
	mid := y + pictureLane/2
	d.textRight(pictureNames+pictureMargin-10, mid+4, 12.5, false, "ink", say.Clip(l.Name, 17))
	waits, beliefs, valid, twice, tokens := newBars(d, "wait"), newBars(d, "belief"), newBars(d, "valid"), newBars(d, "overlap"), mostTokens
	for _, w := range l.Waits {
		if w.Meets(p.window) {
			waits.draw(p.x(w.From), max(p.x(w.To)-p.x(w.From), 0.5), 2.4, mid-1.2)
		}
	}
	for _, h := range l.Holds {
		if !h.Belief.Meets(p.window) {
			continue
		}
		x, to := p.x(h.Belief.From), p.x(h.Belief.To)
		beliefs.draw(x, max(to-x, 1), 18, mid-9)
		for _, v := range h.Valid {
			if v.Meets(p.window) {
				valid.draw(p.x(v.From), max(p.x(v.To)-p.x(v.From), 1), 18, mid-9)
			}
		}
		if tokens > 0 && p.drawToken(d, h, x, to, mid) {
			tokens--
		}
	}
	for _, x := range p.tracks.Twice {
		if (x.A == l.Name || x.B == l.Name) && x.Span.Meets(p.window) {
			a, b := p.x(x.From), p.x(x.To)
			twice.draw(a, max(b-a, 1), 3, mid-12, mid+9)
		}
	}
}

// drawToken writes the token of a grant into its bar, as long as there is room.
func (p *stretch) drawToken(d *picturePen, h timeline.Hold, x, to, mid float64) bool {
	if h.Token == 0 {
		return false
	}
	for _, text := range []string{fmt.Sprintf("token %d", h.Token), fmt.Sprint(h.Token)} {
		if wide := d.wide(11, true, text); wide+8 < to-x {
			tone := "ink"
			if slices.ContainsFunc(h.Valid, func(v timeline.Span) bool { return p.x(v.From) <= x+1 && x+wide < p.x(v.To) }) {
				tone = "paper"
			}
			d.text(x+5, mid+4, 11, true, tone, text)
			return true
		}
	}
	return false
}

// drawWrites draws the writes at both copies, with a line from their writer. Where
// there are many, only the late ones are drawn.
func (p *stretch) drawWrites(d *picturePen) {
	var seen []timeline.Write
	for _, w := range p.tracks.Writes {
		if p.window.Holds(w.At) {
			seen = append(seen, w)
		}
	}
	if p.late || len(seen) > mostPicturedWrites {
		seen = slices.DeleteFunc(seen, func(w timeline.Write) bool { return !w.Stale })
		seen = seen[:min(len(seen), mostPicturedWrites)]
	}
	for _, w := range seen {
		x := p.x(w.At)
		if lane := slices.IndexFunc(p.lanes, func(l *timeline.Lane) bool { return l.Name == w.Node }); lane >= 0 {
			tone := "wait"
			if w.Stale {
				tone = "overlap"
			}
			d.line(x, p.top+(float64(lane)+0.5)*pictureLane+9, x, p.top+(float64(len(p.lanes)+len(p.copies))-0.5)*pictureLane, 0.8, tone)
		}
		for i, o := range []int64{w.Unfenced, w.Fenced}[:len(p.copies)] {
			d.decided(x, p.top+(float64(len(p.lanes)+i)+0.5)*pictureLane, o, w.Stale)
		}
	}
}

// drawMoment marks the instant of the violation.
func (p *stretch) drawMoment(d *picturePen) {
	if p.at == 0 || !p.window.Holds(p.at) {
		return
	}
	x := p.x(p.at)
	d.dashed(x, p.top, x, p.bottom()+20, 1.2, "overlap")
	if p.late {
		return // the magnified panel says it
	}
	text := "violation, " + say.Seconds(p.at-p.start)
	if right := x + d.wide(11, true, text) + 6; right > pictureWide-pictureMargin {
		d.textRight(x-5, p.bottom()+30, 11, true, "overlap", text)
		return
	}
	d.text(x+5, p.bottom()+30, 11, true, "overlap", text)
}

func (p *Picture) drawLegend(d *picturePen, y float64) {
	x := float64(pictureMargin)
	for _, item := range []struct{ text, tone string }{
		{"believes, lease valid", "valid"}, {"believes, lease over", "belief"}, {"waits", "wait"}, {"two believe at once", "overlap"}, {"fault", "fault"},
	} {
		h := map[string]float64{"wait": 3, "overlap": 3}[item.tone]
		h = cmp.Or(h, 10)
		d.rect(x, y-4-h/2, 20, h, item.tone)
		d.text(x+26, y, 11, false, "ink", item.text)
		x += 26 + d.wide(11, false, item.text) + 18
	}
	for _, item := range []struct {
		text  string
		o     int64
		stale bool
	}{{"write accepted", 1, false}, {"refused", 2, false}, {"late write", 1, true}} {
		d.decided(x+6, y-4, item.o, item.stale)
		d.text(x+18, y, 11, false, "ink", item.text)
		x += 18 + d.wide(11, false, item.text) + 18
	}
}
