package checker

import "testing"

// Whoever was answered while another grant was under way had the key first, and it was kept for it: so the other was made after it. Of one
// that may have been made first, as a fault can have ended it meanwhile, nobody knows.
func TestMadeFrom(t *testing.T) {
	kill := func(at int64) func(*builder) {
		return func(b *builder) { b.fault(at, at+ms, 1, "kill", "redis") }
	}
	for i, c := range []struct {
		changes func(*builder)
		from    int64
	}{
		{nothing, 900 * ms},
		{kill(500 * ms), 499 * ms}, // it was kept until then
		{kill(250 * ms), 50 * ms},
		{kill(2 * sec), 900 * ms},
		{func(b *builder) { b.setup.Promise.Leased = false }, 900 * ms},
		{func(b *builder) { b.setup.Permits = 2; b.setup.Kind = "semaphore" }, 50 * ms}, // both at once
	} {
		b := newBuilder()
		b.setup.Servers = []string{"redis"}
		b.sent(b.grantOf(40*ms, 900*ms, "client-2", 2), 50*ms)
		b.sent(b.grantOf(190*ms, 300*ms, "client-1", 1), 200*ms)
		c.changes(b)
		b.final(9 * sec)
		r := newRun(b.done())
		for _, g := range r.named("k").Grants {
			if got := r.madeFrom(g) - origin; g.Node == "client-2" && got != c.from {
				t.Errorf("%d: made from %d ms on", i, got/ms)
			}
		}
	}
}
