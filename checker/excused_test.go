package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// endless forgets all deadlines.
func (b *builder) endless() {
	for i := range b.ops {
		b.ops[i].Deadline = 0
	}
}

// cutOff is a member of three that is kept apart from the others.
func cutOff(b *builder) {
	b.setup.Servers = []string{"server-1", "server-2", "server-3"}
	b.partition(5*ms, 300*ms, 1, []string{"server-1"}, []string{"server-2", "server-3"})
}

// What a sound lock does that looks like a broken promise, and its neighbours.
func TestWhatExplainsALoss(t *testing.T) {
	stopped := func(at int64) func(*builder) {
		return func(b *builder) { // a client that does not end when it is asked to is killed, and its session ends
			b.setup.Promise.Leased, b.setup.Promise.Session = false, true
			b.grantOf(0, 10*ms, "client-1", 1)
			b.op(at, "client-1", history.Note, history.Stop, "")
			b.grantOf(510*ms, 520*ms, "client-2", 2)
			b.endless()
		}
	}
	stalled := func(length int64) func(*builder) {
		return func(b *builder) { // the last heartbeat was before the request
			b.setup.Promise.Session, b.setup.Promise.Renews, b.setup.Promise.Validity = true, true, history.Untold
			b.grantOf(500*ms, 510*ms, "client-1", 1)
			b.op(520*ms+length, "client-1", history.Note, history.Stall, "").Length = length
			b.grantOf(600*ms, 1400*ms, "client-2", 2)
			b.endless()
		}
	}
	quorum := func(away ...string) func(*builder) {
		return func(b *builder) { // two of five are away when it is granted, and others when it is renewed
			b.setup.Servers = []string{"server-1", "server-2", "server-3", "server-4", "server-5"}
			b.setup.Lease, b.setup.Promise.DriftFactor = 2e9, 0.01
			b.fault(0, 100*ms, 1, "pause", "server-4")
			b.fault(0, 100*ms, 2, "pause", "server-5")
			h := b.grantOf(20*ms, 30*ms, "client-1", 1)
			for i, server := range away {
				b.fault(200*ms, 1500*ms, 3+i, "pause", server)
			}
			b.does(600*ms, h, history.Extend, history.Fail)
		}
	}
	starved := func(renews bool, until, told int64) func(*builder) {
		return func(b *builder) { // the server that its session speaks to is away from 0.4 s on, with a lease of 1 s
			h := losing(b)
			b.setup.Promise.Session, b.setup.Promise.Renews = true, renews
			b.fault(400*ms, until, 1, "pause", "server-1")
			b.note(told, h, history.Lost)
			if renews {
				b.endless()
			}
		}
	}
	outlived := func(renews bool) func(*builder) { // the deadline was reckoned from the acquire alone
		return func(b *builder) {
			b.setup.Kind, b.setup.Promise.Session, b.setup.Promise.Renews = history.Watchdog, true, renews
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.write(2*sec, h)
			b.does(2100*ms, h, history.Release, history.OK)
		}
	}
	looked := func(apart bool) func(*builder) {
		return func(b *builder) {
			if apart {
				cutOff(b)
			}
			h := b.grantOf(0, 10*ms, "client-1", 1)
			b.seen(100*ms, 101*ms, "")
			b.does(200*ms, h, history.Release, history.OK)
		}
	}
	named := func(apart bool) func(*builder) {
		return func(b *builder) { // the first of two is seen again, after the second
			if apart {
				cutOff(b)
			}
			first := b.grantOf(0, 20*ms, "client-1", 1)
			b.does(40*ms, first, history.Release, history.OK)
			second := b.grantOf(5*ms, 60*ms, "client-2", 2)
			b.unsent()
			b.seen(62*ms, 63*ms, second.owner)
			b.seen(70*ms, 71*ms, first.owner)
		}
	}
	for _, c := range []struct {
		name, property string
		history        func(*builder)
		violated       bool
	}{
		{"asked to end before", "mutual-exclusion", stopped(400 * ms), false},
		{"asked to end after", "mutual-exclusion", stopped(600 * ms), true},
		{"stalled for most of a lease", "lease-exclusion", stalled(900 * ms), false},
		{"stalled for a moment", "lease-exclusion", stalled(200 * ms), true},
		{"three of five were away in turn", "false-loss", quorum("server-1"), false},
		{"only two of five were", "false-loss", quorum("server-4"), true},
		{"a session that had no answer for a lease", "false-loss", starved(true, 2*sec, 1200*ms), false},
		{"one that is told after a third of it", "false-loss", starved(true, 2*sec, 750*ms), true},
		{"one whose server was away for a moment", "false-loss", starved(true, 500*ms, 1200*ms), true},
		{"a grant that its holder renews", "false-loss", starved(false, 2*sec, 1200*ms), true},
		{"a session that renews unseen", "loss-noticed", outlived(true), false},
		{"a claim that nobody renews", "loss-noticed", outlived(false), true},
		{"a look at who was cut off", "honest-claims", looked(true), false},
		{"a look", "honest-claims", looked(false), true},
		{"looks at who was cut off", "fencing-monotonic", named(true), false},
		{"looks", "fencing-monotonic", named(false), true},
	} {
		b := newBuilder()
		c.history(b)
		result := Judge(b.done())
		if p := result.Property(c.property); (p.Verdict == Violated) != c.violated {
			t.Errorf("%s: %s %s: %s", c.name, c.property, p.Verdict, p.Reason)
		}
	}
}
