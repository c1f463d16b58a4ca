package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// Nothing is owed to a writer behind a dead reader while another reader may have the key: until it has certainly given it back.
func TestLateBesideAnother(t *testing.T) {
	for _, c := range []struct {
		name string
		what func(*builder, *held)
		want int
	}{
		{"it gives it back", func(b *builder, h *held) { b.does(500*ms, h, history.Release, history.OK) }, 1},
		{"it may have given it back", func(b *builder, h *held) { b.does(500*ms, h, history.Release, history.Info) }, 0},
		{"another was refused", func(b *builder, h *held) {
			b.does(500*ms, h, history.Release, history.OK)
			b.op(600*ms, "client-9", history.Invoke, history.Acquire, "k")
			b.op(700*ms, "client-9", history.Fail, history.Acquire, "k")
		}, 1},
		{"another waits as well", func(b *builder, h *held) {
			b.does(500*ms, h, history.Release, history.OK)
			b.op(600*ms, "client-9", history.Invoke, history.Acquire, "k")
		}, 1},
	} {
		b := newBuilder()
		b.setup.Promise.Session, b.setup.Promise.Bound = true, 5e8
		c.what(b, b.as(10*ms, 20*ms, "client-3", shared, 1))
		deadShare(b, shared, 9*sec)
		b.final(20 * sec)
		if got := recovery(newRun(b.done())).found; got.certain != c.want {
			t.Errorf("%s: %d, want %d: %+v", c.name, got.certain, c.want, got.list)
		}
	}
}

// Who was left to wait is shown with the grant that came too late, whoever had it.
func TestLateShowsTheNextGrant(t *testing.T) {
	b := newBuilder()
	b.setup.Servers, b.setup.Promise.Bound = []string{"server-1"}, 5e8
	b.grantOf(0, 10*ms, "client-1", 1)
	b.fault(100*ms, 150*ms, 1, "kill", "client-1")
	b.refused(20*ms, 9*sec)
	b.does(5*sec, b.grantOf(4900*ms, 4950*ms, "client-2", 2), history.Release, history.OK)
	r := newRun(b.done())
	next := r.Grants[1].Op
	if f := recovery(r).found; len(f.list) != 1 || !slices.Contains(f.list[0].Operations, next) {
		t.Errorf("%+v, without %d", f.list, next)
	}
}

// Who has a mutex, all permits, or a read-write lock alone, keeps it from everybody else, unless it shared it later.
func TestKeepsAll(t *testing.T) {
	for _, c := range []struct {
		name string
		what func(*builder)
		want bool
	}{
		{"a mutex", func(b *builder) { b.grantOf(0, 10*ms, "client-1", 1) }, true},
		{"a writer", func(b *builder) { b.kind(history.ReadWrite).as(0, 10*ms, "client-1", history.Exclusive, 1) }, true},
		{"a reader", func(b *builder) { b.kind(history.ReadWrite).as(0, 10*ms, "client-1", shared, 1) }, false},
		{"a writer that became a reader", func(b *builder) {
			b.turn(100*ms, b.kind(history.ReadWrite).as(0, 10*ms, "client-1", history.Exclusive, 1), shared, history.OK)
		}, false},
		{"all permits", func(b *builder) { b.kind(history.Semaphore).permits(0, 10*ms, "client-1", 2, 1) }, true},
		{"one of two permits", func(b *builder) { b.kind(history.Semaphore).permits(0, 10*ms, "client-1", 1, 1) }, false},
		{"all permits, and one given back", func(b *builder) {
			b.gave(100*ms, b.kind(history.Semaphore).permits(0, 10*ms, "client-1", 2, 1), 1, history.OK)
		}, false},
	} {
		b := newBuilder()
		c.what(b)
		b.stall(9*sec, "client-3", 1)
		r := newRun(b.done())
		if got := r.keepsAll(r.Grants[0]); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
