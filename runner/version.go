package runner

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/reports"
)

var versionPattern = regexp.MustCompile(`[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*`)

// askVersions asks every server what it is. One that does not tell is shown as
// unknown: a version is no condition of a run.
func (s *stage) askVersions(ctx context.Context) {
	var wait sync.WaitGroup
	for _, n := range s.nodes() {
		if n.lives { // it has told
			continue
		}
		n.version = reports.NodeVersion{Node: n.Name(), Server: "dlmtest", Version: s.Version, Image: n.Spec.Image}
		switch {
		case slices.Contains(s.servers, n):
			n.version.Server, n.version.Version = s.entry.Profile, "unknown"
		case n == s.resource && s.Resource == "postgres":
			n.version.Server, n.version.Version = s.Resource, "unknown"
		}
		if len(n.Spec.Version) == 0 {
			continue
		}
		wait.Go(func() {
			child := agent.Child{Argv: n.Spec.Version, Env: n.Spec.Env, User: n.Spec.User}
			m, err := n.ask(ctx, agent.Command{Do: agent.Run, Child: &child})
			if v := versionPattern.FindString(m.Log); err == nil && v != "" {
				n.version.Version = strings.TrimRight(v, ".,-+~")
			}
		})
	}
	wait.Wait()
}
