package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what a judge forgave, or held against a sound lock, each with the near
// neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"availability": droughts, "fencing-monotonic": tokens, "false-loss": lossesOwed, "honest-claims": claimsOpen, "lock-info": infosPlain,
		"reentrancy": nestsLost, "deadlock-freedom": nestsHeld,
		"mutual-exclusion": doubles, "lease-exclusion": leasesUntold, "no-lost-update/unfenced": readsMissed,
		"honest-refusal": refusedLater, "validity-bound": boundless, "recovery": gone,
	} {
		maps.Copy(scenes[property], more)
	}
}

// renews lets h be renewed from a time to another, each third of a lease.
func (b *builder) renews(from, to int64, h *held) {
	for t := from; t < to; t += 333 * ms {
		b.does(t, h, history.Extend, history.OK)
	}
}

// worksFor is a holder that works and renews for 4 s while another waits, and a fault at it.
func worksFor(kind string) func(*builder) {
	return func(b *builder) {
		turns(b)
		b.fault(4500*ms, 9*sec, 1, kind, "client-1")
		h := b.grantOf(4*sec, 4010*ms, "client-1", 8)
		b.renews(4300*ms, 8*sec, h)
		b.does(8100*ms, h, history.Release, history.OK)
		b.grantOf(4100*ms, 8200*ms, "client-2", 9)
	}
}

// heldBySession is a hold of four seconds by a session that renews itself and records nothing of that, over links that a
// fault makes slower by so much, while somebody waits.
func heldBySession(slower int64) func(*builder) {
	return func(b *builder) {
		turns(b)
		b.setup.Promise.Renews = true
		b.fault(4500*ms, 9*sec, 1, "latency", "client-1")
		for i := range b.ops {
			if b.ops[i].Fault != nil {
				b.ops[i].Length = slower
			}
		}
		h := b.grantOf(4*sec, 4010*ms, "client-1", 8)
		b.does(8100*ms, h, history.Release, history.OK)
		b.grantOf(4100*ms, 8200*ms, "client-2", 9)
	}
}

// servers3 gives the run three servers, and somebody who waited before.
func (b *builder) servers3() {
	turns(b)
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
}

// unrenewed is a holder that asks to renew for 4 s, each time for 0.3 s, while a node is at fault. Each
// so many of its renewals are answered.
func (b *builder) unrenewed(at string, answered int) {
	kind := "kill"
	if at == "client-1" {
		kind = "blackhole"
	}
	h := b.grantOf(3*sec, 3990*ms, "client-1", 8)
	b.fault(4*sec, 9*sec, 1, kind, at)
	for i := 1; i < 10; i++ {
		t := 3700*ms + int64(i)*400*ms
		if i%answered == 0 {
			b.does(t, h, history.Extend, history.OK)
			continue
		}
		b.op(t, h.node, history.Invoke, history.Extend, "k").Owner = h.owner
		b.op(t+300*ms, h.node, history.Info, history.Extend, "k").Owner = h.owner
	}
}

// refusedBy is a client that tries all the time and is refused.
func (b *builder) refusedBy(node string, from, to int64) {
	for t := from; t < to; t += 100 * ms {
		b.refuse(t, t+2*ms, node, history.Try, 0)
	}
}

var droughts = map[string]func(*builder){
	"holds-served-latency":      worksFor("latency"),
	"holds-served-clock":        worksFor("clock"),
	"holds-slight-session":      heldBySession(100 * ms),
	"violated-slight-unrenewed": func(b *builder) { heldBySession(100 * ms)(b); b.setup.Promise.Renews = false },
	"violated-slow-session":     heldBySession(400 * ms),
	"violated-stands":           worksFor("stall-worker"), // its watchdog renews, and its work is what the fault has stopped
	"holds-served-cut": func(b *builder) { // one server of three is cut off from all
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		worksFor("reset")(b)
		b.ops = b.ops[:len(b.ops):len(b.ops)]
		for i := range b.ops {
			if f := b.ops[i].Fault; f != nil {
				f.Kind, f.Cut = "partition", []string{"server-3"}
			}
		}
	},
	"holds-suspect": func(b *builder) { // a request that was given up wins, and keeps the key for its lease
		turns(b)
		b.fault(4*sec, 9*sec, 1, "latency", "client-1")
		b.op(5*sec, "client-1", history.Invoke, history.Acquire, "k")
		b.op(5400*ms, "client-1", history.Info, history.Acquire, "k")
		b.grantOf(5050*ms, 6300*ms, "client-2", 9)
	},
	"violated-silent": func(b *builder) { // nobody is answered: that is no orphan's doing
		turns(b)
		b.fault(4*sec, 9*sec, 1, "kill", "server-3")
		for t := 5 * sec; t < 8*sec; t += 500 * ms {
			b.op(t, "client-1", history.Invoke, history.Acquire, "k")
			b.op(t+490*ms, "client-1", history.Info, history.Acquire, "k")
		}
	},
	"violated-tries": func(b *builder) { // who is refused and tries again waits as well
		turns(b)
		b.fault(4*sec, 9*sec, 1, "kill", "server-3")
		for t := 5 * sec; t < 8*sec; t += 100 * ms {
			b.refuse(t, t+2*ms, "client-1", history.Try, 0)
		}
	},
	"violated-row": func(b *builder) { // each cut alone is too short to show it
		turns(b)
		b.refused(4*sec, 9*sec)
		for i := range int64(8) {
			b.fault(4*sec+i*600*ms, 4500*ms+i*600*ms, int(i)+1, "partition", "server-1")
		}
	},
	"violated-sparse": func(b *builder) { // as long as it takes to come back lies between any two, and nobody is granted it for half a minute
		turns(b)
		b.refused(4*sec, 34*sec)
		for i := range int64(10) {
			b.fault(4*sec+i*3*sec, 4500*ms+i*3*sec, int(i)+1, "partition", "server-1")
		}
	},
	"holds-sparse": func(b *builder) { // somebody is granted it between
		turns(b)
		b.refused(4*sec, 34*sec)
		for i := range int64(10) {
			b.fault(4*sec+i*3*sec, 4500*ms+i*3*sec, int(i)+1, "partition", "server-1")
			b.session1(5*sec+i*3*sec, "client-2", 100+i)
		}
	},
	"violated-unrenewed": func(b *builder) { // nobody else asks, and the holder is not answered
		b.servers3()
		b.unrenewed("server-3", 99)
	},
	"holds-unrenewed-own-na": func(b *builder) { // its own links are at fault
		b.servers3()
		b.unrenewed("client-1", 99)
	},
	"holds-renewed-na": func(b *builder) { // each second one is answered
		b.servers3()
		b.unrenewed("server-3", 2)
	},
	"violated-lapsed": func(b *builder) { // a holder that does not renew believes on, and its lease is long over
		turns(b)
		b.fault(4*sec, 12*sec, 1, "kill", "server-3")
		h := b.grantOf(3*sec, 3900*ms, "client-1", 8)
		b.refusedBy("client-2", 5*sec, 11*sec)
		b.write(11500*ms, h)
		b.does(11600*ms, h, history.Release, history.OK)
	},
	"holds-lapsed-renewed": func(b *builder) {
		turns(b)
		b.fault(4*sec, 12*sec, 1, "kill", "server-3")
		h := b.grantOf(3*sec, 3900*ms, "client-1", 8)
		b.renews(4200*ms, 11*sec, h)
		b.refusedBy("client-2", 5*sec, 11*sec)
		b.write(11500*ms, h)
		b.does(11600*ms, h, history.Release, history.OK)
	},
	"holds-apart": func(b *builder) { // two faults, and between them as long without a grant as they allow each
		turns(b)
		b.fault(3*sec, 4*sec, 1, "partition", "server-1")
		b.refused(3500*ms, 4*sec)
		b.fault(6*sec, 7*sec, 2, "partition", "server-1")
		b.refused(6*sec, 6500*ms)
	},
}

// swapped are two waiters of which one is granted the key after the other has given it
// back, and whose tokens are the wrong way round.
func swapped(b *builder) (first, second *held) {
	first = b.grantOf(0, 20*ms, "client-1", 2)
	b.does(40*ms, first, history.Release, history.OK)
	second = b.grantOf(5*ms, 60*ms, "client-2", 1)
	b.does(90*ms, second, history.Release, history.OK)
	return first, second
}

// unsent forgets when the requests were sent that won.
func (b *builder) unsent() {
	for i := range b.ops {
		if b.ops[i].F != history.Holder {
			b.ops[i].Sent = 0
		}
	}
}

var tokens = map[string]func(*builder){
	"violated-sent":  func(b *builder) { swapped(b) },             // both waited together, and one was sent after the other's answer
	"unknown-unsent": func(b *builder) { swapped(b); b.unsent() }, // or two held it at once
	"violated-looked": func(b *builder) { // the servers named one after the other
		first, second := swapped(b)
		b.unsent()
		b.seen(22*ms, 23*ms, first.owner)
		b.seen(62*ms, 63*ms, second.owner)
	},
	"unknown-looked-again": func(b *builder) { // and then the first again: that is no order
		first, second := swapped(b)
		b.unsent()
		b.seen(22*ms, 23*ms, first.owner)
		b.seen(62*ms, 63*ms, second.owner)
		b.seen(64*ms, 65*ms, first.owner)
	},
}

// revoked is a healthy holder that is told of a loss at half of its lease, while the request
// of whoever is granted the key next was under way already.
func revoked(b *builder) *held {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.note(500*ms, h, history.Lost)
	b.sent(b.grantOf(100*ms, 502*ms, "client-2", 2), 499*ms)
	return h
}

var lossesOwed = map[string]func(*builder){
	"violated-revoked":  func(b *builder) { revoked(b) },
	"holds-revoked-cut": func(b *builder) { revoked(b); b.fault(200*ms, 300*ms, 1, "cut-link", "client-1") },
	"violated-beside-unknown": func(b *builder) { // a try that nobody knows the end of ends no lease that is owed
		b.op(0, "client-3", history.Invoke, history.Try, "k")
		b.op(5*ms, "client-3", history.Info, history.Try, "k")
		h := b.grantOf(10*ms, 20*ms, "client-1", 1)
		b.note(500*ms, h, history.Lost)
	},
	"violated-denied": func(b *builder) { // its release is said to be of nothing, long before the end of its lease
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(300*ms, h, history.Release, history.Fail)
	},
	"holds-denied-late": func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(1100*ms, h, history.Release, history.Fail)
	},
}

// overtakes are two grants without tokens whose requests were under way together for an
// instant; the first is told ok to what it asks long after the second was made.
func overtakes(b *builder, second history.Type) {
	h := b.grantOf(0, 10*ms, "client-1", 0)
	b.sent(h, ms)
	g := b.grantOf(5*ms, 1100*ms, "client-2", 0)
	b.sent(g, 9*ms)
	b.does(1700*ms, h, history.Extend, history.OK)
	b.does(1800*ms, g, history.Release, second)
}

var claimsOpen = map[string]func(*builder){
	"violated-stranger": func(b *builder) { // ok to who was never granted it
		turns(b)
		b.does(2500*ms, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Release, history.OK)
	},
	"violated-stranger-extend": func(b *builder) {
		turns(b)
		b.does(2500*ms, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Extend, history.OK)
	},
	"holds-stranger-refused": func(b *builder) {
		turns(b)
		b.does(2500*ms, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Release, history.Fail)
	},
	"holds-stranger-unknown": func(b *builder) { // its acquire may have won
		turns(b)
		b.op(2400*ms, "client-9", history.Invoke, history.Acquire, "k")
		b.op(2450*ms, "client-9", history.Info, history.Acquire, "k")
		b.does(2500*ms, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Release, history.OK)
	},
	"violated-open-named": func(b *builder) { // one is told ok, and then the servers name the other
		overtakes(b, history.Info)
		b.seen(1750*ms, 1751*ms, "client-2/2")
	},
	"holds-open-named": func(b *builder) { // it may be the second, and is named itself
		overtakes(b, history.Info)
		b.seen(1750*ms, 1751*ms, "client-1/1")
	},
	"violated-open":      func(b *builder) { overtakes(b, history.OK) },
	"holds-open-refused": func(b *builder) { overtakes(b, history.Fail) }, // the second was over: the first may be the later one
	"violated-looked": func(b *builder) { // renewed 18 s after its end, beside a look that found nobody
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(3*sec, 3*sec+ms, "")
		b.does(19*sec, h, history.Extend, history.OK)
	},
	"holds-looked-before": func(b *builder) { // the look was sent before the grant was answered
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(5*ms, 11*ms, "")
		b.does(500*ms, h, history.Extend, history.OK)
	},
	"violated-stalled": func(b *builder) { // no stall of a client makes the server's ok true
		h, _ := zombie(b)
		b.does(4*sec, h, history.Extend, history.OK)
		b.stall(3*sec, "client-2", sec/2)
	},
}

var infosPlain = map[string]func(*builder){
	"violated-plain": func(b *builder) {
		b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(100*ms, 101*ms, "")
		b.op(200*ms, "client-2", history.Note, history.Stop, "")
	},
	"violated-other": func(b *builder) { // in the middle of a lease another client is named
		g := b.grantOf(0, 5*ms, "client-2", 1)
		b.does(6*ms, g, history.Release, history.Info)
		b.grantOf(8*ms, 10*ms, "client-1", 2)
		b.seen(100*ms, 101*ms, g.owner)
	},
	"holds-apart": func(b *builder) { // of several servers, one that was cut off tells what was
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 300*ms, 1, "partition", "server-1")
		b.seen(100*ms, 101*ms, "")
		b.seen(20*ms, 21*ms, "client-1/1")
	},
}

var refusedLater = map[string]func(*builder){
	"violated-after-unknown": func(b *builder) { // what was never answered is over some time
		b.kind(history.Tried)
		b.op(0, "client-3", history.Invoke, history.Try, "k")
		b.op(5*ms, "client-3", history.Info, history.Try, "k")
		b.refuse(5*sec, 5*sec+ms, "client-1", history.Try, 0)
	},
	"violated-session-killed": func(b *builder) { // what a session had ends with its client
		b.kind(history.Tried)
		b.setup.Servers, b.setup.Promise.Session = []string{"server-1"}, true
		b.op(0, "client-3", history.Invoke, history.Try, "k")
		b.op(5*ms, "client-3", history.Info, history.Try, "k")
		b.fault(sec, 1500*ms, 1, "kill", "client-3")
		b.refuse(5*sec, 5*sec+ms, "client-1", history.Try, 0)
	},
	"holds-session-open": func(b *builder) {
		b.kind(history.Tried)
		b.setup.Servers, b.setup.Promise.Session = []string{"server-1"}, true
		b.op(0, "client-3", history.Invoke, history.Try, "k")
		b.op(5*ms, "client-3", history.Info, history.Try, "k")
		b.fault(sec, 1500*ms, 1, "kill", "client-2")
		b.refuse(5*sec, 5*sec+ms, "client-1", history.Try, 0)
	},
	"holds-beside-unknown": func(b *builder) {
		b.kind(history.Tried)
		b.op(0, "client-3", history.Invoke, history.Try, "k")
		b.op(5*ms, "client-3", history.Info, history.Try, "k")
		b.refuse(900*ms, 901*ms, "client-1", history.Try, 0)
	},
}

var boundless = map[string]func(*builder){
	"violated-endless": func(b *builder) { turns(b); b.ops[1].Deadline = 0 },
	"holds-endless-renews": func(b *builder) { // its session renews it by itself
		turns(b)
		b.setup.Promise.Renews = true
		b.ops[1].Deadline = 0
	},
	"holds-bent-slow": func(b *builder) { // by its own clock, which runs slow, its request took less time
		turns(b)
		for i := range b.ops {
			if op := &b.ops[i]; op.Node == "client-1" {
				slow := (op.Time - origin) / 2
				if op.Mono -= slow; op.Deadline != 0 {
					op.Deadline -= (op.Sent - origin) / 2
				}
			}
		}
	},
}

var gone = map[string]func(*builder){
	"violated-refused-on": func(b *builder) { // tries are refused for 105 s after the death
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(100*ms, 200*ms, 1, "kill", "client-1")
		for t := 300 * ms; t < 105*sec; t += 200 * ms {
			b.refuse(t, t+2*ms, "client-2", history.Try, 0)
		}
		b.grantOf(105*sec, 105*sec+ms, "client-2", 2)
	},
	"violated-beside-endless": func(b *builder) { // one request that never comes back explains no more than a lease
		b.grantOf(0, 10*ms, "client-1", 1)
		b.op(50*ms, "client-3", history.Invoke, history.Acquire, "k")
		b.fault(100*ms, 200*ms, 1, "kill", "client-1")
		b.op(300*ms, "client-2", history.Invoke, history.Acquire, "k")
		b.op(60*sec, "client-2", history.Fail, history.Acquire, "k")
	},
}

// idlers are two holders at once who do nothing with it.
func idlers(b *builder) (h, g *held) {
	h = b.grantOf(0, 10*ms, "client-1", 1)
	g = b.grantOf(100*ms, 300*ms, "client-2", 2)
	b.does(400*ms, h, history.Release, history.OK)
	b.does(500*ms, g, history.Release, history.OK)
	return h, g
}

// untoldOnes are told neither a deadline nor when a request was sent.
func untoldOnes(b *builder) {
	b.setup.Promise.Validity = history.Untold
	b.unsent()
	for i := range b.ops {
		b.ops[i].Deadline, b.ops[i].Lease = 0, 0
	}
}

var leasesUntold = map[string]func(*builder){
	"violated-untold": func(b *builder) { idlers(b); untoldOnes(b) },
	"holds-untold":    func(b *builder) { turns(b); untoldOnes(b) },
	"holds-untold-later": func(b *builder) { // more than a lease after the first asked
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.grantOf(500*ms, 1100*ms, "client-2", 2)
		b.does(1200*ms, h, history.Release, history.Fail)
		untoldOnes(b)
	},
}

var doubles = map[string]func(*builder){
	"violated-idle":          func(b *builder) { idlers(b) },
	"violated-idle-unleased": func(b *builder) { b.setup.Promise.Leased = false; idlers(b) },
	"violated-idle-untold":   func(b *builder) { idlers(b); untoldOnes(b) },
	"holds-idle-cut": func(b *builder) { // its session may have ended unseen
		b.setup.Promise.Leased = false
		b.fault(50*ms, 80*ms, 1, "cut-link", "client-1")
		idlers(b)
	},
	"violated-stranger": func(b *builder) {
		turns(b)
		b.write(2500*ms, &held{node: "client-9", key: "k", owner: "client-3/none", token: 7})
	},
	"holds-told-abstained": func(b *builder) {
		b.setup.SelfFence = "check-session"
		h, _ := zombie(b)
		b.note(3*sec, h, history.Lost)
		b.note(4*sec, h, history.Abstain)
	},
	"violated-abstained-once": func(b *builder) { // and then it writes all the same
		b.setup.SelfFence = "check-session"
		h, _ := zombie(b)
		b.note(3*sec, h, history.Lost)
		b.note(3500*ms, h, history.Abstain)
		b.write(4*sec, h)
	},
	"violated-stranger-key": func(b *builder) { // what it was granted is another key
		turns(b)
		b.setup.Keys = append(b.setup.Keys, "other")
		h := b.grant(2400*ms, 2410*ms, "client-9", "other", 9)
		b.write(2500*ms, &held{node: "client-9", key: "k", owner: h.owner, token: 9})
	},
	"violated-stranger-early": func(b *builder) { // it was granted the key only later
		turns(b)
		h := b.grantOf(3*sec, 3010*ms, "client-3", 9)
		b.write(2500*ms, &held{node: "client-9", key: "k", owner: h.owner, token: 9})
	},
	"violated-idle-stalled": func(b *builder) { idlers(b); b.stall(90*ms, "resource", sec) }, // that makes no lock grant twice
}

// rereads is a write and then a read that sees what stood there before, or not.
func rereads(seen func(b *builder) string) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.read(20*ms, h)
		b.write(30*ms, h)
		b.read(40*ms, h)
		b.write(50*ms, h)
		b.does(60*ms, h, history.Release, history.OK)
		g := b.grantOf(20*ms, 70*ms, "client-2", 2)
		b.look(80*ms, g)
		b.ops[len(b.ops)-1].Unfenced.Value = seen(b)
	}
}

var readsMissed = map[string]func(*builder){
	"violated-unread": rereads(func(*builder) string { return "v1" }),
	"holds-read":      rereads(func(b *builder) string { return b.resource("k")[0].Value }),
	"holds-stamped-late": func(b *builder) { // the second write was stamped before the first
		rereads(func(b *builder) string { return b.resource("k")[0].Value })(b)
		for i := range b.ops {
			if op := &b.ops[i]; op.F == history.Apply && op.Value == "v1" {
				op.Time += 20*ms + ms/8
			}
		}
	},
	"unknown-unlogged": rereads(func(*builder) string { return "somebody's" }),
}

// lostNest is an acquire whose answer and clean-up were lost; its thread asks again and is
// told that it has the lock twice, by the name of which it never heard.
func lostNest(b *builder) {
	nests["holds"](b)
	b.op(3*sec, "client-1", history.Invoke, history.Acquire, "k")
	b.op(3100*ms, "client-1", history.Info, history.Acquire, "k").Owner = "client-1/lost"
	b.again(3200*ms, &held{node: "client-1", key: "k", owner: "client-1/lost", token: 9}, 2, 9)
	b.back(3300*ms, &held{node: "client-1", key: "k", owner: "client-1/lost", token: 9}, 1)
}

var nestsLost = map[string]func(*builder){
	"holds-residual-closed": residual(history.End), // its library gave all back as it ended
	"holds-residual-asked":  residual(history.Stop, history.End),
	"holds-residual":        residual(), // its release comes late
	"holds-lost":            lostNest,
	"holds-late-inner": func(b *builder) { // the request of an unknown acquire came late, and was one more hold
		nests["holds"](b)
		b.op(3*sec, "client-1", history.Invoke, history.Acquire, "k")
		b.op(3100*ms, "client-1", history.Info, history.Acquire, "k").Owner = "client-1/lost"
		h := b.grantOf(3200*ms, 3300*ms, "client-1", 9)
		b.again(3400*ms, h, 3, 9)
		b.back(3500*ms, h, 2)
	},
	"violated-late-known": func(b *builder) { // nothing unknown explains it
		nests["holds"](b)
		h := b.grantOf(3200*ms, 3300*ms, "client-1", 9)
		b.again(3400*ms, h, 3, 9)
		b.back(3500*ms, h, 2)
	},
}

// residual is a hold that its client has once more than it knows, as a release never arrived, and that another
// gets before its lease ends: after its client has ended, by itself or as it was asked to, or while that goes on.
func residual(ends ...history.F) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.again(20*ms, h, 2, 1)
		b.back(30*ms, h, 1)
		b.does(40*ms, h, history.Release, history.Info)
		b.again(60*ms, h, 2, 1)
		b.back(100*ms, h, 1)
		for _, note := range ends {
			b.op(101*ms, "client-1", history.Note, note, "")
		}
		g := b.grantOf(15*ms, 500*ms, "client-2", 2)
		b.ops[len(b.ops)-1].Depth = 1
		b.does(600*ms, g, history.Release, history.OK)
		b.op(601*ms, "client-2", history.Note, history.End, "")
	}
}

// halfGivenBack is a lock without a lease, held twice, of whose two releases the first was lost; the
// answer to the second says how often the lock is held still. What happens since is followed by nobody's being granted it.
func halfGivenBack(depth int32, since ...func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		b.setup.Promise.Leased = false
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.again(20*ms, h, 2, 1)
		b.does(100*ms, h, history.Release, history.Info)
		b.does(sec, h, history.Release, history.OK)
		b.ops[len(b.ops)-1].Depth = depth
		for _, happens := range since {
			happens(b)
		}
		b.refused(2*sec, 8*sec)
		b.op(9*sec, "runner", history.Note, history.Final, "")
		b.refused(9*sec, 15*sec)
	}
}

// another is granted the key and gives it back: no hold of before is left.
func another(b *builder) {
	g := b.grantOf(1100*ms, 1200*ms, "client-2", 2)
	b.ops[len(b.ops)-1].Depth = 1
	b.does(1300*ms, g, history.Release, history.OK)
	b.ops[len(b.ops)-1].Depth = 0
}

var nestsHeld = map[string]func(*builder){
	"unknown-half-released": halfGivenBack(1),
	"violated-all-released": halfGivenBack(0),          // it was told to be free
	"violated-half-arrived": halfGivenBack(1, another), // the lost release had arrived
	"unknown-inner-unknown": func(b *builder) { // whether it took the lock a second time is unknown, and the last release says so
		b.kind(history.Reentrant)
		b.setup.Promise.Leased = false
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		b.op(20*ms, h.node, history.Invoke, history.Acquire, "k")
		b.op(500*ms, h.node, history.Info, history.Acquire, "k").Owner = h.owner
		b.does(600*ms, h, history.Release, history.Info)
		b.does(sec, h, history.Release, history.OK)
		b.ops[len(b.ops)-1].Depth = 1
		b.refused(2*sec, 8*sec)
		b.op(9*sec, "runner", history.Note, history.Final, "")
		b.refused(9*sec, 15*sec)
	},
}
