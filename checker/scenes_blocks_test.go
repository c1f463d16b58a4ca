package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what the fence of a file decides, block by block, of a copy that does not keep to its own word, and of counts
// that no outcome of an unknown acquire explains; each with its near neighbour.
func init() {
	maps.Copy(scenes["fenced-writes"], blocksFenced)
	maps.Copy(scenes["reentrancy"], countsBehindUnknown)
	maps.Copy(scenes["lease-exclusion"], clocksBent)
}

// blocks are two writers of a file, or of another use: token 2 begins a version, and then token 1 goes on, and then token 2;
// the fence takes the last two or refuses them.
func blocks(use string, old, last bool) func(*builder) {
	return func(b *builder) {
		b.setup.Use = history.Use{Name: use, Blocks: 2}
		first, second, _ := late(b)
		b.read(30*ms, first)
		b.block(40*ms, first, 1, true)
		b.block(2*sec+1*ms, second, 2, true)
		b.block(2*sec+2*ms, first, 2, old)
		b.block(2*sec+3*ms, second, 2, last)
		b.does(2*sec+4*ms, second, history.Release, history.OK)
	}
}

// block is an effect of h; the fence says that it has registered a token by then.
func (b *builder) block(t int64, h *held, registered int64, accepted bool) {
	b.effect(t, h, "version 1 block", true, accepted)
	b.ops[len(b.ops)-2].Fenced.Token = registered
}

// belowOwn is a holder whose write of a token is accepted by a copy that has registered another.
func belowOwn(token, registered int64, more func(*builder)) func(*builder) {
	return func(b *builder) {
		if more != nil {
			more(b)
		}
		h := b.as(0, 10*ms, "client-1", exclusive, token)
		b.read(20*ms, h)
		b.write(30*ms, h)
		b.does(40*ms, h, history.Release, history.OK)
		for i := range b.ops {
			if b.ops[i].F == history.Apply {
				b.ops[i].Fenced.Token = registered
			}
		}
	}
}

var blocksFenced = map[string]func(*builder){
	"holds-blocks":            blocks(history.File, false, true),
	"violated-blocks-old":     blocks(history.File, true, true),
	"violated-blocks-refused": blocks(history.File, false, false),
	"unknown-card":            blocks(history.Payment, true, true), // it checks no token
	"holds-blocks-strict": func(b *builder) { // several blocks of one grant are no repeats
		b.setup.Fencing = history.Strict
		blocks(history.File, false, true)(b)
	},
	"violated-blocks-strict-refused": func(b *builder) {
		b.setup.Fencing = history.Strict
		blocks(history.File, false, false)(b)
	},
	"violated-below":        belowOwn(5, 7, nil),
	"violated-below-writer": belowOwn(5, 7, func(b *builder) { b.kind(history.ReadWrite) }),
	"holds-below-na":        belowOwn(5, 5, nil),
	"holds-below-none-na":   belowOwn(0, 7, func(b *builder) { b.setup.Promise.Token = true }), // nothing to compare
}

// behindUnknown is a holder that takes its lock again a number of times, asks once more without an answer, and is told a count:
// of one acquire more or, as it gives one back, of what is left.
func behindUnknown(again int32, told int32, f history.F) func(*builder) {
	return func(b *builder) {
		nests["holds"](b)
		h := b.grantOf(3*sec, 3010*ms, "client-1", 9)
		b.ops[len(b.ops)-1].Depth = 1
		for i := range again {
			b.again(3020*ms+int64(i)*5*ms, h, 2+i, 9)
		}
		b.op(3100*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(3200*ms, "client-1", history.Info, history.Acquire, "k").Owner = "client-1/lost"
		if f == history.Acquire {
			b.again(3300*ms, h, told, 9)
			return
		}
		b.back(3300*ms, h, told)
	}
}

var countsBehindUnknown = map[string]func(*builder){
	"violated-unknown-more":      behindUnknown(0, 4, history.Acquire), // one known, one unknown, one more
	"holds-unknown-came":         behindUnknown(0, 3, history.Acquire),
	"holds-unknown-lost":         behindUnknown(0, 2, history.Acquire),
	"violated-unknown-fewer":     behindUnknown(2, 3, history.Acquire),
	"holds-unknown-last":         behindUnknown(0, 0, history.Release),
	"violated-unknown-last":      behindUnknown(2, 0, history.Release),
	"violated-unknown-more-left": behindUnknown(1, 3, history.Release),
	"holds-unknown-more-left":    behindUnknown(1, 2, history.Release),
}

// clockBent is a holder whose clock is wrong from 0.1 s on and that looks at it once more while its lease runs by one clock, by both
// or by none; another is granted its key at 0.5 s or later.
func clockBent(by, looks, next int64, more func(*builder)) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.read(looks, h)
		b.sent(b.grantOf(next, next+10*ms, "client-2", 2), next)
		b.read(3*sec, h)
		b.bend("client-1", 100*ms, 2*sec, by)
		if more != nil {
			more(b)
		}
	}
}

var clocksBent = map[string]func(*builder){
	"violated-bent-both":  clockBent(-300*ms, 700*ms, 600*ms, nil),   // it has its lease by either clock
	"unknown-bent-slow":   clockBent(-900*ms, 1700*ms, 1500*ms, nil), // only by its own
	"unknown-bent-fast":   clockBent(600*ms, 700*ms, 600*ms, nil),    // only by the judge's
	"holds-bent-over":     clockBent(300*ms, 1100*ms, 1500*ms, nil),  // by neither
	"unknown-bent-server": clockBent(-300*ms, 700*ms, 600*ms, func(b *builder) { b.fault(100*ms, 2*sec, 1, "clock", "redis") }),
}
