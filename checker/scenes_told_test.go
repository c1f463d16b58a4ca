package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Requests of unknown outcome of a service that grants leases of another length than it was asked for, which what it tells
// shows, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-refusal": refusedTold, "deadlock-freedom": keptTold, "availability": droughtsTold, "recovery": deathsTold,
		"lock-info": looksTold,
	} {
		maps.Copy(scenes[property], more)
	}
}

// toldLease is a service that told a lease of that length, then an acquire of unknown outcome, and what comes after.
func toldLease(lease int64, after func(*builder)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
		b.session1(-2*sec, "client-2", 1)
		b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		b.op(50*ms, "client-1", history.Info, history.Acquire, "k")
		after(b)
		b.longer("client-2", lease)
	}
}

// refusedAt is a refusal at a time.
func refusedAt(at int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Tried)
		b.refuse(at, at+10*ms, "client-3", history.Try, 0)
	}
}

// grantedAt waits for the key until a time.
func grantedAt(at int64) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(100*ms, at, "client-2", 3)
		b.does(at+100*ms, h, history.Release, history.OK)
		b.final(at + 5*sec)
	}
}

// finalAt is the final acquire of the key, granted at a time.
func finalAt(at int64) func(*builder) {
	return func(b *builder) {
		b.op(600*ms, "runner", history.Note, history.Final, "")
		b.does(at+100*ms, b.grantOf(610*ms, at, "final", 4), history.Release, history.OK)
	}
}

// pendingDead is a client that dies while it waits, of a service that tells leases of that length.
func pendingDead(lease, next int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
		b.session1(-2*sec, "client-2", 1)
		b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		b.fault(100*ms, 150*ms, 1, "kill", "client-1")
		grantedAt(next)(b)
		b.longer("client-2", lease)
	}
}

// otherKeyTold tells its leases of another key alone.
func otherKeyTold(at int64) func(*builder) {
	return toldLease(9*sec, func(b *builder) {
		b.setup.Keys = []string{"k", "l"}
		for i := range b.ops {
			if b.ops[i].Node == "client-2" {
				b.ops[i].Key = "l"
			}
		}
		refusedAt(at)(b)
	})
}

var refusedTold = map[string]func(*builder){
	"holds-unknown-longer":             toldLease(9*sec, refusedAt(3*sec)),
	"violated-unknown-as-asked":        toldLease(sec, refusedAt(3*sec)),
	"violated-unknown-longer-over":     toldLease(9*sec, refusedAt(10*sec)),
	"holds-unknown-longer-other-key":   otherKeyTold(3 * sec),
	"violated-unknown-other-key-over":  otherKeyTold(10 * sec),
	"violated-unknown-shorter-refused": toldLease(sec/2, refusedAt(3*sec)),
}

var keptTold = map[string]func(*builder){
	"holds-unknown-longer":           toldLease(9*sec, grantedAt(9*sec)),
	"violated-unknown-as-asked":      toldLease(sec, grantedAt(9*sec)),
	"violated-unknown-longer-over":   toldLease(9*sec, grantedAt(19*sec)),
	"holds-unknown-longer-final":     toldLease(9*sec, finalAt(9*sec)),
	"violated-unknown-final":         toldLease(sec, finalAt(9*sec)),
	"holds-dead-pending-longer":      pendingDead(9*sec, 9*sec),
	"violated-dead-pending-as-asked": pendingDead(sec, 9*sec),
}

// pausedBeside is a fault of one server of three while somebody waits until a time.
func pausedBeside(at int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		b.fault(60*ms, 12*sec, 1, "pause", "server-3")
		grantedAt(at)(b)
	}
}

// pausedAsking is a client that is paused as it asks, for 3 s, and gives up then; another waits.
func pausedAsking(heal int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		b.ops[len(b.ops)-1].Time += heal + 950*ms
		b.fault(5*ms, heal, 1, "pause", "client-1")
		h := b.grantOf(100*ms, heal+1900*ms, "client-2", 3)
		b.does(heal+2*sec, h, history.Release, history.OK)
	}
}

var droughtsTold = map[string]func(*builder){
	"holds-paused-asking-longer":      toldLease(9*sec, pausedAsking(2*sec)),
	"violated-paused-asking-as-asked": toldLease(sec, pausedAsking(2*sec)),
	"holds-unknown-longer":            toldLease(9*sec, pausedBeside(9*sec)),
	"violated-unknown-as-asked":       toldLease(sec, pausedBeside(9*sec)),
}

// diesBeside is a holder that dies as an acquire of another has no known outcome.
func diesBeside(b *builder) {
	b.ops = b.ops[:len(b.ops)-2]
	b.process["client-1"] = 0
	b.grantOf(0, 10*ms, "client-1", 2)
	b.op(20*ms, "client-3", history.Invoke, history.Acquire, "k")
	b.op(50*ms, "client-3", history.Info, history.Acquire, "k")
	b.dies(&held{node: "client-1"})
	g := b.grantOf(60*ms, 8900*ms, "client-2", 3)
	b.does(9*sec, g, history.Release, history.OK)
}

var deathsTold = map[string]func(*builder){
	"holds-unknown-longer-na":   toldLease(9*sec, diesBeside),
	"violated-unknown-as-asked": toldLease(sec, diesBeside),
}

// namedRenewed is a look that names a holder behind its lease, of which a renewal had no known outcome.
func namedRenewed(lease int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
		h := b.grantOf(0, 10*ms, "client-1", 2)
		b.does(500*ms, h, history.Extend, history.OK)
		b.does(900*ms, h, history.Extend, history.Info)
		b.seen(9700*ms, 9710*ms, h.owner)
		b.longer("client-1", lease)
	}
}

var looksTold = map[string]func(*builder){
	"holds-renewal-longer":      namedRenewed(9 * sec),
	"violated-renewal-as-asked": namedRenewed(sec),
}
