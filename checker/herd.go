package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// A release that wakes one waiter wakes it once; the servers may count a watch of the
// releaser itself, and one that was set anew. Only a herd wakes as many as wait, so
// with enough of them the two are far apart.
const (
	wakesFew    = 3 // wake-ups per release that are not a herd
	herdWaiters = 6 // waiters at a release, on average, that make it one
)

// herd compares how many waiters the servers have woken with the releases meanwhile.
func herd(r *run) outcome {
	from, to := -1, -1
	for i := range r.Ops {
		if op := &r.Ops[i]; op.F == history.Woken && op.Error == "" {
			if to = i; from < 0 {
				from = i
			}
		}
	}
	if from == to {
		return outcome{verdict: NA, reason: "The servers of this lock do not tell how many waiters they have woken."}
	}
	begin, end := &r.Ops[from], &r.Ops[to]
	releases, waiting := r.releases(begin.Time, end.Time)
	woken, others := end.Length-begin.Length, r.otherWakes(begin.Time, end.Time)
	if releases == 0 {
		return outcome{verdict: Unknown, reason: "Nobody gave the lock back while wake-ups were counted."}
	}
	each, beside := float64(woken)/float64(releases), float64(waiting)/float64(releases)
	figures := fmt.Sprintf("The servers woke %.1f waiters per release (%d in %s), while %.1f waited on average", each,
		woken, nouns.Count(releases, "release"), beside)
	switch {
	case beside < herdWaiters:
		return outcome{verdict: Unknown, reason: figures + fmt.Sprintf(": fewer than %d show no herd.", herdWaiters)}
	case each <= wakesFew:
		return outcome{verdict: Holds, reason: figures + ": their number does not matter, O(1)."}
	case !r.Setup.Promise.WakesOne:
		return outcome{verdict: NA, reason: figures + ": it grows with their number, O(n). The lock does not promise otherwise."}
	}
	if woken-others <= wakesFew*int64(releases) {
		return outcome{verdict: Unknown, reason: figures + fmt.Sprintf(": up to %d may have been woken by whoever gave up its wait, "+
			"and by holds of which no release was answered.", others)}
	}
	o := outcome{verdict: Holds, summary: figures + ": it grows with their number, O(n)."}
	o.found.add(r, Violation{Key: r.keys[0].Name, At: end.Time, Operations: []int{from, to}}, "%s.", figures)
	return o
}

// releases counts those that said ok in a time, and how many waited when each was asked.
func (r *run) releases(from, to int64) (n, waiting int) {
	for _, k := range r.keys {
		q := r.queued(k)
		for _, g := range k.Grants {
			if g.Released < 0 || g.End < from || r.Ops[g.Released].Time > to {
				continue
			}
			n++
			waiting += q.at(g.End)
		}
	}
	return n, waiting
}

// otherWakes is how many waiters may have been woken in a time though no release that is counted did so: the one behind
// whoever left the queue, and those of a hold that may have ended otherwise, by its lease or by a release that was not
// answered by ok, or that nobody knew of.
func (r *run) otherWakes(from, to int64) (n int64) {
	for _, k := range r.keys {
		for _, g := range k.Grants {
			counted := g.Released >= 0 && g.End >= from && r.Ops[g.Released].Time <= to
			before := g.Released >= 0 && r.Ops[g.Released].Time < from
			behind := g.OK > to || g.Released >= 0 && r.Ops[g.Release].Time > to
			if !counted && !before && !behind {
				n += wakesFew
			}
		}
		for _, w := range k.Waits {
			w, known := r.knownEnd(w)
			switch {
			case w.From > to || known && w.To < from:
			case !known || r.Ops[w.Done].Type == history.Info:
				n += wakesFew // it may have been granted
			case r.Ops[w.Done].Type != history.OK:
				n++
			}
		}
	}
	return n
}

// queued are the waits of a key of which it is known how long they went on: when they
// began and when they ended, each in order.
type queued struct{ from, to []int64 }

func (r *run) queued(k *keyLog) (q queued) {
	for _, w := range k.Waits {
		if w, known := r.knownEnd(w); known {
			q.from, q.to = append(q.from, w.From), append(q.to, w.To)
		}
	}
	slices.Sort(q.from)
	slices.Sort(q.to)
	return q
}

// at counts those that waited at t and after it.
func (q queued) at(t int64) int {
	upTo := func(times []int64) int { return sort.Search(len(times), func(i int) bool { return times[i] > t }) }
	return upTo(q.from) - upTo(q.to)
}
