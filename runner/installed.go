package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// installed refuses a version of a library that the clients' nodes bring in another one,
// before there is a cluster: a client node alone is asked for it. One that does not tell
// is asked again by its adapter's hello, see pinned.
func (p *plan) installed(ctx context.Context, runtime place, janitor *clusters.Janitor, say Progress) error {
	name, want, ok := strings.Cut(p.Library, "@")
	if !ok {
		return nil
	}
	l, err := libraries.Get(p.Library)
	if err != nil || len(l.Tells) == 0 {
		return nil // it is built at this version
	}
	say.Line("asking a client's node for its version of " + name)
	has, err := p.askClient(ctx, runtime, janitor, l.Tells)
	if err != nil || has == "" || has == want {
		return err
	}
	return notInstalled(l, name, want, has)
}

func notInstalled(l libraries.Library, name, want, has string) error {
	return fmt.Errorf("%w: --library %s@%s: the clients' nodes have version %s, which comes with Debian's %s. What to "+
		"do: --library %s@%s, or %s with no version; for another, install it in an image of your own and name that with --client-image",
		ErrUsage, name, want, has, l.Package, name, has, name)
}

// askClient starts one client node, has it run a program that prints a version, and
// removes it. "": it does not tell.
func (p *plan) askClient(ctx context.Context, runtime place, janitor *clusters.Janitor, argv []string) (version string, err error) {
	aside, err := scratch.New("version")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, aside.Remove()) }()
	rec, err := newRecorder(filepath.Join(aside.Path, partFile), p.setup) // what the node does is no part of the run
	if err != nil {
		return "", err
	}
	run := clusters.Run{ID: fmt.Sprintf("%d-%x", os.Getpid(), time.Now().UnixNano())}
	cluster, err := runtime.Up(ctx, run, p.clients[:1])
	if err != nil {
		janitor.Leave(run)
		return "", err
	}
	defer func() {
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if failed := cluster.Down(down); failed != nil {
			janitor.Leave(run)
			err = errors.Join(err, failed)
		}
	}()
	n, err := attach(cluster.Nodes[0], rec, aside.Path)
	if err != nil {
		return "", err
	}
	defer func() { _ = n.log.Close() }() // a log is no evidence
	m, err := n.ask(ctx, agent.Command{Do: agent.Run, Child: &agent.Child{Argv: argv, Env: n.Spec.Env, User: n.Spec.User}})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil { // no such program or library there: its adapter will tell
		return "", nil
	}
	return versionPattern.FindString(m.Log), nil
}
