package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// What is found may come of a record that is missing if any part of it comes later than the last that is not.
func TestMayMiss(t *testing.T) {
	for i, c := range []struct {
		at, until int64 // of what is found, and of the last operation that shows it
		want      bool
	}{
		{100 * ms, 110 * ms, false},
		{100 * ms, 111 * ms, true},
		{110 * ms, 50 * ms, false},
		{111 * ms, 50 * ms, true},
	} {
		b := newBuilder()
		b.op(c.until-ms, "client-2", history.Invoke, history.Acquire, "k")
		b.op(c.until, "client-2", history.Fail, history.Acquire, "k")
		r := newRun(b.done())
		v := &Violation{At: origin + c.at, Operations: []int{0, 1}}
		if r.mayMiss(v) {
			t.Errorf("%d: nothing is missing, and it may come of that", i)
		}
		r.cuts = []cut{{name: "client-2", role: aClient, from: origin + 110*ms}}
		if got := r.mayMiss(v); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// Who gives a share back has it until it is answered, as the service may have kept it until then.
func TestSharesAreHeldUntilTheAnswer(t *testing.T) {
	for _, answered := range []bool{false, true} {
		b := newBuilder().kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", 1, 1)
		b.op(100*ms, "client-1", history.Invoke, history.Release, "k").Owner = h.owner
		want := int64(100 * ms)
		if answered {
			b.op(300*ms, "client-1", history.OK, history.Release, "k").Owner = h.owner
			want = 300 * ms
		}
		r := newRun(b.done())
		if holds := r.holdsOf(r.named("k")); len(holds) != 1 || holds[0].From != origin+10*ms || holds[0].To != origin+want {
			t.Errorf("answered %v: %+v", answered, holds)
		}
	}
}

// Whose records are missing matters by what a property rests on: a stall that nobody recorded, what the resource did not log, the faults of servers, or what
// a client did that is not named.
func TestMayMissByWhoseRecords(t *testing.T) {
	resource := cut{role: theResource, name: "resource", why: "it ends too early"}
	for i, c := range []struct {
		cut   cut
		rests rests
		want  bool
	}{
		{resource, rests{}, true},
		{resource, rests{steady: true}, false},
		{resource, rests{steady: true, absent: true}, true},
		{cut{role: theResource, why: resource.why}, rests{}, false}, // it has answered since
		{cut{role: theResource, name: "resource"}, rests{}, false},
		{cut{role: aServer, name: "server-1"}, rests{}, true},
		{cut{role: aServer, name: "server-1"}, rests{steady: true}, false},
		{cut{role: aServer, name: "server-1"}, rests{steady: true, servers: true}, true},
		{cut{role: aClient, name: "client-1"}, rests{}, false},
		{cut{role: aClient, name: "client-1"}, rests{others: true}, true},
	} {
		b := newBuilder()
		b.refused(sec, 2*sec) // of client-3
		r := newRun(b.done())
		r.cuts, r.rests = []cut{c.cut}, c.rests
		if got := r.mayMiss(&Violation{At: origin + sec, Operations: []int{0, 1}}); got != c.want {
			t.Errorf("%d, %+v: %v", i, c.cut, got)
		}
	}
}
