package checker

import (
	"fmt"
	"math/rand/v2"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

const (
	ms     = int64(1e6)
	sec    = int64(1e9)
	origin = 1000 * sec // raw time of the first second
	ahead  = 5 * sec    // own MONOTONIC of every node, minus raw
)

// builder writes histories as a run would record them. It keeps the guarded
// resource, so reads and writes find what really stands there.
type builder struct {
	setup   history.Setup
	ops     []history.Op
	copies  map[string]*[2]history.Copy // unfenced, fenced: what stands there
	process map[string]int
	retired int
	values  int
	owners  int
}

// held is one grant of a builder.
type held struct {
	node, key, owner string
	token            int64
	base             [2]string
}

func newBuilder() *builder {
	return &builder{
		setup: history.Setup{
			Promise: history.Promise{Backend: "test", Leased: true, Token: true, Extends: true},
			Lease:   1e9, Keys: []string{"k"}, Clients: []string{"client-1", "client-2", "client-3"},
			Fencing: "at-least", FenceOn: "write",
		},
		copies: map[string]*[2]history.Copy{}, process: map[string]int{},
	}
}

func (b *builder) op(t int64, node string, typ history.Type, f history.F, key string) *history.Op {
	if b.process[node] == 0 {
		b.retired++
		b.process[node] = b.retired
	}
	b.ops = append(b.ops, history.Op{Time: origin + t, Mono: origin + t + ahead, Node: node, Process: b.process[node], Type: typ, F: f, Key: key})
	if typ == history.Note {
		b.ops[len(b.ops)-1].Process = 0
	}
	if typ == history.Info {
		delete(b.process, node)
	}
	return &b.ops[len(b.ops)-1]
}

// grant invokes an acquire at from and grants it at t.
func (b *builder) grant(from, t int64, node, key string, token int64) *held {
	b.op(from, node, history.Invoke, history.Acquire, key)
	b.owners++
	h := &held{node: node, key: key, owner: fmt.Sprintf("%s/%d", node, b.owners), token: token}
	sent := max(from, t-ms)
	ok := b.op(t, node, history.OK, history.Acquire, key)
	b.claim(ok, h, sent)
	return h
}

// claim fills in a grant whose request was sent at sent.
func (b *builder) claim(ok *history.Op, h *held, sent int64) {
	ok.Owner, ok.Token, ok.Sent = h.owner, h.token, origin+sent
	if b.setup.Promise.Leased {
		ok.Lease = int64(b.setup.Lease)
		ok.Deadline = origin + sent + ahead + ok.Lease
	}
}

// does records an extend or release from t, one millisecond long.
func (b *builder) does(t int64, h *held, f history.F, outcome history.Type) {
	b.op(t, h.node, history.Invoke, f, h.key).Owner = h.owner
	done := b.op(t+ms, h.node, outcome, f, h.key)
	done.Owner = h.owner
	if f == history.Extend && outcome == history.OK {
		b.claim(done, h, t)
	}
}

func (b *builder) resource(key string) *[2]history.Copy {
	if b.copies[key] == nil {
		b.copies[key] = &[2]history.Copy{}
	}
	return b.copies[key]
}

// read remembers what stands in both copies.
func (b *builder) read(t int64, h *held) {
	c := b.resource(h.key)
	h.base = [2]string{c[0].Value, c[1].Value}
	b.op(t, h.node, history.Invoke, history.Read, h.key).Owner = h.owner
	if b.setup.FenceOn == "read" {
		c[1].Token = max(c[1].Token, h.token)
	}
	seen := b.op(t+ms/4, "resource", history.Note, history.ReadSeen, h.key)
	seen.Owner, seen.Token = h.owner, h.token
	b.op(t+ms/2, h.node, history.OK, history.Read, h.key).Owner = h.owner
}

// write writes both copies at t, and the resource decides by the rule.
func (b *builder) write(t int64, h *held) {
	c := b.resource(h.key)
	b.decide(t, h, h.token >= c[1].Token)
}

// decide writes both copies at t, and the fenced one accepts as told.
func (b *builder) decide(t int64, h *held, accepted bool) {
	b.values++
	value := fmt.Sprintf("v%d", b.values)
	c := b.resource(h.key)
	invoke := b.op(t, h.node, history.Invoke, history.Write, h.key)
	invoke.Owner, invoke.Token, invoke.Value = h.owner, h.token, value
	invoke.Unfenced, invoke.Fenced = &history.Copy{Base: h.base[0]}, &history.Copy{Base: h.base[1]}
	apply := b.op(t+ms/4, "resource", history.Note, history.Apply, h.key)
	apply.Owner, apply.Token, apply.Value = h.owner, h.token, value
	apply.Unfenced = &history.Copy{Base: h.base[0], Previous: c[0].Value, Accepted: true}
	apply.Fenced = &history.Copy{Base: h.base[1], Previous: c[1].Value, Accepted: accepted}
	c[0].Value = value
	if accepted {
		c[1].Value, c[1].Token = value, max(c[1].Token, h.token)
	}
	apply.Fenced.Token = c[1].Token
	ok := b.op(t+ms/2, h.node, history.OK, history.Write, h.key)
	ok.Owner, ok.Value = h.owner, value
	ok.Unfenced, ok.Fenced = &history.Copy{Accepted: true}, &history.Copy{Accepted: accepted}
}

// fault records a fault that was observed.
func (b *builder) fault(from, to int64, id int, kind, target string, cut ...string) {
	for _, p := range []struct {
		t     int64
		phase history.Phase
	}{{from, history.Begin}, {from + 1, history.Observed}, {to, history.Heal}} {
		b.op(p.t, target, history.Note, history.Fault, "").Fault = &history.FaultNote{ID: id, Kind: kind, Target: target, Phase: p.phase, Cut: cut}
	}
}

// whole makes faults that hold all that goes over their links, and not one connection from a message on.
func (b *builder) whole(faults func()) {
	n := len(b.ops)
	faults()
	for i := n; i < len(b.ops); i++ {
		b.ops[i].Fault.Whole = true
	}
}

// slow is a latency on a client's links, which adds so much to a round trip.
func (b *builder) slow(from, to int64, id int, target string, by int64) {
	n := len(b.ops)
	b.fault(from, to, id, "latency", target)
	for i := n; i < len(b.ops); i++ {
		b.ops[i].Length = by
	}
}

// partition cuts some nodes off from others; both ends are victims.
func (b *builder) partition(from, to int64, id int, some, others []string) {
	for _, node := range some {
		b.fault(from, to, id, "partition", node, others...)
	}
	for _, node := range others {
		b.fault(from, to, id, "partition", node, some...)
	}
}

// final records that all is healed, and an acquire of each key right after.
func (b *builder) final(t int64) {
	b.op(t, "runner", history.Note, history.Final, "")
	for i, key := range b.setup.Keys {
		h := b.grant(t+int64(i+1)*10*ms, t+int64(i+1)*10*ms+5*ms, "final", key, 1<<40)
		b.does(t+int64(i+1)*10*ms+6*ms, h, history.Release, history.OK)
	}
}

func (b *builder) done() (history.Setup, []history.Op) {
	history.Sort(b.ops)
	return b.setup, b.ops
}

// realistic writes a history of about n operations: clients queue for keys, read,
// write, extend and release; unknown of a hundred outcomes are info, and zombies
// of all sessions, spread evenly, are stopped, superseded, and write again.
func realistic(n, clients, keys, unknown, zombies int, seed uint64) (history.Setup, []history.Op) {
	b := newBuilder()
	random := rand.New(rand.NewPCG(seed, 1))
	b.setup.Keys, b.setup.Clients = nil, nil
	b.ops = make([]history.Op, 0, n+100)
	for i := range clients {
		b.setup.Clients = append(b.setup.Clients, fmt.Sprintf("client-%d", i+1))
	}
	for i := range keys {
		b.setup.Keys = append(b.setup.Keys, fmt.Sprintf("key-%d", i+1))
	}
	sessions := max(1, n/14)
	every := max(1, sessions/(zombies+1))
	t := int64(0)
	for i := 0; len(b.ops) < n-4*keys; i++ {
		t = b.session(random, t, i, unknown, zombies > 0 && i%every == every-1)
		if i%every == every-1 {
			zombies--
		}
	}
	b.final(t + 10*sec)
	return b.done()
}

// session is one grant from acquire to release; it returns when the next begins.
func (b *builder) session(random *rand.Rand, t int64, i, unknown int, zombie bool) int64 {
	key, node := b.setup.Keys[i%len(b.setup.Keys)], b.setup.Clients[i%len(b.setup.Clients)]
	outcome := func() history.Type {
		if random.IntN(100) < unknown {
			return history.Info
		}
		return history.OK
	}
	h := b.grant(max(0, t-5*ms*int64(len(b.setup.Keys))), t+ms, node, key, int64(2*i+2))
	b.read(t+2*ms, h)
	b.write(t+3*ms, h)
	end := t + 4*ms
	if i%3 == 0 {
		b.does(end, h, history.Extend, outcome())
		end += 2 * ms
	}
	if zombie { // stopped for more than its lease; somebody else gets the key, writes, and then it wakes up
		other := b.grant(end+2*sec-10*ms, end+2*sec, b.setup.Clients[(i+1)%len(b.setup.Clients)]+"-b", key, int64(2*i+3))
		b.read(end+2*sec+ms, other)
		b.write(end+2*sec+2*ms, other)
		b.write(end+2*sec+4*ms, h)
		b.does(end+2*sec+6*ms, h, history.Release, history.Fail)
		b.does(end+2*sec+8*ms, other, history.Release, history.OK)
		return end + 2*sec + 10*ms
	}
	b.does(end, h, history.Release, outcome())
	return end + 2*ms
}

// named is the log of a key, empty where nothing happened to it.
func (r *run) named(key string) *keyLog {
	if k := r.logOf(r.ByKey[key]); k != nil {
		return k
	}
	return &keyLog{Key: &trace.Key{Name: key}}
}
