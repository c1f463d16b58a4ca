package checker

import (
	"fmt"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// A dead holder's permit of two is taken by whoever is granted both, or by two that are owed one each: whatever comes first.
func TestReuseAfter(t *testing.T) {
	two := func(at int64) func(*builder) {
		return func(b *builder) { b.permits(at, at+10*ms, "client-2", 2, 2) }
	}
	each := func(at int64) func(*builder) {
		return func(b *builder) {
			b.permits(at, at+10*ms, "client-2", 1, 3)
			b.permits(at, at+20*ms, "client-3", 1, 4)
		}
	}
	for _, c := range []struct {
		name string
		what func(*builder)
		at   int64 // of the grant; 0: none
		with int
	}{
		{"nobody", nothing, 0, 0},
		{"one of one permit", func(b *builder) { b.permits(2*sec, 2010*ms, "client-2", 1, 2) }, 0, 0},
		{"both permits", two(2 * sec), 2010 * ms, 0},
		{"one each", each(2 * sec), 2020 * ms, 1},
		{"both permits first", bothOf(two(2*sec), each(5*sec)), 2010 * ms, 0},
		{"one each first", bothOf(each(2*sec), two(5*sec)), 2020 * ms, 1},
	} {
		b := newBuilder()
		b.kind(history.Semaphore)
		b.permits(0, 10*ms, "client-1", 1, 1)
		c.what(b)
		r := newRun(b.done())
		at := int64(0)
		next, with := r.reuseAfter(r.Grants[0], origin+100*ms)
		if next != nil {
			at = next.OK - origin
		}
		if at != c.at || len(with) != c.with {
			t.Errorf("%s: at %d ms with %d", c.name, at/ms, len(with))
		}
	}
}

// Behind a dead holder of one permit of two somebody is left to wait for what only that permit leaves no room for, until it is taken.
func TestPermitsKept(t *testing.T) {
	waits := func(from, to int64) func(*builder) {
		return func(b *builder) {
			b.op(from, "client-3", history.Invoke, history.Acquire, "k").Permits = 1
			b.op(to, "client-3", history.Fail, history.Acquire, "k").Permits = 1
		}
	}
	beside := func(b *builder) {
		b.does(9*sec, b.permits(20*ms, 30*ms, "client-2", 1, 2), history.Release, history.OK)
	}
	taken := func(b *builder) {
		b.does(3*sec, b.permits(1900*ms, 2*sec, "client-9", 2, 5), history.Release, history.OK)
	}
	for _, c := range []struct {
		name string
		kind history.Kind
		own  int32
		what func(*builder)
		want bool
	}{
		{"while another holds the other one", history.Semaphore, 1, bothOf(beside, waits(sec, 8*sec)), true},
		{"not for long", history.Semaphore, 1, bothOf(beside, waits(sec, 1200*ms)), false},
		{"after it was taken by another", history.Semaphore, 1, bothOf(taken, bothOf(beside, waits(4*sec, 8*sec))), false},
		{"it had all", history.Semaphore, 2, waits(sec, 8*sec), false},
		{"it was a reader", history.ReadWrite, 0, waits(sec, 8*sec), false},
	} {
		b := newBuilder()
		b.kind(c.kind)
		b.setup.Servers, b.setup.Promise.Bound, b.setup.Promise.Session = []string{"server-1"}, 5e8, true
		b.permits(0, 10*ms, "client-1", c.own, 1)
		b.fault(100*ms, 150*ms, 1, "kill", "client-1")
		c.what(b)
		b.final(20 * sec)
		r := newRun(b.done())
		g := r.Grants[0]
		if _, got := r.permitsKept(g, r.deathOf(g), origin+1100*ms); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// What somebody may have had ends with the answer to its release, and a hold within it with the answer that granted it.
func TestAttemptsOfInnerHolds(t *testing.T) {
	b := newBuilder()
	b.kind(history.Reentrant)
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.again(100*ms, h, 2, 1)
	b.back(200*ms, h, 1)
	b.back(300*ms, h, 0)
	b.refused(400*ms, 450*ms)
	var got []string
	r := newRun(b.done())
	for _, a := range r.attempts(r.named("k")) {
		got = append(got, fmt.Sprintf("%d-%d", (a.from-origin)/ms, (a.to-origin)/ms))
	}
	if want := "[0-301 100-101 400-450]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
