package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of grants that were answered once their own lease was over.
func init() {
	maps.Copy(scenes["lease-exclusion"], grantsLate)
}

// renewed has a hold renewed each 0.3 s from a time until another.
func (b *builder) renewed(h *held, from, to int64) {
	for t := from; t <= to; t += 300 * ms {
		b.does(t, h, history.Extend, history.OK)
	}
}

// grantedBeside is a hold of client-1, renewed until a time, so that it lasts for a second more, beside a request of client-2, sent at 1 s, that is answered at 2.5 s.
func grantedBeside(mode1, mode2 history.Mode, until int64) func(*builder) {
	return func(b *builder) {
		if mode1 != "" {
			b.kind(history.ReadWrite)
		}
		h := b.as(0, 10*ms, "client-1", mode1, 1)
		b.renewed(h, 300*ms, until)
		sentAsAsked(b, b.as(sec, 2500*ms, "client-2", mode2, 2))
		b.final(9 * sec)
	}
}

// ofUntold is the same of a lock that tells no deadline.
func ofUntold(does func(*builder)) func(*builder) {
	return func(b *builder) {
		does(b)
		b.setup.Promise.Validity = history.Untold
		for i := range b.ops {
			b.ops[i].Deadline = 0
		}
	}
}

// sentAsAsked has the request of a grant sent when it was asked for.
func sentAsAsked(b *builder, h *held) {
	asked := map[string]int64{}
	for i := range b.ops {
		switch op := &b.ops[i]; {
		case op.F != history.Acquire:
		case op.Type == history.Invoke:
			asked[op.Node] = op.Time
		case op.Owner == h.owner:
			op.Deadline -= op.Sent - asked[op.Node]
			op.Sent = asked[op.Node]
		}
	}
}

// permitsBeside is as many permits of three as are renewed beside a request of as many.
func permitsBeside(held, asked int32) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		b.setup.Permits = 3
		h := b.permits(0, 10*ms, "client-1", held, 1)
		b.renewed(h, 300*ms, 2400*ms)
		sentAsAsked(b, b.permits(sec, 2500*ms, "client-2", asked, 2))
		b.final(9 * sec)
	}
}

// grantedWithin is a hold of client-1 that is granted between the send of another's request, at 0.1 s, and its answer, at 2.5 s, and is renewed beyond that.
func grantedWithin(granted int64, more ...func(*builder)) func(*builder) {
	return func(b *builder) {
		for _, does := range more {
			does(b)
		}
		h := b.grantOf(granted-10*ms, granted, "client-1", 1)
		b.renewed(h, granted+200*ms, 2400*ms)
		sentAsAsked(b, b.grantOf(100*ms, 2500*ms, "client-2", 2))
		b.final(9 * sec)
	}
}

var grantsLate = map[string]func(*builder){
	"violated-late-grant":        grantedBeside("", "", 2400*ms),
	"holds-late-grant-between":   grantedBeside("", "", 300*ms), // the other's lease was over by 1.3 s
	"violated-late-untold":       ofUntold(grantedBeside("", "", 2400*ms)),
	"holds-late-untold-between":  ofUntold(grantedBeside("", "", 300*ms)),
	"violated-late-writer":       grantedBeside(shared, exclusive, 2400*ms),
	"violated-late-reader":       grantedBeside(exclusive, shared, 2400*ms),
	"holds-late-reader":          grantedBeside(shared, shared, 2400*ms),
	"violated-late-permits":      permitsBeside(2, 2),
	"holds-late-permits":         permitsBeside(1, 2),
	"violated-late-grant-within": grantedWithin(200 * ms),
	"holds-late-grant-first":     grantedWithin(1200 * ms), // the other was first, and its lease is over by 1.2 s
	"holds-late-grant-ended": grantedWithin(800*ms, func(b *builder) { // a fault may have ended the first of them
		b.setup.Servers = []string{"server-1"}
		b.fault(300*ms, 500*ms, 1, "kill", "server-1")
	}),
	"holds-late-grant-votes": func(b *builder) { // each server votes at an instant of its own
		b.setup.Promise.DriftFactor = 0.01
		b.session1(50*ms, "client-3", 3)
		grantedWithin(200 * ms)(b)
	},
}
