package checker

import (
	"cmp"
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of holders that change their mode, as the properties see them that look at grants and renewals, of fences that refuse
// without a reason, and of a grant that is over before its client hears of it; each with its near neighbour.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"fencing-monotonic": madeWriters, "honest-claims": changesUnheld, "validity-bound": changesEndless,
		"deadlock-freedom": changesRefused, "fenced-writes": refusedWithout, "loss-noticed": lateGrants, "reentrancy": againRenewed,
	} {
		maps.Copy(scenes[property], more)
	}
}

func (b *builder) changing() {
	b.kind(history.ReadWrite)
	b.setup.Promise.Changes = true
}

// madeWriter is a reader with a token that becomes the writer and is told another, after a writer with token 5.
func madeWriter(reads, writes int64, more func(*builder)) func(*builder) {
	return func(b *builder) {
		b.changing()
		w := b.as(0, 10*ms, "client-2", exclusive, 5)
		b.does(20*ms, w, history.Release, history.OK)
		h := b.as(30*ms, 40*ms, "client-1", shared, reads)
		if more != nil {
			more(b)
		}
		h.token = writes
		b.turn(100*ms, h, exclusive, history.OK)
	}
}

var madeWriters = map[string]func(*builder){
	"holds-made-writer":            madeWriter(6, 6, nil),
	"holds-made-writer-untold":     madeWriter(6, 0, nil), // it keeps its token
	"violated-made-writer":         madeWriter(6, 4, nil),
	"violated-made-writer-like":    madeWriter(5, 5, nil), // as the writer before it
	"violated-made-writer-without": madeWriter(0, 0, nil),
	"violated-made-writer-left":    madeWriter(6, 6, readerLeft(9)), // a fence has seen a higher one
	"holds-made-writer-left":       madeWriter(6, 10, readerLeft(9)),
	"holds-made-writer-writes": func(b *builder) { // its write carries the token that it was told last
		b.changing()
		h := b.as(0, 10*ms, "client-1", shared, 5)
		h.token = 7
		b.turn(100*ms, h, exclusive, history.OK)
		b.look(200*ms, h)
		b.write(300*ms, h)
		b.does(400*ms, h, history.Release, history.OK)
		b.as(410*ms, 420*ms, "client-2", exclusive, 8)
	},
	"holds-made-writer-unnamed":    unnamed(madeWriter(6, 6, nil)),
	"violated-made-writer-unnamed": unnamed(madeWriter(6, 5, nil)),
	"violated-made-writer-other":   madeWriter(6, 9, readerLeft(9)), // another reader's
	"violated-made-reader":         turnedDown(3),
	"holds-made-reader":            turnedDown(7),
	"holds-made-reader-untold":     turnedDown(0),
	"holds-made-writer-twice": func(b *builder) { // nobody else was the writer meanwhile
		b.changing()
		h := b.as(0, 10*ms, "client-1", exclusive, 5)
		b.turn(100*ms, h, shared, history.OK)
		b.turn(200*ms, h, exclusive, history.OK)
		b.does(300*ms, h, history.Release, history.OK)
		b.as(310*ms, 320*ms, "client-2", exclusive, 6)
	},
}

// unnamed leaves it to the requests of changes who they are of.
func unnamed(scene func(*builder)) func(*builder) {
	return func(b *builder) {
		scene(b)
		for i := range b.ops {
			if op := &b.ops[i]; op.F == history.Change && op.Type == history.OK {
				op.Owner = ""
			}
		}
	}
}

// turnedDown is a writer with token 6, after one with 5, that becomes a reader and is told a token.
func turnedDown(token int64) func(*builder) {
	return func(b *builder) {
		b.changing()
		w := b.as(0, 10*ms, "client-2", exclusive, 5)
		b.does(20*ms, w, history.Release, history.OK)
		h := b.as(30*ms, 40*ms, "client-1", exclusive, 6)
		h.token = token
		b.turn(100*ms, h, shared, history.OK)
	}
}

// readerLeft is a reader that is granted the lock and gives it back.
func readerLeft(token int64) func(*builder) {
	return func(b *builder) {
		r := b.as(50*ms, 60*ms, "client-3", shared, token)
		b.does(70*ms, r, history.Release, history.OK)
	}
}

// changesAs is a holder that is told ok to a change of a key as an owner.
func changesAs(owner, key string) func(*builder) {
	return func(b *builder) {
		b.changing()
		b.setup.Keys = []string{"k", "l"}
		h := b.as(0, 10*ms, "client-1", shared, 1)
		b.turn(100*ms, &held{node: h.node, key: key, owner: cmp.Or(owner, h.owner), token: 1}, exclusive, history.OK)
		b.does(200*ms, h, history.Release, history.OK)
	}
}

var changesUnheld = map[string]func(*builder){
	"holds-changed":             changesAs("", "k"),
	"violated-changed-stranger": changesAs("client-1/9", "k"),
	"violated-changed-key":      changesAs("", "l"),
}

var changesEndless = map[string]func(*builder){
	"holds-changed": func(b *builder) { changesAs("", "k")(b) },
	"violated-changed-endless": func(b *builder) {
		changesAs("", "k")(b)
		for i := range b.ops {
			if b.ops[i].F == history.Change {
				b.ops[i].Deadline = 0
			}
		}
	},
}

// refusedChange is a holder whose lease is long and that asks each second, so many times, to hold the key in another mode, and is refused.
func refusedChange(from, to history.Mode, times int, more func(*builder)) func(*builder) {
	return func(b *builder) {
		b.changing()
		b.longer("client-1", int64(20*sec))
		h := b.as(0, 10*ms, "client-1", from, 1)
		b.ops[len(b.ops)-1].Lease, b.ops[len(b.ops)-1].Deadline = 20*sec, origin+ahead+20*sec
		if more != nil {
			more(b)
		}
		for i := range int64(times) {
			b.turn(20*ms+i*sec, h, to, history.Fail)
			b.ops[len(b.ops)-1].Busy = true
		}
		b.does(15*sec, h, history.Release, history.OK)
		b.final(16 * sec)
	}
}

var changesRefused = map[string]func(*builder){
	"violated-change-refused": refusedChange(shared, exclusive, 10, nil),
	"violated-down-refused":   refusedChange(exclusive, shared, 10, nil),
	"holds-change-refused":    refusedChange(shared, exclusive, 5, nil), // not for long enough
	"holds-change-beside": refusedChange(shared, exclusive, 10, func(b *builder) { // another reader keeps it from that
		r := b.as(12*ms, 14*ms, "client-2", shared, 2)
		b.ops[len(b.ops)-1].Lease, b.ops[len(b.ops)-1].Deadline = 20*sec, origin+ahead+20*sec
		b.does(11*sec, r, history.Release, history.OK)
	}),
}

// refusedBeside is a holder of token 5 whose write is refused while another waits for the key, by a copy that has registered a token.
func refusedBeside(registered int64, unsent bool) func(*builder) {
	return func(b *builder) {
		b.op(0, "client-2", history.Invoke, history.Acquire, "k")
		h := b.grantOf(0, 10*ms, "client-1", 5)
		b.resource("k")[1].Token = registered
		b.read(20*ms, h)
		b.decide(30*ms, h, false)
		b.does(40*ms, h, history.Release, history.OK)
		b.claim(b.op(50*ms, "client-2", history.OK, history.Acquire, "k"), &held{owner: "client-2/9", token: 6}, 0)
		if unsent {
			b.unsent()
		}
	}
}

// strictRead reads, and then writes once or twice, and the last write is refused.
func strictRead(writes int) func(*builder) {
	return func(b *builder) {
		b.setup.Fencing, b.setup.FenceOn = history.Strict, history.OnRead
		h := b.grantOf(0, 10*ms, "client-1", 5)
		b.read(20*ms, h)
		for i := range int64(writes) {
			b.decide(30*ms+i*ms, h, i < int64(writes)-1)
		}
	}
}

// renewedWrites is the only holder, with token 5, that is told another by a renewal and writes with some, of which the last write is
// accepted or refused.
func renewedWrites(fencing string, told int64, accepted bool, with ...int64) func(*builder) {
	return func(b *builder) {
		b.setup.Fencing = fencing
		h := b.grantOf(0, 10*ms, "client-1", 5)
		h.token = told
		b.does(20*ms, h, history.Extend, history.OK)
		for i, token := range with {
			h.token = token
			b.read(30*ms+int64(i)*10*ms, h)
			b.decide(35*ms+int64(i)*10*ms, h, accepted || i < len(with)-1)
		}
	}
}

// upgradedRefused is a reader with token 5 that becomes the writer with 7, whose write with some token is refused.
func upgradedRefused(token, registered int64) func(*builder) {
	return func(b *builder) {
		b.changing()
		h := b.as(0, 10*ms, "client-1", shared, 5)
		h.token = 7
		b.turn(20*ms, h, exclusive, history.OK)
		b.resource("k")[1].Token = registered
		h.token = token
		b.look(30*ms, h)
		b.decide(40*ms, h, false)
	}
}

// writerRefused is the only holder of a read-write lock, in a mode, whose write is refused.
func writerRefused(mode history.Mode, registered int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", mode, 5)
		b.resource("k")[1].Token = registered
		b.look(20*ms, h)
		b.decide(30*ms, h, false)
	}
}

var refusedWithout = map[string]func(*builder){
	"violated-refused-beside":      refusedBeside(0, true),
	"holds-refused-beside-na":      refusedBeside(6, true), // it has heard of the other
	"holds-renewed-strict-na":      renewedWrites(history.Strict, 7, true, 5, 7),
	"violated-renewed-strict":      renewedWrites(history.Strict, 5, true, 5, 5),
	"holds-renewed-old-na":         renewedWrites(history.AtLeast, 7, false, 7, 5), // below its own new one
	"violated-renewed-old":         renewedWrites(history.AtLeast, 7, false, 5),
	"violated-upgraded-writer":     upgradedRefused(7, 0),
	"holds-upgraded-writer-old-na": upgradedRefused(5, 6),
	"violated-strict-read":         strictRead(1),
	"holds-strict-second-na":       strictRead(2),
	"violated-writer":              writerRefused(exclusive, 0),
	"holds-writer-na":              writerRefused(exclusive, 6),
	"holds-writer-looks-na": func(b *builder) { // what a look found is no decision
		writerRefused(exclusive, 6)(b)
		for i := range b.ops {
			if b.ops[i].F == history.ReadSeen {
				b.ops[i].Fenced = &history.Copy{Token: 4}
			}
		}
	},
	"holds-reader-na": writerRefused(shared, 0),
}

// lateGrant is a grant whose lease is over before its client hears of it, and that is told to be lost.
func lateGrant(lost int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Watchdog)
		b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		h := &held{node: "client-1", key: "k", owner: "client-1/1", token: 1}
		b.claim(b.op(1500*ms, "client-1", history.OK, history.Acquire, "k"), h, 0)
		b.note(lost, h, history.Lost)
	}
}

var lateGrants = map[string]func(*builder){
	"unknown-late-grant": lateGrant(1510 * ms),
	"unknown-late-grant-bent": func(b *builder) { // its clock, which runs fast, says so as well
		lateGrant(1510 * ms)(b)
		b.bend("client-1", 1400*ms, 9*sec, sec)
	},
	"violated-late-grant-bent": func(b *builder) {
		lateGrant(2600 * ms)(b)
		b.bend("client-1", 1400*ms, 9*sec, sec)
	},
	"violated-renewed-bent": func(b *builder) { // by whatever its clock says the last renewal that was recorded is over
		renewals(b, 0)
		b.setup.Promise.Session, b.setup.Promise.Renews = true, true
		b.bend("client-1", 1400*ms, 9*sec, sec)
	},
	"violated-late-grant": lateGrant(2600 * ms),
}

// tookAgain is a hold with token 1 that a renewal tells another, and that is taken again with a token.
func tookAgain(renewed, token int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		h.token = renewed
		b.does(100*ms, h, history.Extend, history.OK)
		b.again(200*ms, h, 2, token)
		b.back(300*ms, h, 1)
		b.back(310*ms, h, 0)
	}
}

var againRenewed = map[string]func(*builder){
	"unknown-renewed-token":  tookAgain(7, 7),
	"violated-renewed-token": tookAgain(7, 9),
}
