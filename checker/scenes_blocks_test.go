package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of what the fence of a file decides, block by block, and of a copy that does not keep to its own word; each with
// its near neighbour.
func init() { maps.Copy(scenes["fenced-writes"], blocksFenced) }

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
