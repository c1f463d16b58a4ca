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

// bands draws the faults: each as long as it lasted on any victim, over all lanes,
// and stronger on its victims.
func (p *runPlotter) bands() {
	type band struct {
		timeline.Span
		kind, proof string
		victims     []string
		seen        bool
	}
	var all []*band
	byID := map[int]*band{}
	for _, f := range p.run.tracks.Faults {
		b := byID[f.Id]
		if b == nil {
			b = &band{Span: f.Span, kind: f.Kind, seen: true}
			byID[f.Id], all = b, append(all, b)
		}
		b.From, b.To, b.seen = min(b.From, f.From), max(b.To, f.To), b.seen && f.Seen
		b.victims, b.proof = append(b.victims, f.Victim), cmp.Or(b.proof, f.Proof)
	}
	last := 0.0
	for i, b := range all {
		if !p.visible(b.Span) {
			continue
		}
		if i == mostBands {
			p.Notes = append(p.Notes, fmt.Sprintf("%d of %d faults are drawn.", mostBands, len(all)))
			return
		}
		p.band(b.Span, "fault", b.kind, b.proof, b.victims, b.seen, &last)
	}
}

func (p *runPlotter) band(s timeline.Span, class, kind, proof string, victims []string, seen bool, last *float64) {
	x := p.x(s.From)
	label := kind + " of " + say.Names(victims)
	title := fmt.Sprintf("%s, %s for %s", label, p.time(s.From), say.Length(s.Length()))
	if seen {
		title += "; seen at the victim: " + proof
	} else {
		title, class = title+"; NOT seen at every victim", "fault missed"
		label += " (not seen)"
	}
	p.Bands = append(p.Bands, chartBar{class, title, x, plotTop, max(p.x(s.To)-x, 1), p.Plot - plotTop})
	for i := range p.Lanes {
		if l := &p.Lanes[i]; slices.Contains(victims, l.Name) {
			l.Struck = true
			p.Bands = append(p.Bands, chartBar{"struck", title, x, l.Y + 1, max(p.x(s.To)-x, 1), l.H - 2})
		}
	}
	if room := plotWidth - x; x >= *last && room > letterWide*6 {
		label = say.Clip(label, int(room/letterWide))
		p.Labels = append(p.Labels, chartText{X: x, Y: 10, Text: label})
		*last = x + letterWide*float64(len(label)) + 8
	}
}

// writes draws each write where the resource decided it, late ones on their own.
func (p *runPlotter) writes(y float64) {
	var plain []timeline.Span
	late := 0
	for _, w := range p.run.tracks.Writes {
		at := timeline.Span{From: w.At, To: w.At}
		if !w.Stale {
			plain = append(plain, at)
			continue
		}
		if late++; !p.visible(at) || late > mostStale {
			continue
		}
		class, what := "late accepted", "accepted by the fenced copy, too"
		switch w.Fenced {
		case 2:
			class, what = "late refused", "refused by the fenced copy"
		case 0:
			what = "accepted; there is no fenced copy"
		}
		title := fmt.Sprintf("late write %s of %s at %s, on a grant that was no longer its own: %s", w.Value, w.Node, p.time(w.At), what)
		p.Bars = append(p.Bars, chartBar{class, title, p.x(w.At), y + p.lane/2, 5, 5})
	}
	if p.dense(plain) {
		p.counts("write", plain, y+3, p.lane-6)
	} else {
		p.path("write", plain, y+p.lane/2-4, 8)
	}
	if late > mostStale {
		p.Notes = append(p.Notes, fmt.Sprintf("%d of %s late writes are drawn.", mostStale, say.Thousands(late)))
	}
}

// flags marks the violations, those that would cover each other once.
func (p *runPlotter) flags() {
	for _, v := range p.run.Violations {
		at := timeline.Span{From: int64(v.At) + p.zero, To: int64(v.At) + p.zero}
		if !p.visible(at) || len(p.Flags) == mostFlags {
			continue
		}
		title := fmt.Sprintf("violation %d of %s, %s: %s", v.Number, v.Property, p.time(at.From), v.Message)
		if n := len(p.Flags); n > 0 && p.x(at.From)-p.Flags[n-1].X < flagWide {
			p.Flags[n-1].Title += "\n" + title
			if !strings.HasSuffix(p.Flags[n-1].Text, "+") {
				p.Flags[n-1].Text += "+"
				p.Flags[n-1].W += letterWide
			}
			continue
		}
		p.Flags = append(p.Flags, chartFlag{p.x(at.From), letterWide*float64(len(strconv.Itoa(v.Number))) + 7,
			strconv.Itoa(v.Number), title, fmt.Sprintf("#%s-violation-%d", p.ID, v.Number)})
	}
}
