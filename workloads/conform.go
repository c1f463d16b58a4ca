package workloads

import (
	"context"
	"fmt"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// conform runs the conformance suite of locks against a real cluster.
func conform(ctx context.Context, l *link, s Spec) error {
	r := newRecorder(l, s)
	if err := r.connect(ctx); err != nil {
		return err
	}
	if err := r.lock.Close(); err != nil {
		return err
	}
	l.say(Said{Ready: true})
	if t, ok := next(ctx, l); !ok || !t.Begin {
		return nil
	}
	findings := locktest.Run(ctx, locktest.For(locks.Table[s.Backend], s.Lock))
	said := Said{Checks: len(locktest.Checks)}
	for _, f := range findings {
		said.Findings = append(said.Findings, fmt.Sprintf("%s: %v", f.Check, f.Err))
	}
	l.say(said)
	return nil
}
