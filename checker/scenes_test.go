package checker

import "github.com/dlmtest/dlmtest/history"

// scenes are the golden histories: testdata/<property>/<name>.jsonl. They are
// kept as text, and written anew from here with -update.
var scenes = map[string]map[string]func(*builder){
	"recovery":   recoveries,
	"false-loss": falseLosses,
	"fairness":   queues,
	// The kinds of lock.
	"rw-exclusion": readWrites, "same-reads": looks, "starvation": hungry, "permits": semaphores, "reentrancy": nests,
	"one-leader": leaders, "loss-noticed": watchdogs, "honest-refusal": refusals, "wait-limit": limits, "lock-info": infos, "herd": herds, "free-lock": frees,
	"mutual-exclusion": {
		"holds":          turns,
		"holds-alone-na": func(b *builder) { again(b, history.OK, 40*ms, history.OK) }, // nobody was meant to meet another
		"unknown-alone": func(b *builder) { // a possible overlap takes the certainty all the same
			b.kind(history.Alone)
			b.op(0, "client-3", history.Invoke, history.Acquire, "k")
			b.op(500*ms, "client-3", history.Info, history.Acquire, "k").Owner = "client-3/ghost"
			b.grantOf(100*ms, sec, "client-1", 8)
			b.write(1100*ms, &held{node: "client-3", key: "k", owner: "client-3/ghost", token: 7})
		},
		"holds-idle": func(b *builder) { h, _ := zombie(b); b.note(4*sec+5*ms, h, history.Lost) },
		"holds-read": func(b *builder) { h, _ := zombie(b); b.read(4*sec, h); b.note(4*sec+5*ms, h, history.Lost) }, // to look is no act on a mutex
		"holds-kept-waiting": func(b *builder) { // a lock without a lease refused to the end of the pause: that is its answer
			b.setup.Promise.Leased = false
			b.setup.Expect = history.Expect{Contention: 1, StaleWrites: 1, Faults: 1, GrantsDuringFault: 1}
			waits(b)
		},
		"unknown-kept-waiting": func(b *builder) { // a leased lock owed a grant
			b.setup.Expect = history.Expect{StaleWrites: 1}
			waits(b)
		},
		"holds-abstained": func(b *builder) {
			b.setup.Expect = history.Expect{StaleWrites: 1}
			h, _ := zombie(b)
			b.note(4*sec, h, history.Abstain)
		},
		"violated-deaf": func(b *builder) { h, _ := zombie(b); b.note(2*sec, h, history.Lost); b.write(4*sec, h) },
		"violated-told": func(b *builder) { // it looked, stood, was told, and wrote
			b.setup.SelfFence = "check-session"
			h, _ := zombie(b)
			b.note(2*sec, h, history.Lost)
			b.write(4*sec, h)
		},
		"violated-deaf-twice": func(b *builder) { // told early, it writes before and after the next grant
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.read(20*ms, h)
			b.note(sec, h, history.Lost)
			b.write(1500*ms, h)
			b.grantOf(500*ms, 2*sec, "client-2", 2)
			b.write(4*sec, h)
		},
		"violated-renewal": func(b *builder) { // the thread that renews was told just before the other one wrote
			h, _ := zombie(b)
			b.does(4*sec-2*ms, h, history.Extend, history.Fail)
			b.write(4*sec, h)
		},
		"violated-renewal-told": func(b *builder) {
			b.setup.SelfFence = "check-session"
			h, _ := zombie(b)
			b.does(4*sec-2*ms, h, history.Extend, history.Fail)
			b.write(4*sec, h)
		},
		"violated-late-answer": func(b *builder) { // the middle grant's answer is read last
			h, _ := middle(b)
			b.write(4*sec, h)
		},
		"holds-late-answer": func(b *builder) {
			h, now := middle(b)
			b.does(2*sec-10*ms, h, history.Release, history.OK)
			b.write(4*sec, now)
		},
		"violated-late-first": func(b *builder) { // its own answer comes when the next holder is done
			h := b.grantOf(0, 3*sec, "client-1", 1)
			b.sent(h, 5*ms)
			g := b.grantOf(100*ms, sec, "client-2", 2)
			b.does(1500*ms, g, history.Release, history.OK)
			b.grantOf(2*sec, 3500*ms, "client-3", 3)
			b.write(4*sec, h)
		},
		"violated-certain": func(b *builder) { // without tokens; the order of the first two grants is open
			h := b.grantOf(0, 10*ms, "client-1", 0)
			g := b.grantOf(0, 1200*ms, "client-3", 0)
			b.sent(g, 5*ms)
			b.grantOf(1500*ms, 2*sec, "client-2", 0)
			b.write(4*sec, h)
		},
		"violated-behind-dead": func(b *builder) { // whose answer came after its lease: it never believed
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.sent(b.grantOf(100*ms, 3*sec, "client-2", 2), 1100*ms)
			b.claimMore("client-2", 3*sec, -1899*ms)
			b.grantOf(200*ms, 3500*ms, "client-3", 3)
			b.write(4*sec, h)
		},
		"violated-behind-done": func(b *builder) { // the one between is done; which of the others came first is open
			b.setup.Promise.Token = false
			h := b.grantOf(0, 10*ms, "client-1", 0)
			b.sent(h, 2*ms)
			g := b.grantOf(ms, 20*ms, "client-2", 0)
			b.sent(g, 5*ms)
			b.does(30*ms, g, history.Release, history.OK)
			g = b.grantOf(ms, 40*ms, "client-3", 0)
			b.sent(g, 6*ms)
			b.write(50*ms, g)
			b.does(60*ms, g, history.Release, history.OK)
			b.does(70*ms, h, history.Release, history.Fail)
		},
		"holds-killed": func(b *builder) { // who is dead believes nothing
			b.setup.Strict, b.setup.Promise.Leased = true, false
			b.grantOf(0, 10*ms, "client-1", 1)
			b.fault(100*ms, sec, 1, "kill", "client-1")
			b.grantOf(50*ms, 200*ms, "client-2", 2)
		},
		"violated-undead": func(b *builder) {
			h, _ := zombie(b)
			b.fault(100*ms, 5*sec, 1, "kill", "client-1")
			b.write(4*sec, h)
		},
		"violated-write":   func(b *builder) { h, _ := zombie(b); b.write(4*sec, h) },
		"violated-extend":  func(b *builder) { h, _ := zombie(b); b.does(4*sec, h, history.Extend, history.OK) },
		"violated-strict":  func(b *builder) { h, _ := zombie(b); b.setup.Strict = true; b.note(4*sec, h, history.Lost) },
		"violated-planned": func(b *builder) { paused(b); b.stall(4*sec, "client-1", 2*sec) },
		"unknown-disturbed": func(b *builder) {
			h, _ := zombie(b)
			b.write(4*sec, h)
			b.stall(3*sec, "client-2", sec/2)
		},
		"unknown-disturbed-cut": func(b *builder) { // a cut stops no program
			h, _ := zombie(b)
			b.fault(50*ms, 3900*ms, 1, "partition", "client-2")
			b.write(4*sec, h)
			b.stall(3*sec, "client-2", sec/2)
		},
		"unknown-ghost":      ghostly,
		"unknown-contention": func(b *builder) { b.session1(0, "client-1", 1) },
		"unknown-vacuous":    func(b *builder) { turns(b); b.setup.Expect.Contention = 50 },
		"unknown-clock":      func(b *builder) { turns(b); b.op(sec, "runner", history.Note, history.HostClock, "").Length = 6 * ms },
		"violated-order": func(b *builder) { // no tokens, requests on the wire together, and one of the two acts
			h := b.grant(0, 5*ms, "client-1", "k", 0)
			g := b.grant(1*ms, 6*ms, "client-2", "k", 0)
			b.sent(h, 1*ms)
			b.sent(g, 2*ms)
			b.write(8*ms, g)
			b.does(20*ms, g, history.Release, history.OK)
			b.does(20*ms, h, history.Release, history.Fail)
			b.session1(2*sec, "client-1", 0)
		},
	},
	"lease-exclusion": {
		"holds":    turns,
		"holds-na": func(b *builder) { turns(b); b.setup.Promise.Leased = false },
		"violated": twice,
		"violated-extended": func(b *builder) {
			h := b.grant(0, 10*ms, "client-1", "k", 1)
			b.does(800*ms, h, history.Extend, history.OK)
			b.grant(900*ms, 1200*ms, "client-2", "k", 2)
		},
		"holds-suspended": func(b *builder) {
			h := b.grant(0, 10*ms, "client-1", "k", 1)
			b.note(300*ms, h, history.Suspended)
			b.grant(200*ms, 500*ms, "client-2", "k", 2)
		},
		"holds-deaf": func(b *builder) { // it was told of its loss before the next grant, and does not look
			h := b.grant(0, 10*ms, "client-1", "k", 1)
			b.note(300*ms, h, history.Lost)
			b.grant(200*ms, 500*ms, "client-2", "k", 2)
			b.write(600*ms, h)
		},
		"violated-deaf": func(b *builder) { // it was told after it
			h := b.grant(0, 10*ms, "client-1", "k", 1)
			b.grant(200*ms, 500*ms, "client-2", "k", 2)
			b.note(510*ms, h, history.Lost)
			b.write(600*ms, h)
		},
		"holds-bent": func(b *builder) { // nobody was granted it but in turn
			turns(b)
			for i := range b.ops {
				if b.ops[i].Node == "client-1" {
					b.ops[i].Mono += (b.ops[i].Time - origin) / 10
				}
			}
		},
		"holds-late-reading": func(b *builder) { // preempted between the two clocks of one stamp
			turns(b)
			b.bend("client-1", 1500*ms, 1510*ms, 9*ms)
		},
		"holds-step":      func(b *builder) { turns(b); b.bend("client-1", 1500*ms, 9*sec, 9*ms) },
		"holds-step-last": func(b *builder) { turns(b); b.bend("client-1", 1950*ms, 9*sec, 9*ms) },
		"violated-killed": func(b *builder) { // the lease of a dead holder is still owed
			b.grantOf(0, 10*ms, "client-1", 1)
			b.fault(100*ms, 3*sec, 1, "kill", "client-1")
			b.grantOf(50*ms, 500*ms, "client-2", 2)
		},
		"unknown-mono":  func(b *builder) { turns(b); clearMono(b) },
		"unknown-empty": func(*builder) {},
	},
	"fencing-monotonic": {
		"holds": turns,
		"unknown-concurrent": func(b *builder) { // in the order of their tokens they held it at once
			b.grantOf(0, 20*ms, "client-1", 2)
			b.sent(b.grantOf(5*ms, 900*ms, "client-2", 1), 5*ms)
		},
		"violated-lower":   func(b *builder) { b.session1(0, "client-1", 7); b.session1(sec, "client-2", 5) },
		"violated-reused":  func(b *builder) { b.session1(0, "client-1", 7); b.session1(sec, "client-2", 7) },
		"violated-missing": func(b *builder) { b.session1(0, "client-1", 7); b.session1(sec, "client-2", 0) },
		"unknown":          func(b *builder) { b.session1(0, "client-1", 7) },
	},
	"fenced-writes": {
		"violated-gap": func(b *builder) { // the stale grant got its token after the valid one: the fence refuses the wrong client
			a := b.grant(0, 1510*ms, "client-1", "k", 2)
			for i := range b.ops { // sent when the lock was taken
				if b.ops[i].Owner == a.owner {
					b.ops[i].Sent, b.ops[i].Deadline = origin, origin+ahead+sec
				}
			}
			h := b.grant(100*ms, 1020*ms, "client-2", "k", 1)
			b.read(1030*ms, h)
			b.read(1520*ms, a)
			b.write(1530*ms, a)
			b.write(1600*ms, h)
			b.does(1700*ms, h, history.Release, history.OK)
		},
		"holds":             func(b *builder) { h, _ := zombie(b); b.write(4*sec, h) },
		"holds-na":          turns,
		"violated-accepted": func(b *builder) { h, _ := zombie(b); b.decide(4*sec, h, true) },
		"violated-refused": func(b *builder) {
			turns(b)
			h := b.grantOf(3*sec, 3*sec+10*ms, "client-2", 9)
			b.decide(3*sec+20*ms, h, false)
		},
		"violated-read": func(b *builder) { // the reader's token must already fence
			b.setup.FenceOn = "read"
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.read(20*ms, h)
			g := b.grantOf(900*ms, 2*sec, "client-2", 2)
			b.read(2*sec+10*ms, g)
			b.decide(3*sec, h, true)
		},
		"unknown-early":  early,
		"unknown-needed": func(b *builder) { turns(b); b.setup.Expect.StaleWrites = 1 },
	},
	"no-lost-update/unfenced": {
		"holds":             turns,
		"violated":          func(b *builder) { h, _ := zombie(b); b.write(4*sec, h) },
		"violated-no-token": func(b *builder) { b.setup.Promise.Token = false; h, _ := zombie(b); b.write(4*sec, h) },
		// What was asked of the resource since the grant may have waited for it.
		"unknown-resource-stalled":  func(b *builder) { h, _ := zombie(b); b.stall(3900*ms, "resource", 2*sec); b.write(4*sec, h) },
		"violated-resource-blinked": func(b *builder) { h, _ := zombie(b); b.stall(3900*ms, "resource", sec/10); b.write(4*sec, h) },
		"violated-vanished": func(b *builder) { // the log goes on after what it does not hold
			turns(b)
			b.forget()
			b.read(2980*ms, b.grantOf(2960*ms, 2970*ms, "client-1", 7))
		},
		"violated-vanished-ended": func(b *builder) { turns(b); b.forget(); b.ended() },
		"unknown-vanished-last":   func(b *builder) { turns(b); b.forget() },
		"unknown-vanished-no-end": func(b *builder) { turns(b); b.forget(); b.ended("resource") },
		"unknown-vanished-hole": func(b *builder) { // of the log as much is missing as it says, anywhere
			turns(b)
			b.read(2980*ms, b.grantOf(2960*ms, 2970*ms, "client-1", 7))
			b.ended()
			b.forget()
		},
		"violated-no-end": func(b *builder) { // what it does hold is no less true
			h, _ := zombie(b)
			b.write(4*sec, h)
			b.read(4*sec+10*ms, b.grantOf(4*sec, 4*sec+ms, "client-3", 9))
			b.ended("resource")
		},
		"violated-forked": func(b *builder) { // the resource forgot an update, as after a crash
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.read(20*ms, h)
			b.write(30*ms, h)
			b.read(40*ms, h)
			was := *b.resource("k")
			b.write(50*ms, h)
			*b.resource("k") = was
			g := b.grantOf(900*ms, 2*sec, "client-2", 2)
			b.read(2*sec+10*ms, g)
			b.write(2*sec+20*ms, g)
		},
		"unknown": func(b *builder) { b.grantOf(0, sec, "client-1", 1) },
		"unknown-unanswered": func(b *builder) { // nobody was told that an update was made
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.read(20*ms, h)
			b.write(30*ms, h)
			b.ops[len(b.ops)-1].Type = history.Info
		},
	},
	"no-lost-update/fenced": {
		"holds-saved":    func(b *builder) { h, _ := zombie(b); b.write(4*sec, h) },
		"holds-na":       func(b *builder) { turns(b); b.setup.Promise.Token = false },
		"violated-early": early,
		"unknown-unacknowledged": func(b *builder) {
			early(b)
			for i := range b.ops { // the zombie never learns of its write
				if op := &b.ops[i]; op.F == history.Write && op.Type == history.OK && op.Node == "client-1" {
					op.Type = history.Info
				}
			}
		},
	},
	"release-by-owner": {
		"holds":         turns,
		"holds-refused": func(b *builder) { h, _ := zombie(b); b.does(2*sec+300*ms, h, history.Release, history.Fail) },
		"violated":      func(b *builder) { naive(b); b.grant(2*sec+310*ms, 2*sec+330*ms, "client-3", "k", 3) },
		"violated-seen": func(b *builder) { naive(b); b.holder(2*sec+400*ms, "") },
		"holds-untold": func(b *builder) { // nobody tells the next holder, who is stopped, that its lease has ended
			b.setup.Promise.Validity = history.Untold
			h, g := zombie(b)
			b.does(2*sec+300*ms, h, history.Release, history.OK)
			b.grantOf(2500*ms, 4*sec, "client-3", 3)
			b.does(5*sec, g, history.Release, history.Fail)
			for i := range b.ops {
				b.ops[i].Deadline = 0
			}
		},
		"holds-expired": func(b *builder) { naive(b); b.holder(2*sec+200*ms, ""); b.holder(2*sec+400*ms, "") },
		"unknown-masters": func(b *builder) { // two masters: each frees what it has granted itself
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.grantOf(100*ms, 200*ms, "client-2", 2)
			b.does(300*ms, h, history.Release, history.OK)
			b.grantOf(310*ms, 350*ms, "client-3", 3)
		},
		"unknown-answer": func(b *builder) {
			h, _ := zombie(b)
			b.does(2*sec+300*ms, h, history.Release, history.Info)
			b.holder(2*sec+400*ms, "")
		},
	},
	"honest-claims": {
		// The ok of a renewal comes 2 s after it was asked for, and another was granted the key meanwhile:
		// within the renewed lease, behind it, or after it was given back.
		"violated-late":    func(b *builder) { renewedLate(b, 1300*ms, false) },
		"holds-late":       func(b *builder) { renewedLate(b, 1600*ms, false) },
		"holds-late-own":   func(b *builder) { renewedLate(b, 1300*ms, true) },
		"holds":            turns,
		"violated-extend":  func(b *builder) { h, _ := zombie(b); b.does(4*sec, h, history.Extend, history.OK) },
		"violated-release": func(b *builder) { naive(b) },
		"violated-twice": func(b *builder) {
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.does(20*ms, h, history.Release, history.OK)
			b.does(30*ms, h, history.Release, history.OK)
		},
		"unknown-masters": func(b *builder) { // two masters: each was told the truth
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.grantOf(100*ms, 200*ms, "client-2", 2)
			b.does(300*ms, h, history.Release, history.OK)
		},
		"unknown": func(b *builder) { b.grantOf(0, sec, "client-1", 1) },
	},
	"validity-bound": {
		"holds": turns,
		"violated": func(b *builder) { // counts its lease from the answer, which was read late
			b.grantOf(0, 10*ms, "client-1", 1)
			h := b.grantOf(sec, 4*sec, "client-2", 2)
			b.sent(h, sec)
			b.ops[len(b.ops)-1].Deadline = origin + 4*sec + ahead + sec
		},
		"violated-late-reading": func(b *builder) { // claims 5 ms too much, which its late reading of the clock would hide
			turns(b)
			b.bend("client-1", 1510*ms, 1510*ms, 9*ms)
			b.claimMore("client-1", 1510*ms, 5*ms)
		},
		"holds-noise": func(b *builder) { turns(b); b.claimMore("client-1", 1510*ms, ms) },
		"holds-bent": func(b *builder) { // it claims by a clock that runs fast, from the instant of the answer
			turns(b)
			for i := range b.ops {
				if op := &b.ops[i]; op.Node == "client-1" {
					fast := (op.Time - origin) / 10
					if op.Mono += fast; op.Deadline != 0 {
						op.Deadline += fast
					}
				}
			}
		},
		"violated-drift": func(b *builder) { turns(b); b.setup.Promise.DriftFactor = 0.01 },
		"unknown":        func(b *builder) { turns(b); clearMono(b) },
	},
	"deadlock-freedom": {
		"holds": func(b *builder) { turns(b); b.final(9 * sec) },
		"violated-before-unknown": func(b *builder) { // what came later did not keep it
			turns(b)
			b.refused(4*sec, 12*sec)
			b.op(13*sec, "client-1", history.Invoke, history.Acquire, "k")
			b.op(14*sec, "client-1", history.Info, history.Acquire, "k")
			b.final(20 * sec)
		},
		"violated-unknown-long": func(b *builder) { // who was told nothing had the key for its lease at most
			unknownFor(b, 9*sec)
			b.final(24 * sec)
		},
		"holds-unknown-short": func(b *builder) { unknownFor(b, 4*sec); b.final(24 * sec) },
		"violated-unknown-session": func(b *builder) { // for 18 s, of which two can have kept it for 2 s
			b.setup.Promise.Session = true
			unknownFor(b, 9*sec)
			b.final(24 * sec)
		},
		"holds-unknown-lost": func(b *builder) { // the answer may have been lost, and the lease begun at any time
			unknownFor(b, 9*sec)
			b.fault(4900*ms, 5100*ms, 1, "reset", "client-1")
			b.fault(14001*ms, 14100*ms, 2, "reset", "client-1")
			b.final(24 * sec)
		},
		"holds-cut": func(b *builder) { // TCP adds to a cut, so who asks is heard later
			turns(b)
			b.partition(4*sec, 9*sec, 1, []string{"client-1"}, []string{"server-1"})
			b.op(9*sec, "runner", history.Note, history.Final, "")
			b.grant(9*sec, 17*sec, "final", "k", 9)
		},
		"violated-never": func(b *builder) {
			turns(b)
			b.op(9*sec, "runner", history.Note, history.Final, "")
			b.refused(9*sec, 15*sec)
		},
		"violated-late": func(b *builder) {
			turns(b)
			b.op(9*sec, "runner", history.Note, history.Final, "")
			b.grant(9*sec, 15*sec, "final", "k", 9)
		},
		"violated-endless": func(b *builder) { turns(b); b.waitsUntilStop(5*sec, 11*sec); b.final(12 * sec) },
		"violated-waiting": func(b *builder) { turns(b); b.refused(5*sec, 11*sec); b.final(12 * sec) },
		"violated-killed": func(b *builder) { // nobody gives back what a dead client held
			b.setup.Promise.Leased = false
			b.grantOf(0, 10*ms, "client-1", 1)
			b.fault(100*ms, sec, 1, "kill", "client-1")
			b.refused(2*sec, 8*sec)
			b.final(12 * sec)
		},
		"holds-fault": func(b *builder) {
			turns(b)
			b.refused(5*sec, 11*sec)
			b.fault(4*sec, 10*sec, 1, "kill", "server")
			b.final(12 * sec)
		},
		"holds-recovering": func(b *builder) { // the server reads its log, and serves nobody
			turns(b)
			b.refused(5*sec, 11*sec)
			b.fault(4*sec, 4500*ms, 1, "kill", "server")
			b.final(12 * sec)
		},
		"violated-permits": func(b *builder) { // two of three leaked, and the third is in use
			leaked(b, 2, 3)
			b.final(40 * sec)
		},
		"holds-permits": func(b *builder) { // all three are in use
			leaked(b, 0, 3)
			b.final(40 * sec)
		},
		"holds-permits-wanted": func(b *builder) { // who wants both may be the first of the queue
			leaked(b, 1, 2)
			b.op(4*sec, "client-4", history.Invoke, history.Acquire, "k").Permits = 2
			b.op(30*sec, "client-4", history.Fail, history.Acquire, "k").Permits = 2
			b.final(40 * sec)
		},
		"violated-reader": func(b *builder) { readerBeside(b, history.Shared); b.final(50 * sec) },
		"holds-reader":    func(b *builder) { readerBeside(b, history.Exclusive); b.final(50 * sec) }, // a writer holds it
		"holds-reader-queue": func(b *builder) { // a writer came first
			b.op(sec, "client-1", history.Invoke, history.Acquire, "k").Mode = history.Exclusive
			b.op(44*sec, "client-1", history.Fail, history.Acquire, "k").Mode = history.Exclusive
			readerBeside(b, history.Shared)
			b.final(50 * sec)
		},
		"violated-recovered": func(b *builder) { // it has served somebody
			turns(b)
			b.fault(4*sec, 4200*ms, 1, "kill", "server")
			b.session1(4500*ms, "client-1", 8)
			b.refused(5*sec, 11*sec)
			b.final(12 * sec)
		},
		"unknown": turns,
		"unknown-gave-up": func(b *builder) {
			turns(b)
			b.op(9*sec, "runner", history.Note, history.Final, "")
			b.refused(9*sec, 10*sec)
		},
		"unknown-asked": func(b *builder) { turns(b); b.setup.Keys = []string{"k", "other"}; b.final(9 * sec); b.drop("other") },
	},
	"availability": {
		"holds":             func(b *builder) { turns(b); b.fault(500*ms, 2*sec, 1, "partition", "server-1") },
		"holds-na":          turns,
		"violated":          func(b *builder) { turns(b); b.refused(5*sec, 8*sec); b.fault(4*sec, 9*sec, 1, "partition", "server-1") },
		"violated-retries":  func(b *builder) { turns(b); b.retries(5*sec, 8*sec); b.fault(4*sec, 9*sec, 1, "partition", "server-1") },
		"violated-minority": func(b *builder) { stopped(b, "server-1", "server-2", "server-3") },
		"holds-single-na":   func(b *builder) { stopped(b, "server-1") },
		"holds-half-na":     func(b *builder) { stopped(b, "server-1", "server-2") },
		"holds-together-na": func(b *builder) { // two minorities are a majority
			b.fault(4*sec, 9*sec, 2, "kill", "server-2")
			stopped(b, "server-1", "server-2", "server-3")
		},
		"violated-alone": func(b *builder) { // the second one is over soon
			b.fault(3*sec, 6*sec, 2, "kill", "server-2")
			stopped(b, "server-1", "server-2", "server-3")
		},
		"violated-holder": func(b *builder) { // the service lives, its clients are kept waiting
			b.setup.Servers, b.setup.Promise.Leased = []string{"server-1"}, false
			b.grantOf(0, 10*ms, "client-1", 1)
			b.fault(50*ms, 4*sec, 1, "pause", "client-1")
			b.grantOf(100*ms, 4*sec, "client-2", 2)
		},
		"holds-held": func(b *builder) { // by somebody whom the fault has not hit, and who works for long
			turns(b)
			b.fault(3*sec, 9*sec, 1, "partition", "server-1")
			g := b.grantOf(4*sec, 4100*ms, "client-2", 7)
			b.does(7*sec, g, history.Extend, history.OK)
			b.does(8*sec, g, history.Release, history.OK)
			b.grantOf(4200*ms, 8100*ms, "client-1", 8)
		},
		"holds-outage": func(b *builder) { // the server is away for a part of the client's pause
			turns(b)
			b.setup.Servers = []string{"server-1"}
			b.fault(4*sec, 9*sec, 1, "pause", "client-1")
			b.fault(5*sec, 7500*ms, 2, "pause", "server-1")
			b.refused(4500*ms, 8400*ms)
		},
		"violated-partition":       func(b *builder) { parted(b, 2); b.refused(5*sec, 8*sec) },
		"holds-partition":          func(b *builder) { parted(b, 2); b.session1(5*sec, "client-1", 9) },
		"holds-partition-major-na": func(b *builder) { parted(b, 3); b.refused(5*sec, 8*sec) },
		"holds-partition-na": func(b *builder) { // who is cut from whom is not known
			turns(b)
			b.setup.Servers = []string{"server-1"}
			b.fault(4*sec, 9*sec, 1, "partition", "server-1")
			b.fault(4*sec, 9*sec, 1, "partition", "client-3")
			b.refused(5*sec, 8*sec)
		},
		"holds-isolated": func(b *builder) { // nothing is owed to who reaches no server
			turns(b)
			b.setup.Servers = []string{"server-1"}
			b.partition(4*sec, 9*sec, 1, []string{"client-3"}, []string{"server-1"})
			b.refused(5*sec, 8*sec)
			b.session1(8100*ms, "client-1", 9)
		},
		"violated-slow-link": func(b *builder) { // it is served, as slowly as that
			turns(b)
			b.setup.Servers = []string{"server-1"}
			b.refused(5*sec, 8*sec)
			b.fault(4*sec, 9*sec, 1, "latency", "client-3")
		},
		"holds-half-open": func(b *builder) { // nothing is owed to who gets no answer
			turns(b)
			b.setup.Servers = []string{"server-1"}
			b.fault(4*sec, 9*sec, 1, "blackhole", "client-3", "server-1")
			b.refused(5*sec, 8*sec)
			b.session1(8100*ms, "client-1", 9)
		},
		"unknown": func(b *builder) { turns(b); b.setup.Expect.Faults = 1 },
		"unknown-nobody": func(b *builder) {
			turns(b)
			b.setup.Expect.GrantsDuringFault = 1
			b.fault(4*sec, 9*sec, 1, "partition", "server-1")
		},
		"unknown-missed": func(b *builder) {
			turns(b)
			b.fault(500*ms, 2*sec, 1, "partition", "server-1")
			b.op(600*ms, "server-1", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 1, Kind: "partition", Target: "server-1", Phase: history.Missed}
		},
	},
}
