package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of looks that name who may have been granted a key and was never told so, and of what comes back after a renewal.
func init() {
	maps.Copy(scenes["lock-info"], maybeNamed)
	maps.Copy(scenes["honest-claims"], maybeHeld)
}

// asksAs is an acquire of a key by client-2, as an owner, that comes to no certain end.
func (b *builder) asksAs(from int64, key string) {
	b.setup.Keys = []string{"k", "l"}
	b.op(from, "client-2", history.Invoke, history.Acquire, key)
	b.op(from+10*ms, "client-2", history.Info, history.Acquire, key).Owner = "client-2/maybe"
}

// namedAround is an acquire of client-2 that has no answer, and as which the servers name the holder before some clients
// are granted the key, one after the other, and after that.
func namedAround(nodes ...string) func(*builder) {
	return func(b *builder) {
		b.op(0, "client-2", history.Invoke, history.Acquire, "k").Owner = "client-2/maybe"
		b.process["client-2"] = 0
		b.seen(50*ms, 51*ms, "client-2/maybe")
		at := int64(100)
		for _, node := range nodes {
			h := b.grantOf(at*ms, (at+10)*ms, node, at)
			b.does((at+50)*ms, h, history.Release, history.OK)
			at += 100
		}
		b.seen(at*ms, (at+1)*ms, "client-2/maybe")
	}
}

// comesBack is a holder whose lease is over when a look finds nobody, that is renewed all the same, is found gone once
// more, or not, and then named.
func comesBack(again bool) func(*builder) {
	return func(b *builder) {
		b.setup.Promise.Bound = 2e9
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.seen(1100*ms, 1101*ms, "")
		b.does(1200*ms, h, history.Extend, history.OK)
		if again {
			b.seen(2300*ms, 2301*ms, "")
		}
		b.seen(2500*ms, 2501*ms, h.owner)
	}
}

var maybeNamed = map[string]func(*builder){
	"holds-maybe":              func(b *builder) { freeNamed(b, "client-2/maybe"); b.asksAs(210*ms, "k") },
	"violated-maybe-key":       func(b *builder) { freeNamed(b, "client-2/maybe"); b.asksAs(210*ms, "l") },
	"violated-maybe-later":     func(b *builder) { freeNamed(b, "client-2/maybe"); b.asksAs(350*ms, "k") },
	"violated-maybe-behind":    namedAround("client-1"),
	"holds-maybe-own":          namedAround("client-2"), // it asked again, and may be named as before
	"violated-maybe-own-first": namedAround("client-2", "client-1"),
	"holds-renewed-since":      comesBack(false),
	"violated-gone-again":      comesBack(true),
}

// foundWhile is a look that names an owner while client-1 holds the key, which renews it after that.
func foundWhile(asks string) func(*builder) {
	return func(b *builder) {
		b.asksAs(0, asks)
		h := b.grantOf(20*ms, 30*ms, "client-1", 1)
		b.seen(100*ms, 101*ms, "client-2/maybe")
		b.does(200*ms, h, history.Extend, history.OK)
		b.does(300*ms, h, history.Release, history.OK)
	}
}

var maybeHeld = map[string]func(*builder){
	"violated-maybe":  foundWhile("k"),
	"holds-maybe-key": foundWhile("l"), // the look is false, and shows nothing
}
