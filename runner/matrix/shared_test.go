package matrix

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
)

// Runs of one lock follow each other and may share a cluster. One that has no other beside it has nobody to share with, nor
// has any where each is to have its own. What failed on a shared cluster is repeated on one of its own.
func TestRunsOfALockShareClusters(t *testing.T) {
	for _, c := range []struct {
		fresh, fails bool
		want         []string
	}{
		{want: []string{"gc-pause redis", "leader-crash etcd shares", "gc-pause etcd shares"}},
		{fresh: true, want: []string{"leader-crash etcd", "gc-pause redis", "gc-pause etcd"}},
		{fails: true, want: []string{"gc-pause redis", "leader-crash etcd shares", "leader-crash etcd", "gc-pause etcd shares", "gc-pause etcd"}},
	} {
		s := spec(t, []string{"leader-crash", "gc-pause"}, []string{"redis", "etcd"})
		s.Fresh = c.fresh
		var got []string
		m, _ := play(t, t.Context(), s, func(_ context.Context, o runner.Options) (*runner.Outcome, error) {
			name := o.Scenario.Name + " " + o.Backend
			if o.Warm != nil {
				name += " shares"
			}
			got = append(got, name)
			if c.fails && o.Warm != nil {
				return nil, fmt.Errorf("a worker has ended; %w", runner.ErrShared)
			}
			return outcome(o, checker.Holds), nil
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("fresh %v: %q, want %q", c.fresh, got, c.want)
		}
		for _, cell := range m.index.Cells {
			if last := len(cell.Runs) - 1; cell.Reason == "" && cell.Runs[last].Error != "" {
				t.Errorf("%s is left as it failed: %+v", cell.Name(), cell.Runs)
			}
		}
	}
}
