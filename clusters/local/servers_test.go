package local_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// TestServers tries the clusters of docker-compose.yml with the real agent: each
// server comes up and answers a client's operation.
func TestServers(t *testing.T) {
	file, err := clusters.Load(t.Context(), clusters.Compose, "redis")
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range file.Profiles {
		t.Run(profile, func(t *testing.T) {
			p, err := clusters.Load(t.Context(), clusters.Compose, profile)
			if err != nil {
				t.Fatal(err)
			}
			if err := runtime(t).EnsureImages(t.Context(), []string{p.Nodes[0].Image}, nil); err != nil {
				t.Skip(err)
			}
			begin := time.Now()
			c := bringUp(t, p.Nodes...)
			failed := make(chan error, len(c.Nodes))
			for _, n := range c.Nodes {
				go func() { failed <- serveNode(n) }()
			}
			for range c.Nodes {
				if err := <-failed; err != nil {
					t.Error(err)
				}
			}
			t.Logf("healthy: %v", time.Since(begin))
		})
	}
}

// serveNode starts a node's server and returns when its health check succeeds.
func serveNode(n *clusters.Node) error {
	in := bufio.NewReader(n.Stdout)
	io.WriteString(n.Stdin, "become\n")
	if _, err := in.ReadString('\n'); err != nil {
		return err
	}
	child := &agent.Child{Argv: n.Spec.Argv(), Env: n.Spec.Env, User: n.Spec.User, Dir: n.Spec.WorkDir, Health: n.Spec.Health}
	for id, c := range []agent.Command{{Do: agent.Start, Child: child}, {Do: agent.Check}} {
		c.ID = id + 1
		line, _ := json.Marshal(c)
		n.Stdin.Write(append(line, '\n'))
		if err := answered(in, c.ID); err != nil {
			return fmt.Errorf("%s: %s: %w", n.Spec.Name, c.Do, err)
		}
	}
	go io.Copy(io.Discard, in)
	return nil
}

// answered skips the server's log.
func answered(in *bufio.Reader, id int) error {
	var log []string
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
		}
		var m agent.Message
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if log = append(log, m.Log); m.Re != id {
			continue
		}
		if m.Error != "" {
			return fmt.Errorf("%s\n%s", m.Error, strings.Join(log, "\n"))
		}
		return nil
	}
}
