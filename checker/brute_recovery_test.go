package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of recovery, asked of every millisecond after the death of a holder.

// died calls f for each grant whose holder was killed while it held the key, with the
// kill and the next grant, if there is one.
func (b brute) died(f func(g *trace.Grant, death history.Op, next *trace.Grant)) {
	for _, g := range b.r.Grants {
		if g.EndOp < 0 || b.r.Ops[g.EndOp].F != history.Fault {
			continue
		}
		death := b.r.Ops[g.EndOp]
		observed := slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool { return f.Begin == g.EndOp && f.Observed })
		deadline, known := b.r.DeadlineAt(g, b.r.Deadline(g))
		if !observed || known && b.r.Deadline(g) != 0 && deadline+trace.ClockNoise <= death.Time {
			continue
		}
		if slices.ContainsFunc(g.Key.Grants, func(h *trace.Grant) bool { return h.OK < death.Time && trace.Surely(g, h) }) {
			continue // it held the key no more when it died
		}
		next := slices.IndexFunc(g.Key.Grants, func(h *trace.Grant) bool { return h.OK > death.Time && !trace.Surely(h, g) })
		if next < 0 {
			f(g, death, nil)
			continue
		}
		f(g, death, g.Key.Grants[next])
	}
}

// tooEarly are the grants before the end of a dead holder's lease.
func (b brute) tooEarly() (ops []int) {
	b.died(func(g *trace.Grant, _ history.Op, h *trace.Grant) {
		deadline, known := b.r.DeadlineAt(g, b.r.Deadline(g))
		if h != nil && known && b.r.Deadline(g) != 0 && h.OK < deadline && trace.Surely(g, h) && !g.Suspended() &&
			!b.faultAt(g.Sent, h.OK, func(f *trace.Fault) bool { return f.Kind == "clock" && b.measures(f, g, h) }) {
			ops = append(ops, h.Op)
		}
	})
	return ops
}

// measures says that a wrong clock may have ended the lease of g before h was granted its key: that of a server, or of
// one of the two, or of another client that asked meanwhile and was not refused.
func (b brute) measures(f *trace.Fault, g, h *trace.Grant) bool {
	asked := slices.ContainsFunc(g.Key.Waits, func(w trace.Wait) bool {
		refused := w.Done >= 0 && b.r.Ops[w.Done].Type == history.Fail
		from, to := max(w.From, f.From), min(w.To, b.fades(f))
		return b.r.Ops[w.Invoke].Node == f.Target && !refused && from <= to && from <= h.OK && to >= g.Sent
	})
	return !slices.Contains(b.r.Setup.Clients, f.Target) || f.Target == g.Node || f.Target == h.Node || asked
}

// tooLate are the grants whose lease was over while somebody waited for longer than
// the bound, and nothing else kept the key from being granted.
func (b brute) tooLate() (ops []int) {
	b.died(func(g *trace.Grant, death history.Op, next *trace.Grant) {
		to := b.r.End
		if next != nil {
			to = next.OK
		}
		k, from := b.r.logOf(g.Key), death.Time+b.r.LeaseOf(&b.r.Ops[g.Op])
		late := b.dryFor(k, from, to, func(t int64) bool { return !b.keptAt(k, t, g.EndOp) }) ||
			b.r.besideFaults() && b.dryFor(k, from, to, func(t int64) bool { return b.freeAt(k, g, t, from, to) })
		if late {
			ops = append(ops, g.Op)
		}
	})
	return ops
}

// dryFor says whether, while something is so, somebody waited for longer than the bound and nobody was granted the key.
func (b brute) dryFor(k *keyLog, from, to int64, is func(int64) bool) (late bool) {
	begun := int64(-1)
	for t := from; t <= to; t += ms {
		owed := t < to && is(t)
		if owed && begun < 0 {
			begun = t
		}
		if !owed && begun >= 0 {
			from, to := b.drought(k, &incident{from: begun, to: t})
			begun, late = -1, late || to-from > int64(b.r.Setup.Promise.Bound)
		}
	}
	return late
}

// freeAt says that at t no fault of servers was felt, nor one of who waited, and nobody but the dead holder of g can
// have had the key: who was hit by a fault may have been granted it since its call.
func (b brute) freeAt(k *keyLog, g *trace.Grant, t, from, to int64) bool {
	felt := slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		waits := slices.ContainsFunc(k.Waits, func(w trace.Wait) bool {
			node := b.r.Ops[w.Invoke].Node
			slight := f.Kind == "latency" && f.Slow > 0 && 4*f.Slow <= int64(b.r.Setup.Lease)
			if death := b.r.deathAfter(node, w.From); w.Done < 0 && death != nil {
				w.To = death.From // the dead do not wait
			}
			return w.From < to && w.To > from && !slight && (f.Target == node || slices.Contains(f.Cut, node))
		})
		return f.Begin >= 0 && (b.r.hitsServers(f) || waits) && f.From <= t && t < b.fades(f)
	})
	held, invokes := b.r.mayBeHeld(k)
	had := false
	for i, h := range held {
		had = had || invokes[i] != g.Invoke && h.From <= t && t < h.To
	}
	return !felt && !had
}

// touches says that a fault hit servers, or a client that waited for a key or may have had it meanwhile.
func (b brute) touches(f *trace.Fault, k *keyLog) bool {
	return b.r.hitsServers(f) || slices.ContainsFunc(b.r.attempts(k), func(a attempt) bool {
		node := b.r.Ops[k.Waits[a.wait].Invoke].Node
		return (f.Target == node || slices.Contains(f.Cut, node)) && a.from <= b.fades(f) && a.to >= f.From
	})
}

// keptAt says whether at t another fault than one that concerns the key was felt, or somebody whose outcome is
// unknown may have held the key.
func (b brute) keptAt(k *keyLog, t int64, but int) bool {
	felt := slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		return f.Begin >= 0 && f.Begin != but && f.From <= t && t < b.fades(f) && b.touches(f, k)
	})
	open := slices.ContainsFunc(k.Waits, func(w trace.Wait) bool {
		end := w.To
		if w.Done < 0 {
			death := b.r.deathAfter(b.r.Ops[w.Invoke].Node, w.From)
			if death == nil {
				return false // it still waits
			}
			end = death.From
		} else if b.r.Ops[w.Done].Type != history.Info {
			return false
		}
		return max(w.From, end-int64(b.r.Setup.Lease)) <= t && t < end+b.r.aftermath()
	})
	for i, op := range b.r.Ops {
		if op.Type == history.Info && (op.F == history.Extend || op.F == history.Release) {
			asked := slices.IndexFunc(b.r.Ops[:i], func(o history.Op) bool { return o.Process == op.Process && o.F == op.F && o.Type == history.Invoke })
			open = open || b.r.Ops[asked].Time <= t && t < op.Time+b.r.aftermath()
		}
	}
	return felt || open
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
