package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// crossed are two clients that each hold a key from the begin and ask for the other's from 5 ms on until a time, again
// and again: each request goes on for so long and ends so, and the next comes a while later.
type crossed struct {
	until, lasts, apart int64
	ends                history.Type
	busy, renews        bool
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
		for at := 300 * ms; c.renews && at < c.until; at += 300 * ms {
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
		{"refused, and asks again at once", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Fail, renews: true}, true, Violated},
		{"refused, and asks again later", crossed{until: 6 * sec, lasts: 500 * ms, apart: 700 * ms, ends: history.Fail, renews: true}, true, Unknown},
		{"refused as held, and asks again later", crossed{until: 6 * sec, lasts: 500 * ms, apart: 700 * ms, ends: history.Fail, busy: true, renews: true}, true, Violated},
		{"unknown, of holders that renew", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info, renews: true}, true, Violated},
		{"unknown, and may have been granted", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info}, true, Holds},
		{"unknown once, and for too long", crossed{until: 9 * sec, lasts: 4400 * ms, apart: 100 * ms, ends: history.Info}, true, Violated},
		{"unknown, of a lock without a lease", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info}, false, Violated},
		{"unknown, and one gives its key back", crossed{until: 3 * sec, lasts: 500 * ms, apart: 100 * ms, ends: history.Info, renews: true, gives: 800 * ms}, true, Unknown},
	} {
		b := use(history.Use{Name: history.TwoKeys})
		b.setup.Promise.Leased = c.leased
		c.build(b)
		if p := noDeadlock(newRun(b.done())).property("no-deadlock"); p.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, p.Verdict, c.want, p.Reason)
		}
	}
}
