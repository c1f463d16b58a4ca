package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of who acts on a lock, or is told ok, and was told of no grant, each with the near neighbour that must stay as it is.
func init() {
	maps.Copy(scenes["honest-claims"], unheldClaims)
	maps.Copy(scenes["mutual-exclusion"], unheldWrites)
}

// asksUnnamed is an acquire of client-9 of a key that does not say as whom it asked, with an end; "": it was never answered.
func asksUnnamed(at int64, f history.F, key string, end history.Type) func(*builder) {
	return func(b *builder) {
		b.setup.Keys = []string{"k", "l"}
		b.op(at, "client-9", history.Invoke, f, key)
		if end != "" {
			b.op(at+10*ms, "client-9", end, f, key)
		}
		b.process["client-9"] = 0
	}
}

// renewsOnce is a hold that is renewed and given back, as it should be.
func (b *builder) renewsOnce() {
	h := b.grantOf(-3*sec, -2990*ms, "client-3", 0)
	b.does(-2900*ms, h, history.Extend, history.OK)
	b.does(-2800*ms, h, history.Release, history.OK)
}

// toldUnheld is client-9, which is told ok to what it asks at some times, after what came before.
func toldUnheld(before func(*builder), f history.F, at ...int64) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server-1"}
		b.renewsOnce()
		before(b)
		for _, t := range at {
			b.does(t, &held{node: "client-9", key: "k", owner: "client-9/none"}, f, history.OK)
		}
	}
}

// renewedMaybe asks once, and renews what it may have been granted: neither was answered.
func renewedMaybe(b *builder) {
	askedOnce(b)
	b.does(900*ms, &held{node: "client-9", key: "k", owner: "client-9/none"}, history.Extend, history.Info)
}

// all does one thing after the other.
func all(scenes ...func(*builder)) func(*builder) {
	return func(b *builder) {
		for _, scene := range scenes {
			scene(b)
		}
	}
}

// permitUnknown is who was told no end of its acquire, is told ok to a renewal as whom it asked, and is beside the holder of one permit of
// two.
func permitUnknown(b *builder) {
	b.kind(history.Semaphore)
	b.renewsOnce()
	b.op(-20*ms, "client-2", history.Invoke, history.Acquire, "k").Owner = "client-2/unknown"
	b.op(-10*ms, "client-2", history.Info, history.Acquire, "k").Owner = "client-2/unknown"
	b.permits(0, 10*ms, "client-1", 1, 1)
	b.does(500*ms, &held{node: "client-2", key: "k", owner: "client-2/unknown"}, history.Extend, history.OK)
}

var (
	askedTry  = asksUnnamed(0, history.Try, "k", history.Info)
	askedOnce = asksUnnamed(0, history.Acquire, "k", history.Info)
	askedOpen = asksUnnamed(0, history.Acquire, "k", "")
)

var unheldClaims = map[string]func(*builder){
	"violated-unheld-refused":      toldUnheld(asksUnnamed(0, history.Acquire, "k", history.Fail), history.Extend, 500*ms),
	"holds-unheld-asked":           toldUnheld(askedOnce, history.Extend, 500*ms),
	"holds-unheld-tried":           toldUnheld(askedTry, history.Extend, 500*ms),
	"holds-unheld-unanswered":      toldUnheld(askedOpen, history.Release, 60*sec),
	"holds-unheld-tried-open":      toldUnheld(asksUnnamed(0, history.Try, "k", ""), history.Release, 60*sec),
	"violated-unheld-asked-else":   toldUnheld(asksUnnamed(0, history.Acquire, "l", history.Info), history.Extend, 500*ms),
	"violated-unheld-open-else":    toldUnheld(asksUnnamed(0, history.Acquire, "l", ""), history.Extend, 500*ms),
	"violated-unheld-later":        toldUnheld(askedOnce, history.Extend, 1500*ms),
	"holds-unheld-renewed":         toldUnheld(askedOnce, history.Extend, 900*ms, 1800*ms),
	"holds-unheld-renewed-maybe":   toldUnheld(renewedMaybe, history.Extend, 1800*ms),
	"violated-unheld-maybe-over":   toldUnheld(renewedMaybe, history.Extend, 2500*ms),
	"violated-unheld-given-back":   toldUnheld(askedOnce, history.Release, 900*ms, 1800*ms),
	"holds-unheld-later-few":       toldUnheld(all(askedOnce, ofFew), history.Extend, 60*sec),
	"holds-unheld-later-session":   toldUnheld(all(askedOnce, unleased), history.Extend, 60*sec),
	"violated-unheld-read":         toldUnheld(asksUnnamed(0, history.Read, "k", history.Info), history.Extend, 500*ms),
	"holds-unheld-mute":            toldUnheld(func(b *builder) { b.setup.Promise.Mute = true }, history.Release, 500*ms),
	"violated-unheld-mute-renews":  toldUnheld(func(b *builder) { b.setup.Promise.Mute = true }, history.Extend, 500*ms),
	"holds-unheld-permit":          permitUnknown,
	"violated-unheld-named-before": toldUnheld(func(b *builder) { askedOnce(b); b.ops[len(b.ops)-1].Owner = "client-9/other" }, history.Extend, 500*ms),
	"violated-unheld-named-asking": toldUnheld(func(b *builder) { askedOnce(b); b.ops[len(b.ops)-2].Owner = "client-9/other" }, history.Extend, 500*ms),
	"holds-unowned": func(b *builder) { // nobody says whose it is
		b.session1(0, "client-1", 1)
		b.does(500*ms, &held{node: "client-9", key: "k"}, history.Extend, history.OK)
	},
}

// effectOf is an effect outside, which names no key, by an owner.
func effectOf(owner string, before func(*builder)) func(*builder) {
	return func(b *builder) {
		turns(b)
		before(b)
		for i, typ := range []history.Type{history.Invoke, history.OK} {
			op := b.op(20*sec+int64(i)*ms, "client-9", typ, history.Effect, "")
			op.Owner, op.Value = owner, "e1"
		}
	}
}

// asksNamed is an acquire of client-9 as an owner, with an end; "": it was never answered.
func asksNamed(end history.Type) func(*builder) {
	return func(b *builder) {
		asksUnnamed(10*sec, history.Acquire, "k", end)(b)
		for i := range b.ops {
			if b.ops[i].Node == "client-9" {
				b.ops[i].Owner = "client-9/asked"
			}
		}
	}
}

var unheldWrites = map[string]func(*builder){
	"violated-effect-stranger": effectOf("client-9/none", nothing),
	"violated-effect-other":    effectOf("client-9/none", asksNamed("")),
	"holds-effect-unanswered":  effectOf("client-9/asked", asksNamed("")),
	"holds-effect-unknown":     effectOf("client-9/asked", asksNamed(history.Info)),
	"violated-effect-refused":  effectOf("client-9/asked", asksNamed(history.Fail)),
	"holds-effect-unowned":     effectOf("", nothing),
}
