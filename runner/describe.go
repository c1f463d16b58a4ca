package runner

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/reports"
)

// begun is what is known of a run before it has nodes. where is the runtime, or what was
// asked for: auto.
func (p *plan) begun(dir, where string, started time.Time) reports.Run {
	run := reports.Run{Format: reports.Format, ID: filepath.Base(dir), State: reports.Running, Scenario: p.Scenario.Name, Backend: p.Backend,
		Library: cmp.Or(p.setup.Promise.Library, history.Reference), LibraryVersion: p.setup.Promise.Version,
		Title: p.Scenario.Title, About: p.Scenario.About, Command: secret.Words(p.Command), Seed: p.Seed,
		Started: started, Lease: p.lease}
	run.Options = p.inWords(where)
	run.Resolved, run.Planned, run.Machine = string(p.Scenario.YAML()), p.written(), machine()
	run.Schedule, run.Repeat = p.drawn, p.repeat(where)
	return run
}

// inWords are all settings for a reader, and what is close to them.
func (p *plan) inWords(where string) map[string]string {
	all := p.InWords()
	all["runtime"], all["compose"] = where, cmp.Or(all["compose"], "built in")
	all["renew"], all["dlmtest"] = fmt.Sprint(p.Scenario.Renew), p.Version
	return all
}

// describe gathers what a report shows beside the history and the judgement.
func (s *stage) describe(started time.Time, interrupted bool) reports.Run {
	run := s.begun(s.dir, s.where, started)
	run.Took, run.Shared = time.Since(started), s.earlier
	if interrupted {
		run.Interrupted = "The run was interrupted before its end."
	}
	for _, n := range s.nodes() {
		role := reports.Server
		switch n.Spec.Role {
		case "client":
			role = reports.Client
		case "resource":
			role = reports.Resource
		}
		info := reports.NodeInfo{Name: n.Name(), Role: role, Addr: n.Addr.String()}
		if role != reports.Client {
			info.Command, info.Env, info.User, info.Caps = discreet(n.Spec.Argv()), discreet(environment(n)), n.Spec.User, n.Spec.CapAdd
		}
		run.Nodes = append(run.Nodes, info)
		run.Versions = append(run.Versions, n.version)
		run.Logs = append(run.Logs, filepath.Join(logsDir, n.Name()+".log"))
	}
	run.Doubts = s.rec.doubted()
	return run
}

// written are the faults that the scenario names, numbered as the nemesis does. The
// random ones come after them.
func (p *plan) written() (all []reports.Planned) {
	id := 1
	for _, f := range p.faults[:len(p.Scenario.Faults)] {
		x := reports.Planned{ID: id, At: f.At, Fault: f.Kind, Target: f.Target, On: f.On, Min: f.Min, Max: f.Max, Count: f.Count, Until: f.Until}
		if f.After != "" {
			x.After = fmt.Sprintf("%s of %s", f.When, f.After)
		}
		all = append(all, x)
		id += max(f.Count, 1)
	}
	return all
}

// secretWord is what looks like a secret in a user's own compose file.
var secretWord = regexp.MustCompile(`(?i)([\w-]*(?:pass|secret|token|api_?key|_key|bearer|credential)[\w-]*)(=|:\s*|\s+)\S+`)

// discreet leaves secrets out of a command line or an environment: a report is shown
// around.
func discreet(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = secret.Mask(secretWord.ReplaceAllString(w, "$1$2…"))
		if i > 0 && !strings.ContainsAny(words[i-1], "= ") && secretWord.MatchString(words[i-1]+" x") {
			all[i] = "…" // --requirepass WORD
		}
	}
	return all
}

// environment is a node's environment without what every node has.
func environment(n *node) []string {
	return slices.DeleteFunc(slices.Clone(n.Spec.Env), func(e string) bool {
		return e == "HOSTNAME="+n.Name() || strings.HasPrefix(e, "PATH=")
	})
}

// machine is what all nodes share, and where they run.
func machine() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return fmt.Sprintf("Linux %s, %s, %d CPUs", unix.ByteSliceToString(u.Release[:]), runtime.GOARCH, runtime.NumCPU())
}

// nodes lists all nodes: servers, the resource, clients.
func (s *stage) nodes() []*node {
	all := append([]*node{}, s.servers...)
	if s.resource != nil {
		all = append(all, s.resource)
	}
	return append(all, s.clients...)
}
