// Package sample has runs for the tests of what is shown: simulated ones, which are the same each time,
// and histories that real runs recorded.
package sample

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Simulation is a small simulation of clients, a lock and a guarded resource: it
// makes histories that look like real ones. The same fields make the same bytes.
type Simulation struct {
	clients, grants int
	tokens          bool // the lock gives tokens and the fenced copy checks them
	pause           int  // number of the grant whose holder is stopped; 0: none
	think           time.Duration
	cut             string // a server that is cut off for a while; "": none
	backend         string

	rng       *rand.Rand
	now       int64
	queue     events
	ops       []history.Op
	holder    string
	waiting   []*waiter
	token     int64
	unf, fen  history.Copy
	made      int
	paused    string // the client that is stopped
	resume    func() // what it does when it wakes up
	notHealed bool
}

type waiter struct {
	node    string
	process int
	got     func(owner string, token int64)
}

// Lease is that of each grant in a simulation.
const Lease = 2 * time.Second

// run simulates until so many grants were made and returns the history.
func (s *Simulation) run() (history.Setup, []history.Op) {
	s.rng = rand.New(rand.NewPCG(7, 11))
	s.now = 81_204_337_000_000
	setup := history.Setup{
		Promise: history.Promise{Backend: s.backend, Leased: true, Token: s.tokens, Extends: true, Tries: true, Bound: 500 * time.Millisecond},
		Lease:   Lease, Keys: []string{"orders"}, Fencing: "at-least", FenceOn: "write", SelfFence: "none",
	}
	for i := range s.clients {
		name := fmt.Sprintf("client-%d", i+1)
		setup.Clients = append(setup.Clients, name)
		s.after(time.Duration(s.rng.IntN(40))*time.Millisecond, func() { s.begin(name, i+1) })
	}
	if s.cut != "" {
		s.after(900*time.Millisecond, func() {
			s.fault(1, "partition", s.cut, history.Begin, "")
			s.after(8*time.Millisecond, func() {
				s.fault(1, "partition", s.cut, history.Observed, "probe from "+s.cut+" to 2 of 2 peers failed after 5.0 ms")
			})
			s.after(2100*time.Millisecond, func() { s.fault(1, "partition", s.cut, history.Heal, "probe to 2 of 2 peers passed") })
		})
	}
	for len(s.queue) > 0 {
		e := heap.Pop(&s.queue).(event)
		s.now = e.at
		e.do()
	}
	for i := range s.ops {
		s.ops[i].Index = i
	}
	return setup, s.ops
}

func (s *Simulation) begin(node string, process int) {
	if s.made >= s.grants {
		return
	}
	s.record(history.Op{Node: node, Process: process, Type: history.Invoke, F: history.Acquire, Key: "orders"})
	s.waiting = append(s.waiting, &waiter{node, process, func(owner string, token int64) { s.work(node, process, owner, token) }})
	s.pass()
}

// pass gives a free lock to somebody who waits.
func (s *Simulation) pass() {
	if s.holder != "" || len(s.waiting) == 0 || s.made >= s.grants {
		return
	}
	s.made++
	i := s.rng.IntN(len(s.waiting))
	w := s.waiting[i]
	s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
	owner := fmt.Sprintf("%s/%d", w.node, s.made)
	s.holder, s.token = owner, s.token+1
	token, sent := s.token, s.now
	if !s.tokens {
		token = 0
	}
	s.expire(owner, Lease)
	delay := s.ms(1.2, 4)
	if s.cut != "" && s.made > 40 && !s.notHealed {
		s.notHealed, delay = true, 730*time.Millisecond
	}
	s.after(delay, func() {
		s.record(history.Op{
			Node: w.node, Process: w.process, Type: history.OK, F: history.Acquire, Key: "orders", Owner: owner, Token: token,
			Sent: sent, Lease: int64(Lease), Mono: s.now + 3, Deadline: sent + 3 + int64(Lease) - int64(22*time.Millisecond),
		})
		w.got(owner, token)
	})
}

// expire frees the lock when a lease ends before its release.
func (s *Simulation) expire(owner string, lease time.Duration) {
	s.after(lease, func() {
		if s.holder == owner && s.paused != "" {
			s.holder = ""
			s.pass()
		}
	})
}

func (s *Simulation) work(node string, process int, owner string, token int64) {
	op := history.Op{Node: node, Process: process, Key: "orders", Owner: owner, Token: token}
	unf, fen := s.unf.Value, s.fen.Value
	s.step(op, history.Read, s.ms(0.4, 1.5), func(done *history.Op) {
		unf, fen = s.unf.Value, s.fen.Value
		done.Unfenced, done.Fenced = &history.Copy{Value: unf, Token: s.unf.Token}, &history.Copy{Value: fen, Token: s.fen.Token}
	}, func() {
		mine := s.made == s.pause && s.paused == ""
		next := func() { s.write(op, unf, fen) }
		if !mine {
			s.after(s.ms(0.5, 6), next)
			return
		}
		s.paused, s.resume = node, next
		s.after(300*time.Microsecond, func() { s.fault(1, "pause", node, history.Begin, "") })
		s.after(1400*time.Microsecond, func() {
			s.fault(1, "pause", node, history.Observed, "11 of 11 threads in state T, 0 ms of CPU in 60 ms")
		})
	})
}

func (s *Simulation) write(op history.Op, unf, fen string) {
	value := "w-" + op.Owner
	invoke := op
	invoke.Type, invoke.F, invoke.Value = history.Invoke, history.Write, value
	invoke.Unfenced, invoke.Fenced = &history.Copy{Base: unf}, &history.Copy{Base: fen}
	s.record(invoke)
	s.after(s.ms(0.5, 2), func() {
		u := history.Copy{Accepted: true, Previous: s.unf.Value, Token: op.Token, Base: unf}
		f := history.Copy{Accepted: !s.tokens || op.Token >= s.fen.Token, Previous: s.fen.Value, Base: fen}
		s.unf.Value = value
		if f.Accepted {
			s.fen.Value, s.fen.Token = value, op.Token
		}
		f.Token = s.fen.Token
		apply := op
		apply.Type, apply.F, apply.Node, apply.Value = history.Note, history.Apply, "resource", value
		apply.Unfenced, apply.Fenced = &u, &f
		s.record(apply)
		s.after(s.ms(0.2, 0.8), func() {
			done := invoke
			done.Type, done.Unfenced, done.Fenced = history.OK, &history.Copy{Base: unf, Accepted: true}, &history.Copy{Base: fen, Accepted: f.Accepted}
			s.record(done)
			s.release(op)
			if s.paused != "" && op.Node != s.paused && s.resume != nil {
				s.wake()
			}
		})
	})
}

// wake ends the pause a little after another client's write was accepted.
func (s *Simulation) wake() {
	node, next := s.paused, s.resume
	s.resume = nil
	s.after(40*time.Millisecond, func() {
		s.fault(1, "pause", node, history.Heal, "all threads run again")
		s.after(600*time.Microsecond, next)
	})
}

func (s *Simulation) release(op history.Op) {
	rel := op
	rel.Type, rel.F = history.Invoke, history.Release
	s.after(s.ms(0.1, 0.6), func() {
		s.record(rel)
		s.after(s.ms(0.5, 2), func() {
			done := rel
			done.Type = history.OK
			if s.holder == op.Owner {
				s.holder = ""
			} else {
				done.Type, done.Error = history.Fail, "not held"
			}
			s.record(done)
			s.pass()
			s.after(s.ms(1, 8)+s.think, func() { s.begin(op.Node, op.Process) })
		})
	})
}

// step records an operation that takes a while.
func (s *Simulation) step(op history.Op, f history.F, took time.Duration, fill func(*history.Op), then func()) {
	op.Type, op.F = history.Invoke, f
	s.record(op)
	s.after(took, func() {
		op.Type = history.OK
		fill(&op)
		s.record(op)
		then()
	})
}

func (s *Simulation) fault(id int, kind, target string, phase history.Phase, proof string) {
	s.record(history.Op{Node: target, Type: history.Note, F: history.Fault,
		Fault: &history.FaultNote{ID: id, Kind: kind, Target: target, Phase: phase, Proof: proof}})
}

func (s *Simulation) record(op history.Op) {
	op.Time = s.now
	s.ops = append(s.ops, op)
}

func (s *Simulation) ms(least, most float64) time.Duration {
	x := s.rng.Float64()
	return time.Duration((least + (most-least)*x*x*x) * 1e6)
}

func (s *Simulation) after(d time.Duration, do func()) {
	heap.Push(&s.queue, event{s.now + int64(d), len(s.ops), do})
}

type event struct {
	at  int64
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
