// Package shapes makes large histories of awkward shapes, for tests and benchmarks of
// what reads them: each is valid, and of about as many operations as are asked for.
package shapes

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Shape is one way in which a history can be awkward.
type Shape struct {
	Name string
	fill func(*maker)
}

// All is every shape.
var All = []Shape{
	{"plain", (*maker).plain},
	{"grants that never end", (*maker).neverEnd},
	{"never end, losses by process", (*maker).lossesByProcess},
	{"never end, suspended", (*maker).suspended},
	{"all clash on one key", (*maker).clashes},
	{"one node, many keys", (*maker).manyKeys},
	{"unknown outcomes", (*maker).unknowns},
	{"unknown, and acted upon", (*maker).ghosts},
	{"waits that never end", (*maker).pending},
	{"losses", (*maker).losses},
	{"losses of renewing sessions", (*maker).selfRenewed},
	{"faults of servers", (*maker).serverFaults},
	{"faults of clients", (*maker).clientFaults},
	{"kills of holders", (*maker).kills},
	{"faults far apart", (*maker).farApart},
	{"partitions", (*maker).partitions},
	{"stalls", (*maker).stalls},
	{"looks", (*maker).looks},
	{"looks at one renewed grant", (*maker).renewedLooks},
	{"renewals of one grant", (*maker).renewals},
	{"many clients", (*maker).manyClients},
	{"zombies", (*maker).zombies},
	{"changes of mode", (*maker).changes},
	{"readers together", (*maker).readers},
	{"holds within holds", (*maker).nested},
	{"tries that are refused", (*maker).refusals},
	{"effects", (*maker).effects},
}

// Make makes a history of about n operations.
func (s Shape) Make(n int) (history.Setup, []history.Op) {
	m := &maker{n: n, ops: make([]history.Op, 0, n+64), next: 1, now: 1e9, setup: history.Setup{
		Promise: history.Promise{Backend: "none", Leased: true, Token: true, Session: true, Order: true, Extends: true,
			Tries: true, Bound: 5 * time.Millisecond},
		Lease: 100 * time.Millisecond, Keys: []string{"k"}, Clients: []string{"c1", "c2", "c3"}, Servers: []string{"s1", "s2", "s3"},
		Fencing: "at-least", FenceOn: "write",
	}}
	s.fill(m)
	m.note("", history.Final)
	for _, key := range m.setup.Keys[:min(len(m.setup.Keys), 1)] {
		m.grant("c1", m.process(), key)
	}
	history.Sort(m.ops)
	return m.setup, m.ops
}

// maker writes a history line by line. Its clock goes on by itself.
type maker struct {
	n      int
	setup  history.Setup
	ops    []history.Op
	now    int64
	next   int // process
	serial int
	values map[string]string // of each key
	forget bool              // grants claim no deadline
}

// full says whether there are enough operations.
func (m *maker) full() bool { return len(m.ops) >= m.n }

func (m *maker) process() int { m.next++; return m.next }

// pass lets some time pass.
func (m *maker) pass(ns int64) { m.now += ns }

func (m *maker) add(op history.Op) *history.Op {
	m.now += 1000
	op.Time = m.now
	if op.Type != history.Note {
		op.Mono = m.now + 77
	}
	m.ops = append(m.ops, op)
	return &m.ops[len(m.ops)-1]
}

func (m *maker) note(node string, f history.F) *history.Op {
	return m.add(history.Op{Node: node, Type: history.Note, F: f})
}

func (m *maker) fault(id int, kind, target string, phase history.Phase, cut ...string) {
	m.note(target, history.Fault).Fault = &history.FaultNote{ID: id, Kind: kind, Target: target, Phase: phase, Cut: cut}
}

// broken is a fault from its begin to its end.
func (m *maker) broken(id int, kind, target string, cut ...string) {
	for _, phase := range []history.Phase{history.Begin, history.Observed, history.Heal} {
		m.fault(id, kind, target, phase, cut...)
	}
}

func (m *maker) invoke(node string, process int, f history.F, key, owner string) *history.Op {
	return m.add(history.Op{Node: node, Process: process, Type: history.Invoke, F: f, Key: key, Owner: owner})
}

func (m *maker) done(node string, process int, f history.F, key, owner string, typ history.Type) *history.Op {
	return m.add(history.Op{Node: node, Process: process, Type: typ, F: f, Key: key, Owner: owner})
}

// held is a grant as its holder has it.
type held struct {
	node    string
	process int
	key     string
	owner   string
	token   int64
}

// granted answers an acquire.
func (m *maker) granted(node string, process int, key string) held {
	m.serial++
	h := held{node, process, key, fmt.Sprintf("%s/%d", node, m.serial), int64(m.serial)}
	op := m.done(node, process, history.Acquire, key, h.owner, history.OK)
	op.Token, op.Sent = h.token, op.Time-500
	m.claim(op)
	return h
}

func (m *maker) claim(op *history.Op) {
	op.Lease = int64(m.setup.Lease)
	if !m.forget {
		op.Deadline = op.Time - 500 + 77 + op.Lease
	}
}

func (m *maker) grant(node string, process int, key string) held {
	m.invoke(node, process, history.Acquire, key, "")
	return m.granted(node, process, key)
}

// extend renews a grant, and says how that ended.
func (m *maker) extend(h held, typ history.Type) {
	m.invoke(h.node, h.process, history.Extend, h.key, h.owner)
	op := m.done(h.node, h.process, history.Extend, h.key, h.owner, typ)
	if typ == history.OK {
		op.Token, op.Sent = h.token, op.Time-500
		m.claim(op)
	}
}

// write is one of both copies, which the resource decides.
func (m *maker) write(h held) {
	if m.values == nil {
		m.values = map[string]string{}
	}
	m.serial++
	value, was := fmt.Sprintf("v%d", m.serial), m.values[h.key]
	copied := func() *history.Copy { return &history.Copy{Base: was, Previous: was, Accepted: true, Token: h.token} }
	for _, step := range []struct {
		node string
		typ  history.Type
		f    history.F
	}{{h.node, history.Invoke, history.Write}, {"resource", history.Note, history.Apply}, {h.node, history.OK, history.Write}} {
		op := m.add(history.Op{Node: step.node, Type: step.typ, F: step.f, Key: h.key, Owner: h.owner, Token: h.token,
			Value: value, Unfenced: copied(), Fenced: copied()})
		if step.typ != history.Note {
			op.Process = h.process
		}
	}
	m.values[h.key] = value
}

func (m *maker) release(h held) {
	m.invoke(h.node, h.process, history.Release, h.key, h.owner)
	m.done(h.node, h.process, history.Release, h.key, h.owner, history.OK)
}

// client names one of the first n.
func (m *maker) client(i, n int) string { return fmt.Sprintf("c%d", i%n+1) }
