package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// A key is free of who has given it back by an answer that came before, and that did not say that it is held still.
func TestFreeBy(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   history.Kind
		depth  int32
		answer history.Type
		by     int64
		want   bool
	}{
		{"given back", history.Mutex, 0, history.OK, 300 * ms, true},
		{"not yet", history.Mutex, 0, history.OK, 201 * ms, false},
		{"nobody knows", history.Mutex, 0, history.Info, 300 * ms, false},
		{"given back for the last time", history.Reentrant, 0, history.OK, 300 * ms, true},
		{"given back once of more times", history.Reentrant, 1, history.OK, 300 * ms, false},
	} {
		b := newBuilder()
		b.kind(c.kind)
		b.does(200*ms, b.grantOf(0, 10*ms, "client-1", 1), history.Release, c.answer)
		b.ops[len(b.ops)-1].Depth = c.depth
		b.session1(3*sec, "client-2", 2)
		r := newRun(b.done())
		if got := r.freeBy(r.Grants[0], origin+c.by); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Of a lock whose ok to a release does not say that the key was given back, what a client was refused may stand in its own way
// for a while; a majority that voted for it has its votes back at once.
func TestRefusedBehindARefusal(t *testing.T) {
	for _, c := range []struct {
		mute  bool
		drift float64
		want  int
	}{{false, 0, 2}, {true, 0, 0}, {false, 0.01, 2}} {
		b := newBuilder()
		b.kind(history.Tried)
		b.setup.Promise.Mute, b.setup.Promise.DriftFactor = c.mute, c.drift
		b.setup.Servers = []string{"server-1", "server-2", "server-3"}
		h := b.grantOf(0, 10*ms, "client-1", 1)
		asks := func(at int64) {
			b.op(at, "client-3", history.Invoke, history.Try, "k")
			b.op(at+10*ms, "client-3", history.Fail, history.Try, "k").Busy = true
		}
		asks(50 * ms)
		b.does(100*ms, h, history.Release, history.OK)
		lasts := newRun(b.done()).aftermath()
		asks(lasts + 80*ms)  // behind the release
		asks(lasts + 500*ms) // behind what came before alone
		b.final(lasts + 20*sec)
		if f := honestRefusal(newRun(b.done())).found; f.certain != c.want {
			t.Errorf("mute %v, drift %v: %d: %+v", c.mute, c.drift, f.certain, f.list)
		}
	}
}
