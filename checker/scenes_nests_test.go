package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of holds within holds behind a release of unknown outcome: how many it may have left is known all the same.
func init() {
	maps.Copy(scenes["reentrancy"], countsLeft)
	maps.Copy(scenes["false-loss"], deniedLeft)
}

// oneLeft is a lock that its holder takes a number of times, and gives back with an answer that is lost, and with another one.
func oneLeft(times int32, answer history.Type, since ...func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.ops[len(b.ops)-1].Depth = 1
		for n := int32(1); n < times; n++ {
			b.again(int64(n)*20*ms, h, n+1, 1)
		}
		b.does(100*ms, h, history.Release, history.Info)
		b.does(200*ms, h, history.Release, answer)
		for _, happens := range since {
			happens(b, h)
		}
		b.final(9 * sec)
	}
}

// leftOnce has the last answer tell that one hold is left, and the next release refused.
func leftOnce(b *builder, h *held) {
	b.ops[len(b.ops)-1].Depth = 1
	b.does(300*ms, h, history.Release, history.Fail)
}

var countsLeft = map[string]func(*builder){
	"violated-lost-then-free": oneLeft(3, history.OK),
	"unknown-lost-then-free":  oneLeft(2, history.OK), // both may have been done
}

var deniedLeft = map[string]func(*builder){
	"violated-lost-then-left":   oneLeft(3, history.OK, leftOnce),
	"holds-lost-then-left-na":   oneLeft(2, history.OK, leftOnce), // the lost one came after the other
	"violated-lost-then-denied": oneLeft(3, history.Fail),
}
