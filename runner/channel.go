package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// channel is the far end of an agent's stdio, for as long as its node lives: in one run after another, if its cluster is kept.
type channel struct {
	*clusters.Node

	mu      sync.Mutex
	last    int                        // id of the newest command
	replies map[int]chan agent.Message // commands that wait for their answer
	to      *node                      // of the run that the agent speaks to
	next    *node                      // of the run that it speaks to once it has answered the command anew
	anew    int                        // id of that command; 0: there was none
	gone    chan struct{}              // closed when the agent is gone
	how     func() error               // it went, once it has
}

// Name is the node's.
func (c *channel) Name() string { return c.Spec.Name }

// Address is where the node's peers reach it.
func (c *channel) Address() string { return c.Addr.String() }

// now is the node in the run that the agent speaks to.
func (c *channel) now() *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.to
}

// send writes a command, whose answer goes to reply.
func (c *channel) send(command agent.Command, reply chan agent.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	command.ID = c.last
	c.replies[command.ID] = reply
	if command.Do == agent.Anew {
		c.anew = command.ID
	}
	line, err := json.Marshal(command)
	if err == nil {
		_, err = c.Stdin.Write(append(line, '\n'))
	}
	return err
}

// lastOf is how the node's first process ended, which no fault makes it do. The daemon alone knows of a container's end.
func (c *channel) lastOf() error {
	why := "its memory ran out, or somebody has killed it"
	if c.Spec.Guest {
		why = "the code under test took all of its processes or memory, or somebody has killed it"
	}
	select {
	case end := <-c.Exited:
		if end.Err != nil {
			return fmt.Errorf("the connection to the Docker daemon was lost: %w", end)
		}
		return fmt.Errorf("%w\nNo fault ends a node: %s", end, why)
	case <-time.After(exitLimit):
		return fmt.Errorf("the connection to the Docker daemon was lost, or it cannot tell how node %s ended", c.Name())
	}
}

// exitLimit is how long the end of a node that has gone may take to be told.
const exitLimit = 2 * time.Second

func (c *channel) listen() {
	defer close(c.gone)
	lines := bufio.NewReaderSize(c.Stdout, 1<<16)
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return
		}
		c.take(line)
		line = line[:0]
	}
}

// take takes one line of the agent, of which it keeps nothing.
func (c *channel) take(line []byte) {
	n := c.now()
	n.came.Add(1)
	if n.rec.hide != nil {
		line = []byte(n.rec.hide.Replace(string(line)))
	}
	if op, is := agent.Operation(bytes.TrimSuffix(line, []byte("\n"))); is { // most are
		n.record(op)
		return
	}
	var m agent.Message
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		n.rec.fail(fmt.Errorf("%s: its agent wrote %q: %w", c.Name(), line, err))
	case m.Re > 0:
		c.reply(m)
	default:
		n.take(m)
	}
}

// reply passes on an answer to who waits for it.
func (c *channel) reply(m agent.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Re == c.anew && m.Error == "" { // what comes after it is of the next run
		c.to = c.next
	}
	if reply := c.replies[m.Re]; reply != nil {
		reply <- m // it has room
	}
	delete(c.replies, m.Re)
}

// words are what an agent writes beside its messages.
type words struct{ *channel }

func (w words) Write(p []byte) (int, error) { return w.now().log.Write(p) }
