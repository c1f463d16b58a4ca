package checker

import (
	"fmt"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// availability looks, within each fault, for the longest time in which somebody
// waited for a key and it was granted to nobody. It may last as long as a lease
// and what the lock states for itself. Victims of the fault are no witnesses.
func availability(r *run) outcome {
	var f found
	limit := int64(r.setup.Lease) + int64(r.setup.Promise.Bound)
	faults, waits, longest := 0, 0, int64(0)
	for _, fault := range r.faults {
		if fault.begin < 0 {
			continue
		}
		faults++
		for _, k := range r.keys {
			d := r.drought(k, fault)
			waits += d.waits
			longest = max(longest, d.to-d.from)
			if d.to-d.from > limit {
				f.add(r, Violation{Key: k.name, At: d.from + limit, Operations: []int{fault.begin, d.wait.invoke, d.wait.done}},
					"During %s on %s nobody was granted %q for %s from %s, while %s waited.",
					fault.kind, fault.target, k.name, length(d.to-d.from), r.seconds(d.from), r.ops[d.wait.invoke].Node)
			}
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The longest wait without any grant in %s was %s; a lease and the stated bound are %s.", count(faults, "fault"), length(longest), length(limit)),
		summary: fmt.Sprintf("%s stopped all grants of a key for up to %s; a lease and the stated bound are %s.", count(f.certain, "fault"), length(longest), length(limit)),
	}
	switch {
	case faults == 0 && r.setup.Expect.Faults == 0:
		o.verdict, o.reason = NA, "The scenario has no fault."
	case faults == 0:
		o.verdict, o.reason = Unknown, "No fault began."
	case waits == 0 && r.setup.Expect.GrantsDuringFault == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("Nobody waited for a key during %s, and the scenario asks for no grant there.", count(faults, "fault"))
	case waits == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("Nobody waited for a key during %s.", count(faults, "fault"))
	}
	return o
}

// drought is the longest time without a grant that a wait saw.
type drought struct {
	from, to int64
	wait     wait
	waits    int // that met the fault
}

// drought finds it for one key in one fault. reach skips the waits that ended
// before the fault.
func (r *run) drought(k *keyLog, fault *fault) drought {
	end := min(fault.to, r.end)
	k.reachWaits()
	var waits []wait
	for i := sort.Search(len(k.waits), func(i int) bool { return k.reach[i] > fault.from }); i < len(k.waits); i++ {
		w := k.waits[i]
		if w.from >= end {
			break
		}
		op := &r.ops[w.invoke]
		if w.done >= 0 && w.to > fault.from && op.F == history.Acquire && op.Node != fault.target {
			waits = append(waits, w)
		}
	}
	d := drought{waits: len(waits)}
	for _, w := range r.joined(waits, fault.from, end) {
		if from, to := k.dry(w.from, w.to); to-from > d.to-d.from {
			d.from, d.to, d.wait = from, to, w
		}
	}
	return d
}

// joined cuts waits, which are in the order of their start, to [from, to] and
// joins those that follow each other within a quarter of a lease: a client that
// is refused and asks again goes on waiting. Each result names its first wait.
func (r *run) joined(waits []wait, from, to int64) []wait {
	var joined []wait
	for _, w := range waits {
		w.from, w.to = max(w.from, from), min(w.to, to)
		if w.from >= w.to {
			continue
		}
		if n := len(joined) - 1; n >= 0 && w.from-joined[n].to <= int64(r.setup.Lease)/4 {
			joined[n].to = max(joined[n].to, w.to)
			continue
		}
		joined = append(joined, w)
	}
	return joined
}

// dry is the longest time between from and to without a grant of the key.
func (k *keyLog) dry(from, to int64) (int64, int64) {
	bestFrom, bestTo := from, from
	at := from
	for i := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].ok > from }); ; i++ {
		next := to
		if i < len(k.grants) {
			next = min(to, k.grants[i].ok)
		}
		if next-at > bestTo-bestFrom {
			bestFrom, bestTo = at, next
		}
		if next == to {
			return bestFrom, bestTo
		}
		at = next
	}
}

// reachWaits fills reach: the latest end of each wait and all before it.
func (k *keyLog) reachWaits() {
	if len(k.reach) == len(k.waits) {
		return
	}
	k.reach = make([]int64, len(k.waits))
	latest := int64(-forever)
	for i, w := range k.waits {
		if w.done >= 0 {
			latest = max(latest, w.to)
		}
		k.reach[i] = latest
	}
}
