package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of tokens that no two exclusive grants have, of clients that end with what they hold, and of grants of
// something else than was asked for.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"fencing-monotonic": tokensShared, "mutual-exclusion": leftStrict, "lease-exclusion": leftLeases, "honest-claims": askedOthers,
	} {
		maps.Copy(scenes[property], more)
	}
}

// turnOf is a grant in a mode and with a token.
type turnOf struct {
	mode  history.Mode
	token int64
}

// inTurn are grants one after the other.
func inTurn(all ...turnOf) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		for i, one := range all {
			at := int64(i) * 2 * sec
			h := b.as(at, at+10*ms, b.setup.Clients[i], one.mode, one.token)
			b.does(at+100*ms, h, history.Release, history.OK)
		}
	}
}

// writerBetween are two readers, one after the other, and somebody who asked for it before the first one's answer and was
// granted it after the second one, each with a token.
func writerBetween(first, token, second int64, mode history.Mode) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", shared, first)
		b.does(20*ms, h, history.Release, history.OK)
		g := b.as(2*sec, 2010*ms, "client-2", shared, second)
		b.does(2100*ms, g, history.Release, history.OK)
		b.sent(b.as(0, 2900*ms, "client-3", mode, token), 10*ms)
	}
}

// acts is a client that writes with a token, although nobody told it how its acquire ended.
func acts(b *builder, at int64, node string, token int64) *held {
	h := &held{node: node, key: "k", owner: node + "/unknown", token: token}
	b.op(at, node, history.Invoke, history.Acquire, "k")
	b.op(at+100*ms, node, history.Info, history.Acquire, "k").Owner = h.owner
	b.write(at+200*ms, h)
	return h
}

// heldOnceMore is a client of a reentrant lock whose first acquire may have won though nobody told it, or was refused, and
// that is granted the lock twice, with one token.
func heldOnceMore(reentry history.Reentry, outcome history.Type, again int64) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Reentry, b.setup.Promise.Library = reentry, "a-library"
		b.op(0, "client-1", history.Invoke, history.Acquire, "k")
		b.op(100*ms, "client-1", outcome, history.Acquire, "k")
		b.session1(200*ms, "client-1", 5)
		b.session1(again, "client-1", 5)
		b.session1(5*sec, "client-2", 6)
	}
}

var tokensShared = map[string]func(*builder){
	"holds-once-more-released": func(b *builder) { // its release never arrived
		b.setup.Promise.Reentry, b.setup.Promise.Library = history.ByThread, "a-library"
		h := b.grantOf(200*ms, 210*ms, "client-1", 5)
		b.does(300*ms, h, history.Release, history.Info)
		b.session1(500*ms, "client-1", 5)
		b.session1(700*ms, "client-1", 5)
		b.session1(5*sec, "client-2", 6)
	},
	"violated-once-more-ours": func(b *builder) { // a lock of dlmtest, used as a mutex
		heldOnceMore(history.ByThread, history.Info, 500*ms)(b)
		b.setup.Promise.Library = ""
	},
	"violated-once-more-other": func(b *builder) { // another's hold came between
		b.setup.Promise.Reentry, b.setup.Promise.Library = history.ByThread, "a-library"
		h := b.grantOf(200*ms, 210*ms, "client-1", 5)
		b.does(300*ms, h, history.Release, history.Info)
		b.session1(500*ms, "client-2", 6)
		b.session1(700*ms, "client-1", 5)
	},
	"holds-once-more":              heldOnceMore(history.ByThread, history.Info, 500*ms),
	"violated-once-more-plain":     heldOnceMore("", history.Info, 500*ms),
	"violated-once-more-refused":   heldOnceMore(history.ByThread, history.Fail, 500*ms),
	"violated-once-more-late":      heldOnceMore(history.ByThread, history.Info, 2*sec), // what was left of it had ended
	"violated-writer-after-writer": inTurn(turnOf{exclusive, 5}, turnOf{exclusive, 4}),
	"violated-writers-same":        inTurn(turnOf{exclusive, 5}, turnOf{exclusive, 5}),
	"violated-writer-without":      inTurn(turnOf{shared, 5}, turnOf{exclusive, 0}),
	"violated-reader-after-writer": inTurn(turnOf{exclusive, 5}, turnOf{shared, 4}),
	"holds-reader-after-writer":    inTurn(turnOf{exclusive, 5}, turnOf{shared, 5}), // it counts the writers
	"holds-reader-without":         inTurn(turnOf{exclusive, 5}, turnOf{shared, 0}),
	"violated-writer-after-reader": inTurn(turnOf{shared, 5}, turnOf{exclusive, 4}),
	"violated-writer-like-reader":  inTurn(turnOf{shared, 5}, turnOf{exclusive, 5}),
	"holds-readers-na":             inTurn(turnOf{shared, 5}, turnOf{shared, 4}),
	"holds-writer-between":         inTurn(turnOf{shared, 5}, turnOf{exclusive, 6}, turnOf{shared, 6}),
	"holds-reader-beside": func(b *builder) { // both asked at once
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", shared, 5)
		b.does(20*ms, h, history.Release, history.OK)
		w := b.as(0, 900*ms, "client-2", exclusive, 4)
		b.sent(w, 5*ms)
	},
	"violated-writer-between":      writerBetween(8, 6, 4, exclusive), // it came after the first reader, or before the second one
	"violated-writer-like-first":   writerBetween(8, 8, 4, exclusive),
	"violated-writer-above-second": writerBetween(8, 5, 4, exclusive),
	"holds-writer-like-second":     writerBetween(8, 4, 4, exclusive), // it came first
	"holds-writer-above-first":     writerBetween(8, 9, 4, exclusive), // it came last
	"holds-readers-only-na":        writerBetween(8, 6, 4, shared),
	"violated-second-without":      writerBetween(8, 6, 0, exclusive),
	"holds-readers-rise":           writerBetween(4, 6, 8, exclusive),
	"holds-permits-na":             func(b *builder) { manyPermits(b, 2) },

	"violated-below-unknown": func(b *builder) {
		acts(b, 0, "client-1", 7)
		b.session1(2*sec, "client-2", 5)
		b.session1(3*sec, "client-3", 8)
	},
	"holds-above-unknown": func(b *builder) {
		acts(b, 0, "client-1", 7)
		b.session1(2*sec, "client-2", 8)
		b.session1(3*sec, "client-3", 9)
	},
	"violated-unknown-below": func(b *builder) {
		b.session1(0, "client-2", 7)
		acts(b, sec, "client-1", 5)
		b.session1(3*sec, "client-3", 8)
	},
	"violated-like-unknown": func(b *builder) {
		acts(b, 0, "client-1", 7)
		b.session1(2*sec, "client-2", 7)
		b.session1(3*sec, "client-3", 8)
	},
	"holds-unknown-told-again": func(b *builder) {
		acts(b, 0, "client-1", 7)
		b.session1(2*sec, "client-1", 7)
		b.session1(3*sec, "client-3", 8)
	},
	"holds-below-unknown-beside": func(b *builder) { // nobody knows which of them was first
		acts(b, 0, "client-1", 7)
		b.sent(b.grantOf(50*ms, 300*ms, "client-2", 5), 60*ms)
		b.session1(3*sec, "client-3", 8)
	},
	"holds-unknown-idle": func(b *builder) { // a token that nobody used is none that anybody knows of
		b.session1(0, "client-2", 5)
		b.op(sec, "client-1", history.Invoke, history.Acquire, "k")
		b.op(sec+100*ms, "client-1", history.Info, history.Acquire, "k").Owner = "client-1/unknown"
		b.session1(3*sec, "client-3", 6)
	},
}

// leaves is a leader that ends at a time without giving back what it holds; another is granted it at a time.
func leaves(b *builder, end, next int64) {
	turns(b)
	b.grantOf(10*sec, 10010*ms, "client-1", 8)
	b.op(end, "client-1", history.Note, history.Stop, "")
	g := b.grantOf(next-10*ms, next, "client-2", 9)
	b.does(next+500*ms, g, history.Release, history.OK)
	b.op(end+ms, "client-1", history.Note, history.End, "")
}

// strictly leaves a lock without a deadline, where overlaps count though nobody acts.
func strictly(b *builder, end, next int64) {
	b.setup.Strict, b.setup.Promise.Leased, b.setup.Promise.Session = true, false, true
	leaves(b, end, next)
}

var leftStrict = map[string]func(*builder){
	"holds-strict-left":      func(b *builder) { strictly(b, 11*sec, 12*sec) },
	"violated-strict-before": func(b *builder) { strictly(b, 13*sec, 12*sec) },
	"violated-strict-unasked": func(b *builder) { // it records no more, which is no end
		strictly(b, 11*sec, 12*sec)
		b.ops = dropOps(b.ops, history.Stop)
	},
}

var leftLeases = map[string]func(*builder){
	"violated-left":      func(b *builder) { leaves(b, 10500*ms, 10800*ms) }, // nobody gave back its lease
	"holds-left-behind":  func(b *builder) { leaves(b, 10500*ms, 11200*ms) },
	"holds-left-session": func(b *builder) { b.setup.Promise.Session = true; leaves(b, 10500*ms, 10800*ms) }, // which ended with it
}

func dropOps(ops []history.Op, f history.F) (left []history.Op) {
	for _, op := range ops {
		if op.F != f {
			left = append(left, op)
		}
	}
	return left
}

// asksMode is a grant of a read-write lock that is asked for in a mode, and told in another.
func asksMode(asked, told history.Mode) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		h := b.as(0, 10*ms, "client-1", told, 1)
		b.ops[len(b.ops)-2].Mode = asked
		b.does(100*ms, h, history.Release, history.OK)
	}
}

// asksPermits is a grant of permits of which another number is asked for.
func asksPermits(asked, told int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", told, 1)
		b.ops[len(b.ops)-2].Permits = asked
		b.does(100*ms, h, history.Release, history.OK)
	}
}

// changesTo is a holder that asks for a mode, and is told ok with another.
func changesTo(from, asked, told history.Mode) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes = true
		h := b.as(0, 10*ms, "client-1", from, 1)
		b.turn(100*ms, h, asked, history.OK)
		b.ops[len(b.ops)-1].Mode = told
		b.does(200*ms, h, history.Release, history.OK)
	}
}

var askedOthers = map[string]func(*builder){
	"violated-reader-of-writer": asksMode(exclusive, shared),
	"violated-writer-of-reader": asksMode(shared, exclusive),
	"holds-mode":                asksMode(shared, shared),
	"holds-mode-unsaid":         asksMode("", shared),
	"holds-mode-untold":         asksMode(shared, ""),
	"violated-fewer-permits":    asksPermits(2, 1),
	"violated-more-permits":     asksPermits(1, 2),
	"holds-permits":             asksPermits(2, 2),
	"holds-permits-unsaid":      asksPermits(0, 2),
	"violated-change-up":        changesTo(shared, exclusive, shared),
	"violated-change-down":      changesTo(exclusive, shared, exclusive),
	"holds-change":              changesTo(exclusive, shared, shared),
	"holds-change-untold":       changesTo(exclusive, shared, ""),
}
