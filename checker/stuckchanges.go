package checker

import (
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// stuckChanges looks at holders that wait to change their mode for longer than our patience, while no fault of servers or of
// their own is felt. A reader that wants to write waits for all others that have the key, may have it or ask for it; a
// writer waits for nobody. Whoever has lost its lease by then is owed a no.
func (r *run) stuckChanges(k *keyLog, f *found) {
	for _, w := range r.changes(k) {
		w, known := r.lasted(w)
		if !known || w.To-w.From <= r.patience() {
			continue
		}
		own, mode := r.ByOwner[r.Ops[w.Invoke].Owner], r.Ops[w.Invoke].Mode
		var others []trace.Span
		for _, a := range r.attempts(k) {
			if mode == history.Exclusive && k.Waits[a.wait].Invoke != own.Invoke {
				others = append(others, trace.Span{From: a.from, To: a.to})
			}
		}
		node := r.Ops[w.Invoke].Node
		free := without(trace.Span{From: w.From, To: w.To}, trace.Union(others))
		for _, part := range r.clearOf(stretch{w.From, w.To, []trace.Wait{w}}, free, node) {
			if part.To-part.From > r.patience() {
				f.add(r, Violation{Key: k.Name, At: part.From + r.patience(), Operations: []int{own.Op, w.Invoke, w.Done}},
					"%s waited to hold %q in the mode %s from %s to %s although nobody else kept it from that.",
					node, k.Name, mode, r.seconds(part.From), r.seconds(part.To))
				break
			}
		}
	}
}

// wantToWrite are the readers of a key that ask to be the writer, for whom nobody else is let in, and until when a request of theirs of
// unknown outcome may keep others from it.
func (r *run) wantToWrite(k *keyLog) map[*trace.Grant]int64 {
	until := map[*trace.Grant]int64{}
	for _, w := range r.changes(k) {
		if r.Ops[w.Invoke].Mode == history.Shared {
			continue
		}
		g, lasts := r.ByOwner[r.Ops[w.Invoke].Owner], int64(0)
		switch w, known := r.lasted(w); {
		case !known:
			lasts = trace.Forever
		case r.Ops[w.Done].Type == history.Info || r.Ops[w.Done].Type == history.Note: // its client gave up, or died
			lasts = after(max(g.LastSeen, w.To), r.mayBeRenewed(k))
		}
		until[g] = max(until[g], lasts)
	}
	return until
}

// changes are the requests of holders of a key to hold it in another mode.
func (r *run) changes(k *keyLog) []trace.Wait {
	if r.changed == nil { // once for all keys: a history may have as many as it has operations
		r.changed = r.readChanges()
	}
	return r.changed[k.Key]
}

func (r *run) readChanges() map[*trace.Key][]trace.Wait {
	all := map[*trace.Key][]trace.Wait{}
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
		all[g.Key] = append(all[g.Key], w)
	}
	return all
}
