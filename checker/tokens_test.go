package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// A grant with the token of the one before it may be the same hold of a reentrant lock: of the same client, within the lease where nothing
// renews it unseen, and once a request of that client had an unknown outcome.
func TestMayBeOneHold(t *testing.T) {
	for i, c := range []struct {
		setup func(*builder)
		node  string
		token [2]int64
		sent  int64
		since map[string]int64
		want  bool
	}{
		{nothing, "client-1", [2]int64{1, 1}, 500 * ms, map[string]int64{"client-1": 200 * ms}, true},
		{nothing, "client-2", [2]int64{1, 1}, 500 * ms, map[string]int64{"client-1": 200 * ms, "client-2": 200 * ms}, false},
		{nothing, "client-1", [2]int64{1, 2}, 500 * ms, map[string]int64{"client-1": 200 * ms}, false},
		{nothing, "client-1", [2]int64{0, 0}, 500 * ms, map[string]int64{"client-1": 200 * ms}, false},
		{nothing, "client-1", [2]int64{1, 1}, 1010 * ms, map[string]int64{"client-1": 200 * ms}, true},
		{nothing, "client-1", [2]int64{1, 1}, 1010*ms + 1, map[string]int64{"client-1": 200 * ms}, false},
		{func(b *builder) { b.setup.Promise.Renews = true }, "client-1", [2]int64{1, 1}, 3 * sec, map[string]int64{"client-1": 200 * ms}, true},
		{func(b *builder) { b.setup.Promise.Leased = false }, "client-1", [2]int64{1, 1}, 3 * sec, map[string]int64{"client-1": 200 * ms}, true},
		{nothing, "client-1", [2]int64{1, 1}, 500 * ms, map[string]int64{"client-1": 510 * ms}, true},
		{nothing, "client-1", [2]int64{1, 1}, 500 * ms, map[string]int64{"client-1": 510*ms + 1}, false}, // it was answered before
		{nothing, "client-1", [2]int64{1, 1}, 500 * ms, map[string]int64{"client-2": 200 * ms}, false},
	} {
		b := newBuilder()
		c.setup(b)
		b.grantOf(0, 10*ms, "client-1", 1)
		r := newRun(b.done())
		g := *r.Grants[0]
		g.Token = c.token[0]
		h := trace.Grant{Node: c.node, Token: c.token[1], Sent: origin + c.sent, OK: origin + c.sent + 10*ms}
		for node := range c.since {
			c.since[node] += origin
		}
		if got := r.mayBeOneHold(&g, &h, c.since); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// A client is unsure of what it has from its first request on whose outcome it does not know, be it to take or to give back.
func TestUnsureSince(t *testing.T) {
	b := newBuilder()
	ask := func(node string, from int64, outcome history.Type) {
		b.op(from, node, history.Invoke, history.Acquire, "k")
		if outcome != history.Invoke {
			b.op(from+10*ms, node, outcome, history.Acquire, "k")
		}
	}
	b.does(2*sec, b.grantOf(0, 10*ms, "client-1", 1), history.Release, history.Info)
	ask("client-1", 3*sec, history.Info)
	ask("client-2", 20*ms, history.Fail)
	ask("client-2", sec, history.Info)
	ask("client-2", 4*sec, history.Info)
	ask("client-3", 20*ms, history.Fail)
	ask("client-4", 5*sec, history.Invoke)
	b.does(6*sec, b.grantOf(5*sec, 5010*ms, "client-5", 2), history.Release, history.OK)
	r := newRun(b.done())
	got := r.unsureSince(r.named("k"))
	for node, want := range map[string]int64{"client-1": 2 * sec, "client-2": sec, "client-4": 5 * sec} {
		if got[node] != origin+want {
			t.Errorf("%s: since %d ms", node, (got[node]-origin)/ms)
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
}

// Who acts with a token that it was never told of was granted it, once, however often it asked.
func TestTokenedOnce(t *testing.T) {
	b := newBuilder()
	b.grantOf(0, 10*ms, "client-1", 1)
	for i, owner := range []string{"client-3/a", "client-3/b", "client-3/c"} {
		at := int64(i+1) * sec
		b.op(at, "client-3", history.Invoke, history.Acquire, "k")
		b.op(at+100*ms, "client-3", history.Info, history.Acquire, "k").Owner = owner
		b.write(at+200*ms, &held{node: "client-3", key: "k", owner: owner, token: max(7, int64(6+i))})
	}
	r := newRun(b.done())
	var tokens []int64
	for _, g := range r.tokened(r.named("k")) {
		tokens = append(tokens, g.Token)
	}
	if !slices.Equal(tokens, []int64{1, 7, 8}) {
		t.Errorf("%d", tokens)
	}
}

// A look at the server that names a holder shows that it was held by then, if the look was answered and names somebody who was granted it.
// Where requests leave an order open, the last look of each that it rests on is shown.
func TestTokensByLooks(t *testing.T) {
	b := newBuilder()
	b.setup.Servers = []string{"redis"}
	g, h := b.grantOf(0, 10*ms, "client-1", 1), b.grantOf(5*ms, 400*ms, "client-2", 2)
	b.sent(h, 5*ms)
	look := func(at int64, owner, failed string) {
		op := b.op(at, "client-3", history.Note, history.Holder, "k")
		op.Owner, op.Sent, op.Error = owner, origin+at-ms, failed
	}
	look(100*ms, g.owner, "")
	look(200*ms, g.owner, "")
	look(250*ms, "nobody", "")
	look(300*ms, g.owner, "connection refused")
	look(500*ms, h.owner, "")
	b.final(9 * sec)
	r := newRun(b.done())
	k := r.named("k")
	last := map[string]int64{}
	for _, p := range r.byLooks(k, k.Grants) {
		last[p.Owner] = p.sent - origin
	}
	if last[g.owner] != 199*ms || last[h.owner] != 499*ms {
		t.Errorf("%v", last)
	}
	var at []int64
	for _, i := range r.lastLooks(k, r.ByOwner[g.owner], r.ByOwner[h.owner]) {
		at = append(at, (r.Ops[i].Time-origin)/ms)
	}
	if slices.Sort(at); !slices.Equal(at, []int64{200, 500}) {
		t.Errorf("shown are those of %d ms", at)
	}
	if looks := r.lastLooks(k, r.ByOwner[g.owner], k.Grants[2]); looks != nil {
		t.Errorf("the order is known, and %d are shown", looks)
	}
}

// How long a lease may last is known of each key by what was told of it, and of a key that nobody was granted by what was told of all.
func TestLeasesOf(t *testing.T) {
	b := newBuilder()
	b.setup.Keys = []string{"k", "l", "m"}
	for i, key := range b.setup.Keys[:2] {
		b.grant(0, 10*ms, b.setup.Clients[i], key, 1)
		b.ops[len(b.ops)-1].Lease = int64(i+2) * sec
	}
	b.op(0, "client-3", history.Invoke, history.Acquire, "m")
	r := newRun(b.done())
	for key, want := range map[string]int64{"k": 2 * sec, "l": 3 * sec, "m": 3 * sec} {
		if got := r.leasesOf(r.named(key)).granted; got != want {
			t.Errorf("%s: %d ms", key, got/ms)
		}
	}
	if got := r.leasesOf(nil).granted; got != 3*sec {
		t.Errorf("of none: %d ms", got/ms)
	}
}

// Two grants take room from each other but for readers beside readers, and the threads of one client of a reentrant lock.
func TestRivals(t *testing.T) {
	for i, c := range []struct {
		kind  history.Kind
		modes [2]history.Mode
		nodes [2]string
		want  bool
	}{
		{"", [2]history.Mode{"", ""}, [2]string{"client-1", "client-2"}, true},
		{"", [2]history.Mode{"", ""}, [2]string{"client-1", "client-1"}, true},
		{history.Reentrant, [2]history.Mode{"", ""}, [2]string{"client-1", "client-2"}, true},
		{history.Reentrant, [2]history.Mode{"", ""}, [2]string{"client-1", "client-1"}, false},
		{history.ReadWrite, [2]history.Mode{shared, shared}, [2]string{"client-1", "client-2"}, false},
		{history.ReadWrite, [2]history.Mode{shared, history.Exclusive}, [2]string{"client-1", "client-2"}, true},
		{history.ReadWrite, [2]history.Mode{history.Exclusive, shared}, [2]string{"client-1", "client-2"}, true},
	} {
		b := newBuilder().kind(c.kind)
		b.as(0, 10*ms, c.nodes[0], c.modes[0], 1)
		b.as(20*ms, 30*ms, c.nodes[1], c.modes[1], 2)
		r := newRun(b.done())
		g, h := r.Grants[0], r.Grants[1]
		if got := r.rivals(g, asGranted(h)); got != c.want || r.rivals(g, asGranted(g)) {
			t.Errorf("%d: %v", i, got)
		}
	}
}
