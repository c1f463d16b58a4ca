package checker

import (
	"fmt"

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
