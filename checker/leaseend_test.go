package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// The lease of a grant ends by the last of its requests that was answered. Where it is open which of several reached the
// service last, by the shortest that they may have made it; and a renewal that nobody says when it was sent counts from its
// invoke where the lease cannot have ended before its answer, as it was true.
func TestLeaseEnd(t *testing.T) {
	type renewal struct{ asked, sent, answered, lease int64 } // answered 0: never; sent 0: not recorded
	for name, c := range map[string]struct {
		renewals []renewal
		want     int64
	}{
		"as it was granted":                 {nil, 1009 * ms},
		"renewed":                           {[]renewal{{500 * ms, 510 * ms, 520 * ms, sec}}, 1510 * ms},
		"renewed for longer":                {[]renewal{{500 * ms, 510 * ms, 520 * ms, 3 * sec}}, 3510 * ms},
		"twice, the second for less":        {[]renewal{{300 * ms, 310 * ms, 320 * ms, 3 * sec}, {500 * ms, 510 * ms, 520 * ms, sec}}, 1510 * ms},
		"the next sent before the answer":   {[]renewal{{300 * ms, 310 * ms, 600 * ms, sec}, {500 * ms, 510 * ms, 700 * ms, 3 * sec}}, 1510 * ms},
		"unsent, answered in its lease":     {[]renewal{{500 * ms, 0, 520 * ms, sec}}, 1500 * ms},
		"unsent, for longer":                {[]renewal{{500 * ms, 0, 520 * ms, 3 * sec}}, 3500 * ms},
		"unsent, answered after its lease":  {[]renewal{{500 * ms, 0, 1200 * ms, sec}}, 1009 * ms},
		"unsent and after it, for longer":   {[]renewal{{500 * ms, 0, 1200 * ms, 3 * sec}}, 1009 * ms},
		"one has no answer, one for longer": {[]renewal{{200 * ms, 0, 0, sec}, {500 * ms, 510 * ms, 520 * ms, 3 * sec}}, 1510 * ms},
	} {
		b := newBuilder()
		h := b.grantOf(0, 10*ms, "client-1", 1)
		for _, a := range c.renewals {
			b.process["client-1"] = 0 // it asks again before it has an answer
			b.op(a.asked, "client-1", history.Invoke, history.Extend, "k").Owner = h.owner
			if a.answered == 0 {
				continue
			}
			ok := b.op(a.answered, "client-1", history.OK, history.Extend, "k")
			b.claim(ok, h, a.sent)
			if ok.Lease = a.lease; a.sent == 0 {
				ok.Sent, ok.Deadline = 0, 0
			}
		}
		setup, ops := b.done()
		r := newRun(setup, ops)
		if got := r.leaseEnd(r.Grants[0]) - origin; got != c.want {
			t.Errorf("%s: it ends at %d ms, want %d", name, got/ms, c.want/ms)
		}
	}
}
