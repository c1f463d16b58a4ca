package runner

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// answering is the agent of a node: it answers every command. ends: its child ends by this one; "": by none.
type answering struct {
	n    *node
	ends agent.Do
}

func (a answering) Write(line []byte) (int, error) {
	var c agent.Command
	if err := json.Unmarshal(line, &c); err != nil {
		return 0, err
	}
	a.n.replies[c.ID] <- agent.Message{Re: c.ID}
	if c.Do == a.ends {
		a.n.exits <- agent.Exit{}
	}
	return len(line), nil
}

func (answering) Close() error { return nil }

// The final acquire is for the first client whose worker has ended. Where none has, not even killed, that is a doubt
// and no failure: what was recorded is judged.
func TestFinalAcquireWantsAFreeClient(t *testing.T) {
	for name, c := range map[string]struct {
		ends []agent.Do
		free int // -1: none
	}{
		"all end":          {[]agent.Do{agent.Send, agent.Send}, 0},
		"one is killed":    {[]agent.Do{agent.Kill, agent.Send}, 0},
		"one does not end": {[]agent.Do{"", agent.Send}, 1},
		"none ends":        {[]agent.Do{"", ""}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := newRecorder(filepath.Join(t.TempDir(), "history"), history.Setup{})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				s := &stage{plan: &plan{lease: time.Second}, rec: rec}
				for _, ends := range c.ends {
					n := &node{channel: &channel{Node: &clusters.Node{}, replies: map[int]chan agent.Message{}, gone: make(chan struct{})}, rec: rec, exits: make(chan agent.Exit, 1)}
					n.Stdin = answering{n, ends}
					s.clients = append(s.clients, n)
				}
				s.stopClients()
				if c.free >= 0 {
					if s.free != s.clients[c.free] {
						t.Error("another client is free")
					}
					return
				}
				if err := s.finish(t.Context(), time.Minute); s.free != nil || err != nil || len(rec.doubts) != 1 || !strings.Contains(rec.doubts[0], "no client's program has ended") {
					t.Errorf("%v, %v, doubts %q", s.free, err, rec.doubts)
				}
			})
		})
	}
}
