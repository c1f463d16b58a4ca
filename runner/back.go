package runner

import (
	"context"
	"fmt"

	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/workloads"
)

// back has a client at work whose program was started again: it knows nothing of its last life.
func (s *stage) back(ctx context.Context, client nemesis.Victim) error {
	for i, n := range s.clients {
		if nemesis.Victim(n) != client {
			continue
		}
		spec := s.worker(i, n.Name(), s.mode)
		spec.Life = int(n.backs.Add(1))
		spec.Lock.Seed += uint64(spec.Life) * seedsOfALife
		n.workerOf(&spec)
		return n.tell(ctx, workloads.Told{Spec: &spec})
	}
	return fmt.Errorf("%s is no client", client.Name())
}

// seedsOfALife are more than a run has clients: no two lives choose the same.
const seedsOfALife = 1000
