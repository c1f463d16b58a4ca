package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// Changes and releases of a part of unknown outcome, of which what is told later shows whether they came, and the permits of the
// dead, which others take together; each with the near neighbour that must stay as it is.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"honest-claims": claimsSettled, "lease-exclusion": leasesSettled, "recovery": deathsReused,
		"deadlock-freedom": readersKept, "lock-info": looksUnknown,
	} {
		maps.Copy(scenes[property], more)
	}
}

// partUnknown is a holder of two permits, all there are, that gives one back, and is not told how that ended. It renews, and is told so many;
// another is granted some at a time, 0: never.
func partUnknown(told int32, other int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 2, 1)
		b.gave(100*ms, h, 1, history.Info)
		if other > 0 {
			o := b.permits(other, other+10*ms, "client-2", 1, 2)
			b.does(800*ms, o, history.Release, history.OK)
		}
		b.does(300*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Permits = told
		b.does(900*ms, h, history.Release, history.OK)
	}
}

// partTold is the same holder, that is told two numbers, one after the other.
func partTold(first, then int32) func(*builder) {
	return func(b *builder) {
		partUnknown(first, 0)(b)
		h := &held{node: "client-1", key: "k", owner: "client-1/1", token: 1}
		b.does(500*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Permits = then
	}
}

// partThenAll is the same holder, that is told ok to the release of so many as another has one until a time.
func partThenAll(n int32, until int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 2, 1)
		b.gave(100*ms, h, 1, history.Info)
		o := b.permits(200*ms, 210*ms, "client-2", 1, 2)
		b.gave(until, o, 1, history.OK)
		b.gave(300*ms, h, n, history.OK)
	}
}

// changeUnknown is a holder that is not told how its change ended. It renews, and is told a mode; a reader is granted the lock at a
// time, before it if that is negative.
func changeUnknown(was, told history.Mode, reader int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes = true
		if reader < 0 {
			o := b.as(0, 5*ms, "client-2", shared, 1)
			b.does(800*ms, o, history.Release, history.OK)
		}
		h := b.as(6*ms, 10*ms, "client-1", was, 2)
		wants := exclusive
		if was == exclusive {
			wants = shared
		}
		turned(100*ms, wants, history.Info)(b, h)
		if reader > 0 {
			o := b.as(reader, reader+10*ms, "client-3", shared, 3)
			b.does(850*ms, o, history.Release, history.OK)
		}
		b.does(300*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Mode = told
		b.does(900*ms, h, history.Release, history.OK)
	}
}

// changeTold is a writer that is not told how its change ended, and then two modes.
func changeTold(first, then history.Mode) func(*builder) {
	return func(b *builder) {
		changeUnknown(exclusive, first, 0)(b)
		h := &held{node: "client-1", key: "k", owner: "client-1/1", token: 2}
		b.does(500*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Mode = then
	}
}

var claimsSettled = map[string]func(*builder){
	"violated-part-unknown-beside":      partUnknown(2, 200*ms),
	"holds-part-unknown-came":           partUnknown(1, 200*ms),
	"holds-part-unknown-later":          partUnknown(2, 400*ms), // it may have come late
	"holds-part-unknown-untold":         partUnknown(0, 200*ms),
	"violated-part-unknown-more":        partUnknown(3, 0),
	"violated-part-back-again":          partTold(1, 2),
	"holds-part-came-late":              partTold(2, 1),
	"violated-part-all-beside":          partThenAll(2, 800*ms),
	"holds-part-all-after":              partThenAll(2, 250*ms),
	"holds-part-rest-after":             partThenAll(1, 250*ms),
	"holds-part-rest-beside":            partThenAll(1, 800*ms),
	"violated-downgrade-unknown-beside": changeUnknown(exclusive, exclusive, 200*ms),
	"holds-downgrade-unknown-came":      changeUnknown(exclusive, shared, 200*ms),
	"holds-downgrade-unknown-later":     changeUnknown(exclusive, exclusive, 400*ms), // it may have come late
	"violated-upgrade-unknown-beside":   changeUnknown(shared, exclusive, -1),
	"holds-upgrade-unknown-waits":       changeUnknown(shared, shared, -1),
	"violated-mode-back-again":          changeTold(shared, exclusive),
	"holds-mode-came-late":              changeTold(exclusive, shared),
}

var leasesSettled = map[string]func(*builder){
	"violated-upgrade-renewed":     changeUnknown(shared, exclusive, 400*ms),
	"holds-upgrade-renewed-untold": changeUnknown(shared, "", 400*ms),
	"holds-upgrade-renewed-reader": changeUnknown(shared, shared, 400*ms),
}

// deadReused is the holder of two of three permits, which dies; two others are granted one each, the first of which gives it back at a time.
func deadReused(first, back, second int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits, b.setup.Servers, b.setup.Promise.Bound = 3, []string{"server-1"}, 5e8
		b.dies(b.permits(0, 10*ms, "client-1", 2, 1))
		x := b.permits(first-10*ms, first, "client-2", 1, 2)
		y := b.permits(second-10*ms, second, "client-3", 1, 3)
		b.does(back, x, history.Release, history.OK)
		b.does(max(back, second)+100*ms, y, history.Release, history.OK)
	}
}

// permitOfDead is the holder of one of two permits, which dies; another holds the other one and renews it until a time, before
// which a third is granted one.
func permitOfDead(next int64) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
		x := b.permits(-20*ms, -10*ms, "client-2", 1, 1)
		b.dies(b.permits(0, 10*ms, "client-1", 1, 2))
		b.renews(300*ms, next+200*ms, x)
		y := b.permits(190*ms, next, "client-3", 1, 3)
		b.does(next+400*ms, x, history.Release, history.OK)
		b.does(next+500*ms, y, history.Release, history.OK)
	}
}

var deathsReused = map[string]func(*builder){
	"violated-permits-together":   deadReused(200*ms, 500*ms, 300*ms),
	"violated-permits-held":       deadReused(5*ms, 500*ms, 300*ms),
	"holds-permits-turns-na":      deadReused(200*ms, 220*ms, 300*ms), // one after the other
	"holds-permits-together":      deadReused(200*ms, 1700*ms, 1300*ms),
	"violated-permit-kept-beside": permitOfDead(4 * sec),
	"holds-permit-beside":         permitOfDead(1500 * ms),
}

// besideReaders is a reader that renews for 20 s beside others, of a lock whose readers can become the writer, and one that waits from 0.1 s
// until a time; client-3 does something meanwhile.
func besideReaders(until int64, meanwhile func(*builder)) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes, b.setup.Servers, b.setup.Promise.Bound = true, []string{"server-1"}, 5e8
		h := b.as(0, 10*ms, "client-1", shared, 1)
		b.renews(300*ms, 20*sec, h)
		b.does(21*sec, h, history.Release, history.OK)
		meanwhile(b)
		o := b.as(100*ms, until, "client-2", shared, 3)
		b.does(until+100*ms, o, history.Release, history.OK)
		b.final(30 * sec)
	}
}

// asksToWrite is client-3, a reader that asks to be the writer until a time, with an outcome.
func asksToWrite(until int64, outcome history.Type) func(*builder) {
	return func(b *builder) {
		h := b.as(0, 12*ms, "client-3", shared, 2)
		b.op(50*ms, "client-3", history.Invoke, history.Change, "k").Owner = h.owner
		b.ops[len(b.ops)-1].Mode = exclusive
		done := b.op(until, "client-3", outcome, history.Change, "k")
		done.Owner, done.Mode = h.owner, exclusive
		if outcome == history.OK {
			b.claim(done, h, until-ms)
			b.does(until+50*ms, h, history.Release, history.OK)
		}
	}
}

// diesUpgrading is client-3, a reader that dies as it asks to be the writer.
func diesUpgrading(b *builder) {
	h := b.as(0, 12*ms, "client-3", shared, 2)
	b.op(50*ms, "client-3", history.Invoke, history.Change, "k").Owner = h.owner
	b.ops[len(b.ops)-1].Mode = exclusive
	b.dies(h)
}

var readersKept = map[string]func(*builder){
	"violated-reader-behind-dead-upgrade": besideReaders(15*sec, diesUpgrading),
	"holds-reader-behind-dead-upgrade":    besideReaders(4*sec, diesUpgrading),
	"violated-reader-beside-reader":       besideReaders(15*sec, func(*builder) {}),
	"holds-reader-beside-reader":          besideReaders(400*ms, func(*builder) {}),
	"holds-reader-behind-upgrade":         besideReaders(21300*ms, asksToWrite(21100*ms, history.OK)),
	"violated-reader-behind-given-up":     besideReaders(15*sec, asksToWrite(500*ms, history.Info)),
	"holds-reader-behind-given-up":        besideReaders(4*sec, asksToWrite(500*ms, history.Info)),
	"holds-reader-behind-waiting-writer": besideReaders(21300*ms, func(b *builder) {
		w := b.as(60*ms, 21100*ms, "client-3", exclusive, 2)
		b.does(21200*ms, w, history.Release, history.OK)
	}),
}

// namedUnknown is a look that names whom an acquire of unknown outcome of a client may have made the holder, sent at a time; client-1 is granted
// the key at 1.1 s, and keeps it.
func namedUnknown(node string, at int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.op(0, node, history.Invoke, history.Acquire, "k")
		b.op(50*ms, node, history.Info, history.Acquire, "k").Owner = node + "/unknown"
		h := b.grantOf(100*ms, 1100*ms, "client-1", 2)
		b.seen(at, at+10*ms, node+"/unknown")
		b.does(1500*ms, h, history.Release, history.OK)
	}
}

var looksUnknown = map[string]func(*builder){
	"violated-unknown-beside-holder": namedUnknown("client-2", 1200*ms),
	"holds-unknown-before-holder":    namedUnknown("client-2", 900*ms),
	"holds-unknown-of-holder":        namedUnknown("client-1", 1200*ms), // it asked again
}
