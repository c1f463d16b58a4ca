package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// TestOwnFaultEndsNoLease has a holder that a fault hits, and another that is granted the key
// within the lease of the first. Nobody tells how long a grant is valid. A lease that the service
// keeps by its time is not ended by what happens to its holder alone; a session may be, and so may
// a lease by what happens to the service.
func TestOwnFaultEndsNoLease(t *testing.T) {
	for _, c := range []struct {
		name, kind, target string
		session            bool
		second             int64 // when the other is granted it
		want               Verdict
	}{
		{"no fault", "", "", false, 500 * ms, Violated},
		{"a pause of the holder", "pause", "client-1", false, 500 * ms, Violated},
		{"after its lease", "pause", "client-1", false, 1200 * ms, Holds},
		{"a pause of the other", "pause", "client-2", false, 500 * ms, Violated},
		{"the holder in a session", "pause", "client-1", true, 500 * ms, Holds},
		{"the holder's clock", "clock", "client-1", false, 500 * ms, Holds},
		{"a pause of the server", "pause", "server-1", false, 500 * ms, Holds},
		{"a kill of the server", "kill", "server-1", false, 500 * ms, Holds},
	} {
		b := newBuilder()
		b.setup.Servers = []string{"server-1"}
		b.setup.Promise.Validity, b.setup.Promise.Session = history.Untold, c.session
		first := b.grant(10*ms, 20*ms, "client-1", "k", 1)
		if c.kind != "" {
			b.fault(100*ms, 300*ms, 1, c.kind, c.target)
		}
		second := b.grant(c.second-10*ms, c.second, "client-2", "k", 2)
		b.does(c.second+50*ms, second, history.Release, history.OK)
		b.does(c.second+3*sec, first, history.Release, history.Fail)
		for i := range b.ops {
			b.ops[i].Deadline = 0
		}
		result := Judge(b.done())
		if p := result.Property("lease-exclusion"); (p.Verdict == Violated) != (c.want == Violated) {
			t.Errorf("%s: %s: %s", c.name, p.Verdict, p.Reason)
		}
	}
}
