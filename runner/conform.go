package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// conformLimit is how long the conformance suite may take on a slow machine.
const conformLimit = 3 * time.Minute

// Conform runs the conformance suite of locks inside a client node, against a
// real cluster; of an adapter first that of the protocol. An error is dlmtest's own.
func Conform(ctx context.Context, o Options, say Progress) (*workloads.Conformed, error) {
	aside, err := scratch.New("conform")
	if err != nil {
		return nil, err
	}
	defer aside.Remove()
	dir := aside.Path
	if err := os.Mkdir(filepath.Join(dir, logsDir), 0o755); err != nil {
		return nil, err
	}
	baseline, err := scenarios.Load("baseline")
	if err != nil {
		return nil, err
	}
	lease := o.Scenario.Lease
	o.Scenario = *baseline
	o.Scenario.Clients, o.Resource = 1, "store"
	if !lease.IsZero() {
		o.Scenario.Lease = lease
	}
	entry, err := o.lock()
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(ctx, o, entry)
	if err != nil {
		return nil, err
	}
	plan.mode = workloads.Conform
	rec, err := newRecorder(filepath.Join(dir, partFile), plan.setup)
	if err != nil {
		return nil, err
	}
	rec.hide = secret.Filter(plan.secrets())
	s, err := up(ctx, plan, rec, dir, say)
	if err != nil {
		return nil, err
	}
	say.Phase("Running the conformance suite")
	out, err := s.conform(ctx)
	return out, errors.Join(err, s.down(context.WithoutCancel(ctx)))
}

// conform starts the suite in the one client and waits for what it finds.
func (s *stage) conform(ctx context.Context) (*workloads.Conformed, error) {
	limit := conformLimit
	if len(s.Adapter) > 0 { // each check starts it anew, and a bad one is waited for
		limit *= 4
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the suite did not end within %v", limit))
	defer cancel()
	c := s.clients[0]
	if err := c.tell(ctx, workloads.Told{Begin: true}); err != nil {
		return nil, err
	}
	for {
		select {
		case w := <-c.said:
			switch {
			case w.Fatal != "":
				return nil, fmt.Errorf("%s: %s", c.Name(), w.Fatal)
			case w.Conformed != nil:
				return w.Conformed, nil
			}
		case e := <-c.exits:
			return nil, fmt.Errorf("%s: the worker has ended: %s", c.Name(), e.Reason)
		case <-c.gone:
			return nil, c.how()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
