package checker

import (
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// stuckChanges looks at holders that wait to change their mode for longer than our patience, while no fault of servers or of
// their own is felt. A reader that wants to write waits for all others that have the key, may have it or ask for it; a
// writer waits for nobody. Whoever has lost its lease by then is owed a no. Who is refused, and asks again while its lease runs, waits on.
func (r *run) stuckChanges(k *keyLog, f *found) {
	for _, g := range k.Grants {
		for _, w := range r.changeStretches(g) {
			if w.to-w.from <= r.patience() {
				continue
			}
			mode := r.Ops[w.waits[0].Invoke].Mode
			var others []trace.Span
			for _, a := range r.attempts(k) {
				if mode == history.Exclusive && k.Waits[a.wait].Invoke != g.Invoke {
					others = append(others, trace.Span{From: a.from, To: a.to})
				}
			}
			free := without(trace.Span{From: w.from, To: w.to}, trace.Union(others))
			for _, part := range r.clearOf(w, free, g.Node) {
				if part.To-part.From > r.patience() {
					f.add(r, Violation{Key: k.Name, At: part.From + r.patience(), Operations: append([]int{g.Op}, w.within(part.From, part.To)...)},
						"%s waited to hold %q in the mode %s from %s to %s although nobody else kept it from that.",
						g.Node, k.Name, mode, r.seconds(part.From), r.seconds(part.To))
					break
				}
			}
		}
	}
}

// changeStretches are the times for which the holder of g waited to hold it in another mode: each request, or several one after the
// other that were refused while its lease ran.
func (r *run) changeStretches(g *trace.Grant) (all []stretch) {
	var row []trace.Wait
	joined := func() {
		if len(row) > 0 {
			all = append(all, r.joined(row, row[0].From, trace.Forever, r.patience()/2)...)
		}
		row = nil
	}
	for _, w := range r.changes(g) {
		if len(row) > 0 && r.Ops[row[0].Invoke].Mode != r.Ops[w.Invoke].Mode {
			joined()
		}
		w, known := r.lasted(w)
		switch refused := known && r.Ops[w.Done].F == history.Change && r.Ops[w.Done].Type == history.Fail; {
		case !known:
			joined()
		case refused && w.To <= r.lastsUntil(g):
			row = append(row, w)
		default:
			joined()
			all = append(all, stretch{w.From, w.To, []trace.Wait{w}})
		}
	}
	joined()
	return all
}

// taken are the shares of g in a time, as far as its client was told: a writer that was told that it is a reader is one from then on, and
// beside a reader that asks to be the writer nobody is let in, until it is told no, or a request of unknown outcome is over.
func (r *run) taken(g *trace.Grant, from, to int64) (all []trace.Share) {
	changes := r.changes(g)
	if len(changes) == 0 {
		return r.Taken(nil, g, from, to)
	}
	var alone []trace.Span
	writes := int64(trace.Forever) // since when
	if g.Mode != history.Shared {
		writes = from
	}
	for _, w := range changes {
		answer, mode := history.Info, r.Ops[w.Invoke].Mode
		w, known := r.knownEnd(w)
		if w.Done >= 0 {
			answer = r.Ops[w.Done].Type
		}
		switch {
		case mode == history.Shared && answer == history.OK && writes < w.To:
			alone, writes = append(alone, trace.Span{From: writes, To: w.To}), trace.Forever
		case mode == history.Shared:
		case answer == history.OK:
			writes = min(writes, w.From)
		case answer == history.Fail:
			alone = append(alone, trace.Span{From: w.From, To: w.To})
		default: // its client gave up, or died
			lasts := int64(trace.Forever)
			if known {
				lasts = after(max(g.LastSeen, w.To), r.mayBeRenewed(r.logOf(g.Key)))
			}
			alone, to = append(alone, trace.Span{From: w.From, To: lasts}), max(to, lasts)
		}
	}
	if writes < to {
		alone = append(alone, trace.Span{From: writes, To: to})
	}
	alone = trace.Union(alone)
	for _, s := range within(alone, trace.Span{From: from, To: to}) {
		all = append(all, trace.Share{From: s.From, To: s.To, Grant: g, Exclusive: true, Permits: g.Permits})
	}
	for _, s := range without(trace.Span{From: from, To: to}, alone) {
		all = append(all, trace.Share{From: s.From, To: s.To, Grant: g, Permits: g.Permits})
	}
	return all
}

// changesOf are the requests of holders of a key to hold it in another mode.
func (r *run) changesOf(k *keyLog) (all []trace.Wait) {
	for _, g := range k.Grants {
		all = append(all, r.changes(g)...)
	}
	return all
}

// changes are those of one holder.
func (r *run) changes(g *trace.Grant) []trace.Wait {
	if r.changed == nil { // once for all: a history may have as many as it has operations
		r.changed = r.readChanges()
	}
	return r.changed[g]
}

func (r *run) readChanges() map[*trace.Grant][]trace.Wait {
	all := map[*trace.Grant][]trace.Wait{}
	if !r.Setup.Promise.Changes {
		return all
	}
	for i := range r.Ops {
		op := &r.Ops[i]
		g := r.ByOwner[op.Owner]
		if op.F != history.Change || op.Type != history.Invoke || g == nil {
			continue
		}
		w := trace.Wait{Invoke: i, Done: -1, From: op.Time, To: trace.Forever}
		if done, ended := r.Ended(i); ended {
			w.Done, w.To = done, r.Ops[done].Time
		}
		all[g] = append(all[g], w)
	}
	return all
}
