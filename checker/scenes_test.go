package checker

import "github.com/dlmtest/dlmtest/history"

// scenes are the golden histories: testdata/<property>/<name>.jsonl. They are
// kept as text, and written anew from here with -update.
var scenes = map[string]map[string]func(*builder){
	"mutual-exclusion": {
		"holds":      turns,
		"holds-idle": func(b *builder) { h, _ := zombie(b); b.note(4*sec+5*ms, h, history.Lost) },
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
		"holds-told": func(b *builder) {
			b.setup.SelfFence = "check-session"
			h, _ := zombie(b)
			b.note(2*sec, h, history.Lost)
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
		"unknown-ghost":      ghostly,
		"unknown-contention": func(b *builder) { b.session1(0, "client-1", 1) },
		"unknown-vacuous":    func(b *builder) { turns(b); b.setup.Expect.Contention = 50 },
		"unknown-clock":      func(b *builder) { turns(b); b.op(sec, "runner", history.Note, history.HostClock, "").Length = 6 * ms },
		"unknown-order": func(b *builder) { // no tokens, requests on the wire together, and one of the two acts
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
		"unknown-bent": func(b *builder) {
			turns(b)
			for i := range b.ops {
				if b.ops[i].Node == "client-1" {
					b.ops[i].Mono += (b.ops[i].Time - origin) / 10
				}
			}
		},
		"unknown-mono":  func(b *builder) { turns(b); clearMono(b) },
		"unknown-empty": func(*builder) {},
	},
	"fencing-monotonic": {
		"holds":            turns,
		"holds-concurrent": func(b *builder) { b.grantOf(0, 20*ms, "client-1", 2); b.grantOf(5*ms, 900*ms, "client-2", 1) },
		"violated-lower":   func(b *builder) { b.session1(0, "client-1", 7); b.session1(sec, "client-2", 5) },
		"violated-reused":  func(b *builder) { b.session1(0, "client-1", 7); b.session1(sec, "client-2", 7) },
		"violated-missing": func(b *builder) { b.session1(0, "client-1", 7); b.session1(sec, "client-2", 0) },
		"unknown":          func(b *builder) { b.session1(0, "client-1", 7) },
	},
	"fenced-writes": {
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
		"violated-vanished": func(b *builder) { turns(b); b.forget() },
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
		"holds-expired": func(b *builder) { naive(b); b.holder(2*sec+200*ms, ""); b.holder(2*sec+400*ms, "") },
		"unknown-answer": func(b *builder) {
			h, _ := zombie(b)
			b.does(2*sec+300*ms, h, history.Release, history.Info)
			b.holder(2*sec+400*ms, "")
		},
	},
	"honest-claims": {
		"holds":            turns,
		"violated-extend":  func(b *builder) { h, _ := zombie(b); b.does(4*sec, h, history.Extend, history.OK) },
		"violated-release": func(b *builder) { naive(b) },
		"violated-twice": func(b *builder) {
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.does(20*ms, h, history.Release, history.OK)
			b.does(30*ms, h, history.Release, history.OK)
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
		"violated-drift": func(b *builder) { turns(b); b.setup.Promise.DriftFactor = 0.01 },
		"unknown":        func(b *builder) { turns(b); clearMono(b) },
	},
	"deadlock-freedom": {
		"holds": func(b *builder) { turns(b); b.final(9 * sec) },
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
		"violated-waiting": func(b *builder) { turns(b); b.refused(5*sec, 11*sec); b.final(12 * sec) },
		"holds-fault": func(b *builder) {
			turns(b)
			b.refused(5*sec, 11*sec)
			b.fault(4*sec, 10*sec, 1, "kill", "server")
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
		"holds":            func(b *builder) { turns(b); b.fault(500*ms, 2*sec, 1, "partition", "server-1") },
		"holds-na":         turns,
		"violated":         func(b *builder) { turns(b); b.refused(5*sec, 8*sec); b.fault(4*sec, 9*sec, 1, "partition", "server-1") },
		"violated-retries": func(b *builder) { turns(b); b.retries(5*sec, 8*sec); b.fault(4*sec, 9*sec, 1, "partition", "server-1") },
		"unknown":          func(b *builder) { turns(b); b.setup.Expect.Faults = 1 },
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

// turns lets clients queue and take turns, as they should.
func turns(b *builder) {
	for i := range int64(6) {
		h := b.grantOf(max(0, i*500*ms-100*ms), i*500*ms+10*ms, b.setup.Clients[i%3], i+1)
		b.read(i*500*ms+20*ms, h)
		b.write(i*500*ms+30*ms, h)
		if i%2 == 0 {
			b.does(i*500*ms+100*ms, h, history.Extend, history.OK)
		}
		b.does(i*500*ms+450*ms, h, history.Release, history.OK)
	}
}

// zombie leaves client-1 believing in a grant that client-2 got after the lease.
func zombie(b *builder) (stale, now *held) {
	stale = b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, stale)
	now = b.grantOf(500*ms, 2*sec, "client-2", 2)
	b.read(2*sec+10*ms, now)
	b.write(2*sec+20*ms, now)
	return stale, now
}

// paused is a zombie with the planned fault that made it one.
func paused(b *builder) {
	h, _ := zombie(b)
	b.fault(50*ms, 3900*ms, 1, "pause", "client-1")
	b.write(4*sec, h)
}

// waits keeps client-2 waiting for as long as client-1 is paused.
func waits(b *builder) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, h)
	b.fault(50*ms, 3*sec, 1, "pause", "client-1")
	b.write(3*sec+10*ms, h)
	b.does(3*sec+20*ms, h, history.Release, history.OK)
	b.grantOf(100*ms, 3*sec+40*ms, "client-2", 2)
}

// early lets a zombie's write through before the new holder writes: a fence on
// writes alone does not save read-modify-write.
func early(b *builder) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, h)
	g := b.grantOf(500*ms, 2*sec, "client-2", 2)
	b.read(2*sec+10*ms, g)
	b.write(2*sec+20*ms, h)
	b.write(2*sec+30*ms, g)
}

// twice grants the key to two clients at once.
func twice(b *builder) {
	b.grantOf(0, 10*ms, "client-1", 1)
	b.grantOf(100*ms, 200*ms, "client-2", 2)
}

// naive has a zombie release, with success, what client-2 holds.
func naive(b *builder) {
	h, _ := zombie(b)
	b.does(2*sec+300*ms, h, history.Release, history.OK)
}

// ghostly has a client act on an acquire whose answer never came.
func ghostly(b *builder) {
	turns(b)
	b.op(3*sec, "client-3", history.Invoke, history.Acquire, "k")
	b.op(3500*ms, "client-3", history.Info, history.Acquire, "k").Owner = "client-3/ghost"
	h := &held{node: "client-3", key: "k", owner: "client-3/ghost", token: 7}
	b.grantOf(3100*ms, 4*sec, "client-1", 8)
	b.write(4100*ms, h)
}

func (b *builder) grantOf(from, t int64, node string, token int64) *held {
	return b.grant(from, t, node, "k", token)
}

// session1 is one whole grant without an act.
func (b *builder) session1(t int64, node string, token int64) {
	h := b.grantOf(t, t+10*ms, node, token)
	b.does(t+100*ms, h, history.Release, history.OK)
}

func (b *builder) note(t int64, h *held, f history.F) {
	b.op(t, h.node, history.Note, f, h.key).Owner = h.owner
}

func (b *builder) stall(end int64, node string, long int64) {
	b.op(end, node, history.Note, history.Stall, "").Length = long
}

func (b *builder) holder(t int64, owner string) {
	b.op(t, "server", history.Note, history.Holder, "k").Owner = owner
}

// refused is an acquire that waits and certainly gets nothing.
func (b *builder) refused(from, to int64) {
	b.op(from, "client-3", history.Invoke, history.Acquire, "k")
	b.op(to, "client-3", history.Fail, history.Acquire, "k")
}

// retries are many short ones.
func (b *builder) retries(from, to int64) {
	for t := from; t < to; t += 200 * ms {
		b.refused(t, t+100*ms)
	}
}

// sent corrects when the request that won h was sent.
func (b *builder) sent(h *held, t int64) {
	for i := range b.ops {
		if op := &b.ops[i]; op.Owner == h.owner && op.Type == history.OK && op.F == history.Acquire {
			op.Sent = origin + t
		}
	}
}

// forget drops the last Apply note.
func (b *builder) forget() {
	for i := len(b.ops) - 1; i >= 0; i-- {
		if b.ops[i].F == history.Apply {
			b.ops = append(b.ops[:i], b.ops[i+1:]...)
			return
		}
	}
}

// drop drops all operations on a key.
func (b *builder) drop(key string) {
	kept := b.ops[:0]
	for _, op := range b.ops {
		if op.Key != key {
			kept = append(kept, op)
		}
	}
	b.ops = kept
}

func clearMono(b *builder) {
	for i := range b.ops {
		b.ops[i].Mono = 0
	}
}
