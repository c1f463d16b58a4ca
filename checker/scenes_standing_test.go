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
	"violated-unlogged": stands(true, false, "v2"),
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
	"holds-own-token-na":       ownToken(history.ReadWrite, "at-least", 5, true),
	"holds-above-own-token-na": ownToken(history.ReadWrite, "at-least", 6, false),
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
	"violated-paused-before": pausedThen(100*ms, nil),
	"holds-paused-meanwhile": pausedThen(-100*ms, nil),
	"holds-paused-reset":     pausedThen(100*ms, func(b *builder) { b.fault(640*ms, 670*ms, 2, "reset", "client-1") }),
}
