package checker

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

func tokenedOrLockless(s history.Setup) (bool, string) {
	if s.Use.Lockless {
		return true, ""
	}
	return tokened(s)
}

// evidence is what a violation by effects or writes names: each with its invoke and
// the grant it was made on.
func (r *run) evidence(notes ...int) (ops []int) {
	for _, i := range notes {
		op := &r.Ops[i]
		ops = append(ops, i)
		if e := r.ByEffect[op.Value]; e != nil && e.Invoke >= 0 {
			ops = append(ops, e.Invoke)
		}
		if slot, ok := r.ByValue[op.Value]; ok && r.Writes[slot].Invoke >= 0 {
			ops = append(ops, r.Writes[slot].Invoke)
		}
		if g := r.ByOwner[op.Owner]; g != nil {
			ops = append(ops, g.Op)
		}
	}
	return ops
}

// doer names who made an effect or a write.
func (r *run) doer(i int) string {
	op := &r.Ops[i]
	if g := r.ByOwner[op.Owner]; g != nil {
		return g.Who()
	}
	if e := r.ByEffect[op.Value]; e != nil && e.Invoke >= 0 {
		return r.client(e.Invoke)
	}
	return (&updates{r: r}).writer(op)
}

// actsAs is as whom an effect, a write, or the note of one, was made: the owner of its grant or, where nobody says it,
// the client that asked.
func (r *run) actsAs(i int) string {
	if owner := r.Ops[i].Owner; owner != "" {
		return owner
	}
	if e := r.ByEffect[r.Ops[i].Value]; e != nil && e.Invoke >= 0 {
		i = e.Invoke
	}
	return "without an owner: " + r.client(i)
}

// rate writes how often something happened from the first note to the last.
func (r *run) rate(n, first, last int) string {
	took := r.Ops[max(last, 0)].Time - r.Ops[max(first, 0)].Time
	if n < 2 || took <= 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f a second", float64(n-1)/(float64(took)/1e9))
}

// unlogged are the answers that accepted an effect of a key which the resource's log does not have, although all of its log
// has come, or it goes on: by what it said they happened.
func (r *run) unlogged(k *keyLog) []int {
	if r.known.unlogged == nil {
		r.known.unlogged = map[string][]int{}
		for _, e := range r.ByEffect {
			if e.Note >= 0 || e.Done < 0 || r.Ops[e.Done].Type != history.OK {
				continue
			}
			key := r.Ops[e.Done].Key
			if _, sure := r.logged(key, r.Ops[e.Done].Time); sure {
				r.known.unlogged[key] = append(r.known.unlogged[key], e.Done)
			}
		}
		for _, dones := range r.known.unlogged {
			slices.Sort(dones)
		}
	}
	return r.known.unlogged[k.Name]
}

// lacks makes unknown what holds by a log that does not have all effects which were acknowledged.
func (r *run) lacks(o *outcome, s side) {
	for _, k := range r.keys {
		for _, i := range r.unlogged(k) {
			if c := s.of(&r.Ops[i]); c != nil && c.Accepted && c.Value != "" && o.verdict == Holds {
				o.verdict = Unknown
				o.reason = fmt.Sprintf("The resource acknowledged %q of %s in the %s copy of %q at %s, and has not logged it.",
					c.Value, r.doer(i), s.name, k.Name, r.seconds(r.Ops[i].Time))
				return
			}
		}
	}
}
