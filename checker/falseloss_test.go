package checker

import (
	"testing"

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
