package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// bands draws the faults: each as long as it lasted on any victim, over all lanes,
// and stronger on its victims.
func (p *runPlotter) bands() {
	type band struct {
		span
		kind, proof string
		victims     []string
		seen        bool
	}
	var all []*band
	byID := map[int]*band{}
	for _, f := range p.run.tracks.faults {
		b := byID[f.id]
		if b == nil {
			b = &band{span: f.span, kind: f.kind, seen: true}
			byID[f.id], all = b, append(all, b)
		}
		b.from, b.to, b.seen = min(b.from, f.from), max(b.to, f.to), b.seen && f.seen
		b.victims, b.proof = append(b.victims, f.victim), cmp.Or(b.proof, f.proof)
	}
	last := 0.0
	for i, b := range all {
		if !p.visible(b.span) {
			continue
		}
		if i == mostBands {
			p.Notes = append(p.Notes, fmt.Sprintf("%d of %d faults are drawn.", mostBands, len(all)))
			return
		}
		p.band(b.span, "fault", b.kind, b.proof, b.victims, b.seen, &last)
	}
}

func (p *runPlotter) band(s span, class, kind, proof string, victims []string, seen bool, last *float64) {
	x := p.x(s.from)
	label := kind + " of " + names(victims)
	title := fmt.Sprintf("%s, %s for %s", label, p.time(s.from), length(duration(s)))
	if seen {
		title += "; seen at the victim: " + proof
	} else {
		title, class = title+"; NOT seen at every victim", "fault missed"
		label += " (not seen)"
	}
	p.Bands = append(p.Bands, chartBar{class, title, x, plotTop, max(p.x(s.to)-x, 1), p.Plot - plotTop})
	for i := range p.Lanes {
		if l := &p.Lanes[i]; slices.Contains(victims, l.Name) {
			l.Struck = true
			p.Bands = append(p.Bands, chartBar{"struck", title, x, l.Y + 1, max(p.x(s.to)-x, 1), l.H - 2})
		}
	}
	if room := plotWidth - x; x >= *last && room > letterWide*6 {
		label = clipped(label, int(room/letterWide))
		p.Labels = append(p.Labels, chartText{X: x, Y: 10, Text: label})
		*last = x + letterWide*float64(len(label)) + 8
	}
}

// writes draws each write where the resource decided it, late ones on their own.
func (p *runPlotter) writes(y float64) {
	var plain []span
	late := 0
	for _, w := range p.run.tracks.writes {
		at := span{w.at, w.at}
		if !w.stale {
			plain = append(plain, at)
			continue
		}
		if late++; !p.visible(at) || late > mostStale {
			continue
		}
		class, what := "late accepted", "accepted by the fenced copy, too"
		switch w.fenced {
		case 2:
			class, what = "late refused", "refused by the fenced copy"
		case 0:
			what = "accepted; there is no fenced copy"
		}
		title := fmt.Sprintf("late write %s of %s at %s, on a grant that was no longer its own: %s", w.value, w.node, p.time(w.at), what)
		p.Bars = append(p.Bars, chartBar{class, title, p.x(w.at), y + p.lane/2, 5, 5})
	}
	if p.dense(plain) {
		p.counts("write", plain, y+3, p.lane-6)
	} else {
		p.path("write", plain, y+p.lane/2-4, 8)
	}
	if late > mostStale {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of %s late writes are drawn.", mostStale, thousands(late)))
	}
}

// flags marks the violations, those that would cover each other once.
func (p *runPlotter) flags() {
	for _, v := range p.run.Violations {
		at := span{int64(v.At) + p.zero, int64(v.At) + p.zero}
		if !p.visible(at) || len(p.Flags) == mostFlags {
			continue
		}
		title := fmt.Sprintf("violation %d of %s, %s: %s", v.Number, v.Property, p.time(at.from), v.Message)
		if n := len(p.Flags); n > 0 && p.x(at.from)-p.Flags[n-1].X < flagWide {
			p.Flags[n-1].Title += "\n" + title
			if !strings.HasSuffix(p.Flags[n-1].Text, "+") {
				p.Flags[n-1].Text += "+"
				p.Flags[n-1].W += letterWide
			}
			continue
		}
		p.Flags = append(p.Flags, chartFlag{p.x(at.from), letterWide*float64(len(strconv.Itoa(v.Number))) + 7,
			strconv.Itoa(v.Number), title, fmt.Sprintf("#%s-violation-%d", p.ID, v.Number)})
	}
}
