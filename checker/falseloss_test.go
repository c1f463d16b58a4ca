package checker

import (
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Where a lock tells no deadline, the lease that was asked for is due after the request
// that may have started it, unless an open session renews it.
func TestDueWithoutADeadline(t *testing.T) {
	for _, c := range []struct {
		name           string
		leased, renews bool
		sent, want     int64
	}{
		{"from the request that is known", true, false, 500, 500 + 2000 - trace.ClockNoise},
		{"from the acquire", true, false, 0, 300 + 2000 - trace.ClockNoise},
		{"renewed by the session", true, true, 500, trace.Forever},
		{"without a lease", false, false, 500, trace.Forever},
	} {
		r := newRun(history.Setup{Lease: 2000, Promise: history.Promise{Leased: c.leased, Renews: c.renews}}, []history.Op{
			{Time: 300, Process: 1, Type: history.Invoke, F: history.Acquire, Key: "k"},
			{Index: 1, Time: 600, Process: 1, Type: history.OK, F: history.Acquire, Key: "k", Owner: "o", Sent: c.sent}})
		if due, known := r.dueAt(trace.Loss{Grant: &trace.Grant{Invoked: 300}, Claim: trace.Claim{Op: 1, By: 1}}); due != c.want || !known {
			t.Errorf("%s: %d, want %d", c.name, due, c.want)
		}
	}
}

// What may have ended a lease that was lost is named in words: the last fault that can have reached the holder and began by then.
func TestCauseInWords(t *testing.T) {
	const told = " (the last at 0.500 s, of client-1 (token 1)"
	for i, c := range []struct {
		change func(*builder)
		want   string
	}{
		{nothing, told + ", which had no answer to a request)"},
		{func(b *builder) { b.setup.Promise.Idles = true }, told + ", which had no answer to a request)"},
		{func(b *builder) { b.setup.Promise.Idles, b.setup.Promise.Leased = true, false }, told + ", whose session the server may have ended as idle)"},
		{func(b *builder) { b.setup.Promise.Leased = false }, told + ", which had no answer to a request)"},
		{func(b *builder) {
			b.setup.Promise.Idles, b.setup.Promise.Leased = true, false
			b.fault(100*ms, 200*ms, 1, "pause", "server-1")
		}, told + ", behind a pause on server-1 from 0.100 s to 0.200 s)"},
		{func(b *builder) { b.fault(100*ms, 200*ms, 1, "pause", "server-1") },
			told + ", behind a pause on server-1 from 0.100 s to 0.200 s)"},
		{func(b *builder) { b.fault(100*ms, 9*sec, 1, "pause", "client-1") }, told + ", behind a pause on client-1 from 0.100 s on)"},
		{func(b *builder) { b.fault(100*ms, 200*ms, 1, "pause", "client-2") }, told + ", which had no answer to a request)"}, // another's
		{func(b *builder) { b.fault(600*ms, 700*ms, 1, "pause", "server-1") }, told + ", which had no answer to a request)"}, // too late
		{func(b *builder) {
			b.fault(200*ms, 300*ms, 1, "pause", "server-1")
			b.fault(100*ms, 400*ms, 2, "pause", "client-1")
		}, told + ", behind a pause on server-1 from 0.200 s to 0.300 s)"},
		{func(b *builder) {
			b.fault(100*ms, 400*ms, 2, "pause", "client-1")
			b.fault(200*ms, 300*ms, 1, "pause", "server-1")
		}, told + ", behind a pause on server-1 from 0.200 s to 0.300 s)"},
	} {
		b := newBuilder()
		b.setup.Servers, b.setup.Lease = []string{"server-1"}, 5*time.Second
		h := b.grant(0, 10*ms, "client-1", "k", 1)
		b.does(499*ms, h, history.Release, history.Fail)
		c.change(b)
		b.final(20 * sec)
		r := newRun(b.done())
		losses := r.denied()
		if len(losses) != 1 {
			t.Fatalf("%d: %d losses", i, len(losses))
		}
		if got := r.causeOf(losses[0]); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

// A connection that had broken is named where no fault can have ended the lease.
func TestCauseOfACutInWords(t *testing.T) {
	b := newBuilder()
	h := b.grant(0, 10*ms, "client-1", "k", 1)
	b.does(499*ms, h, history.Release, history.Fail)
	r := newRun(b.done())
	loss := r.denied()[0]
	loss.Claim.Cut = true
	if got, want := r.causeOf(loss), " (the last at 0.500 s, of client-1 (token 1), whose connection had broken)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
