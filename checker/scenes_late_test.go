package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of two renewals that are answered in another order than they were sent in.
func init() {
	for property, more := range map[string]map[string]func(*builder){
		"lease-exclusion": grantedBehindLate, "false-loss": deniedBehindLate, "loss-noticed": toldBehindLate,
	} {
		maps.Copy(scenes[property], more)
	}
}

// turnedRound is a holder whose second renewal, sent at 600 ms, is answered at once, and its first one, sent at 300 ms and of a lease of
// its own, at 900 ms. What happens then is told of it.
func turnedRound(lease int64, then func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.op(300*ms, "client-1", history.Invoke, history.Extend, "k").Owner = h.owner
		other := *h
		other.node = "renewer"
		b.does(600*ms, &other, history.Extend, history.OK)
		late := b.op(900*ms, "client-1", history.OK, history.Extend, "k")
		b.claim(late, h, 300*ms)
		late.Lease, late.Deadline = lease, late.Deadline-int64(b.setup.Lease)+lease
		then(b, h)
	}
}

// grantAt grants the key to another, which had waited for it.
func grantAt(t int64) func(*builder, *held) {
	return func(b *builder, _ *held) {
		b.does(t+100*ms, b.grantOf(20*ms, t, "client-2", 2), history.Release, history.OK)
	}
}

var grantedBehindLate = map[string]func(*builder){
	"violated-late-answer":      turnedRound(sec, grantAt(1450*ms)),
	"holds-late-answer-over":    turnedRound(sec, grantAt(1650*ms)),
	"holds-late-answer-shorter": turnedRound(sec/2, grantAt(1450*ms)), // it may have been done last
}

var deniedBehindLate = map[string]func(*builder){
	"violated-late-answer":   turnedRound(sec, func(b *builder, h *held) { b.does(1450*ms, h, history.Release, history.Fail) }),
	"holds-late-answer-over": turnedRound(sec, func(b *builder, h *held) { b.does(1650*ms, h, history.Release, history.Fail) }),
}

var toldBehindLate = map[string]func(*builder){
	"holds-late-answer-na": func(b *builder) {
		b.kind(history.Watchdog)
		turnedRound(sec, func(b *builder, h *held) {
			b.does(1400*ms, h, history.Extend, history.OK)
			b.write(1500*ms, h)
			b.does(1600*ms, h, history.Release, history.OK)
		})(b)
	},
	"violated-late-answer": func(b *builder) { // the next renewal comes too late
		b.kind(history.Watchdog)
		turnedRound(sec, func(b *builder, h *held) { b.write(2500*ms, h) })(b)
	},
}
