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
