package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// crossed are two clients that each hold a key from the begin and ask for the other's from 5 ms on until a time, again
// and again: each request goes on for so long and ends so, and the next comes a while later.
type crossed struct {
	until, lasts, apart int64
	ends                history.Type
	busy                bool
	renews              int64 // until when both renew
	gives               int64 // when client-1 gives its key back; 0: never
}

func (c crossed) build(b *builder) {
	h := b.grant(0, ms, "client-1", "k", 1)
	g := b.grant(0, ms, "client-2", "l", 2)
	for _, w := range []struct {
		node, key string
	}{{"client-1", "l"}, {"client-2", "k"}} {
		for at := 5 * ms; at < c.until; at += c.lasts + c.apart {
			b.op(at, w.node, history.Invoke, history.Acquire, w.key)
			b.op(at+c.lasts, w.node, c.ends, history.Acquire, w.key).Busy = c.busy
		}
	}
	for _, h := range []*held{h, g} {
		node := h.node
		h.node += "-renews"
		for at := 300 * ms; at < c.renews; at += 300 * ms {
			if c.gives == 0 || at < c.gives {
				b.does(at, h, history.Extend, history.OK)
			}
		}
		h.node = node
	}
	if c.gives > 0 {
		h.node = "client-1-gives"
		b.does(c.gives, h, history.Release, history.OK)
	}
}

// Clients that ask again and again for each other's key wait on, however their requests end.
func TestDeadlockOfSeveralRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		crossed
		leased bool
		want   Verdict
	}{
		{"refused, and asks again at once", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Fail, renews: 3 * sec}, true, Violated},
		{"refused, and asks again later", crossed{until: 6 * sec, lasts: 500 * ms, apart: 700 * ms, ends: history.Fail, renews: 6 * sec}, true, Unknown},
		{"held, and asks again later", crossed{until: 6 * sec, lasts: 500 * ms, apart: 700 * ms, ends: history.Fail, busy: true, renews: 6 * sec}, true, Violated},
		{"unknown, of holders that renew", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info, renews: 3 * sec}, true, Violated},
		{"refused, and asks again often", crossed{until: 3 * sec, lasts: 200 * ms, apart: 100 * ms, ends: history.Fail, renews: 3 * sec}, true, Violated},
		{"unknown, after the last renewal", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info, renews: 400 * ms}, true, Holds},
		{"unknown, until both give up", crossed{until: 1200 * ms, lasts: 500 * ms, apart: 100 * ms, ends: history.Info, renews: 400 * ms}, true, Unknown},
		{"unknown, and may have been granted", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info}, true, Holds},
		{"unknown once, and for too long", crossed{until: 9 * sec, lasts: 4400 * ms, apart: 100 * ms, ends: history.Info}, true, Violated},
		{"unknown, of a lock without a lease", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info}, false, Violated},
		{"one gives its key back", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info, renews: 3 * sec, gives: 800 * ms}, true, Unknown},
	} {
		b := use(history.Use{Name: history.TwoKeys})
		b.setup.Promise.Leased = c.leased
		c.build(b)
		if p := noDeadlock(newRun(b.done())).property("no-deadlock"); p.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, p.Verdict, c.want, p.Reason)
		}
	}
}

// A client does not wait between an answer that grants it a key, or one that says no more than no, and its next request.
func TestDeadlockApart(t *testing.T) {
	hold := func(b *builder, from int64) {
		for i, h := range []*held{b.grant(0, ms, "client-1", "k", 1), b.grant(from, from+ms, "client-2", "l", 3)} {
			h.node = fmt.Sprint("renews-", i)
			for at := 300 * ms; at < 3*sec; at += 300 * ms {
				b.does(at, h, history.Extend, history.OK)
			}
		}
	}
	ask := func(b *builder, from, to int64, node, key string, busy bool) {
		b.op(from, node, history.Invoke, history.Acquire, key)
		b.op(to, node, history.Fail, history.Acquire, key).Busy = busy
	}
	longer := func(b *builder, h *held, at, lease int64) {
		b.does(at, h, history.Extend, history.OK)
		ok := &b.ops[len(b.ops)-1]
		ok.Deadline, ok.Lease = ok.Deadline-ok.Lease+lease, lease
	}
	for _, c := range []struct {
		name string
		does func(*builder)
		want Verdict
		says string
	}{
		{"granted in between", func(b *builder) {
			h := b.grant(2*ms, 3*ms, "client-1", "l", 2)
			b.does(5*ms, h, history.Release, history.OK)
			hold(b, 10*ms)
			ask(b, 15*ms, 1200*ms, "client-2", "k", false)
			ask(b, 240*ms, 1200*ms, "client-1", "l", false)
		}, Unknown, "1 deadlock, and each ended within 0.960 s as a client gave up"},
		{"refused as held, and then otherwise", func(b *builder) {
			hold(b, 0)
			ask(b, 5*ms, 2900*ms, "client-2", "k", false)
			for at := 10 * ms; at < 2800*ms; at += 1400 * ms {
				ask(b, at, at+300*ms, "client-1", "l", true)
				ask(b, at+800*ms, at+900*ms, "client-1", "l", false)
			}
		}, Unknown, "4 deadlocks"},
		{"a lease ends one of two", func(b *builder) {
			b.grant(0, ms, "client-1", "k", 1)
			b.grant(0, ms, "client-2", "l", 2)
			ask(b, 5*ms, 300*ms, "client-1", "l", false)
			ask(b, 600*ms, 1200*ms, "client-1", "l", false)
			b.grant(10*ms, 1100*ms, "client-2", "k", 3)
		}, Holds, "2 deadlocks, each over within 0.500 s: a lease ended 1, and the clients gave up in the others."},
		{"a lease ends it, and one waits on", func(b *builder) {
			b.grant(0, ms, "client-1", "k", 1)
			b.grant(0, ms, "client-2", "l", 2)
			b.op(5*ms, "client-1", history.Invoke, history.Acquire, "l")
			b.grant(6*ms, 1100*ms, "client-2", "k", 3)
			b.op(3*sec, "client-2", history.Note, history.Stop, "")
		}, Holds, "1 deadlock, each over within 0.994 s: a lease ended it."},
		{"who waited dies, and with it its hold", func(b *builder) {
			b.grant(0, ms, "client-2", "k", 1)
			b.grant(0, ms, "client-1", "l", 1)
			b.op(5*ms, "client-1", history.Invoke, history.Acquire, "k")
			ask(b, 5*ms, 3*sec, "client-2", "l", false)
			b.fault(300*ms, 9*sec, 1, "kill", "client-1")
		}, Unknown, "ended within 0.295 s as a client gave up, died"},
		{"waits on without the key that it gave back", func(b *builder) {
			h := b.grant(0, ms, "client-1", "k", 1)
			b.grant(0, ms, "client-2", "l", 2)
			b.op(5*ms, "client-1", history.Invoke, history.Acquire, "l")
			h.node = "client-1-gives"
			b.does(10*ms, h, history.Release, history.OK)
			b.op(20*ms, "client-2", history.Invoke, history.Acquire, "k")
			b.op(3*sec, "client-1", history.Note, history.Stop, "")
			b.op(3*sec, "client-2", history.Note, history.Stop, "")
		}, Unknown, "No two clients"},
		{"renewed for longer long before", func(b *builder) {
			h, g := b.grant(0, ms, "client-1", "k", 1), b.grant(0, ms, "client-2", "l", 2)
			h.node, g.node = "renews", "renews"
			longer(b, h, 10*ms, 5*sec)
			longer(b, h, 20*ms, 4*sec)
			longer(b, g, 30*ms, 4*sec)
			b.grant(40*ms, 4900*ms, "client-1", "l", 3)
			ask(b, 40*ms, 5*sec, "client-2", "k", false)
		}, Violated, "1 of 1 deadlock lasted longer"},
		{"renewed for longer, and suspended", func(b *builder) {
			h, g := b.grant(0, ms, "client-1", "k", 1), b.grant(0, ms, "client-2", "l", 2)
			h.node = "renews"
			longer(b, h, 10*ms, 5*sec)
			h.node = "client-1"
			b.note(20*ms, h, history.Suspended)
			b.note(20*ms, g, history.Suspended)
			b.grant(40*ms, 4900*ms, "client-1", "l", 3)
			ask(b, 40*ms, 5*sec, "client-2", "k", false)
		}, Holds, "1 deadlock, each over within 4.860 s: a lease ended it."},
		{"renewed for longer afterwards", func(b *builder) {
			hold(b, 0)
			ask(b, 5*ms, 2*sec, "client-1", "l", false)
			ask(b, 5*ms, 2*sec, "client-2", "k", false)
			longer(b, &held{node: "renews-2", key: "k", owner: "client-1/1", token: 1}, 2500*ms, 5*sec)
		}, Violated, "1 of 1 deadlock lasted longer"},
	} {
		b := use(history.Use{Name: history.TwoKeys})
		b.setup.Servers = []string{"server"}
		c.does(b)
		if p := noDeadlock(newRun(b.done())).property("no-deadlock"); p.Verdict != c.want || !strings.Contains(p.Reason, c.says) {
			t.Errorf("%s: %s, want %s: %s", c.name, p.Verdict, c.want, p.Reason)
		}
	}
}
