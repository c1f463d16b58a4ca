package runner

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

type silent struct{}

func (silent) Phase(string)         {}
func (silent) Line(string)          {}
func (silent) Live(Counts, float64) {}

// A server that ends is noted, at the time that its agent told. After a fault has begun
// that is what the fault has shown, and the run goes on. One that ends without any, or a
// client's or the resource's program at any time, stops the run.
func TestServerThatEndsUnderAFault(t *testing.T) {
	for name, c := range map[string]struct {
		who     string
		faulted bool
		goesOn  bool
	}{
		"a server under a fault":     {"server", true, true},
		"a server without a fault":   {"server", false, false},
		"a client under a fault":     {"client", true, false},
		"the resource under a fault": {"resource", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := newRecorder(filepath.Join(t.TempDir(), "history"), history.Setup{})
			if err != nil {
				t.Fatal(err)
			}
			made := func(role string) *node {
				return &node{channel: &channel{Node: &clusters.Node{Spec: clusters.NodeSpec{Name: role}}, gone: make(chan struct{})}, rec: rec, exits: make(chan agent.Exit, 1), tail: []string{"panic: no log"}}
			}
			nodes := map[string]*node{"server": made("server"), "client": made("client"), "resource": made("resource")}
			s := &stage{plan: &plan{}, rec: rec, servers: []*node{nodes["server"]}, clients: []*node{nodes["client"]}, resource: nodes["resource"]}
			if c.faulted {
				rec.note(history.Op{Time: 1, Node: "server", F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: "crash", Target: "server", Phase: history.Begin}})
			}
			nodes[c.who].exits <- agent.Exit{Time: 7, Code: 2, Reason: "exit status 2"}
			err = s.deadNode(silent{})
			if c.goesOn != (err == nil) {
				t.Fatalf("%v", err)
			}
			told := ""
			for _, op := range rec.ops {
				if op.F == history.ServerEnd && op.Time == 7 {
					told = op.Node + ": " + op.Error
				}
			}
			if (c.who == "server") != strings.Contains(told, "server: exit status 2; its last words: panic: no log") {
				t.Errorf("noted: %q", told)
			}
			select {
			case <-nodes[c.who].exits:
				t.Error("it was not taken")
			case <-time.After(0):
			}
		})
	}
}
