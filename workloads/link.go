package workloads

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// link is a worker's line to its agent.
type link struct {
	mu          sync.Mutex
	out         io.Writer
	buffer      []byte // of record
	armed       map[string]bool
	checkpoints map[int]chan struct{} // those at which somebody waits, by their ID
	last        int                   // ID of the newest checkpoint
	ops         int                   // recorded so far
	ended       bool                  // it records no more
	told        chan Told
	gone        context.CancelFunc
}

// newLink reads orders from in; when in ends, so does the context that it returns.
func newLink(ctx context.Context, in io.Reader, w io.Writer) (*link, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	l := &link{out: w, armed: map[string]bool{}, checkpoints: map[int]chan struct{}{}, told: make(chan Told, 16), gone: cancel}
	go l.listen(in)
	return l, ctx
}

func (l *link) listen(in io.Reader) {
	defer l.gone()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var o agent.Order
		if err := json.Unmarshal(line, &o); err != nil {
			l.say(Said{Fatal: fmt.Sprintf("worker: order %q: %v", line, err)})
			return
		}
		l.follow(o)
	}
}

func (l *link) follow(o agent.Order) {
	if o.Armed != nil {
		l.mu.Lock()
		clear(l.armed)
		for _, checkpoint := range *o.Armed {
			l.armed[checkpoint] = true
		}
		l.mu.Unlock()
	}
	if o.Go > 0 {
		l.mu.Lock()
		if open := l.checkpoints[o.Go]; open != nil {
			close(open)
			delete(l.checkpoints, o.Go)
		}
		l.mu.Unlock()
	}
	if o.End { // what still goes on is not waited for
		l.end()
		l.gone()
	}
	if o.Say != nil {
		var t Told
		if err := json.Unmarshal(o.Say, &t); err != nil {
			l.say(Said{Fatal: "worker: " + err.Error()})
			return
		}
		l.told <- t
	}
}

// checkpoint stops at a point of the loop if something is armed there.
func (l *link) checkpoint(name, key, owner string) {
	l.mu.Lock()
	if !l.armed[name] {
		l.mu.Unlock()
		return
	}
	l.last++
	id, open := l.last, make(chan struct{})
	l.checkpoints[id] = open
	l.mu.Unlock()
	l.line(agent.Line{Checkpoint: &agent.AtCheckpoint{ID: id, Checkpoint: name, Key: key, Owner: owner}})
	<-open
}

func (l *link) say(s Said) { l.line(agent.Line{Say: marshal(s)}) }

// fail ends the worker, with the reason.
func (l *link) fail(err error) {
	l.say(Said{Fatal: err.Error()})
	l.gone()
}

// record passes one operation on. It is called in the order of the stamps.
func (l *link) record(op history.Op) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ops++
	l.buffer = append(history.AppendOp(append(l.buffer[:0], `{"op":`...), &op), '}', '\n')
	_, _ = l.out.Write(l.buffer) // as in line
}

// end ends the records and says how many there were. What a thread beside the loop has
// still to say comes too late.
func (l *link) end() {
	l.mu.Lock()
	already, ops := l.ended, l.ops
	l.ended = true
	l.mu.Unlock()
	if !already {
		l.line(agent.Line{End: &agent.Ended{Ops: ops}})
	}
}

func (l *link) line(line agent.Line) {
	data := append(marshal(line), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(data) // the agent is gone: in ends too, and with it the worker
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("worker: " + err.Error()) // plain data always marshals
	}
	return data
}
