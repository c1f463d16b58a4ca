package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/workloads"
)

// node is a running node in one run: what its agent says there goes to its records and its log.
type node struct {
	*channel
	rec *recorder
	log *visible.Writer // of a file; a log is read on terminals and in CI

	mu      sync.Mutex
	said    chan workloads.Said // words of the worker
	exits   chan agent.Exit     // of its child, one for each start
	tail    []string            // its last log lines, for an error
	version reports.NodeVersion
	lives   bool // its child is a server that goes on from an earlier run

	came, ops atomic.Int64 // messages, and the records among them
	backs     atomic.Int64 // lives of a client, beside its first
}

// serves says that the node is a server, and neither the guarded resource nor a client.
func (a *node) serves() bool { return a.Spec.Role != "resource" && a.Spec.Role != "client" }

// tailLines is how many log lines of a server an error shows.
const tailLines = 12

// attach starts to listen to a node. Its log goes to a file in dir.
func attach(n *clusters.Node, rec *recorder, dir string) (*node, error) {
	c := &channel{Node: n, replies: map[int]chan agent.Message{}, gone: make(chan struct{})}
	a, err := c.node(rec, dir)
	if err != nil {
		return nil, err
	}
	c.to = a
	c.how = sync.OnceValue(c.lastOf)
	go c.listen()
	go func() { _, _ = io.Copy(words{c}, n.Stderr) }() // the agent's own last words, if any
	return a, nil
}

// node is that of the channel in another run.
func (c *channel) node(rec *recorder, dir string) (*node, error) {
	log, err := os.Create(filepath.Join(dir, c.Spec.Name+".log"))
	if err != nil {
		return nil, err
	}
	return &node{channel: c, rec: rec, log: visible.Console(&shortLog{log, logSize}),
		said: make(chan workloads.Said, 1024), exits: make(chan agent.Exit, 16)}, nil
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

// Command has the agent carry out c and returns its answer.
func (a *node) Command(ctx context.Context, c agent.Command) error {
	_, err := a.ask(ctx, c)
	return err
}

func (a *node) ask(ctx context.Context, c agent.Command) (agent.Message, error) {
	reply := make(chan agent.Message, 1)
	if err := a.send(c, reply); err != nil {
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

// again is the node in another run on the same cluster: a server goes on under what spec says of it, what else ran on the
// node is ended (spec is nil).
func (a *node) again(ctx context.Context, rec *recorder, dir string, spec *agent.Child) (*node, error) {
	n, err := a.channel.node(rec, dir)
	if err != nil {
		return nil, err
	}
	n.version, n.lives = a.version, spec != nil
	a.channel.mu.Lock()
	a.next = n
	a.channel.mu.Unlock()
	if err := a.Command(ctx, agent.Command{Do: agent.Anew, Child: spec}); err != nil {
		_ = n.log.Close() // a log is no evidence
		return nil, err
	}
	return n, nil
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

func (a *node) take(m agent.Message) {
	switch {
	case m.Op != nil:
		a.record(m.Op)
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

// record takes an operation.
func (a *node) record(op []byte) {
	a.ops.Add(1)
	a.rec.add(a.Name(), op)
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
