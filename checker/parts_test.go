package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// What scenes are made of.

// turns lets clients queue and take turns, as they should.
func turns(b *builder) {
	for i := range int64(6) {
		h := b.grantOf(max(0, i*500*ms-100*ms), i*500*ms+10*ms, b.setup.Clients[i%3], i+1)
		b.read(i*500*ms+20*ms, h)
		b.write(i*500*ms+30*ms, h)
		if i%2 == 0 {
			b.does(i*500*ms+100*ms, h, history.Extend, history.OK)
		}
		b.does(i*500*ms+450*ms, h, history.Release, history.OK)
	}
}

// zombie leaves client-1 believing in a grant that client-2 got after the lease.
func zombie(b *builder) (stale, now *held) {
	stale = b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, stale)
	now = b.grantOf(500*ms, 2*sec, "client-2", 2)
	b.read(2*sec+10*ms, now)
	b.write(2*sec+20*ms, now)
	return stale, now
}

// middle grants a key three times; the second answer is read last. It returns the
// first grant and the third.
func middle(b *builder) (first, last *held) {
	first = b.grantOf(0, 10*ms, "client-1", 1)
	g := b.grantOf(100*ms, 5*sec, "client-3", 2)
	b.sent(g, 1100*ms)
	return first, b.grantOf(500*ms, 2*sec, "client-2", 3)
}

// stopped keeps client-3 waiting while the first of servers is stopped.
func stopped(b *builder, servers ...string) {
	turns(b)
	b.setup.Servers = servers
	b.fault(4*sec, 9*sec, 1, "pause", servers[0])
	b.refused(5*sec, 8*sec)
}

// parted cuts the first n of five servers off from the other nodes.
func parted(b *builder, n int) {
	turns(b)
	b.setup.Servers = []string{"server-1", "server-2", "server-3", "server-4", "server-5"}
	rest := slices.Concat(b.setup.Servers[n:], b.setup.Clients, []string{"resource"})
	b.partition(4*sec, 9*sec, 1, b.setup.Servers[:n], rest)
}

// paused is a zombie with the planned fault that made it one.
func paused(b *builder) {
	h, _ := zombie(b)
	b.fault(50*ms, 3900*ms, 1, "pause", "client-1")
	b.write(4*sec, h)
}

// waits keeps client-2 waiting for as long as client-1 is paused.
func waits(b *builder) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, h)
	b.fault(50*ms, 3*sec, 1, "pause", "client-1")
	b.write(3*sec+10*ms, h)
	b.does(3*sec+20*ms, h, history.Release, history.OK)
	b.grantOf(100*ms, 3*sec+40*ms, "client-2", 2)
}

// early lets a zombie's write through before the new holder writes: a fence on
// writes alone does not save read-modify-write.
func early(b *builder) {
	h := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, h)
	g := b.grantOf(500*ms, 2*sec, "client-2", 2)
	b.read(2*sec+10*ms, g)
	b.write(2*sec+20*ms, h)
	b.write(2*sec+30*ms, g)
}

// twice grants the key to two clients at once.
func twice(b *builder) {
	b.grantOf(0, 10*ms, "client-1", 1)
	b.grantOf(100*ms, 200*ms, "client-2", 2)
}

// naive has a zombie release, with success, what client-2 holds.
func naive(b *builder) {
	h, _ := zombie(b)
	b.does(2*sec+300*ms, h, history.Release, history.OK)
}

// ghostly has a client act on an acquire whose answer never came.
func ghostly(b *builder) {
	turns(b)
	b.op(3*sec, "client-3", history.Invoke, history.Acquire, "k")
	b.op(3500*ms, "client-3", history.Info, history.Acquire, "k").Owner = "client-3/ghost"
	h := &held{node: "client-3", key: "k", owner: "client-3/ghost", token: 7}
	b.grantOf(3100*ms, 4*sec, "client-1", 8)
	b.write(4100*ms, h)
}

func (b *builder) grantOf(from, t int64, node string, token int64) *held {
	return b.grant(from, t, node, "k", token)
}

// session1 is one whole grant without an act.
func (b *builder) session1(t int64, node string, token int64) {
	h := b.grantOf(t, t+10*ms, node, token)
	b.does(t+100*ms, h, history.Release, history.OK)
}

func (b *builder) note(t int64, h *held, f history.F) {
	b.op(t, h.node, history.Note, f, h.key).Owner = h.owner
}

func (b *builder) stall(end int64, node string, long int64) {
	b.op(end, node, history.Note, history.Stall, "").Length = long
}

func (b *builder) holder(t int64, owner string) {
	b.op(t, "server", history.Note, history.Holder, "k").Owner = owner
}

// refused is an acquire that waits and certainly gets nothing.
func (b *builder) refused(from, to int64) {
	b.op(from, "client-3", history.Invoke, history.Acquire, "k")
	b.op(to, "client-3", history.Fail, history.Acquire, "k")
}

// waitsUntilStop is an acquire that never ends, of a client that is asked to end at to.
func (b *builder) waitsUntilStop(from, to int64) {
	b.op(from, "client-3", history.Invoke, history.Acquire, "k")
	b.op(to, "client-3", history.Note, history.Stop, "")
}

// retries are many short ones.
func (b *builder) retries(from, to int64) {
	for t := from; t < to; t += 200 * ms {
		b.refused(t, t+100*ms)
	}
}

// sent corrects when the request that won h was sent.
func (b *builder) sent(h *held, t int64) {
	for i := range b.ops {
		if op := &b.ops[i]; op.Owner == h.owner && op.Type == history.OK && op.F == history.Acquire {
			op.Sent = origin + t
		}
	}
}

// forget drops the last Apply note.
func (b *builder) forget() {
	for i := len(b.ops) - 1; i >= 0; i-- {
		if b.ops[i].F == history.Apply {
			b.ops = append(b.ops[:i], b.ops[i+1:]...)
			return
		}
	}
}

// drop drops all operations on a key.
func (b *builder) drop(key string) {
	kept := b.ops[:0]
	for _, op := range b.ops {
		if op.Key != key {
			kept = append(kept, op)
		}
	}
	b.ops = kept
}

// bend moves the own clock of a node's operations in a time.
func (b *builder) bend(node string, from, to, by int64) {
	for i := range b.ops {
		if op := &b.ops[i]; op.Node == node && op.Time >= origin+from && op.Time <= origin+to {
			op.Mono += by
		}
	}
}

// claimMore moves the deadline of a grant.
func (b *builder) claimMore(node string, t, by int64) {
	for i := range b.ops {
		if op := &b.ops[i]; op.Node == node && op.Time == origin+t && op.Deadline != 0 {
			op.Deadline += by
		}
	}
}

func clearMono(b *builder) {
	for i := range b.ops {
		b.ops[i].Mono = 0
	}
}
