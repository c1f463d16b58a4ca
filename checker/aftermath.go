package checker

import (
	"slices"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// aftermath is how long what a fault has left behind may go on: leases end, a
// leader is elected, clients return.
func (r *run) aftermath() int64 { return int64(r.Setup.Lease) + int64(r.Setup.Promise.Bound) }

// backedOff is what TCP adds to a cut: a connection that was cut is tried again after
// times that double, so it may stand as long again as the cut lasted, and half a second.
const backedOff = int64(500 * time.Millisecond)

// flows is when all connections that a cut had stopped make progress again, at the latest.
func flows(f *trace.Fault) int64 {
	if f.Kind != "partition" || f.To == trace.Forever {
		return f.To
	}
	return max(FlowAgain(f.From, f.To), f.Again)
}

// FlowAgain is when all connections flow again, at the latest, that a partition between two times had cut.
func FlowAgain(from, to int64) int64 { return after(to, to-from+backedOff) }

// faded is when what a fault has left behind is over; end is when the fault itself was.
// That of a cut lasts at least until its connections flow.
func (r *run) faded(f *trace.Fault, end int64) int64 {
	return max(after(end, r.aftermath()), flows(f))
}

// served is when what a fault has left behind is over, and the service, where it was killed, has answered somebody: see over.
func (r *run) served(f *trace.Fault) int64 { return max(r.faded(f, f.To), r.over(f)) }

// feltOutages are the outages of a node, each until what it has left behind is over: that of the faults which had a part in it.
func (r *run) feltOutages(node string) []trace.Span {
	return r.outagesUntil("felt", node, func(f *trace.Fault) int64 { return r.faded(f, f.To) })
}

// endingOutages are the outages of a node, each until it can have no hand any more in the end of a hold that is asked for then, see ends,
// and connections make progress.
func (r *run) endingOutages(node string) []trace.Span {
	return r.outagesUntil("ending", node, func(f *trace.Fault) int64 { return max(r.ends(f), flows(f)) })
}

func (r *run) outagesUntil(name, node string, over func(*trace.Fault) int64) []trace.Span {
	return once(&r.known.spans, name+" outages of "+node, func() []trace.Span {
		outages := r.outages(node)
		spans := slices.Clone(outages)
		for _, f := range r.faultsUpon(node) {
			if f.Begin < 0 {
				continue
			}
			i := sort.Search(len(outages), func(i int) bool { return outages[i].To >= f.From })
			for ; i < len(outages) && outages[i].From <= f.To; i++ {
				spans[i].To = max(spans[i].To, after(outages[i].To, over(f)-f.To))
			}
		}
		return trace.Union(spans)
	})
}

// faultsUntil are the times, in order, of those of some faults that match, each until what it has left behind is over.
func faultsUntil(faults []*trace.Fault, match func(*trace.Fault) bool, over func(*trace.Fault) int64) []trace.Span {
	var spans []trace.Span
	for _, f := range faults {
		if f.Begin >= 0 && match(f) {
			spans = append(spans, trace.Span{From: f.From, To: over(f)})
		}
	}
	return trace.Union(spans)
}

// endingUpon are the times, made once for a name, in which the faults that match and may hinder a node may end a hold that was asked for
// meanwhile, see ends.
func (r *run) endingUpon(name, node string, match func(*trace.Fault) bool) []trace.Span {
	return once(&r.known.spans, "ends: "+name+" "+node, func() []trace.Span { return faultsUntil(r.faultsUpon(node), match, r.ends) })
}

// ends is until when a fault may end a hold that was asked for after its begin. One that is over as the hold is asked for has no hand in it, but in two
// cases. Where servers follow each other and state no survival, what one of them answers may be lost for as long as the fault is felt. And a session with a
// lease may be older than the hold: it has missed heartbeats, of which there are two in a lease at least, until its links flow and it has asked again;
// a process or a disk that stood still for less than a quarter of a lease makes it miss none.
func (r *run) ends(f *trace.Fault) int64 {
	p, kind, lost := r.Setup.Promise, history.FaultOf(f.Kind), r.lost(f)
	brief := (kind.Stops || kind.Disk) && !kind.EndsLeases && f.To-f.From < int64(r.Setup.Lease)/4
	if brief || r.follow() || !p.Leased || !p.Session && !p.Renews {
		return lost
	}
	return max(lost, after(flows(f), int64(r.Setup.Lease)/2+backedOff))
}

// lost is until when what a server answers may be lost by a fault: as long as that lasts, and where servers follow each other as long as it is felt.
// That a clock is set right is told before it is done, and what was granted meanwhile may be measured by both.
func (r *run) lost(f *trace.Fault) int64 {
	switch {
	case r.follow():
		return r.faded(f, f.To)
	case f.Kind == "clock":
		return after(f.To, r.InForce())
	}
	return f.To
}

// follow says that what a server has answered may be lost as it follows another, or that nobody knows whether it may.
func (r *run) follow() bool {
	p, servers := r.Setup.Promise, len(r.Setup.Servers)
	return servers == 0 || servers > 1 && p.Survives == "" && p.DriftFactor == 0
}

// deathAfter is the first kill of a node after t; nil: it was not killed.
func (r *run) deathAfter(node string, t int64) *trace.Fault {
	kills := r.killsOf(node)
	if i := sort.Search(len(kills), func(i int) bool { return kills[i].From >= t }); i < len(kills) {
		return kills[i]
	}
	return nil
}

// lasted is a wait as long as it is known to have gone on. Of one of which no end is known it is known no less while another process of its client goes
// on: what a client records comes in order, so its end would have come before the last request that such a process made, which stands in for
// its completion. How much longer it went on is not known: see knownEnd. Nor is it, where its client acts as an owner of whom nobody knows how it came
// to be one: that may be what it waited for. false: nothing is known of it.
func (r *run) lasted(w trace.Wait) (trace.Wait, bool) {
	if w, known := r.knownEnd(w); w.Done >= 0 {
		return w, known
	}
	op := &r.Ops[w.Invoke]
	if node := op.Node; node != "" && r.Sources[node].Asked > w.Invoke && r.lastUnknown(actor{node, op.Owner}) <= w.Invoke {
		w.Done = r.Sources[node].Asked
		w.To = r.Ops[w.Done].Time
	}
	return w, w.Done >= 0 && w.From < w.To
}

// actor is a client with the owner as whom it acts; "": any.
type actor struct{ node, owner string }

// lastUnknown is the last request of a client as an owner who was granted nothing, and asked for nothing of which the outcome is unknown; -1: none.
func (r *run) lastUnknown(by actor) int {
	if r.known.unknowns == nil {
		r.known.unknowns = map[actor]int{}
		for i := range r.Ops {
			op := &r.Ops[i]
			_, ghost := r.Ghosts[op.Owner]
			if op.Type != history.Invoke || op.Owner == "" || r.ByOwner[op.Owner] != nil || ghost || op.F == history.Acquire || op.F == history.Try {
				continue
			}
			r.known.unknowns[actor{op.Node, ""}], r.known.unknowns[actor{op.Node, op.Owner}] = i, i
		}
	}
	if last, acts := r.known.unknowns[by]; acts {
		return last
	}
	return -1
}

// knownEnd is a wait with its end. One that never came to an answer went on until its client was killed or asked to end, and that note
// stands in for its completion; false: its end is not known.
func (r *run) knownEnd(w trace.Wait) (trace.Wait, bool) {
	if w.Done >= 0 {
		return w, true
	}
	node := r.Ops[w.Invoke].Node
	if stop, ok := r.Stops[node]; ok {
		w.Done, w.To = stop, r.Ops[stop].Time
	}
	if death := r.deathAfter(node, w.From); death != nil && death.From < w.To {
		w.Done, w.To = death.Begin, death.From
	}
	return w, w.Done >= 0 && w.From < w.To
}

// after adds to a time, which may be forever.
func after(t, length int64) int64 {
	if t > trace.Forever-length {
		return trace.Forever
	}
	return t + length
}

// over is when f has ended, where it was a cut, its connections flow again, and, where it killed a server and so the service, that has
// answered somebody since: a database that was killed reads its log first. That takes no longer than our patience and what the lock states: who
// is not answered by then waits in vain.
func (r *run) over(f *trace.Fault) int64 {
	if f.Kind != "kill" && f.Kind != "crash" || r.isClient(f.Target) {
		return flows(f)
	}
	if r.readOutages(); len(r.Setup.Servers) > 0 && !trace.Meets(r.unserved[""], f.From, f.To) {
		return f.To
	}
	if r.answers == nil {
		r.answers = []int64{}
		for i := range r.Ops {
			if r.answered(&r.Ops[i]) {
				r.answers = append(r.answers, r.Ops[i].Time)
			}
		}
	}
	latest := after(f.To, r.patience()+int64(r.Setup.Promise.Bound))
	i, _ := slices.BinarySearch(r.answers, f.To)
	if i == len(r.answers) {
		return max(f.To, min(r.End, latest))
	}
	return min(r.answers[i], latest)
}

// answered says that the lock's servers answered an operation, or a look.
func (r *run) answered(op *history.Op) bool {
	switch {
	case op.F == history.Holder:
		return op.Error == ""
	case op.Type == history.Fail:
		return op.Busy || op.F == history.Extend || op.F == history.Release
	}
	return op.Type == history.OK && slices.Contains(ofService, op.F)
}

// ofService are the operations that the lock's servers answer.
var ofService = []history.F{history.Acquire, history.Try, history.Extend, history.Release}
