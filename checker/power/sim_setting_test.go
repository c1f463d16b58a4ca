package power

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// setting is what one run is made of.
type setting struct {
	kind   history.Kind
	leased bool // else the lock ends with its holder's connection
	tokens bool
	fair   bool // first come, first served; the token is the place in the queue
	sent   bool // the client says when it sent the request that won
	defect string
	fault  string
	fence  string // Setup.SelfFence
	// patient clients wait for the answer to a renewal as long as it takes.
	patient bool
}

const patience = 2*lease + 3*sec

// simulate makes one history, and says how often the planted defect took effect.
func simulate(with setting, seed uint64) (history.Setup, []history.Op, int) {
	w := &world{now: origin, random: rand.New(rand.NewPCG(seed, 77)), with: with, nodes: map[string]*node{}, yield: make(chan struct{})}
	w.stops = origin + 14*sec
	if long[with.defect] {
		w.stops = origin + 34*sec
	}
	w.lock, w.store = newService(w), newStore(w)
	for i := range 3 {
		c := &client{node: w.node(fmt.Sprintf("client-%d", i+1)), number: i}
		c.node.own(origin+int64(i)*7*ms, c.begin)
	}
	w.plan()
	w.at(w.stops+6*sec, func() {
		c := &client{node: w.node("final"), number: 9}
		c.record(history.Op{Type: history.Note, F: history.Final})
		c.start(c.finally)
	})
	w.run()
	history.Sort(w.ops)
	return w.setup(), w.ops, w.planted
}

// long are the defects that take more time to show.
var long = map[string]bool{"leaked-permit": true, "late-end": true, "reader-blocked": true, "minority-stall": true, "slow-handover": true, "dead-place": true, "never-freed": true}

func (w *world) setup() history.Setup {
	s := history.Setup{
		Promise: history.Promise{Backend: "simulated", Leased: w.with.leased, Token: w.with.tokens, Extends: w.with.leased,
			Tries: true, Order: w.with.fair, Session: !w.with.leased, Bound: time.Duration(bound)},
		Lease: time.Duration(lease), Keys: []string{"k"}, Clients: []string{"client-1", "client-2", "client-3"}, Servers: []string{"server"},
		Fencing: "at-least", FenceOn: "write", SelfFence: w.with.fence, Kind: w.with.kind,
	}
	if w.with.fault == "minority" || w.with.defect == "minority-stall" {
		s.Servers, s.Promise.Survives = []string{"server", "server-b", "server-c"}, history.Restart
	}
	switch w.with.kind {
	case history.Semaphore:
		s.Permits, s.Promise.Permits = 2, true
	case history.ReadWrite:
		s.Promise.Shared = true
	case history.Reentrant:
		s.Promise.Reentry = history.ByThread
	}
	if !w.with.sent && w.with.leased {
		s.Promise.Validity = history.Untold
	}
	return s
}

// plan lets faults happen while clients work.
func (w *world) plan() {
	if w.with.defect == "minority-stall" {
		for t := origin + 2*sec; t < w.stops-2*sec; t += 1600 * ms {
			w.fault(t, 1500*ms, "partition", "server-c", func() { w.lock.shut, w.planted = w.now+1600*ms, 1 }, func() {})
		}
		return
	}
	for t := origin + w.between(sec, 3*sec); outside[w.with.fault] && t < w.stops-3*sec; t += w.between(sec, 3*sec) {
		t += w.inject(t)
	}
}

// outside are the faults that are not of the clients' own making.
var outside = map[string]bool{"pause": true, "kill": true, "cut": true, "delay": true, "loss": true, "clock": true, "step": true, "server-pause": true, "restart": true, "minority": true}

// inject plans one fault of the kind that the setting asks for, and returns its length.
func (w *world) inject(t int64) (long int64) {
	long = w.between(lease/4, 5*lease/2)
	victim := fmt.Sprintf("client-%d", 1+w.random.IntN(3))
	n, server := w.node(victim), w.node("server")
	switch w.with.fault {
	case "pause":
		w.fault(t, long, "pause", victim, func() { n.paused = w.now + long }, func() {})
	case "kill":
		w.fault(t, long, "kill", victim, func() { n.life++; w.lock.hangUp(victim) }, func() { w.restart(victim) })
	case "cut":
		w.fault(t, long, "partition", victim, func() { n.cut["server"] = true }, func() { delete(n.cut, "server") }, "server")
	case "delay":
		w.fault(t, long, "latency", victim, func() { n.slow = lease * 3 / 2 }, func() { n.slow = 0 })
	case "loss":
		w.fault(t, long, "reset", victim, func() { n.loss = .3 }, func() { n.loss = 0 })
	case "clock":
		w.fault(t, long, "clock", victim, func() { n.bend(w.between(70, 140)) }, func() { n.bend(100) })
	case "step":
		by := w.between(-3*lease, 3*lease)
		w.fault(t, long, "clock", victim, func() { n.off += by }, func() { n.off -= by })
	case "server-pause":
		w.fault(t, long, "pause", "server", func() { server.paused = w.now + long }, func() {})
	case "restart":
		w.fault(t, long, "kill", "server", func() { server.life++; server.paused = w.now + long; w.lock.crash(long) }, func() {})
	case "minority":
		w.fault(t, long, "kill", "server-c", func() { server.paused = w.now + w.between(ms, bound/2) }, func() {})
	}
	return long
}

// bend sets the rate of a node's clock, in percent, without a step.
func (n *node) bend(percent int64) {
	was := n.mono()
	n.rate = float64(percent) / 100
	n.off += was - n.mono()
}

// fault notes a fault that does something, is seen, and is undone.
func (w *world) fault(t, long int64, kind, target string, begin, heal func(), cut ...string) {
	w.faults++
	id := w.faults
	note := func(phase history.Phase) {
		op := history.Op{Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: id, Kind: kind, Target: target, Phase: phase, Cut: cut}}
		w.node(target).record(op)
	}
	w.at(t, func() { note(history.Begin); begin() })
	w.at(t+ms/2, func() { note(history.Observed) })
	w.at(t+long, func() { heal(); note(history.Heal) })
}

func (w *world) restart(name string) {
	w.at(w.now+20*ms, func() {
		c := &client{node: w.node(name), number: 0}
		c.begin()
	})
}
