package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// Where a lock tells no deadline, the lease that was asked for is due after the request
// that may have started it, unless an open session renews it.
func TestDueWithoutADeadline(t *testing.T) {
	for _, c := range []struct {
		name           string
		leased, renews bool
		sent, want     int64
	}{
		{"from the request that is known", true, false, 500, 500 + 2000 - clockNoise},
		{"from the acquire", true, false, 0, 300 + 2000 - clockNoise},
		{"renewed by the session", true, true, 500, forever},
		{"without a lease", false, false, 500, forever},
	} {
		r := &run{ops: []history.Op{{}, {Sent: c.sent}}, setup: history.Setup{Lease: 2000, Promise: history.Promise{Leased: c.leased, Renews: c.renews}}}
		if due, known := r.dueAt(loss{grant: &grant{invoked: 300}, claim: claim{op: 1}}); due != c.want || !known {
			t.Errorf("%s: %d, want %d", c.name, due, c.want)
		}
	}
}
