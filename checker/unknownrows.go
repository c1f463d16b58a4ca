package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// Requests of unknown outcome that follow each other, of a service that itself ends its leases. Each may have been
// granted what it asked for, and kept it for a lease and the bound, once, whenever it arrived: so all of them explain
// as much of a wait, and no more, also where a fault lets a client ask in vain again and again.

// stuckInRow looks at each client whose wait is longer than that, by half as much again as our patience: see
// unknownRow. What hits the client itself, or servers, may keep its answers from it.
func (r *run) stuckInRow(k *keyLog, f *found) {
	if p := r.Setup.Promise; !r.keepsLeases() || p.DriftFactor > 0 || p.Mute {
		return
	}
	all := r.wentOn(k)
	if len(all) == 0 {
		return
	}
	known, unknown := r.mayHave(k)
	var alone []roomChange // for who must not be beside anybody
	for _, h := range known {
		alone = append(alone, roomChange{h.From, 1}, roomChange{h.To, -1})
	}
	free := map[bool][]trace.Span{false: r.freeOf(0, alone)}
	if r.Setup.Kind.Shares() {
		free[true] = r.freeOf(r.demand(k, known))
	}
	told := toldOf(f)
	for _, w := range all {
		if !slices.ContainsFunc(w.waits, func(one trace.Wait) bool { return told[one.Invoke] }) {
			r.rowOf(k, f, w, free[r.mayShare(&r.Ops[w.waits[0].Invoke])], unknown)
		}
	}
}

// rowOf judges the parts of a wait in which what it is for was not known to be held.
func (r *run) rowOf(k *keyLog, f *found, w stretch, free, unknown []trace.Span) {
	node := r.Ops[w.waits[0].Invoke].Node
	for _, part := range r.clearOf(w, free, node) {
		long := part.To - part.From
		if long <= r.patience()*3/2 {
			continue
		}
		n := counted(unknown, func(u trace.Span) bool { return u.From < part.To && u.To > part.From })
		kept := int64(n) * r.mayBeRenewed(k)
		if long-kept <= r.patience()*3/2 {
			continue
		}
		stalled := r.askerStalled(k, part.From, part.To)
		f.add(r, Violation{Key: k.Name, At: part.From + kept + r.patience()*3/2, Operations: w.within(part.From, part.To),
			Possible: stalled},
			"%s waited for %q from %s to %s although nobody was known to have what it waited for; %s of unknown "+
				"outcome can have kept it for %s at most.", node, k.Name, r.seconds(part.From), r.seconds(part.To),
			nouns.Count(n, "request"), length(kept))
		if !stalled {
			return
		}
	}
}

// askerStalled says that a server, or a client as long as it wanted or had k, stood still by no fault between two times, so answers may have been kept.
func (r *run) askerStalled(k *keyLog, from, to int64) bool {
	r.stalled()
	for node, spans := range r.engaged(k) {
		for _, s := range within(spans, trace.Span{From: from, To: to}) {
			if stalledIn(r.known.stalls[node], s.From, s.To) {
				return true
			}
		}
	}
	return stalledIn(r.known.servers, from, to)
}

// wentOn are the times, longer than half as much again as our patience, for which a client asked for a key and went on
// asking, by requests of one mode, also where it was not told how one of them ended.
func (r *run) wentOn(k *keyLog) (long []stretch) {
	type asker struct {
		client string
		shares bool
	}
	open, order := map[asker]*stretch{}, []asker{}
	end := func(who asker) {
		if s := open[who]; s != nil && s.to-s.from > r.patience()*3/2 {
			long = append(long, *s)
		}
		delete(open, who)
	}
	for _, w := range k.Waits {
		w, known := r.lasted(w)
		if !known {
			continue
		}
		who, apart := asker{r.client(w.Invoke), r.mayShare(&r.Ops[w.Invoke])}, int64(r.Setup.Lease)/4
		s := open[who]
		if s != nil && r.busy(w) && r.busy(s.last()) {
			apart = max(apart, r.patience()/2)
		}
		if s != nil && w.From-s.to <= apart {
			s.add(w, apart)
		} else {
			end(who)
			open[who] = &stretch{w.From, w.To, []trace.Wait{w}}
			order = append(order, who)
		}
		if r.Ops[w.Done].Type == history.OK {
			end(who)
		}
	}
	for _, who := range order {
		end(who)
	}
	return long
}

// mayHave are the times in which somebody was known to have something of k, or may have been, as far as what it was
// answered tells, and the times in which a request of unknown outcome, a renewal too, may have arrived or have kept it.
func (r *run) mayHave(k *keyLog) (known []trace.Share, unknown []trace.Span) {
	for _, a := range r.attempts(k) {
		w := k.Waits[a.wait]
		op := &r.Ops[w.Invoke]
		faded := lastMeeting(r.hits(op.Node), a.from, a.to)
		switch {
		case w.Done < 0 && faded == 0 || w.Done >= 0 && r.Ops[w.Done].Type == history.Fail:
		case w.Done >= 0 && r.Ops[w.Done].Type == history.OK:
			if faded == 0 {
				a.from = w.To
			}
			known = append(known, r.shares(a, a.to, k)...)
		default:
			unknown = append(unknown, trace.Span{From: a.from, To: max(a.to, faded)})
		}
	}
	for i := range r.Ops {
		op := &r.Ops[i]
		if op.Type != history.Invoke || op.F != history.Extend || op.Key != "" && op.Key != k.Name {
			continue
		}
		s := trace.Span{From: op.Time, To: trace.Forever}
		if done, ended := r.Ended(i); ended {
			if r.Ops[done].Type != history.Info {
				continue
			}
			s.To = after(r.Ops[done].Time, r.mayBeRenewed(k))
		}
		unknown = append(unknown, trace.Span{From: s.From, To: max(s.To, lastMeeting(r.hits(op.Node), s.From, s.To))})
	}
	return known, unknown
}
