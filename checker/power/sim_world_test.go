package power

import (
	"container/heap"
	"errors"
	"math/rand/v2"

	"github.com/dlmtest/dlmtest/history"
)

const (
	ms      = int64(1e6)
	sec     = int64(1e9)
	lease   = sec
	bound   = 200 * ms // what the service states for itself
	origin  = 5000 * sec
	forever = int64(1) << 60
)

// world is one simulated run in virtual time. Programs are goroutines of which one runs
// at a time, so the same seed always makes the same history.
type world struct {
	now    int64
	events events
	seq    int
	random *rand.Rand
	with   setting
	ops    []history.Op
	nodes  map[string]*node
	yield  chan struct{}
	progs  []*prog
	lock   *service
	store  *store
	nextID int // of processes

	planted int   // the truth: how often the planted defect took effect
	stops   int64 // when clients begin no new round
	faults  int
}

// event is something that happens at a time; equal times happen in the order of planning.
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

// Push implements heap.Interface.
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop implements heap.Interface.
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func (w *world) at(t int64, do func()) {
	w.seq++
	heap.Push(&w.events, event{max(t, w.now), w.seq, do})
}

// between is a random length in [from, to).
func (w *world) between(from, to int64) int64 { return from + w.random.Int64N(to-from) }

func (w *world) chance(p float64) bool { return w.random.Float64() < p }

// run lets everything happen until nothing is left.
func (w *world) run() {
	for len(w.events) > 0 {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
	for _, p := range w.progs {
		if !p.ended {
			p.wake(errKilled)
		}
	}
}

// node is where programs run. One that is paused does everything later, in any order; one
// that was killed nothing.
type node struct {
	*world
	name   string
	rate   float64 // of its clock, against the true one
	off    int64
	paused int64 // until when
	life   int   // how often it was killed
	cut    map[string]bool
	loss   float64
	slow   int64
}

func (w *world) node(name string) *node {
	n := w.nodes[name]
	if n == nil {
		n = &node{world: w, name: name, rate: 1, off: w.between(sec, 9*sec), cut: map[string]bool{}}
		w.nodes[name] = n
	}
	return n
}

// mono is the node's own clock.
func (n *node) mono() int64 { return int64(float64(n.now)*n.rate) + n.off }

// own does something at this node at a time, or when it runs again.
func (n *node) own(t int64, do func()) {
	life := n.life
	n.at(t, func() {
		switch {
		case n.life != life:
		case n.paused > n.now:
			n.own(n.paused+n.between(0, 5*ms), do)
		default:
			do()
		}
	})
}

// send carries something to another node, unless it gets lost on the way.
func (n *node) send(to *node, arrives func()) {
	late := n.between(ms/10, 2*ms)
	for _, end := range []*node{n, to} {
		if end.slow > 0 && n.chance(.5) {
			late += n.between(0, end.slow)
		}
	}
	t := n.now + late
	lost := n.chance(n.loss) || n.chance(to.loss)
	n.at(t, func() {
		if !lost && !n.cut[to.name] && !to.cut[n.name] {
			to.own(n.now, arrives)
		}
	})
}

// prog is a program of a node, whose calls block in virtual time.
type prog struct {
	*node
	in    chan any
	ended bool
	born  int // the life of its node in which it was started
}

var errKilled any = errors.New("killed")

func (n *node) start(f func(*prog)) {
	p := &prog{node: n, in: make(chan any), born: n.life}
	n.progs = append(n.progs, p)
	go func() {
		defer func() {
			p.ended = true
			if r := recover(); r != nil && r != errKilled {
				panic(r)
			}
			n.yield <- struct{}{}
		}()
		if v := <-p.in; v == errKilled {
			return
		}
		f(p)
	}()
	n.own(n.now, func() { p.wake(nil) })
}

// wake goes on with the program until it blocks again.
func (p *prog) wake(v any) {
	if p.ended || v != errKilled && p.born != p.node.life { // an answer to the dead
		return
	}
	p.in <- v
	<-p.yield
}

func (p *prog) block() any {
	p.yield <- struct{}{}
	v := <-p.in
	if v == errKilled {
		panic(errKilled)
	}
	return v
}

func (p *prog) sleep(d int64) {
	p.own(p.now+d, func() { p.wake(nil) })
	p.block()
}

// lateAnswer is what call returns when the time is over.
type lateAnswer struct{}

// call asks another node something and waits for the answer, for a time at most.
func (p *prog) call(to *node, limit int64, ask func(reply func(any))) any {
	over := false
	p.send(to, func() {
		ask(func(v any) {
			to.send(p.node, func() {
				if !over {
					over = true
					p.wake(v)
				}
			})
		})
	})
	p.own(p.now+limit, func() {
		if !over {
			over = true
			p.wake(lateAnswer{})
		}
	})
	return p.block()
}

// record stamps an operation where it happens.
func (n *node) record(op history.Op) {
	op.Time, op.Mono, op.Node = n.now, n.mono(), n.name
	if op.Type == history.Note {
		op.Mono = 0
	}
	n.world.ops = append(n.world.ops, op)
}

func (w *world) process() int { w.nextID++; return w.nextID }
