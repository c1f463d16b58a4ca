package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// What a lock told of a lease is what it owes: not more, where a renewal made it shorter or
// the service granted less than was asked for.
func TestShorterLeases(t *testing.T) {
	shorter := func(lease int64) func(*builder) {
		return func(b *builder) { // the other is granted it 350 ms after the request of the first
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.does(100*ms, h, history.Extend, history.OK)
			op := &b.ops[len(b.ops)-1]
			op.Lease, op.Deadline = lease, op.Sent+ahead+lease
			b.grantOf(200*ms, 350*ms, "client-2", 2)
			b.does(500*ms, h, history.Release, history.Fail)
		}
	}
	granted := func(lease int64) func(*builder) {
		return func(b *builder) {
			b.setup.Promise.Validity = history.Untold
			h := b.grantOf(0, 10*ms, "client-1", 1)
			op := &b.ops[len(b.ops)-1]
			op.Lease, op.Deadline = lease, 0
			b.does(500*ms, h, history.Extend, history.Fail)
		}
	}
	for _, c := range []struct {
		name, property string
		history        func(*builder)
		violated       bool
	}{
		{"renewed for less", "mutual-exclusion", shorter(200 * ms), false},
		{"renewed for the same", "mutual-exclusion", shorter(sec), true},
		{"granted less", "false-loss", granted(200 * ms), false},
		{"granted as asked", "false-loss", granted(sec), true},
	} {
		b := newBuilder()
		c.history(b)
		result := Judge(b.done())
		if p := result.Property(c.property); (p.Verdict == Violated) != c.violated {
			t.Errorf("%s: %s %s: %s", c.name, c.property, p.Verdict, p.Reason)
		}
	}
}

// An inner acquire without an answer may have happened: who gives back once more than it was
// told that it holds the lock is told so, and has not said anything false.
func TestSurplusRelease(t *testing.T) {
	for left, want := range map[int32]Verdict{1: Holds, 0: Violated} {
		b := newBuilder().kind(history.Reentrant)
		h := b.grantOf(0, 10*ms, "client-1", 1)
		b.again(12*ms, h, 2, 1)
		b.back(14*ms, h, 1)
		b.op(20*ms, "client-1", history.Invoke, history.Acquire, "k")
		b.op(30*ms, "client-1", history.Info, history.Acquire, "k")
		b.back(40*ms, h, left)
		b.back(50*ms, h, 0)
		b.grantOf(35*ms, 80*ms, "client-2", 2)
		result := Judge(b.done())
		if p := result.Property("honest-claims"); p.Verdict != want {
			t.Errorf("told %d left: %s: %s", left, p.Verdict, p.Reason)
		}
		if p := result.Property("reentrancy"); p.Verdict == Violated {
			t.Errorf("told %d left: reentrancy: %s", left, p.Reason)
		}
	}
}
