package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of looks that name who may have been granted a key and was never told so, and of what comes back after a renewal.
func init() {
	maps.Copy(scenes["lock-info"], maybeNamed)
	maps.Copy(scenes["honest-claims"], maybeHeld)
	maps.Copy(scenes["mutual-exclusion"], maybeWrites)
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

	"holds-maybe-renews":          func(b *builder) { b.asksAs(0, "k"); b.does(100*ms, maybeHolds, history.Extend, history.OK) },
	"violated-maybe-renews-key":   func(b *builder) { b.asksAs(0, "l"); b.does(100*ms, maybeHolds, history.Extend, history.OK) },
	"violated-maybe-renews-early": func(b *builder) { b.does(100*ms, maybeHolds, history.Extend, history.OK); b.asksAs(200*ms, "k") },
}

// maybeHolds is what client-2 may hold of whose acquire nobody knows the outcome.
var maybeHolds = &held{node: "client-2", key: "k", owner: "client-2/maybe", token: 5}

// writesAs is a write of client-2, behind holders in turn, as an owner that it had asked as for a key, or asks as later.
func writesAs(from int64, key string) func(*builder) {
	return func(b *builder) {
		turns(b)
		if b.asksAs(from, key); from < 20*sec {
			b.write(20*sec, &held{node: "client-2", key: "k", owner: "client-2/maybe", token: 1 << 20})
			return
		}
		b.write(20*sec, &held{node: "client-3", key: "k", owner: "client-2/maybe", token: 1 << 20})
	}
}

var maybeWrites = map[string]func(*builder){
	"holds-maybe":         writesAs(19*sec, "k"),
	"violated-maybe-key":  writesAs(19*sec, "l"),
	"violated-maybe-late": writesAs(21*sec, "k"),
}
