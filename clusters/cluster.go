package clusters

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Runtime brings nodes up, each with an agent as its first process.
type Runtime interface {
	Up(ctx context.Context, run Run, nodes []NodeSpec) (*Cluster, error)
}

// Run names what one Up belongs to.
type Run struct {
	ID string // part of every name: letters, digits, dots and dashes
}

// Cluster is the running nodes of one run, in the order they were asked for.
type Cluster struct {
	Nodes []*Node
	down  func(context.Context) error
}

// Down kills every node and removes all that Up made. It may be called twice.
func (c *Cluster) Down(ctx context.Context) error { return c.down(ctx) }

// Node finds a node by name; nil if there is none.
func (c *Cluster) Node(name string) *Node {
	for _, n := range c.Nodes {
		if n.Spec.Name == name {
			return n
		}
	}
	return nil
}

// Node is one running node. Stdin and Stdout are the agent's; closing Stdin ends
// the agent and with it the node.
type Node struct {
	Spec   NodeSpec // with what its image adds: argv, environment, user, folder
	Addr   netip.Addr
	Stdin  io.WriteCloser
	Stdout io.Reader // must be read: the agent waits for its reader
	Stderr io.Reader // need not be read: it keeps the newest part
	Exited <-chan Exit
}

// Exit is the end of a node. It is an error: no node ends by itself in a run.
type Exit struct {
	Node   string
	Code   int
	Stderr string // its last lines
	Err    error  // the daemon could not tell the code
}

// Error says which node ended, how, and its last words.
func (e Exit) Error() string {
	how := fmt.Sprintf("exited with code %d", e.Code)
	if e.Err != nil {
		how = fmt.Sprintf("was lost: %v", e.Err)
	}
	if e.Stderr == "" {
		return fmt.Sprintf("node %s %s and wrote nothing to stderr", e.Node, how)
	}
	return fmt.Sprintf("node %s %s; its last lines:\n  %s", e.Node, how, strings.ReplaceAll(e.Stderr, "\n", "\n  "))
}

// Unwrap gives the daemon's error.
func (e Exit) Unwrap() error { return e.Err }
