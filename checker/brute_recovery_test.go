package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// The definition of recovery, asked of every millisecond after the death of a holder.

// died calls f for each grant whose holder was killed while it held the key, with the
// kill and the next grant, if there is one.
func (b brute) died(f func(g *grant, death history.Op, next *grant)) {
	for _, g := range b.r.grants {
		if g.endOp < 0 || b.r.ops[g.endOp].F != history.Fault {
			continue
		}
		death := b.r.ops[g.endOp]
		observed := slices.ContainsFunc(b.r.faults, func(f *fault) bool { return f.begin == g.endOp && f.observed })
		deadline, known := b.r.deadlineAt(g, g.deadline(b.r))
		if !observed || known && g.deadline(b.r) != 0 && deadline+clockNoise <= death.Time {
			continue
		}
		if slices.ContainsFunc(g.key.grants, func(h *grant) bool { return h.ok < death.Time && surely(g, h) }) {
			continue // it held the key no more when it died
		}
		next := slices.IndexFunc(g.key.grants, func(h *grant) bool { return h.ok > death.Time && !surely(h, g) })
		if next < 0 {
			f(g, death, nil)
			continue
		}
		f(g, death, g.key.grants[next])
	}
}

// tooEarly are the grants before the end of a dead holder's lease.
func (b brute) tooEarly() (ops []int) {
	b.died(func(g *grant, _ history.Op, h *grant) {
		deadline, known := b.r.deadlineAt(g, g.deadline(b.r))
		if h != nil && known && g.deadline(b.r) != 0 && h.ok < deadline && surely(g, h) && !g.suspended() &&
			!b.faultAt(g.sent, h.ok, func(f *fault) bool { return f.kind == "clock" }) {
			ops = append(ops, h.op)
		}
	})
	return ops
}

// tooLate are the grants whose lease was over while somebody waited for longer than
// the bound, and nothing else kept the key from being granted.
func (b brute) tooLate() (ops []int) {
	b.died(func(g *grant, death history.Op, next *grant) {
		to := b.r.end
		if next != nil {
			to = next.ok
		}
		begun, late := int64(-1), false
		for t := death.Time + b.r.leaseOf(&b.r.ops[g.op]); t <= to; t += ms {
			owed := t < to && !b.keptAt(g.key, t, g.endOp)
			if owed && begun < 0 {
				begun = t
			}
			if !owed && begun >= 0 {
				from, to := b.drought(g.key, &incident{from: begun, to: t})
				begun, late = -1, late || to-from > int64(b.r.setup.Promise.Bound)
			}
		}
		if late {
			ops = append(ops, g.op)
		}
	})
	return ops
}

// keptAt says whether at t another fault than one was felt, or somebody whose outcome is
// unknown may have held the key.
func (b brute) keptAt(k *keyLog, t int64, but int) bool {
	felt := slices.ContainsFunc(b.r.faults, func(f *fault) bool {
		return f.begin >= 0 && f.begin != but && f.from <= t && (f.to == forever || t < f.to+b.r.aftermath())
	})
	return felt || slices.ContainsFunc(k.waits, func(w wait) bool {
		end := w.to
		if w.done < 0 {
			if death := b.r.deathAfter(b.r.ops[w.invoke].Node, w.from); death != nil {
				end = death.from
			}
		} else if b.r.ops[w.done].Type != history.Info {
			return false
		}
		return w.from <= t && (end == forever || t < end+b.r.aftermath())
	})
}

func TestRecoveryAgrees(t *testing.T) {
	agrees(t, func(r *run) ([]int, found) {
		f := recovery(r).found
		f.list = slices.DeleteFunc(f.list, func(v Violation) bool { return v.Possible || !strings.Contains(v.Message, "too early") })
		return brute{r}.tooEarly(), f
	})
}

func TestLateRecoveryAgrees(t *testing.T) {
	agrees(t, func(r *run) ([]int, found) {
		f := recovery(r).found
		f.list = slices.DeleteFunc(f.list, func(v Violation) bool { return strings.Contains(v.Message, "too early") })
		return brute{r}.tooLate(), f
	})
}
