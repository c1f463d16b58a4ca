package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what a copy shows and has not accepted, of a fence that refuses what it has registered itself, and of a pause
// that was over before the request; each with its near neighbours.
func init() {
	maps.Copy(scenes["no-lost-update/fenced"], standFenced)
	maps.Copy(scenes["no-lost-update/unfenced"], standUnfenced)
	maps.Copy(scenes["fenced-writes"], standBroken)
	maps.Copy(scenes["false-loss"], pausedBefore)
	maps.Copy(scenes["lease-exclusion"], renewedUnknown)
	maps.Copy(scenes["mutual-exclusion"], writesOfNobody)
	maps.Copy(scenes["lock-info"], looksAtStrangers)
	maps.Copy(scenes["honest-claims"], turnedUnknown)
}

// stands is a stale holder's write behind one that was acknowledged, and what the next holder then finds in both copies. The stale
// one is refused by the fence; where it is unlogged, nobody is told what came of it, and the log has no note.
func stands(unlogged, reread bool, found string) func(*builder) {
	return func(b *builder) {
		first, second, third := late(b)
		b.read(30*ms, first)
		b.read(2*sec+1*ms, second)
		b.write(2*sec+2*ms, second)
		if reread {
			b.read(2*sec+3*ms, first)
		}
		was := *b.resource("k")
		b.write(2*sec+5*ms, first)
		if unlogged {
			*b.resource("k") = was
			note := len(b.ops) - 2
			b.ops[note+1].Type, b.ops[note+1].Unfenced, b.ops[note+1].Fenced = history.Info, nil, nil
			b.ops = append(b.ops[:note], b.ops[note+1:]...)
		}
		b.does(2*sec+8*ms, second, history.Release, history.OK)
		if c := b.resource("k"); found != "" {
			c[0].Value, c[1].Value = found, found
		}
		b.read(2*sec+610*ms, third)
		b.write(2*sec+620*ms, third)
		b.does(2*sec+630*ms, third, history.Release, history.OK)
	}
}

var standFenced = map[string]func(*builder){
	"violated-refused":     stands(false, false, "v2"),
	"unknown-refused-read": stands(false, true, "v2"), // its writer had read what it replaced: nothing is lost
	"holds-refused":        stands(false, false, ""),
	"unknown-stranger":     stands(false, false, "somebody's"),
	"violated-unlogged":    stands(true, false, "v2"),
	"unknown-unlogged":     stands(true, true, "v2"),
	"holds-unlogged":       stands(true, false, ""),
}

var standUnfenced = map[string]func(*builder){
	"violated-unlogged":  stands(true, false, "v2"),
	"violated-shown-old": showsOld(""),
	"holds-shown":        showsOld("v1"),
	"holds-before": func(b *builder) { // what stood there first is from before the history
		c := b.resource("k")
		c[0].Value, c[1].Value = "old", "old"
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.look(20*ms, h)
		b.look(25*ms, h)
		b.write(30*ms, h)
		b.does(40*ms, h, history.Release, history.OK)
	},
}

// ownToken is a writer whose token the copy has registered, by its read, and that is refused or not.
func ownToken(kind history.Kind, fencing string, registered int64, accepted bool) func(*builder) {
	return func(b *builder) {
		b.kind(kind)
		b.setup.FenceOn, b.setup.Fencing = history.OnRead, fencing
		h := b.grantOf(0, 10*ms, "client-1", 5)
		if kind == history.ReadWrite {
			b.ops[len(b.ops)-1].Mode, b.ops[len(b.ops)-2].Mode = exclusive, exclusive
		}
		b.read(20*ms, h)
		b.decide(30*ms, h, accepted)
		for i := range b.ops {
			if b.ops[i].F == history.Apply {
				b.ops[i].Fenced.Token = registered
			}
		}
		b.does(40*ms, h, history.Release, history.OK)
	}
}

var standBroken = map[string]func(*builder){
	"violated-refused-stands":  stands(false, false, "v2"),
	"violated-unlogged-stands": stands(true, false, "v2"),
	"holds-refused-stands-not": stands(false, false, ""),
	"violated-own-token":       ownToken(history.ReadWrite, "at-least", 5, false),
	"violated-reused-strict":   reusedToken(true),
	"holds-reused-refused-na":  reusedToken(false),
	"holds-own-token-na":       ownToken(history.ReadWrite, "at-least", 5, true),
	"holds-above-own-token-na": ownToken(history.ReadWrite, "at-least", 6, false),
}

// renewsUnknown is an acquire of unknown outcome whose owner is told ok to a renewal, with a token, and another that is granted the key
// some time after that; its client may have had the key before under another name.
func renewsUnknown(after int64, twice bool) func(*builder) {
	return func(b *builder) {
		b.op(0, "client-2", history.Invoke, history.Acquire, "k").Owner = "client-2/unknown"
		b.op(10*ms, "client-2", history.Info, history.Acquire, "k").Owner = "client-2/unknown"
		if twice {
			b.grantOf(15*ms, 18*ms, "client-2", 5)
		}
		h := &held{node: "client-2", key: "k", owner: "client-2/unknown", token: 5}
		b.does(20*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Token = 5
		g := b.grantOf(after, after+10*ms, "client-1", 6)
		b.does(after+100*ms, g, history.Release, history.OK)
	}
}

// renewsNameless is renewsUnknown, of an acquire of which nobody knows as whom it was made.
func renewsNameless(after int64, open bool) func(*builder) {
	return func(b *builder) {
		renewsUnknown(after, false)(b)
		if b.ops[0].Owner, b.ops[1].Owner = "", ""; open {
			b.ops = append(b.ops[:1], b.ops[2:]...)
			for i := range b.ops[1:] {
				if op := &b.ops[1+i]; op.Node == "client-2" {
					op.Process = 99
				}
			}
		}
	}
}

// abstained is a holder that does not write, by a check of its own, and another that is granted the key at a time.
func abstained(next int64, between func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.note(100*ms, h, history.Abstain)
		if between != nil {
			between(b, h)
		}
		b.does(next+50*ms, b.grantOf(next-10*ms, next, "client-2", 2), history.Release, history.OK)
	}
}

var renewedUnknown = map[string]func(*builder){
	"violated-nameless-renewed":      renewsNameless(100*ms, false),
	"violated-nameless-open-renewed": renewsNameless(100*ms, true),
	"unknown-nameless-renewed-later": renewsNameless(2*sec, false),
	"violated-abstained":             abstained(500*ms, nil),
	"violated-abstained-renewed":     abstained(1500*ms, func(b *builder, h *held) { b.does(600*ms, h, history.Extend, history.OK) }),
	"unknown-abstained-over":         abstained(1500*ms, nil),
	"unknown-abstained-released":     abstained(500*ms, func(b *builder, h *held) { b.does(200*ms, h, history.Release, history.OK) }),
	"unknown-abstained-told":         abstained(500*ms, func(b *builder, h *held) { b.note(200*ms, h, history.Lost) }),
	"unknown-abstained-told-all": abstained(500*ms, func(b *builder, h *held) {
		b.note(200*ms, &held{node: h.node, key: h.key}, history.Lost)
	}),
	"unknown-abstained-refused": abstained(500*ms, func(b *builder, h *held) { b.does(200*ms, h, history.Extend, history.Fail) }),
	"violated-unknown-renewed":  renewsUnknown(100*ms, false),
	"unknown-renewed-later":     renewsUnknown(2*sec, false),
}

// looksAtStrangers are looks that name owners of whom nobody has recorded anything, and one that names a holder.
var looksAtStrangers = map[string]func(*builder){
	"unknown-strangers":  func(b *builder) { turns(b); b.seen(2*sec, 2001*ms, "zz/0"); b.seen(2100*ms, 2101*ms, "zz/1") },
	"holds-stranger-not": func(b *builder) { b.grantOf(0, 10*ms, "client-1", 1); b.seen(20*ms, 21*ms, "client-1/1") },
}

// turnedUnknown is who may have been granted the key as a reader, is told ok to become the writer, and then that it is.
var turnedUnknown = map[string]func(*builder){
	"unknown-turned-unknown": func(b *builder) {
		b.kind(history.ReadWrite)
		for n, typ := range []history.Type{history.Invoke, history.Info} {
			op := b.op(int64(n)*10*ms, "client-1", typ, history.Acquire, "k")
			op.Owner, op.Mode = "client-1/1", shared
		}
		h := &held{node: "client-1", key: "k", owner: "client-1/1", token: 3}
		b.turn(20*ms, h, exclusive, history.OK)
		b.does(30*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Mode, b.ops[len(b.ops)-1].Token = exclusive, 3
	},
}

// writesUnnamed is a write as an owner that nobody was granted the key as, behind an acquire of a client that has no known outcome and
// no name.
func writesUnnamed(node, key string) func(*builder) {
	return func(b *builder) {
		turns(b)
		b.setup.Keys = append(b.setup.Keys, "other")
		b.op(2400*ms, node, history.Invoke, history.Acquire, key)
		b.op(2410*ms, node, history.Info, history.Acquire, key)
		b.write(2500*ms, &held{node: "client-9", key: "k", owner: "client-9/1", token: 7})
	}
}

var writesOfNobody = map[string]func(*builder){
	"unknown-unnamed":        writesUnnamed("client-9", "k"),
	"violated-unnamed-key":   writesUnnamed("client-9", "other"),
	"violated-unnamed-other": writesUnnamed("client-8", "k"),
}

// reusedToken are two holders with one token, and a strict copy that takes a write of each, or not.
func reusedToken(second bool) func(*builder) {
	return func(b *builder) {
		b.setup.Fencing = history.Strict
		for n, node := range []string{"client-1", "client-2"} {
			t := int64(n) * 300 * ms
			h := b.grantOf(t, t+10*ms, node, 5)
			b.read(t+20*ms, h)
			b.decide(t+30*ms, h, n == 0 || second)
			b.does(t+40*ms, h, history.Release, history.OK)
		}
	}
}

// showsOld is a note of the resource that a read, whose answer never came, was shown what stood there before an acknowledged write.
func showsOld(value string) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.read(20*ms, h)
		b.write(30*ms, h)
		b.does(40*ms, h, history.Release, history.OK)
		g := b.grantOf(50*ms, 60*ms, "client-2", 2)
		b.read(70*ms, g)
		note := &b.ops[len(b.ops)-2]
		note.Unfenced, note.Fenced = &history.Copy{Value: value}, &history.Copy{Value: value}
		b.ops = b.ops[:len(b.ops)-1]
	}
}

// pausedThen is a client that is stopped, asks again some time after that, and is then told that it holds nothing.
func pausedThen(after int64, more func(*builder)) func(*builder) {
	return func(b *builder) {
		b.setup.Servers = []string{"server"}
		b.fault(0, 500*ms, 1, "pause", "client-1")
		h := b.grantOf(500*ms+after, 510*ms+after, "client-1", 1)
		if more != nil {
			more(b)
		}
		b.does(560*ms+after, h, history.Release, history.Fail)
		b.final(5 * sec)
	}
}

var pausedBefore = map[string]func(*builder){
	"violated-paused-before":    pausedThen(100*ms, nil),
	"violated-paused-meanwhile": pausedThen(-100*ms, nil),
	"holds-paused-reset":        pausedThen(100*ms, func(b *builder) { b.fault(640*ms, 670*ms, 2, "reset", "client-1") }),
}
