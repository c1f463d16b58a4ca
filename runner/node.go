package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/workloads"
)

// node is a running node seen from the runner: the far end of its agent's stdio.
type node struct {
	*clusters.Node
	rec *recorder
	log *visible.Writer // of a file; a log is read on terminals and in CI

	mu      sync.Mutex
	last    int                        // id of the newest command
	replies map[int]chan agent.Message // commands that wait for their answer
	said    chan workloads.Said        // words of the worker
	exits   chan agent.Exit            // of its child, one for each start
	tail    []string                   // its last log lines, for an error
	version reports.NodeVersion
	gone    chan struct{} // closed when the agent is gone
	how     func() error  // it went, once it has

	came, ops atomic.Int64 // messages, and the records among them
}

// tailLines is how many log lines of a server an error shows.
const tailLines = 12

// attach starts to listen to a node. Its log goes to a file in dir.
func attach(n *clusters.Node, rec *recorder, dir string) (*node, error) {
	log, err := os.Create(filepath.Join(dir, n.Spec.Name+".log"))
	if err != nil {
		return nil, err
	}
	a := &node{Node: n, rec: rec, log: visible.Console(&shortLog{log, logSize}), replies: map[int]chan agent.Message{},
		said: make(chan workloads.Said, 1024), exits: make(chan agent.Exit, 16), gone: make(chan struct{})}
	a.how = sync.OnceValue(a.lastOf)
	go a.listen()
	go func() { _, _ = io.Copy(a.log, n.Stderr) }() // the agent's own last words, if any
	return a, nil
}

// nodeError is an error about one node.
type nodeError struct {
	node  *node
	ended bool // its program has ended: its log says why
	err   error
}

func (e *nodeError) Error() string { return e.node.Name() + ": " + e.err.Error() }

func (e *nodeError) Unwrap() error { return e.err }

// errorf makes an error about the node.
func (a *node) errorf(format string, args ...any) error {
	return &nodeError{node: a, err: fmt.Errorf(format, args...)}
}

// Name is the node's.
func (a *node) Name() string { return a.Spec.Name }

// Address is where the node's peers reach it.
func (a *node) Address() string { return a.Addr.String() }

// Command has the agent carry out c and returns its answer.
func (a *node) Command(ctx context.Context, c agent.Command) error {
	_, err := a.ask(ctx, c)
	return err
}

func (a *node) ask(ctx context.Context, c agent.Command) (agent.Message, error) {
	reply := make(chan agent.Message, 1)
	a.mu.Lock()
	a.last++
	c.ID = a.last
	a.replies[c.ID] = reply
	line, err := json.Marshal(c)
	if err == nil {
		_, err = a.Stdin.Write(append(line, '\n'))
	}
	a.mu.Unlock()
	if err != nil {
		return agent.Message{}, a.errorf("%w", err)
	}
	select {
	case m := <-reply:
		if m.Refused {
			return m, a.errorf("%w: %s", agent.ErrRefused, m.Error)
		}
		if m.Error != "" {
			return m, a.errorf("%s", m.Error)
		}
		return m, nil
	case <-a.gone:
		return agent.Message{}, a.errorf("its agent has ended")
	case <-ctx.Done():
		return agent.Message{}, a.errorf("%w", context.Cause(ctx))
	}
}

// tell sends a word to the node's worker.
func (a *node) tell(ctx context.Context, t workloads.Told) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return a.Command(ctx, agent.Command{Do: agent.Send, Line: line})
}

// start starts the node's child.
func (a *node) start(ctx context.Context, c agent.Child) error {
	return a.Command(ctx, agent.Command{Do: agent.Start, Child: &c})
}

// lastOf is how the node's first process ended, which no fault makes it do. The daemon alone knows of a container's end.
func (a *node) lastOf() error {
	why := "its memory ran out, or somebody has killed it"
	if a.Spec.Guest {
		why = "the code under test took all of its processes or memory, or somebody has killed it"
	}
	select {
	case end := <-a.Exited:
		if end.Err != nil {
			return fmt.Errorf("the connection to the Docker daemon was lost: %w", end)
		}
		return fmt.Errorf("%w\nNo fault ends a node: %s", end, why)
	case <-time.After(exitLimit):
		return fmt.Errorf("the connection to the Docker daemon was lost, or it cannot tell how node %s ended", a.Name())
	}
}

// exitLimit is how long the end of a node that has gone may take to be told.
const exitLimit = 2 * time.Second

func (a *node) listen() {
	defer close(a.gone)
	lines := bufio.NewReaderSize(a.Stdout, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if a.rec.hide != nil {
			line = []byte(a.rec.hide.Replace(string(line)))
		}
		var m agent.Message
		if err := json.Unmarshal(line, &m); err != nil {
			a.rec.fail(fmt.Errorf("%s: its agent wrote %q: %w", a.Name(), line, err))
			continue
		}
		a.take(m)
	}
}

func (a *node) take(m agent.Message) {
	a.came.Add(1)
	switch {
	case m.Re > 0:
		a.mu.Lock()
		reply := a.replies[m.Re]
		delete(a.replies, m.Re)
		a.mu.Unlock()
		if reply != nil {
			reply <- m
		}
	case m.Op != nil:
		a.ops.Add(1)
		a.rec.add(a.Name(), m.Op)
	case m.Asks != nil, m.Hit != nil, m.Over != nil:
		a.rec.feed.Publish(nemesis.Event{Node: a.Name(), Asks: m.Asks, Hit: m.Hit, Over: m.Over})
	case m.Say != nil:
		a.say(m.Say)
	case m.Exit != nil:
		a.exits <- *m.Exit
	case m.Lost > 0:
		a.rec.doubt(fmt.Sprintf("%s recorded faster than it could be read: %d lines are missing", a.Name(), m.Lost))
	case m.Error != "":
		a.rec.fail(errors.New(a.Name() + ": " + m.Error))
	default:
		a.logLine(m.Log)
	}
}

func (a *node) say(raw json.RawMessage) {
	var s workloads.Said
	if err := json.Unmarshal(raw, &s); err != nil {
		a.rec.fail(fmt.Errorf("%s: its worker said %q: %w", a.Name(), raw, err))
		return
	}
	select {
	case a.said <- s:
	default: // only words of waiting come in numbers
	}
}

func (a *node) logLine(line string) {
	_, _ = fmt.Fprintln(a.log, line) // a log is no evidence; a full disk shows at the history
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tail = append(a.tail, line); len(a.tail) > tailLines {
		a.tail = a.tail[1:]
	}
}

// lastWords is the end of the node's log.
func (a *node) lastWords() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.tail...)
}
