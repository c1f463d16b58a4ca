package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/workloads"
)

// conformLimit is how long the conformance suite may take on a slow machine.
const conformLimit = 3 * time.Minute

// Conform runs the conformance suite of locks inside a client node, against a
// real cluster. It returns how many checks were made and what each that failed
// found; an error is dlmtest's own.
func Conform(ctx context.Context, o Options, say Progress) (checks int, findings []string, err error) {
	dir, err := os.MkdirTemp("", "dlmtest-conform-*")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, logsDir), 0o755); err != nil {
		return 0, nil, err
	}
	baseline, err := scenarios.Load("baseline")
	if err != nil {
		return 0, nil, err
	}
	lease := o.Scenario.Lease
	o.Scenario = *baseline
	o.Scenario.Clients, o.Resource = 1, "store"
	if !lease.IsZero() {
		o.Scenario.Lease = lease
	}
	plan, err := newPlan(ctx, o, locks.Table[o.Backend])
	if err != nil {
		return 0, nil, err
	}
	plan.mode = workloads.Conform
	rec, err := newRecorder(filepath.Join(dir, partFile), plan.setup)
	if err != nil {
		return 0, nil, err
	}
	s, err := up(ctx, plan, rec, dir, say)
	if err != nil {
		return 0, nil, err
	}
	say.Phase("Running the conformance suite")
	checks, findings, err = s.conform(ctx)
	return checks, findings, errors.Join(err, s.down(context.WithoutCancel(ctx)))
}

// conform starts the suite in the one client and waits for what it finds.
func (s *stage) conform(ctx context.Context) (int, []string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, conformLimit, fmt.Errorf("the suite did not end within %v", conformLimit))
	defer cancel()
	c := s.clients[0]
	if err := c.tell(ctx, workloads.Told{Begin: true}); err != nil {
		return 0, nil, err
	}
	for {
		select {
		case w := <-c.said:
			switch {
			case w.Fatal != "":
				return 0, nil, fmt.Errorf("%s: %s", c.Name(), w.Fatal)
			case w.Checks > 0:
				return w.Checks, w.Findings, nil
			}
		case e := <-c.exits:
			return 0, nil, fmt.Errorf("%s: the worker has ended: %s", c.Name(), e.Reason)
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		}
	}
}
