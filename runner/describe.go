package runner

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/reports"
)

// describe gathers what a report shows beside the history and the judgement.
func (s *stage) describe(started time.Time, interrupted bool) reports.Run {
	run := reports.Run{Format: reports.Format, ID: filepath.Base(s.dir), Scenario: s.Scenario.Name, Backend: s.Backend,
		Library: "reference", Title: s.Scenario.Title, About: s.Scenario.About, Command: s.Command, Seed: s.Seed,
		Started: started, Took: time.Since(started), Lease: s.lease,
		Options: map[string]string{
			"resource": s.Resource, "fencing": s.Fencing, "fence-on": s.FenceOn, "self-fence": s.SelfFence,
			"renew": fmt.Sprint(s.Scenario.Renew), "strict": fmt.Sprint(s.Strict), "idle-timeout": s.Idle.String(), "fsync": s.Fsync,
		}}
	run.Resolved = string(s.Scenario.YAML())
	if interrupted {
		run.Interrupted = "the run was interrupted before its end"
	}
	for _, n := range s.nodes() {
		role := reports.Server
		switch n.Spec.Role {
		case "client":
			role = reports.Client
		case "resource":
			role = reports.Resource
		}
		run.Nodes = append(run.Nodes, reports.NodeInfo{Name: n.Name(), Role: role, Addr: n.Addr.String()})
		run.Versions = append(run.Versions, n.version)
		run.Logs = append(run.Logs, filepath.Join(logsDir, n.Name()+".log"))
	}
	run.Doubts = s.rec.doubts
	return run
}

// nodes lists all nodes: servers, the resource, clients.
func (s *stage) nodes() []*node {
	all := append([]*node{}, s.servers...)
	if s.resource != nil {
		all = append(all, s.resource)
	}
	return append(all, s.clients...)
}
