package checker

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// Of a majority of servers few know a grant where so many of them are away, or cut off from a client, that the rest is no majority. A fault
// of the client itself takes none of them away.
func TestFewKnow(t *testing.T) {
	all := []string{"server-1", "server-2", "server-3", "server-4"}
	cut := func(n int) func(*builder) {
		return func(b *builder) { b.partition(100*ms, 200*ms, 1, []string{"client-1"}, all[:n]) }
	}
	paused := func(node ...string) func(*builder) {
		return func(b *builder) {
			for i, name := range node {
				b.fault(100*ms, 200*ms, i+1, "pause", name)
			}
		}
	}
	for i, c := range []struct {
		servers int
		faults  func(*builder)
		want    bool
	}{
		{0, paused(), false},
		{3, paused(), false},
		{3, paused("client-1"), false},
		{3, paused("client-2"), false},
		{3, paused("server-1"), false},
		{3, paused("server-1", "server-3"), true},
		{4, paused("server-1"), false},
		{4, paused("server-1", "server-3"), true},
		{3, cut(1), false},
		{3, cut(2), true},
		{3, func(b *builder) { b.fault(100*ms, 200*ms, 1, "partition", "client-1", "server-1", "server-2") }, true},
		{3, func(b *builder) { b.fault(100*ms, 200*ms, 1, "partition", "client-2", "server-1", "server-2") }, false},
		{3, func(b *builder) { // first the one and then the other
			b.fault(100*ms, 200*ms, 1, "partition", "client-1", "server-1")
			b.fault(300*ms, 400*ms, 2, "partition", "server-2", "client-1")
		}, true},
	} {
		for _, quorum := range []bool{false, true} {
			b := newBuilder()
			b.setup.Servers = all[:c.servers]
			if quorum {
				b.setup.Promise.DriftFactor = 0.01
			}
			c.faults(b)
			b.final(4 * sec)
			r := newRun(b.done())
			if got := r.fewKnow("client-1", origin+50*ms, origin+350*ms); got != (c.want && quorum) {
				t.Errorf("%d, quorum %v: %v", i, quorum, got)
			}
			if r.fewKnow("client-1", origin+20*sec, origin+21*sec) {
				t.Errorf("%d: long after the faults", i)
			}
		}
	}
}

// Who was cut off may not have reached the service until TCP has tried again, and a session may have hung on the one server that was cut
// off, for as long as it lasts. What the service answered in that time has no such cause.
func TestOutOfReach(t *testing.T) {
	all := []string{"server-1", "server-2", "server-3"}
	for _, c := range []struct {
		name     string
		node     string
		cut      []string // from 0.1 s to 1.1 s
		lock     string   // renews its session, has servers that vote, or survives one that is away
		from, to int64
		want     [2]bool // not told by the service, and told
	}{
		{"before it", "client-1", all, "", 50 * ms, 90 * ms, [2]bool{false, false}},
		{"until it begins", "client-1", all, "", 50 * ms, 120 * ms, [2]bool{true, true}},
		{"while it lasts", "client-1", all, "", 1000 * ms, 1050 * ms, [2]bool{true, true}},
		{"until connections flow", "client-1", all, "", 2000 * ms, 2100 * ms, [2]bool{true, true}},
		{"when they flow", "client-1", all, "", 2700 * ms, 2800 * ms, [2]bool{false, false}},
		{"another client", "client-2", all, "", 1000 * ms, 1050 * ms, [2]bool{false, false}},
		{"one server of three", "client-1", all[:1], "", 500 * ms, 600 * ms, [2]bool{false, false}},
		{"one that votes", "client-1", all[:1], "votes", 500 * ms, 600 * ms, [2]bool{true, true}},
		{"one that votes, until connections flow", "client-1", all[:1], "votes", 2000 * ms, 2100 * ms, [2]bool{true, false}},
		{"one that votes, when they flow", "client-1", all[:1], "votes", 2700 * ms, 2800 * ms, [2]bool{false, false}},
		{"one server of three, and a session", "client-1", all[:1], "renews", 500 * ms, 600 * ms, [2]bool{true, false}},
		{"a session of another", "client-2", all[:1], "renews", 500 * ms, 600 * ms, [2]bool{false, false}},
		{"a session before it", "client-1", all[:1], "renews", 50 * ms, 90 * ms, [2]bool{false, false}},
		{"a session until it begins", "client-1", all[:1], "renews", 50 * ms, 120 * ms, [2]bool{true, false}},
		{"until a session lapses", "client-1", all[:1], "renews", 2099 * ms, 2110 * ms, [2]bool{true, false}},
		{"when a session has lapsed", "client-1", all[:1], "renews", 2101 * ms, 2110 * ms, [2]bool{false, false}},
	} {
		b := newBuilder()
		if b.setup.Servers, b.setup.Promise.Renews = all, c.lock == "renews"; c.lock == "votes" {
			b.setup.Promise.DriftFactor = 0.01
		} else {
			b.setup.Promise.Survives = history.Absence
		}
		b.partition(100*ms, 1100*ms, 1, []string{"client-1"}, c.cut)
		b.final(20 * sec)
		r := newRun(b.done())
		for i, told := range []bool{false, true} {
			if got := r.outOfReach(c.node, origin+c.from, origin+c.to, told); got != c.want[i] {
				t.Errorf("%s, told %v: %v", c.name, told, got)
			}
		}
	}
}
