package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// TestLookBesideARenewal has a look at the server that meets a renewal which is answered ok near
// the end of the lease: whichever was first, the holder held the key.
func TestLookBesideARenewal(t *testing.T) {
	for _, c := range []struct {
		name         string
		sent, seen   int64 // of the look
		finds        string
		release      int64 // when the holder gives back; the renewal is from 990 to 1020 ms, its lease 1 s
		renewed      history.Type
		wantViolated bool
	}{
		{"finds nobody, answered after one that was sent later", 1010 * ms, 1040 * ms, "", 1500 * ms, history.OK, true},
		{"finds nobody", 1000 * ms, 1010 * ms, "", 1500 * ms, history.OK, true},
		{"finds its holder", 1000 * ms, 1010 * ms, "first", 1500 * ms, history.OK, false},
		{"the renewal is refused", 1000 * ms, 1010 * ms, "", 1500 * ms, history.Fail, false},
		{"begins before the renewal", 980 * ms, 1010 * ms, "", 1500 * ms, history.OK, true},
		{"begins before the grant", 5 * ms, 1010 * ms, "", 1500 * ms, history.OK, false},
		{"is answered after the release was sent", 1015 * ms, 1040 * ms, "", 1030 * ms, history.OK, false},
		{"is answered after the lease", 1010 * ms, 2100 * ms, "", 2500 * ms, history.OK, false},
		{"finds nobody after the renewal", 1100 * ms, 1110 * ms, "", 1500 * ms, history.OK, false}, // that is for lock-info
	} {
		b := newBuilder()
		b.setup.Servers = []string{"server-1"}
		h := b.grant(10*ms, 20*ms, "client-1", "k", 1)
		b.op(990*ms, "client-1", history.Invoke, history.Extend, "k").Owner = h.owner
		look := b.op(c.seen, "client-2", history.Note, history.Holder, "k")
		if look.Sent = origin + c.sent; c.finds != "" {
			look.Owner = h.owner
		}
		done := b.op(1020*ms, "client-1", c.renewed, history.Extend, "k")
		if done.Owner = h.owner; c.renewed == history.OK {
			b.claim(done, h, 990*ms)
		}
		other := b.op(1035*ms, "client-3", history.Note, history.Holder, "k") // sent and answered after the renewal
		other.Sent, other.Owner = origin+1030*ms, h.owner
		b.does(c.release, h, history.Release, history.Info) // its ok would be a claim, too
		setup, ops := b.done()
		result := Judge(setup, ops)
		if p := result.Property("honest-claims"); (p.Verdict == Violated) != c.wantViolated {
			t.Errorf("%s: %s: %s", c.name, p.Verdict, p.Reason)
		}
	}
}

// A release under way at the end takes nothing from what was seen of its hold before.
func TestReleaseUnderWayAtTheEnd(t *testing.T) {
	for _, kind := range []history.Kind{"", history.Reentrant} {
		for name, end := range map[string]func(*builder, *held){
			"kept":           func(*builder, *held) {},
			"being given up": func(b *builder, h *held) { b.op(3*sec, h.node, history.Invoke, history.Release, "k").Owner = h.owner },
		} {
			b := newBuilder().kind(kind)
			b.setup.Servers = []string{"redis"}
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.ops[len(b.ops)-1].Depth = 1
			b.seen(1500*ms, 1510*ms, "")
			b.seen(1700*ms, 1710*ms, h.owner)
			end(b, h)
			b.stall(5*sec, "client-3", 1)
			if p := judgeAll(b.done()).Property("lock-info"); p.Verdict != Violated {
				t.Errorf("%q, %s: %s: %s", kind, name, p.Verdict, p.Reason)
			}
		}
	}
}
