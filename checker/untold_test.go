package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// untold is a holder that was stopped: another is granted the key, and then the first
// is told ok to its release. Nobody tells how long a grant is valid.
func untold(v history.Validity) (history.Setup, []history.Op) {
	b := newBuilder()
	b.setup.Promise.Validity = v
	first := b.grant(0, 10*ms, "client-1", "k", 1)
	second := b.grant(20*ms, 3*sec, "client-2", "k", 2)
	for i := range b.ops {
		if op := &b.ops[i]; v == history.Untold && op.Type == history.OK {
			op.Deadline = 0
		}
	}
	b.does(3*sec+10*ms, first, history.Release, history.OK)
	b.does(3*sec+30*ms, second, history.Release, history.OK)
	return b.done()
}

// Where a library tells no deadline its leases count from the invoke of their acquires, and an ok for what was
// superseded stays a lie: no deadline makes it look as if both held.
func TestUntold(t *testing.T) {
	for _, v := range []history.Validity{history.Told, history.Reckoned, history.Untold} {
		setup, ops := untold(v)
		r := Judge(setup, ops)
		for name, want := range map[string]bool{ // judged at all
			"lease-exclusion": true, "validity-bound": v == history.Told,
		} {
			if p := r.Property(name); (p.Verdict != NA) != want {
				t.Errorf("%q: %s is %s: %s", v, name, p.Verdict, p.Reason)
			}
		}
		if p := r.Property("honest-claims"); p.Verdict != Violated {
			t.Errorf("%q: honest-claims is %s: %s", v, p.Verdict, p.Reason)
		}
	}
}

// What answers nothing claims nothing.
func TestMute(t *testing.T) {
	setup, ops := untold(history.Untold)
	setup.Promise.Mute = true
	r := Judge(setup, ops)
	if p := r.Property("honest-claims"); p.Verdict == Violated {
		t.Errorf("with an extend: %s: %s", p.Verdict, p.Reason)
	}
	setup.Promise.Extends = false
	r = Judge(setup, ops)
	if p := r.Property("honest-claims"); p.Verdict != NA {
		t.Errorf("without: %s: %s", p.Verdict, p.Reason)
	}
}
