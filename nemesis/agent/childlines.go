package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// fromChild passes on one line of a child. What one that was killed has printed may be read when the next one runs.
func (a *agent) fromChild(of **child, line []byte, stdout bool) {
	a.mu.Lock()
	c := *of
	speaks, now := stdout && c != nil && c.spec.Speaks, c == a.child
	a.mu.Unlock()
	var l Line
	switch op, is := Operation(line); {
	case speaks && is:
		a.watchWork(op)
		c.records.came++
		a.out.pass(line)
	case !speaks || json.Unmarshal(line, &l) != nil:
		if speaks && bytes.Contains(line, []byte(opBegins)) {
			c.records.broken.Add(1)
		}
		a.out.send(Message{Log: string(line)})
	case l.End != nil:
		c.records.end(l.End.Ops)
	case l.Checkpoint != nil:
		if now {
			a.atCheckpoint(*l.Checkpoint)
		}
	default:
		a.out.send(Message{Say: l.Say})
	}
}

// opBegins is how the Line of an operation begins; anywhere else it is what a print in
// between has left of one.
const opBegins = `{"op":`

// Operation is that of a Line which has nothing else. The Message that passes it on is the
// same text, so most lines of a worker need not be taken apart. A worker writes a line at
// once, and a pipe takes so much whole or not at all; a longer one may have lost its end.
func Operation(line []byte) (op json.RawMessage, is bool) {
	const whole = 4096 // PIPE_BUF
	op, begins := bytes.CutPrefix(line, []byte(opBegins))
	if !begins || !bytes.HasSuffix(op, []byte("}}")) || len(line) >= whole && !json.Valid(line) {
		return nil, false
	}
	return op[:len(op)-1], true
}

// watchWork tells a stall what has gone on.
func (a *agent) watchWork(raw json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.held {
		if s, ok := h.fault.(*stall); ok {
			s.see(raw)
		}
	}
}

// begin is the begin of what a program prints. The rest is read and dropped: the agent's
// memory is nobody's share, and a program that could not write would wait.
type begin struct{ text []byte }

// beginSize is far more than a version, a time or an error takes.
const beginSize = 64 << 10

func (b *begin) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), beginSize-len(b.text))]...)
	return len(p), nil
}

func (b *begin) String() string { return string(b.text) }

// output runs a program to its end, as the child's user, and returns what it printed.
func output(spec Child) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	orders, err := sealing(spec)
	if err != nil {
		return "", err
	}
	cmd := seal.Program(ctx, append(os.Environ(), spec.Env...), spec.Argv)
	cmd.Dir = spec.Dir
	var text begin
	cmd.Stdout, cmd.Stderr = &text, &text
	defer disown(cmd)
	if err := start(cmd, func() error { return orders.Start(cmd, cmd.Start) }); err != nil {
		if cmd.Process != nil {
			_ = cmd.Wait() // the error says more
		}
		return text.String(), err
	}
	err = cmd.Wait()
	return text.String(), err
}
