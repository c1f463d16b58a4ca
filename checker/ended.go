package checker

import (
	"time"

	"github.com/dlmtest/dlmtest/history/trace"
)

// noticed is how long after its end a server may be noted to have ended: its agent reads its
// last words first.
const noticed = int64(200 * time.Millisecond)

// ended are the servers that ended by themselves, as kills that last until a later fault has
// started the server again, or for ever. That is what a fault before has shown, or an error of
// the run, and whoever is not served for it is not blamed a second time.
func (r *run) ended() []*trace.Fault {
	if r.known.ended != nil {
		return r.known.ended
	}
	r.known.ended = []*trace.Fault{}
	for _, i := range r.ServerEnds {
		op := &r.Ops[i]
		end := &trace.Fault{Kind: "kill", Target: op.Node, From: max(op.Time-noticed, r.Begin), To: trace.Forever, Begin: i}
		for _, f := range r.killsAndCrashes() {
			if f.Target == op.Node && f.From > op.Time {
				end.To = min(end.To, f.To)
			}
		}
		r.known.ended = append(r.known.ended, end)
	}
	return r.known.ended
}

func (r *run) killsAndCrashes() (all []*trace.Fault) {
	for _, f := range r.Faults {
		if f.Begin >= 0 && (f.Kind == "kill" || f.Kind == "crash") {
			all = append(all, f)
		}
	}
	return all
}

// shocks are the ends of servers as what they do to the rest: while too few are left until
// enough are there again, and otherwise they are over at once, but for what they leave behind.
func (r *run) shocks() []*trace.Fault {
	if r.known.shocks != nil {
		return r.known.shocks
	}
	r.known.shocks = []*trace.Fault{}
	for _, end := range r.ended() {
		shock := *end
		n := newNetwork(r.Setup.Servers)
		for _, other := range r.ended() {
			if other.From <= end.From && other.To > end.From {
				n.change(other, 1)
			}
		}
		if n.serves("") {
			shock.To = shock.From
		}
		r.known.shocks = append(r.known.shocks, &shock)
	}
	return r.known.shocks
}

// tooFew says that at a time the servers that have ended by themselves leave no majority.
func (r *run) tooFew(at int64) bool {
	n := newNetwork(r.Setup.Servers)
	for _, end := range r.ended() {
		if end.From <= at && end.To > at {
			n.change(end, 1)
		}
	}
	return !n.serves("")
}
