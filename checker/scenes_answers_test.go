package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what answers and looks prove though nobody says when a request was sent, of leases that differ from that of
// the run, and of whom a second release hits, each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"lock-info": looksAgain, "recovery": deathsLonger, "availability": droughtsLonger, "honest-refusal": refusedLonger,
		"lease-exclusion": leasesBehind, "mutual-exclusion": doublesBehind, "release-by-owner": releasesAgain, "fairness": neverServed,
		"honest-claims": claimsUnknown, "fencing-monotonic": tokensAnswered, "wait-limit": shortLeases, "starvation": hungryAgain,
		"deadlock-freedom": rowsUnnamed,
	} {
		maps.Copy(scenes[property], more)
	}
}

// lookedTwice are two whose requests are under way at the same time, and looks that find one after the other. The one that a look
// finds last is granted the key, as it says, before the other is found or not.
func lookedTwice(b *builder, last int64) {
	given := max(last, 41*ms) + 4*ms
	if last > 26*ms {
		given = 30 * ms
	}
	o := b.grantOf(0, 25*ms, "client-2", 2)
	b.sent(o, 0)
	h := b.grantOf(0, last, "client-1", 1)
	b.sent(h, 0)
	b.seen(given-4*ms, given-3*ms, o.owner)
	b.does(given, o, history.Release, history.OK)
	b.seen(60*ms, 61*ms, h.owner)
	b.does(62*ms, h, history.Release, history.OK)
	b.setup.Promise.Token = false
	for i := range b.ops {
		b.ops[i].Token = 0
	}
}

// namedLate is a holder that renews for three seconds, or asks for a renewal of which it is told nothing, and is then silent; a look names it.
func namedLate(b *builder, look int64, last history.Type) {
	turns(b)
	h := b.grantOf(4*sec, 4010*ms, "client-1", 9)
	b.does(4500*ms, h, history.Extend, history.OK)
	b.does(5*sec, h, history.Extend, last)
	b.seen(look, look+ms, h.owner)
}

var looksAgain = map[string]func(*builder){
	"violated-named-again":      func(b *builder) { lookedTwice(b, 20*ms) },
	"holds-named-once":          func(b *builder) { lookedTwice(b, 35*ms) },
	"violated-named-at-its-end": func(b *builder) { namedLate(b, 6100*ms, history.OK) },
	"holds-named-in-time":       func(b *builder) { namedLate(b, 5900*ms, history.OK) },
	"holds-named-unknown":       func(b *builder) { namedLate(b, 6*sec, history.Info) },
	"holds-named-server-hit": func(b *builder) { // an election may make leases anew
		b.setup.Servers = []string{"server-1"}
		b.fault(5100*ms, 5200*ms, 1, "kill", "server-1")
		namedLate(b, 6100*ms, history.OK)
	},
}

// longer makes the leases of a client's grants and renewals that long.
func (b *builder) longer(node string, lease int64) {
	for i := range b.ops {
		if op := &b.ops[i]; op.Node == node && op.Lease != 0 {
			op.Deadline += lease - op.Lease
			op.Lease = lease
		}
	}
}

// diesLonger is a holder whose lease its renewal makes longer than that of the run, or not, and that dies.
func diesLonger(b *builder, lease int64, next int64) {
	b.setup.Promise.Bound, b.setup.Servers = 5e8, []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(50*ms, h, history.Extend, history.OK)
	if ok := &b.ops[len(b.ops)-1]; lease != ok.Lease {
		ok.Deadline += lease - ok.Lease
		ok.Lease = lease
	}
	b.fault(100*ms, sec, 1, "kill", "client-1")
	b.grantOf(60*ms, next, "client-2", 2)
}

var deathsLonger = map[string]func(*builder){
	"holds-longer":          func(b *builder) { diesLonger(b, 4*sec, 4200*ms) },
	"violated-longer-late":  func(b *builder) { diesLonger(b, 4*sec, 4700*ms) },
	"violated-longer-early": func(b *builder) { diesLonger(b, 4*sec, 2*sec) },
}

// standsLonger is a holder that is stopped, whose lease is that long, while another waits.
func standsLonger(b *builder, lease int64) {
	turns(b)
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(4*sec, 4010*ms, "client-1", 8)
	b.longer("client-1", lease)
	b.fault(4100*ms, 9*sec, 1, "pause", "client-1")
	b.grantOf(4050*ms, 8*sec, "client-2", 9)
	b.note(9100*ms, h, history.Lost)
}

var droughtsLonger = map[string]func(*builder){
	"holds-longer":     func(b *builder) { standsLonger(b, 4*sec) },
	"violated-shorter": func(b *builder) { standsLonger(b, sec) },
}

// refusedAfter is a try that is refused after a time by a holder that never gives back, of a lock that gives longer leases
// than it is asked for.
func refusedAfter(b *builder, at int64) {
	b.kind(history.Tried)
	b.grantOf(0, 10*ms, "client-1", 1)
	b.longer("client-1", 5*sec)
	b.refuse(at, at+ms, "client-2", history.Try, 0)
}

var refusedLonger = map[string]func(*builder){
	"holds-longer":    func(b *builder) { refusedAfter(b, 4*sec) },
	"violated-longer": func(b *builder) { refusedAfter(b, 6*sec) },
}

// behindAnother is a lock that tells no deadline and not when requests were sent. client-2 asks as client-1 gets it, and has it as
// soon as that gives it back; client-3 is granted it at a time.
func behindAnother(b *builder, given, third int64) {
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(given, h, history.Release, history.OK)
	g := b.grantOf(20*ms, given+10*ms, "client-2", 2)
	o := b.grantOf(30*ms, third, "client-3", 3)
	b.does(third+50*ms, o, history.Release, history.OK)
	b.note(third+60*ms, g, history.Lost)
}

// longRenewed is a grant that a renewal makes so long, and one of another at 1.5 s; nothing is told of deadlines.
func longRenewed(b *builder, lease int64) {
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(300*ms, h, history.Extend, history.OK)
	o := b.grantOf(20*ms, 1500*ms, "client-2", 2)
	b.does(1600*ms, o, history.Release, history.OK)
	b.note(1700*ms, h, history.Lost)
	untoldOnes(b)
	for i := range b.ops {
		if op := &b.ops[i]; op.F == history.Extend && op.Type == history.OK {
			op.Lease = lease
		}
	}
}

var leasesBehind = map[string]func(*builder){
	"violated-untold-behind": func(b *builder) { behindAnother(b, 700*ms, 1500*ms); untoldOnes(b) },
	"holds-untold-behind":    func(b *builder) { behindAnother(b, 700*ms, 1750*ms); untoldOnes(b) },
	"violated-untold-behind-hit": func(b *builder) {
		b.fault(-sec, -900*ms, 1, "kill", "server-1")
		behindAnother(b, 700*ms, 1500*ms)
		untoldOnes(b)
	},
	"holds-untold-hit": func(b *builder) {
		b.fault(800*ms, 900*ms, 1, "kill", "server-1")
		behindAnother(b, 700*ms, 1500*ms)
		untoldOnes(b)
	},
	"violated-renewed-longer": func(b *builder) { longRenewed(b, 3*sec) },
	"holds-renewed-as-long":   func(b *builder) { longRenewed(b, sec) },
}

var doublesBehind = map[string]func(*builder){
	"violated-behind": func(b *builder) { behindAnother(b, 700*ms, 1500*ms); b.unsent() },
	"holds-behind":    func(b *builder) { behindAnother(b, 700*ms, 1800*ms); b.unsent() },
}

// givesTwice gives its key back once, and once more when another has it; a third is granted it at a time.
func givesTwice(b *builder, third int64, second history.Type) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(100*ms, h, history.Release, history.OK)
	g := b.grantOf(50*ms, 120*ms, "client-2", 2)
	b.does(200*ms, h, history.Release, second)
	o := b.grantOf(150*ms, third, "client-3", 3)
	b.does(third+50*ms, o, history.Release, history.OK)
	b.note(third+60*ms, g, history.Lost)
}

// strangeRelease is a release by a client that was refused the key, or told nothing, while another has it.
func strangeRelease(b *builder, end history.Type, third int64) {
	b.grantOf(0, 10*ms, "client-1", 1)
	b.op(20*ms, "client-2", history.Invoke, history.Acquire, "k").Owner = "client-2/none"
	b.op(120*ms, "client-2", end, history.Acquire, "k").Owner = "client-2/none"
	b.does(130*ms, &held{node: "client-2", key: "k", owner: "client-2/none"}, history.Release, history.OK)
	o := b.grantOf(100*ms, third, "client-3", 3)
	b.does(third+50*ms, o, history.Release, history.OK)
}

var releasesAgain = map[string]func(*builder){
	"violated-twice":    func(b *builder) { givesTwice(b, 210*ms, history.OK) },
	"holds-twice":       func(b *builder) { givesTwice(b, 210*ms, history.Fail) },
	"holds-twice-later": func(b *builder) { givesTwice(b, 1200*ms, history.OK) },
	"violated-unheld":   func(b *builder) { strangeRelease(b, history.Fail, 140*ms) },
	"holds-unheld":      func(b *builder) { strangeRelease(b, history.Fail, 1100*ms) },
	"unknown-unknown":   func(b *builder) { strangeRelease(b, history.Info, 140*ms) },
}

// passedFor is a client that waits until it is asked to end, or dies, while one that asks after so long is granted the key.
func passedFor(b *builder, after int64, end func(*builder)) {
	b.setup.Promise.Order, b.setup.Promise.Token = true, false
	b.setup.Servers = []string{"server-1"}
	h := b.grantOf(0, 10*ms, "client-1", 0)
	b.op(20*ms, "client-3", history.Invoke, history.Acquire, "k")
	for t := 500 * ms; t < 3*sec; t += 500 * ms {
		b.does(t, h, history.Extend, history.OK)
	}
	b.does(3*sec, h, history.Release, history.OK)
	o := b.grantOf(after, 3100*ms, "client-2", 0)
	b.does(3200*ms, o, history.Release, history.OK)
	end(b)
}

func stops(b *builder) { b.op(5*sec, "client-3", history.Note, history.Stop, "") }

var neverServed = map[string]func(*builder){
	"violated-never": func(b *builder) { passedFor(b, 2*sec, stops) },
	"holds-never":    func(b *builder) { passedFor(b, 500*ms, stops) }, // which of the two came first is open
	"violated-died": func(b *builder) {
		passedFor(b, 2*sec, func(b *builder) { b.fault(4*sec, 5*sec, 1, "kill", "client-3") })
	},
	"holds-died-na": func(b *builder) {
		passedFor(b, 2*sec, func(b *builder) { b.fault(50*ms, 5*sec, 1, "kill", "client-3") })
	},
}

// unknownOK is told ok to a renewal on an acquire that it was told no end of, while another has the key, so long.
func unknownOK(b *builder, at int64, node string) {
	b.session1(-2*sec, "client-3", 0)
	b.op(-20*ms, node, history.Invoke, history.Acquire, "k").Owner = "one/unknown"
	b.op(-10*ms, node, history.Info, history.Acquire, "k").Owner = "one/unknown"
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.does(at, &held{node: node, key: "k", owner: "one/unknown"}, history.Extend, history.OK)
	b.note(2*sec, h, history.Lost)
}

var claimsUnknown = map[string]func(*builder){
	"violated-unknown-beside":    func(b *builder) { unknownOK(b, 500*ms, "client-2") },
	"holds-unknown-later":        func(b *builder) { unknownOK(b, 1500*ms, "client-2") },
	"holds-unknown-own":          func(b *builder) { unknownOK(b, 500*ms, "client-1") }, // it may be told of the same hold twice
	"violated-stranger-unlisted": func(b *builder) { strangeLater(b, 60*sec); b.setup.Servers = nil },
}

var tokensAnswered = map[string]func(*builder){
	"holds-unsent-long": func(b *builder) { // the second may have been granted and lost before
		h := b.grantOf(1500*ms, 1510*ms, "client-1", 2)
		b.does(1600*ms, h, history.Release, history.OK)
		b.grantOf(0, 1700*ms, "client-2", 1)
		b.unsent()
	},
}

var shortLeases = map[string]func(*builder){
	"holds-short-lease":    func(b *builder) { waited(b, 45*ms, 0); b.setup.Lease, b.setup.Promise.Bound = 2e6, 0 },
	"violated-short-lease": func(b *builder) { waited(b, 60*ms, 0); b.setup.Lease, b.setup.Promise.Bound = 2e6, 0 },
}

// asksAndAsks is a writer that is refused every four seconds and asks again, while readers that ask after so long come and go.
func asksAndAsks(b *builder, behind int64) {
	b.kind(history.ReadWrite)
	b.setup.Promise.Order = true
	for i := range int64(4) {
		b.op(i*4*sec+20*ms, "client-3", history.Invoke, history.Acquire, "k").Mode = exclusive
		b.op(i*4*sec+4*sec, "client-3", history.Fail, history.Acquire, "k")
		h := b.as(i*4*sec+20*ms+behind, i*4*sec+50*ms+max(0, behind), "client-1", shared, 2*i+1)
		b.does(i*4*sec+3*sec, h, history.Release, history.OK)
	}
}

var hungryAgain = map[string]func(*builder){
	"violated-again": func(b *builder) { asksAndAsks(b, sec) },
	"holds-again":    func(b *builder) { asksAndAsks(b, -15*ms) }, // each came before the request of the writer that it met
}

// rowUnnamed is a client that asks in vain and is told nothing again and again, where no servers are named.
func rowUnnamed(b *builder, every int64) {
	turns(b)
	b.asksAgain("client-3", 4*sec, 30*sec, every)
	b.op(4*sec, "client-2", history.Invoke, history.Acquire, "k")
	b.op(31*sec, "client-2", history.Fail, history.Acquire, "k")
	b.final(40 * sec)
}

var rowsUnnamed = map[string]func(*builder){
	"violated-row-unnamed": func(b *builder) { rowUnnamed(b, 6*sec) },
	"holds-row-unnamed":    func(b *builder) { rowUnnamed(b, 900*ms) },
}
