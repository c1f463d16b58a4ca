package trace

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Overlap is a time in which two clients believe to hold a key that the lock must not
// give to both, each in one mode. A's hold began first.
type Overlap struct {
	Span
	A, B *Grant
}

// mostBeside is with how many others, those that last longest, a hold is compared: where
// more believe at once their overlaps cover each other.
const mostBeside = 64

// Overlaps finds where clients believe to hold a key at once, in the order of their begin.
// Whether somebody acted meanwhile is not asked: that is for the judge.
func (t *Trace) Overlaps(k *Key) (all []Overlap) {
	var shares, open []Share
	for _, g := range k.Grants {
		shares = g.Shares(shares, g.OK, g.Until)
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return int(a.From - b.From) })
	for _, s := range shares {
		open = slices.DeleteFunc(open, func(o Share) bool { return o.To <= s.From })
		for _, o := range open {
			if o.Grant.Process != s.Grant.Process && t.tooMuch(open, o, s) { // one process that holds twice is no overlap
				all = append(all, Overlap{Span{From: s.From, To: min(s.To, o.To)}, o.Grant, s.Grant})
			}
		}
		if open = append(open, s); len(open) > mostBeside {
			first := 0
			for i, o := range open {
				if o.To < open[first].To {
					first = i
				}
			}
			open = slices.Delete(open, first, first+1)
		}
	}
	return all
}

// tooMuch says whether s, which begins while open last, must not be beside o, one of them.
func (t *Trace) tooMuch(open []Share, o, s Share) bool {
	switch t.Setup.Kind {
	case history.Semaphore:
		sum := s.Permits
		for _, o := range open {
			sum += o.Permits
		}
		return sum > t.Setup.Permits
	case history.ReadWrite:
		return o.Exclusive || s.Exclusive
	}
	return true
}

// Superseder is the first grant that was certainly made after g and must not be beside
// it; nil: none was, or the lock may be held by several.
func (t *Trace) Superseder(g *Grant) *Grant {
	if t.Setup.Kind != history.ReadWrite {
		return g.By
	}
	for _, h := range g.Key.Grants {
		if Surely(g, h) && (g.lastMode() == history.Exclusive || h.Mode == history.Exclusive) {
			return h
		}
	}
	return nil
}

// Retaken is the earlier grant of the same client, key and token as g whose release nobody answered: the lock took the
// client for who holds it already. nil: there is none.
func (g *Grant) Retaken() (before *Grant) {
	for _, h := range g.Key.Grants {
		if h != g && h.Node == g.Node && h.Token == g.Token && h.OK < g.OK && h.Release >= 0 && h.Released < 0 && g.Token != 0 {
			before = h
		}
	}
	return before
}

// lastMode is the mode in which g was held at its end.
func (g *Grant) lastMode() history.Mode {
	if n := len(g.Turns); n > 0 {
		return g.Turns[n-1].Mode
	}
	return g.Mode
}

// Stale says whether a write reached the resource, or set out where it never did, on a
// grant that had been superseded.
func (t *Trace) Stale(w *Write) bool {
	if w.Grant == nil {
		return false
	}
	by := t.Superseder(w.Grant)
	return by != nil && by.OK < t.Ops[max(w.Invoke, w.Apply)].Time
}
