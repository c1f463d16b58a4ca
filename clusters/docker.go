package clusters

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

// ErrNoDocker says that no Docker daemon answered.
var ErrNoDocker = engine.ErrNone

// Docker is the runtime whose nodes are containers.
type Docker struct {
	Self    string   // path of the static binary that every node runs as "agent"
	Owner   Owner    // the process that all it makes belongs to
	Janitor *Janitor // told of what outlives this process; may be nil
	api     *engine.Client
}

// NewDocker connects to the daemon that DOCKER_HOST names, by default the one of
// this machine. Without an answer the error matches ErrNoDocker.
func NewDocker(ctx context.Context, self string) (*Docker, error) {
	owner, err := ThisProcess()
	if err != nil {
		return nil, err
	}
	api, err := engine.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Docker{Self: self, Owner: owner, api: api}, nil
}

// local tells whether the daemon runs on this machine.
func (d *Docker) local() bool { return strings.HasPrefix(d.api.Host(), "unix://") }

// labels are on everything of a run.
func (d *Docker) labels(run Run) map[string]string {
	return map[string]string{labelRun: run.ID, labelOwner: d.Owner.String()}
}

// parallel calls work for 0 to n-1 at once and joins the errors.
func parallel(n int, work func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = work(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
