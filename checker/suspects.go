package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// suspects are the times, in order, in which a request for k with an unknown outcome may
// have kept the key from everybody. What was asked last before the client of an acquire gave
// up, or died, may have been granted, and holds the key for a lease that nobody knows of; it
// was asked at most such a lease before, as no request is waited for longer. A renewal without an
// answer may have made a lease longer. A release without one has not: what it leaves held ends
// with a lease that was granted before it, and for that a drought is forgiven a lease anyway.
func (r *run) suspects(k *keyLog) []trace.Span {
	if k.suspects != nil {
		return k.suspects
	}
	spans := []trace.Span{}
	for _, w := range k.Waits {
		end := w.To
		switch {
		case w.Done < 0:
			death := r.deathAfter(r.Ops[w.Invoke].Node, w.From)
			if death == nil {
				continue
			}
			end = death.From
		case r.Ops[w.Done].Type != history.Info:
			continue
		}
		spans = append(spans, trace.Span{From: max(w.From, end-r.leasesOf(k).granted), To: after(end, r.mayBeGranted(k))})
	}
	asked := map[int]int64{} // by process: when a renewal that is open was sent
	for i := range r.Ops {
		switch op := &r.Ops[i]; {
		case op.Key != k.Name && op.Key != "" || op.F != history.Extend:
		case op.Type == history.Invoke:
			asked[op.Process] = op.Time
		case op.Type == history.Info:
			spans = append(spans, trace.Span{From: asked[op.Process], To: after(op.Time, r.mayBeRenewed(k))})
		}
	}
	k.suspects = trace.Union(spans)
	return k.suspects
}

// unexplained is what acquires of unknown outcome, which may have held k, leave of a drought of more than a limit.
func (r *run) unexplained(k *keyLog, in *incident, plain drought, limit int64) drought {
	if plain.to-plain.from-r.keptUnheard(k, in.hit, trace.Span{From: plain.from, To: plain.to}) <= limit {
		return drought{}
	}
	return r.drought(k, &incident{from: in.from, to: in.to, hit: in.hit, refused: in.refused, room: in.room, suspects: r.suspects(k)})
}

// keptUnheard is for how long, within a time without a grant, acquires of unknown outcome may have kept k whose clients a fault has hit: each once, and at
// any time at which its client ran and could send, as only its answer may have been kept back.
func (r *run) keptUnheard(k *keyLog, hit map[string]*hits, dry trace.Span) (kept int64) {
	for _, w := range k.Waits {
		node := r.Ops[w.Invoke].Node
		h, meets := hit[node], trace.Span{From: max(w.From, dry.From), To: min(w.To, dry.To)}
		if h == nil || w.Done < 0 || r.Ops[w.Done].Type != history.Info || meets.From >= meets.To {
			continue
		}
		asked := without(meets, trace.Union(slices.Concat(h.stopped, h.mute, r.outages(node))))
		if len(asked) > 0 {
			kept = after(kept, min(r.mayBeGranted(k), dry.To-asked[0].From))
		}
	}
	return kept
}

// unsuspected are the parts of a wait that no suspect explains. Who came to an answer was
// served, and may have been refused for a suspect's sake. A client without a fault whose
// last request was not answered at all was not served, and no suspect is the reason for that.
func (r *run) unsuspected(in *incident, w trace.Wait, owed []trace.Span) (left []trace.Span) {
	if len(in.suspects) == 0 {
		return owed
	}
	silent := int64(trace.Forever) // from then on
	if op := &r.Ops[w.Done]; op.Type == history.Info && in.hit[op.Node] == nil {
		silent = w.To - int64(r.Setup.Lease)
	}
	for _, s := range owed {
		if s.From < silent {
			left = append(left, without(trace.Span{From: s.From, To: min(s.To, silent)}, in.suspects)...)
		}
		if s.To > silent {
			left = append(left, trace.Span{From: max(s.From, silent), To: s.To})
		}
	}
	return left
}
