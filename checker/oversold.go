package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// neverOversold counts the sales of each key in the log of one copy. A sale is an
// accepted write that leaves less than its writer had read, and sells as many. The counter
// says how many are left; who writes it from an old reading puts back what others have
// sold, and what is sold again is sold twice. O(n).
func (r *run) neverOversold(s side) outcome {
	o := oversold{r: r, side: s, stock: r.Setup.Use.Stock, first: -1}
	for _, k := range r.keys {
		o.key(k)
	}
	out := outcome{verdict: Holds, found: o.found,
		reason:  fmt.Sprintf("%s of a stock of %d, never more in the %s copy%s.", nouns.Count(o.sales, "sale"), o.stock, s.name, o.figures()),
		summary: fmt.Sprintf("%s beyond a stock of %d in the %s copy%s.", nouns.Count(o.beyond, "sale"), o.stock, s.name, o.figures()),
	}
	switch {
	case o.sales == 0:
		out.verdict, out.reason = Unknown, fmt.Sprintf("Nothing was sold in the %s copy.", s.name)
	case o.soldOut == 0:
		out.verdict, out.reason = Unknown, fmt.Sprintf("Only %s of a stock of %d in the %s copy: nothing was sold out.",
			nouns.Count(o.sales, "sale"), o.stock, s.name)
	case r.Setup.Use.Lockless && o.refused == 0:
		out.verdict, out.reason = Unknown, "No two clients met: the version column never had to refuse."
	}
	return out
}

type oversold struct {
	r              *run
	side           side
	stock          int
	found          found
	sales, soldOut int
	beyond         int // of the sales, those of more than there was
	refused        int
	first, last    int // sales, over all keys
}

func (o *oversold) figures() string {
	text := o.r.rate(o.sales, o.first, o.last)
	if o.r.Setup.Use.Lockless {
		text += fmt.Sprintf("; the version column refused %s that came second", nouns.Count(o.refused, "write"))
	}
	return text
}

func (o *oversold) key(k *keyLog) {
	sold, back := 0, -1 // back: the last write that put the counter back
	for _, i := range k.Resource {
		op := &o.r.Ops[i]
		c := o.side.of(op)
		if op.F != history.Apply || c == nil {
			continue
		}
		if !c.Accepted {
			o.refused++
			continue
		}
		left, ok := o.left(op.Value)
		seen, ok2 := o.left(c.Base)
		if !ok || !ok2 {
			continue
		}
		if stood, ok := o.left(c.Previous); ok && left >= stood && c.Base != c.Previous {
			back = i
		}
		if left >= seen {
			continue // nothing was left in this world
		}
		before := sold
		sold += seen - left
		o.sales += seen - left
		if o.first < 0 {
			o.first = i
		}
		o.last = i
		if before < o.stock && sold >= o.stock {
			o.soldOut++
		}
		if sold > o.stock {
			o.beyond += sold - max(before, o.stock)
			o.tell(k, i, back, sold)
		}
	}
}

// left is the number that a value leaves; what was never written is the whole stock.
func (o *oversold) left(value string) (int, bool) {
	if value == "" {
		return o.stock, true
	}
	p, ok := history.PairOf(value)
	if o.side.name == fencedOf.name {
		return p.Fenced, ok
	}
	return p.Unfenced, ok
}

func (o *oversold) tell(k *keyLog, i, back, sold int) {
	r, notes, why := o.r, []int{i}, ""
	if back >= 0 {
		was, _ := o.left(o.side.of(&r.Ops[back]).Previous)
		is, _ := o.left(r.Ops[back].Value)
		why = fmt.Sprintf(": %s had put the counter from %d to %d at %s", r.doer(back), was, is, r.seconds(r.Ops[back].Time))
		notes = append(notes, back)
	}
	o.found.add(r, Violation{Key: k.Name, At: r.Ops[i].Time, Operations: r.evidence(notes...)},
		"%s made sale %d of %q at %s, of which there were %d in stock%s.", r.doer(i), sold, k.Name, r.seconds(r.Ops[i].Time), o.stock, why)
}
