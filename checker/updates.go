package checker

import (
	"fmt"
	"strconv"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// side picks one copy of the guarded resource.
type side struct {
	name string
	of   func(*history.Op) *history.Copy
}

var (
	unfenced = side{"unfenced", func(op *history.Op) *history.Copy { return op.Unfenced }}
	fencedOf = side{"fenced", func(op *history.Op) *history.Copy { return op.Fenced }}
)

func noLostUpdateUnfenced(r *run) outcome { return r.noLostUpdate(unfenced) }

func noLostUpdateFenced(r *run) outcome { return r.noLostUpdate(fencedOf) }

// noLostUpdate follows the links of the accepted writes of one copy: what each
// wrote, what its writer had seen, and what stood there. A write that overwrote
// what its writer had not seen lost an update. The log of the resource decides,
// not the clients, so nothing depends on clocks. O(n).
func (r *run) noLostUpdate(s side) outcome {
	u := updates{r: r, side: s}
	notes := 0
	for _, k := range r.keys {
		notes += u.key(k)
	}
	u.neverApplied(notes)
	u.unread()
	u.strayed()
	o := outcome{verdict: Holds, found: u.found,
		reason: fmt.Sprintf("None of %s was lost in the %s copy.", nouns.Count(u.acknowledged, "acknowledged update"), s.name),
		summary: fmt.Sprintf("%d of %s %s lost in the %s copy.", len(u.gone),
			nouns.Count(u.acknowledged, "acknowledged update"), was(len(u.gone)), s.name),
	}
	switch {
	case notes == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("The resource left no log of its %s copy.", s.name)
	case u.acknowledged == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("No write of the %s copy was acknowledged.", s.name)
	case u.strange != "":
		o.verdict, o.reason = Unknown, u.strange
	}
	return o
}

type updates struct {
	r            *run
	side         side
	found        found
	gone         map[string]bool // updates that are certainly lost; one may show in several violations
	acknowledged int
	strange      string         // what stands in the copy and was not accepted, in words
	successor    map[string]int // built when the log is out of order: previous value to the write that replaced it
}

// key judges the log of one key and returns how many notes it had.
func (u *updates) key(k *keyLog) (notes int) {
	u.successor = nil
	last := ""
	for at, i := range k.Resource {
		op := &u.r.Ops[i]
		c := u.side.of(op)
		if op.F != history.Apply || c == nil {
			continue
		}
		notes++
		if !c.Accepted {
			continue
		}
		if u.acked(op.Value) {
			u.acknowledged++
		}
		switch {
		case c.Base != c.Previous:
			u.overwrote(k, op, c)
		case c.Previous != last:
			u.forked(k, at, op, c)
		}
		if u.successor != nil {
			u.successor[c.Previous] = i
		}
		last = op.Value
	}
	return notes
}

// acked says whether the writer was told that its write was accepted.
func (u *updates) acked(value string) bool {
	slot, ok := u.r.ByValue[value]
	if !ok || u.r.Writes[slot].Done < 0 {
		return false
	}
	done := &u.r.Ops[u.r.Writes[slot].Done]
	if done.Type != history.OK {
		return false
	}
	c := u.side.of(done)
	return c == nil || c.Accepted
}

// lost records a violation that shows the loss of an update.
func (u *updates) lost(value string, v Violation, format string, args ...any) {
	certain := u.found.certain
	u.found.add(u.r, v, format, args...)
	if u.found.certain > certain {
		if u.gone == nil {
			u.gone = map[string]bool{}
		}
		u.gone[value] = true
	}
}

// overwrote records a write whose writer had not seen what it replaced.
func (u *updates) overwrote(k *keyLog, op *history.Op, c *history.Copy) {
	slot, ok := u.r.ByValue[c.Previous]
	if !ok || c.Previous == "" {
		u.lost(c.Previous, Violation{Key: k.Name, At: op.Time, Operations: []int{op.Index}},
			"%s had read %s of %q, but its write %q at %s replaced %s: the update in between is lost.",
			u.writer(op), named(c.Base), k.Name, op.Value, u.r.seconds(op.Time), named(c.Previous))
		return
	}
	w := u.r.Writes[slot]
	lost := &u.r.Ops[max(w.Apply, w.Invoke)]
	if lost.Owner == op.Owner && op.Owner != "" {
		return // its own earlier write is no update of somebody else
	}
	u.lost(c.Previous, Violation{Key: k.Name, At: op.Time, Possible: !u.acked(c.Previous), Operations: []int{lost.Index, w.Done, op.Index}},
		"%s overwrote %q of %s at %s with %q in the %s copy of %q, having read %s before it.",
		u.writer(op), c.Previous, u.writer(lost), u.r.seconds(op.Time), op.Value, u.side.name, k.Name, named(c.Base))
}

// named is a value of the resource for a message, in the words of the story.
func named(value string) string {
	if value == "" {
		return "the empty value"
	}
	return strconv.Quote(value)
}

// forked looks for a second write that replaced the same value as op did: the
// resource itself forgot one of them. It is asked only where the log does not
// simply go on, as notes may be stamped in another order than writes were made.
func (u *updates) forked(k *keyLog, at int, op *history.Op, c *history.Copy) {
	if u.successor == nil {
		u.successor = map[string]int{}
		for _, i := range k.Resource[:at] {
			before := &u.r.Ops[i]
			if b := u.side.of(before); before.F == history.Apply && b != nil && b.Accepted {
				u.successor[b.Previous] = i
			}
		}
	}
	i, ok := u.successor[c.Previous]
	if !ok || u.r.Ops[i].Value == op.Value {
		return
	}
	other := &u.r.Ops[i]
	u.lost(other.Value, Violation{Key: k.Name, At: op.Time, Possible: !u.acked(other.Value), Operations: []int{other.Index, op.Index}},
		"%q of %s and %q of %s both replaced %s in the %s copy of %q: the resource lost the first by %s.",
		other.Value, u.writer(other), op.Value, u.writer(op), named(c.Previous), u.side.name, k.Name, u.r.seconds(op.Time))
}

// neverApplied finds writes that were acknowledged but stand in no log. The log is in
// order: where it goes on, or has come to its end, that is proof; behind its last entry
// nothing is, as the rest may not have come.
func (u *updates) neverApplied(notes int) {
	if notes == 0 {
		return
	}
	for _, w := range u.r.Writes {
		if w.Done < 0 || w.Apply >= 0 && u.applied(w) {
			continue
		}
		done := &u.r.Ops[w.Done]
		c := u.side.of(done)
		if done.Type != history.OK || c == nil || !c.Accepted {
			continue
		}
		u.acknowledged++
		by := -1
		if w.Apply < 0 {
			var sure bool
			if by, sure = u.r.logged(u.r.Ops[w.Invoke].Key, done.Time); !sure {
				u.found.missing++
				continue
			}
		}
		op := &u.r.Ops[w.Invoke]
		u.lost(op.Value, Violation{Key: op.Key, At: done.Time, Operations: []int{w.Invoke, w.Done, by}},
			"%q of %s was acknowledged at %s, but the %s copy of %q never applied it.",
			op.Value, u.writer(op), u.r.seconds(done.Time), u.side.name, op.Key)
	}
}

func (u *updates) applied(w trace.Write) bool {
	c := u.side.of(&u.r.Ops[w.Apply])
	return c != nil && c.Accepted
}

// writer names who wrote op, which may be a note of the resource.
func (u *updates) writer(op *history.Op) string {
	if g := u.r.ByOwner[op.Owner]; g != nil {
		return g.Who()
	}
	if slot, ok := u.r.ByValue[op.Value]; ok && u.r.Writes[slot].Invoke >= 0 {
		op = &u.r.Ops[u.r.Writes[slot].Invoke]
	}
	if op.F == history.Write && op.Node != "" {
		return op.Node
	}
	if op.Type == history.Note && op.Process == 0 && op.Owner != "" {
		return fmt.Sprintf("%q, of whose client nothing is recorded,", op.Owner)
	}
	return fmt.Sprintf("process %d", op.Process)
}
