package checker

import (
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// rowOfFaults looks for what no fault of a row shows by itself: each is over before a lease and the
// bound are, and the next one comes before our patience with a sound service is. No service may
// need both, one after the other, to grant a key once.
func (r *run) rowOfFaults(minor []*incident, f *found) (stopped int) {
	limit := r.patience() + r.aftermath()
	for _, in := range r.near(minor, r.patience()) {
		for _, k := range r.keysIn(in.from, min(in.to, r.End)) {
			d := r.drought(k, &incident{from: in.from, to: in.to, hit: in.hit, refused: in.refused, room: in.room, suspects: r.suspects(k)})
			if d.to-d.from <= limit {
				continue
			}
			waited := d.wait.within(d.from, d.to)
			_, begins := in.told(d.from, d.to)
			stopped = len(in.parts)
			f.add(r, Violation{Key: k.Name, At: d.from + limit, Operations: append(waited, begins...)},
				"In a row of %s nobody was granted %q for %s from %s, while %s waited.",
				nouns.Count(len(begins), "fault"), k.Name, length(d.to-d.from), r.seconds(d.from), r.Ops[waited[0]].Node)
		}
	}
	return stopped
}

// unserved is a time in which a holder asked for renewals and was answered nothing.
type unserved struct {
	trace.Span
	grant *trace.Grant
	ops   []int
}

// unrenewed finds holders whom a fault that has not hit them leaves without an answer to their
// renewals for too long: they are kept waiting as those are who ask for the key. It tells for how long at most.
func (r *run) unrenewed(in *incident, limit int64, f *found) (longest int64) {
	for _, u := range r.unservedFor(limit) {
		g, whole := u.grant, trace.Span{From: max(u.From, in.from), To: min(u.To, in.to, r.End)}
		if in.hit[g.Node] != nil || whole.From >= whole.To {
			continue
		}
		if whole.To-whole.From > limit {
			longest = max(longest, whole.To-whole.From)
			during, begins := in.told(whole.From, whole.To)
			f.add(r, Violation{Key: g.Key.Name, At: whole.From + limit, Operations: append(begins, u.ops...)},
				"During %s %s was not answered its renewals of %q for %s from %s.", during, g.Who(), g.Key.Name,
				length(whole.To-whole.From), r.seconds(whole.From))
		}
	}
	return longest
}

// unserved are those times that are longer than a limit, each from the ask of a renewal until its
// client is answered one, gives up with the last, or believes in the grant no more.
func (r *run) unservedFor(limit int64) []unserved {
	if r.known.lapses != nil {
		return r.known.lapses
	}
	all, open := []unserved{}, map[*trace.Grant]*unserved{}
	end := func(g *trace.Grant) {
		if u := open[g]; u != nil && u.To-u.From > limit {
			all = append(all, *u)
		}
		delete(open, g)
	}
	for i := range r.Ops {
		op := &r.Ops[i]
		g := r.ByOwner[op.Owner]
		if op.Type != history.Invoke || op.F != history.Extend || g == nil {
			continue
		}
		w := trace.Wait{Invoke: i, Done: -1, From: op.Time, To: trace.Forever}
		if done, ended := r.Ended(i); ended {
			w.Done, w.To = done, r.Ops[done].Time
		}
		if r.outOf(g.Node, w.From, w.To) { // it may be lost with what its own node has lost
			end(g)
			continue
		}
		u := open[g]
		if u == nil {
			u = &unserved{Span: trace.Span{From: op.Time, To: op.Time}, grant: g}
			open[g] = u
		}
		u.ops, u.To = append(u.ops, i), max(u.To, min(op.Time, g.Until)) // who asks again was kept waiting until then
		if w.Done >= 0 && r.Ops[w.Done].Type != history.Info {           // whatever it is told
			u.To = min(w.To, g.Until)
			end(g)
		} else if w, known := r.lasted(w); known {
			u.To = max(u.To, min(w.To, g.Until))
		}
	}
	for _, g := range r.Grants {
		end(g)
	}
	r.known.lapses = all
	return all
}

// outOf says whether a fault was on a node, or on its links, at any time from one instant to
// another, or shortly before.
func (r *run) outOf(node string, from, to int64) bool {
	for at, spans := range [][]trace.Span{r.outages(node), r.ownFaults(node)} {
		lingers := r.aftermath()
		if at > 0 {
			lingers = 0 // they are with their aftermath
		}
		i := sort.Search(len(spans), func(i int) bool { return after(spans[i].To, lingers) >= from })
		if i < len(spans) && spans[i].From <= to {
			return true
		}
	}
	return false
}
