package checker

import "github.com/dlmtest/dlmtest/history"

// orphaned kills client-1, which holds the key, at 0.1 s. The lock states a bound of half a second.
func orphaned(b *builder) *held {
	b.setup.Promise.Bound, b.setup.Servers = 5e8, []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(100*ms, sec, 1, "kill", "client-1")
	return h
}

var recoveries = map[string]func(*builder){
	"holds":           func(b *builder) { orphaned(b); b.grantOf(50*ms, 1100*ms, "client-2", 2) },
	"holds-na":        turns,
	"violated-early":  func(b *builder) { orphaned(b); b.grantOf(50*ms, 500*ms, "client-2", 2) },
	"violated-late":   func(b *builder) { orphaned(b); b.grantOf(50*ms, 3*sec, "client-2", 2) },
	"violated-never":  func(b *builder) { orphaned(b); b.refused(50*ms, 4*sec) },
	"violated-relays": func(b *builder) { orphaned(b); b.retries(50*ms, 4*sec) }, // others ask in turn
	"violated-unleased": func(b *builder) { // it must notice that its holder is gone
		b.setup.Promise.Leased = false
		orphaned(b)
		b.grantOf(50*ms, 3*sec, "client-2", 2)
	},
	"holds-unleased": func(b *builder) {
		b.setup.Promise.Leased = false
		orphaned(b)
		b.grantOf(50*ms, 200*ms, "client-2", 2)
	},
	"violated-early-renewed": func(b *builder) { // its last renewal counts
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(800*ms, h, history.Extend, history.OK)
		b.fault(900*ms, 2*sec, 1, "kill", "client-1")
		b.grantOf(50*ms, 1200*ms, "client-2", 2)
	},
	"holds-renewed": func(b *builder) { // and the next one may wait for it
		b.setup.Promise.Bound = 5e8
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(800*ms, h, history.Extend, history.OK)
		b.fault(900*ms, 2*sec, 1, "kill", "client-1")
		b.grantOf(50*ms, 2200*ms, "client-2", 2)
	},
	"holds-unwanted":  func(b *builder) { orphaned(b); b.session1(5*sec, "client-2", 2) },
	"holds-nobody-na": func(b *builder) { orphaned(b); b.refused(50*ms, 1200*ms) },
	"holds-released-na": func(b *builder) { // it had given the key back
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.does(20*ms, h, history.Release, history.OK)
		b.fault(100*ms, sec, 1, "kill", "client-1")
		b.grantOf(50*ms, 150*ms, "client-2", 2)
	},
	"holds-expired-na": func(b *builder) { // its lease was over before it died
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(2*sec, 3*sec, 1, "kill", "client-1")
		b.grantOf(50*ms, 9*sec, "client-2", 2)
	},
	"holds-server": func(b *builder) { // the server was away when the lease ended
		orphaned(b)
		b.fault(900*ms, 2800*ms, 2, "pause", "server-1")
		b.grantOf(50*ms, 3*sec, "client-2", 2)
	},
	"holds-cut-na": func(b *builder) { // the holder dies while its server is cut off
		b.partition(50*ms, 2*sec, 2, []string{"server-1"}, []string{"client-1", "client-2", "client-3"})
		orphaned(b)
		b.grantOf(60*ms, 3*sec, "client-2", 2)
	},
	"violated-after-fault": func(b *builder) { // which is over for long
		orphaned(b)
		b.fault(500*ms, 600*ms, 2, "pause", "server-1")
		b.grantOf(50*ms, 9*sec, "client-2", 2)
	},
	"holds-ghost-na": func(b *builder) { // somebody may have had it meanwhile
		orphaned(b)
		b.op(60*ms, "client-3", history.Invoke, history.Acquire, "k")
		b.op(2*sec, "client-3", history.Info, history.Acquire, "k")
		b.grantOf(50*ms, 3*sec, "client-2", 2)
	},
	"holds-clock-na": func(b *builder) { // a clock that jumps ends leases, which lease-exclusion judges
		orphaned(b)
		b.fault(200*ms, 400*ms, 2, "clock", "server-1")
		b.grantOf(50*ms, 500*ms, "client-2", 2)
	},
	"unknown": func(b *builder) { orphaned(b); b.grantOf(50*ms, 500*ms, "client-2", 2); clearMono(b) },
	"unknown-order": func(b *builder) { // both requests were on the wire together
		b.setup.Promise.Token = false
		orphaned(b)
		b.sent(b.grantOf(5*ms, 500*ms, "client-2", 0), 6*ms)
		clearTokens(b)
	},
	"unknown-disturbed": func(b *builder) {
		orphaned(b)
		b.grantOf(50*ms, 3*sec, "client-2", 2)
		b.stall(2900*ms, "client-2", sec)
	},
}

// losing grants client-1 the key, with a renewal at 0.3 s that keeps it until 1.3 s.
func losing(b *builder) *held {
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(300*ms, h, history.Extend, history.OK)
	return h
}

var falseLosses = map[string]func(*builder){
	"holds":           turns,
	"holds-na":        func(b *builder) { b.session1(0, "client-1", 1) },
	"holds-due":       func(b *builder) { h := losing(b); b.does(1400*ms, h, history.Extend, history.Fail) },
	"violated-extend": func(b *builder) { h := losing(b); b.does(600*ms, h, history.Extend, history.Fail) },
	"violated-told":   func(b *builder) { h := losing(b); b.note(1200*ms, h, history.Lost) },
	"violated-session": func(b *builder) { // the whole session
		losing(b)
		b.op(1200*ms, "client-1", history.Note, history.Lost, "")
	},
	"violated-deaf": func(b *builder) { // it writes on
		h := losing(b)
		b.read(350*ms, h)
		b.note(1200*ms, h, history.Lost)
		b.write(1250*ms, h)
	},
	"violated-deposed": func(b *builder) { // a server that is away must end nobody's lease
		h := losing(b)
		b.fault(400*ms, 1*sec, 1, "disk-stall", "server-1")
		b.note(600*ms, h, history.Lost)
	},
	"violated-then-granted": func(b *builder) { h := losing(b); b.note(600*ms, h, history.Lost); b.session1(700*ms, "client-2", 2) },
	"holds-told-twice":      func(b *builder) { h := losing(b); b.note(1400*ms, h, history.Lost); b.note(1500*ms, h, history.Lost) },
	"violated-granted": func(b *builder) { // to somebody else, too: for lease-exclusion as well
		h := losing(b)
		b.grantOf(400*ms, 500*ms, "client-2", 2)
		b.note(600*ms, h, history.Lost)
	},
	"violated-in-flight": func(b *builder) { // the request of whoever is granted it next was under way
		h := losing(b)
		b.sent(b.grantOf(400*ms, 700*ms, "client-2", 2), 500*ms)
		b.note(600*ms, h, history.Lost)
	},
	"violated-slow-link": func(b *builder) { // an answer that comes late is an answer
		b.slow(0, 2*sec, 1, "client-1", 60*ms)
		h := losing(b)
		b.note(600*ms, h, history.Lost)
	},
	"holds-slowest-link": func(b *builder) {
		b.slow(0, 2*sec, 1, "client-1", 600*ms)
		h := losing(b)
		b.note(600*ms, h, history.Lost)
	},
	"violated-ghost": func(b *builder) { // a request of unknown end takes no lease that is owed
		h := losing(b)
		b.op(400*ms, "client-3", history.Invoke, history.Acquire, "k")
		b.note(600*ms, h, history.Lost)
		b.op(800*ms, "client-3", history.Info, history.Acquire, "k")
	},
	"holds-suspended": func(b *builder) {
		h := losing(b)
		b.note(500*ms, h, history.Suspended)
		b.note(600*ms, h, history.Lost)
	},
	"violated-unanswered-once": func(b *builder) { // a renewal since was answered: one unknown does not excuse the rest
		h := losing(b)
		b.does(350*ms, h, history.Extend, history.Info)
		b.does(500*ms, h, history.Extend, history.OK)
		b.note(700*ms, h, history.Lost)
	},
	"holds-unanswered": func(b *builder) {
		h := losing(b)
		b.does(500*ms, h, history.Extend, history.Info)
		b.note(600*ms, h, history.Lost)
	},
	"holds-cut": func(b *builder) {
		h := losing(b)
		b.partition(400*ms, 500*ms, 1, []string{"client-1"}, []string{"server-1"})
		b.note(600*ms, h, history.Lost)
	},
	"holds-cut-one-way": func(b *builder) {
		h := losing(b)
		b.fault(400*ms, 500*ms, 1, "partition", "server-1", "client-1")
		b.note(600*ms, h, history.Lost)
	},
	"holds-paused": func(b *builder) {
		h := losing(b)
		b.fault(400*ms, 500*ms, 1, "pause", "client-1")
		b.note(600*ms, h, history.Lost)
	},
	"holds-reset": func(b *builder) {
		h := losing(b)
		b.fault(400*ms, 401*ms, 1, "reset", "client-1")
		b.note(600*ms, h, history.Lost)
	},
	"holds-majority": func(b *builder) { // too few servers are left
		h := losing(b)
		b.fault(400*ms, 500*ms, 1, "pause", "server-1")
		b.fault(400*ms, 500*ms, 2, "pause", "server-2")
		b.note(600*ms, h, history.Lost)
	},
	"holds-majority-before": func(b *builder) { // they are back for a moment only
		h := losing(b)
		b.fault(100*ms, 200*ms, 1, "pause", "server-1")
		b.fault(100*ms, 200*ms, 2, "pause", "server-2")
		b.note(600*ms, h, history.Lost)
	},
	"violated-just-before": func(b *builder) { h := losing(b); b.note(1297*ms, h, history.Lost) },
	"holds-amnesia": func(b *builder) { // the server forgot it: the loss is true
		h := losing(b)
		b.fault(400*ms, 500*ms, 1, "crash", "server-1")
		b.does(600*ms, h, history.Extend, history.Fail)
	},
	"unknown":       func(b *builder) { h := losing(b); b.note(600*ms, h, history.Lost); clearMono(b) },
	"unknown-empty": func(*builder) {},
	"unknown-disturbed": func(b *builder) {
		h := losing(b)
		b.note(600*ms, h, history.Lost)
		b.stall(500*ms, "client-1", sec/5)
	},
}

// lined has three clients wait at once, served in turn.
func lined(b *builder) {
	b.setup.Promise.Order = true
	for i := range int64(3) {
		h := b.grantOf(i*10*ms, 100*ms+i*500*ms, b.setup.Clients[i], i+1)
		b.does(500*ms+i*500*ms, h, history.Release, history.OK)
	}
}

// passed grants client-2 the key while client-1 waits, from 0 to 5 s.
func passed(b *builder, asked int64, places ...int64) { passedSince(b, 0, asked, places...) }

func passedSince(b *builder, since, asked int64, places ...int64) {
	b.setup.Promise.Order = true
	h := b.grantOf(asked, asked+100*ms, "client-2", places[0])
	b.does(asked+200*ms, h, history.Release, history.OK)
	b.grantOf(since, 5*sec, "client-1", places[1])
}

// answersLate has client-3 hold the key, and wait for the answer to its release for more than a quarter of a lease.
func answersLate(b *builder, at, token int64) {
	h := b.grantOf(at-110*ms, at-100*ms, "client-3", token)
	b.op(at, h.node, history.Invoke, history.Release, h.key).Owner = h.owner
	b.op(at+300*ms, h.node, history.OK, history.Release, h.key).Owner = h.owner
}

var queues = map[string]func(*builder){
	"holds":          lined,
	"holds-na":       turns,
	"holds-alone-na": func(b *builder) { turns(b); b.setup.Promise.Order = true },
	"holds-order":    func(b *builder) { passed(b, 300*ms, 1, 2) }, // who was first in the queue is not known to clients
	"violated-place": func(b *builder) { passed(b, 300*ms, 2, 1) },
	"violated-time":  func(b *builder) { passed(b, 2*sec, 1, 2) },
	// A service that answers late may have lost the session of who waits.
	"unknown-late": func(b *builder) { answersLate(b, 500*ms, 1); passed(b, 2*sec, 2, 3) },
	"violated-late-paused": func(b *builder) { // another client's own pause makes its answer late
		b.setup.Servers = []string{"server-1"}
		b.fault(550*ms, 750*ms, 1, "pause", "client-3")
		answersLate(b, 500*ms, 1)
		passed(b, 2*sec, 2, 3)
	},
	"violated-late-place": func(b *builder) { answersLate(b, 500*ms, 1); passed(b, 2*sec, 3, 2) },
	"violated-late-after": func(b *builder) { passed(b, 2*sec, 1, 3); answersLate(b, 2400*ms, 2) },
	"violated-no-token": func(b *builder) {
		passed(b, 2*sec, 0, 0)
		b.setup.Promise.Token = false
	},
	"holds-no-token-na": func(b *builder) {
		turns(b)
		b.setup.Promise.Token, b.setup.Promise.Order = false, true
		clearTokens(b)
		passedSince(b, 4*sec, 4300*ms, 0, 0)
	},
	"violated-gave-up": func(b *builder) { lined(b); b.session1(4*sec, "client-1", 9); b.refused(2*sec, 9*sec) },
	"holds-giving-up":  func(b *builder) { lined(b); b.session1(8500*ms, "client-1", 9); b.refused(4*sec, 9*sec) }, // it may have left by then
	"unknown-lost-place": func(b *builder) { // its session may have ended while the server was away
		b.fault(sec, 1500*ms, 1, "pause", "server-1")
		passed(b, 3*sec, 1, 2)
	},
	"violated-in-spite": func(b *builder) { // a place is a place, whatever happens
		b.fault(sec, 1500*ms, 1, "pause", "server-1")
		passed(b, 3*sec, 2, 1)
	},
	"holds-amnesia": func(b *builder) { // tokens begin again
		lined(b)
		b.fault(2200*ms, 4*sec, 1, "crash", "server-1")
		passedSince(b, 2*sec, 3*sec, 9, 8)
	},
	"holds-after": func(b *builder) { // who asks after a grant is not overtaken by it: see fencing-monotonic
		lined(b)
		b.session1(4*sec, "client-2", 9)
		b.session1(5*sec, "client-1", 8)
	},
	"holds-unknown-outcome": func(b *builder) { // it may have been served first
		lined(b)
		b.op(4*sec, "client-3", history.Invoke, history.Acquire, "k")
		b.session1(6*sec, "client-1", 9)
		b.op(9*sec, "client-3", history.Info, history.Acquire, "k")
	},
	"unknown": func(b *builder) { b.setup.Promise.Order = true; b.session1(0, "client-1", 1) },
	"unknown-disturbed": func(b *builder) {
		passed(b, 300*ms, 2, 1)
		b.stall(300*ms, "client-1", sec/4)
	},
}

func clearTokens(b *builder) {
	for i := range b.ops {
		b.ops[i].Token = 0
	}
}

// renewedLate grants the key for a second, asks half a second later to renew it, and answers
// that after two more with ok; another is granted the key at t.
func renewedLate(b *builder, t int64, released bool) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	renewer := "client-1 beside its work"
	b.op(500*ms, renewer, history.Invoke, history.Extend, "k").Owner = h.owner
	if released {
		b.does(600*ms, h, history.Release, history.OK)
	}
	g := b.grantOf(t-10*ms, t, "client-2", 2)
	done := b.op(2500*ms, renewer, history.OK, history.Extend, "k")
	done.Owner = h.owner
	b.claim(done, h, 500*ms)
	b.does(t+ms, g, history.Release, history.OK)
}
