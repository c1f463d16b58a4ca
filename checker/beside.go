package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What a fault of a client excuses of what others wait for. Where the service itself ends leases, by their time, or
// sessions, a client that is stopped, or whose links are at fault, keeps a key for no longer than what it has, or may
// have been granted, lasts: who never asked for a key keeps nobody from it.

// besideFaults says that a history is of such a service, and that a fault hit clients.
func (r *run) besideFaults() bool {
	p := r.Setup.Promise
	return (p.Leased || p.Session) && !p.Mute &&
		slices.ContainsFunc(r.Faults, func(f *trace.Fault) bool { return f.Begin >= 0 && r.isClient(f.Target) })
}

// hinderingAll are those of the clients that have asked for a key, as long as they wanted or had it.
func (r *run) hinderingAll(k *keyLog) []trace.Span {
	return once(&r.known.spans, "hinder who asks for "+k.Name, func() []trace.Span { return trace.Union(r.hinderEach(k)) })
}

// hinderEach are the times of hinderingAll, one of each fault.
func (r *run) hinderEach(k *keyLog) (spans []trace.Span) {
	for _, f := range r.concern(k) {
		spans = append(spans, trace.Span{From: f.From, To: r.served(f)})
	}
	slices.SortFunc(spans, func(a, b trace.Span) int { return cmp.Compare(a.From, b.From) })
	return spans
}

// concern are the faults that may have a hand in what becomes of a key: of servers, and of clients as long as they wanted or had it.
func (r *run) concern(k *keyLog) (faults []*trace.Fault) {
	seen := map[*trace.Fault]bool{}
	add := func(f *trace.Fault) {
		if !seen[f] && f.Begin >= 0 {
			seen[f] = true
			faults = append(faults, f)
		}
	}
	for _, f := range r.faultsUpon("") {
		add(f)
	}
	for node, spans := range r.engaged(k) {
		for _, f := range r.faultsOf(node) {
			if trace.Meets(spans, f.fault.From, r.faded(f.fault, f.fault.To)) {
				add(f.fault)
			}
		}
	}
	return faults
}

// engaged are, of each client that has asked for a key, the times, in order, in which it waited for it or may have had it.
func (r *run) engaged(k *keyLog) map[string][]trace.Span {
	if all, made := r.known.engaged[k.Name]; made {
		return all
	}
	all := map[string][]trace.Span{}
	for _, a := range r.attempts(k) {
		node := r.Ops[k.Waits[a.wait].Invoke].Node
		all[node] = append(all[node], trace.Span{From: a.from, To: a.to})
	}
	for node, spans := range all {
		all[node] = trace.Union(spans)
	}
	if r.known.engaged == nil {
		r.known.engaged = map[string]map[string][]trace.Span{}
	}
	r.known.engaged[k.Name] = all
	return all
}

// mayBeHeld are the times in which somebody may have had something of k: from the answer that told it so until that
// was certainly over, see attempts. Whoever was hit by a fault may have been granted it since its call, and what it has
// sent may have been under way until that fault had faded. Beside each stands the invoke of its acquire.
func (r *run) mayBeHeld(k *keyLog) (held []trace.Share, invokes []int) {
	for _, a := range r.attempts(k) {
		w := k.Waits[a.wait]
		op := &r.Ops[w.Invoke]
		faded := lastMeeting(r.hits(op.Node), a.from, a.to)
		switch {
		case w.Done >= 0 && r.Ops[w.Done].Type == history.Fail && faded > 0 && r.Setup.Promise.DriftFactor > 0: // it may not have taken its votes back
			faded = after(faded, r.LeaseOf(op))
		case w.Done >= 0 && r.Ops[w.Done].Type == history.Fail, w.Done < 0 && faded == 0:
			continue
		case w.Done >= 0 && r.Ops[w.Done].Type == history.OK && faded == 0:
			a.from = w.To
		}
		for _, s := range r.shares(a, max(a.to, faded), k) {
			held, invokes = append(held, s), append(invokes, w.Invoke)
		}
	}
	return held, invokes
}

// hits are the times of the faults of a client, or of its links, each with its aftermath. What the dead have sent is over when
// a lease and the bound are, whether they are started again or not.
func (r *run) hits(node string) []trace.Span {
	return once(&r.known.hits, node, func() (spans []trace.Span) {
		if len(r.killsOf(node)) == 0 {
			return r.ownFaults(node)
		}
		for _, f := range r.faultsOf(node) {
			if f.fault.Kind == "kill" && f.fault.Target == node && !f.fault.Missed {
				f.To = min(f.To, after(f.From, r.aftermath()))
			}
			spans = append(spans, f.Span)
		}
		return trace.Union(spans)
	})
}

// lastMeeting is the end of the last of some spans, which are in order, that meets a time; 0: none does.
func lastMeeting(spans []trace.Span, from, to int64) int64 {
	n := sort.Search(len(spans), func(i int) bool { return spans[i].From > to })
	if n > 0 && spans[n-1].To >= from {
		return spans[n-1].To
	}
	return 0
}

// stuckBeside looks at who waits for longer than our patience, while only others were hit by faults, for what nobody can have had.
func (r *run) stuckBeside(k *keyLog, f *found) {
	if !r.besideFaults() {
		return
	}
	held, _ := r.mayBeHeld(k)
	free, told := r.freeOfAll(held), toldOf(f) // free: of who must not be beside anybody
	if !r.Setup.Kind.Shares() {
		r.tellBeside(k, f, r.alone(k, func(*history.Op) bool { return true }), free, told)
		return
	}
	together := r.freeOf(r.demand(k, held))
	if r.Setup.Kind == history.ReadWrite {
		r.tellBeside(k, f, r.alone(k, func(op *history.Op) bool { return trace.ModeOf(op) != history.Shared }), free, told)
	}
	r.tellBeside(k, f, r.alone(k, r.mayShare), together, told)
}

func (r *run) tellBeside(k *keyLog, f *found, waits []stretch, free []trace.Span, told map[int]bool) {
	for _, w := range waits {
		asked := &r.Ops[w.waits[0].Invoke]
		if part, stuck := r.freeFor(w, r.clearOf(w, free, asked.Node), told); stuck {
			f.add(r, Violation{Key: k.Name, At: part.From + r.patience(), Operations: w.within(part.From, part.To), lasts: part, limit: r.patience()},
				"%s waited for %q from %s to %s although nobody can have had what it waited for, and only other clients were hit by faults.",
				asked.Node, k.Name, r.seconds(part.From), r.seconds(part.To))
		}
	}
}

// clearOf are the parts of a wait in which what it is for was free, and no fault of servers, or of its client, was felt.
func (r *run) clearOf(w stretch, free []trace.Span, node string) (clear []trace.Span) {
	first := sort.Search(len(free), func(i int) bool { return free[i].To > w.from })
	for _, s := range free[first:] {
		if s.From >= w.to {
			break
		}
		part := trace.Span{From: max(s.From, w.from), To: min(s.To, w.to)}
		clear = append(clear, eachWithout(without(part, r.serversFaults()), r.faultsFor(node))...)
	}
	return clear
}

// heldBy is what mayBeHeld tells of a key, filed by its times.
type heldBy struct {
	held    []trace.Share
	invokes []int
	at      meetings
}

// freeBeside is what is left of a time behind the death of the holder of g, in which the service owed the key to whoever
// waited, whatever hit other clients.
func (r *run) freeBeside(g *trace.Grant, whole trace.Span) []trace.Span {
	if !r.besideFaults() {
		return nil
	}
	k := r.logOf(g.Key)
	if k.may == nil {
		k.may = &heldBy{}
		k.may.held, k.may.invokes = r.mayBeHeld(k)
		for i, h := range k.may.held {
			k.may.at.add(h.From, h.To, i)
		}
	}
	var kept []trace.Span
	for _, i := range k.may.at.in(whole.From, whole.To) {
		if k.may.invokes[i] != g.Invoke {
			kept = append(kept, trace.Span{From: k.may.held[i].From, To: k.may.held[i].To})
		}
	}
	left := eachWithout(without(whole, r.serversFaults()), trace.Union(kept))
	r.asked(k).in(whole.From, whole.To, func(node string, _ []trace.Wait) { left = eachWithout(left, r.ownFaults(node)) })
	return left
}
