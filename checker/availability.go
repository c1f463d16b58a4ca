package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// availability looks, within each fault, for the longest time in which somebody
// waited for a key and it was granted to nobody. It may last as long as a lease
// and what the lock states for itself. Faults that follow each other within that
// time are judged as one: each alone may be too short to show what all of them stop.
// Who is stopped, or can be told nothing, is no witness, while a client reaches no majority of the servers
// nothing is owed to it, and as long as somebody whom the fault has not hit holds the
// lock, and leaves no room for others, it is not the fault that keeps it. An acquire with an unknown outcome may have
// won, and keeps the key until its lease ends: see suspects.
func availability(r *run) outcome {
	var f found
	limit := r.aftermath()
	faults, stopped, waits, longest := 0, 0, 0, int64(0)
	var minor []*incident
	for _, in := range r.incidents() {
		faults++
		if r.minority(in) {
			minor = append(minor, in)
		}
	}
	judged, suspects, unserved := len(minor), 0, int64(0)
	for _, in := range r.near(minor, limit) {
		before := f.certain
		for _, k := range r.keysIn(in.from, min(in.to, r.End)) {
			plain, limit := r.drought(k, in), limit
			if plain.to-plain.from > limit {
				limit += r.longerOf(k, in)
			}
			d := plain
			if plain.to-plain.from > limit {
				if d = r.unexplained(k, in, plain, limit); d.to-d.from <= limit {
					suspects++
				}
			}
			waits += plain.waits
			longest = max(longest, d.to-d.from)
			if d.to-d.from > limit {
				r.addDrought(&f, k, in, d, limit)
			}
		}
		unserved = max(unserved, r.unrenewed(in, limit, &f))
		if f.certain > before {
			stopped++
		}
	}
	if f.certain == 0 {
		stopped += r.rowOfFaults(minor, &f)
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("The longest wait without any grant in %s was %s; a lease and the stated bound are %s.",
			nouns.Count(judged, "fault"), length(longest), length(limit)),
		summary: fmt.Sprintf("%s %s; a lease and the stated bound are %s.", nouns.Count(stopped, "fault"), stoppedFor(longest, unserved, limit), length(limit)),
	}
	if suspects > 0 {
		o.reason += fmt.Sprintf(" %s longer, while an acquire with an unknown outcome may have held the key.", nouns.Count(suspects, "wait")+" "+was(suspects))
	}
	switch {
	case faults == 0 && r.Setup.Expect.Faults == 0:
		o.verdict, o.reason = NA, "The scenario has no fault."
	case faults == 0:
		o.verdict, o.reason = Unknown, "No fault began."
	case judged == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("No minority was at fault: during %s no client reached a sound majority "+
			"of the servers (%d).", nouns.Count(faults, "fault"), len(r.Setup.Servers))
	case waits == 0 && r.Setup.Expect.GrantsDuringFault == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("Nobody waited for a key during %s, and the scenario asks for no grant there.", nouns.Count(judged, "fault"))
	case waits == 0:
		o.verdict, o.reason = Unknown, fmt.Sprintf("Nobody waited for a key during %s.", nouns.Count(judged, "fault"))
	}
	return o
}

// stoppedFor says what faults did for the longest, to those who ask or to those who hold.
func stoppedFor(longest, unserved, limit int64) string {
	if unserved > max(longest, limit) {
		return "left a holder without an answer to its renewals for up to " + length(unserved)
	}
	return "stopped all grants of a key for up to " + length(longest)
}

// addDrought records that nobody was granted a key for longer than the limit while somebody waited.
func (r *run) addDrought(f *found, k *keyLog, in *incident, d drought, limit int64) {
	waited := d.wait.within(d.from, d.to)
	during, begins := in.told(d.from, d.to)
	f.add(r, Violation{Key: k.Name, At: d.from + limit, Operations: append(waited, begins...),
		lasts: trace.Span{From: d.from, To: d.to}, limit: limit},
		"During %s nobody was granted %q for %s from %s, while %s waited.",
		during, k.Name, length(d.to-d.from), r.seconds(d.from), r.Ops[waited[0]].Node)
}

// drought is the longest time without a grant that a wait saw.
type drought struct {
	from, to int64
	wait     stretch
	waits    int // that met the fault
}

// drought finds it for one key in one fault.
func (r *run) drought(k *keyLog, in *incident) drought {
	end := min(in.to, r.End)
	var waits []trace.Wait
	var held []trace.Span
	d := drought{}
	r.asked(k).in(in.from, end, func(node string, asked []trace.Wait) {
		if held == nil {
			held = r.excused(k, in, end)
		}
		for _, w := range asked {
			owed := without(trace.Span{From: max(w.From, in.from), To: min(w.To, end)}, r.outages(node))
			if h := in.hit[node]; h != nil {
				owed = eachWithout(owed, h.mute)
			}
			for _, o := range owed {
				for _, s := range r.unsuspected(in, w, without(o, held)) {
					waits = append(waits, trace.Wait{Invoke: w.Invoke, Done: w.Done, From: s.From, To: s.To})
				}
			}
			d.waits += min(len(owed), 1)
		}
	})
	slices.SortStableFunc(waits, func(a, b trace.Wait) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Invoke, b.Invoke)) })
	for _, w := range r.joined(waits, in.from, end, in.refused) {
		if from, to := k.dry(w.from, w.to); to-from > d.to-d.from {
			d.from, d.to, d.wait = from, to, w
		}
	}
	return d
}

// holds are the times, in order, in which a client that a fault has not hit held
// the key, at least those that meet the fault. Those of a quarter of a lease and less
// change nothing: see joined.
func (r *run) holds(k *keyLog, in *incident, end int64) []trace.Span {
	if k.held == nil {
		k.heldBy = map[string]int{}
		latest := int64(-trace.Forever)
		for i, g := range k.Grants {
			if _, before := k.heldBy[g.Node]; !before {
				k.heldBy[g.Node] = i
			}
			latest = max(latest, r.heldUntil(g))
			k.heldReach = append(k.heldReach, latest)
		}
		k.held = append([]trace.Span{}, r.heldFrom(k, 0, trace.Forever, nil)...)
	}
	meant := false
	for node := range in.hit {
		i, holds := k.heldBy[node]
		meant = meant || holds && k.Grants[i].OK < end
	}
	if !meant {
		return k.held
	}
	// What was over when a grant was made has no part in it.
	first := sort.Search(len(k.Grants), func(i int) bool { return k.heldReach[i] > in.from })
	for first < len(k.Grants) {
		before := sort.Search(first, func(i int) bool { return k.heldReach[i] > k.Grants[first].OK })
		if before == first {
			break
		}
		first = before
	}
	return append([]trace.Span{}, r.heldFrom(k, first, end, in.hit)...)
}

// heldFrom are the holds from a grant on that began before an end. Of a holder that a
// fault has hit they count where they are no fault's doing: see sound.
func (r *run) heldFrom(k *keyLog, first int, end int64, hit map[string]*hits) (held []trace.Span) {
	for _, g := range k.Grants[first:] {
		if g.OK >= end {
			break
		}
		if whole := (trace.Span{From: g.OK, To: r.heldUntil(g)}); whole.To-whole.From > int64(r.Setup.Lease)/4 {
			held = append(held, sound(g, whole, hit[g.Node])...)
		}
	}
	return trace.Union(held)
}

// sound are the parts of a hold of g in which no fault, but the work of its holder, keeps the
// key. A holder whose renewals are answered is served and runs, whatever the fault does to its
// links or its clock; if the fault has stopped its work, the renewals show that the watchdog
// runs, and the fault keeps the key all the same.
func sound(g *trace.Grant, hold trace.Span, h *hits) (sound []trace.Span) {
	if h == nil {
		return []trace.Span{hold}
	}
	renewed := int64(-trace.Forever)
	for _, c := range g.Claims {
		if !c.Cut {
			renewed = c.At
		}
	}
	if served := min(hold.To, renewed); served > hold.From {
		sound = without(trace.Span{From: hold.From, To: served}, h.stopped)
	}
	if rest := max(hold.From, renewed); rest < hold.To {
		sound = append(sound, without(trace.Span{From: rest, To: hold.To}, h.all)...)
	}
	return sound
}

// heldUntil is when the hold of a grant had certainly come to its end. Who believes on behind its
// lease, and does not renew it, keeps nobody from the key.
func (r *run) heldUntil(g *trace.Grant) int64 {
	to := min(g.End, r.End)
	if p := r.Setup.Promise; p.Leased && !p.Session && !p.Renews {
		to = min(to, r.answeredUntil(g))
	}
	if g.By != nil && !r.Setup.Kind.Shares() {
		to = min(to, g.By.OK)
	}
	return to
}

// dry is the longest time between from and to without a grant of the key, the first of
// those that are as long.
func (k *keyLog) dry(from, to int64) (int64, int64) {
	if k.gaps == nil {
		k.gaps = &peaks{n: max(len(k.Grants)-1, 0), value: func(i int) int64 { return k.Grants[i+1].OK - k.Grants[i].OK }}
	}
	first, end := k.granted(from, to)
	if first >= end {
		return from, to
	}
	longest := trace.Span{From: from, To: k.Grants[first].OK}
	if i := k.gaps.in(first, end-1); i >= 0 && k.gaps.value(i) > longest.To-longest.From {
		longest = trace.Span{From: k.Grants[i].OK, To: k.Grants[i+1].OK}
	}
	if last := k.Grants[end-1].OK; to-last > longest.To-longest.From {
		longest = trace.Span{From: last, To: to}
	}
	return longest.From, longest.To
}
