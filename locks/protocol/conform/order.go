package conform

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// waiters is how many queue in one round. A lock that serves by chance keeps their order
// in one round of six.
const waiters = 3

// order: who came first is served first. Requests take their time on a busy machine, so
// one that seems overtaken counts only if it is so again when they come further apart.
func order(s *suite) error {
	var all []*protocol.Conn
	for range waiters + 1 {
		c, err := s.open()
		if err != nil {
			return err
		}
		if g, err := s.acquire(c, 5*time.Second); err != nil { // the first is slow, and must not be one of the queue
			return err
		} else if err := s.release(c, g.Grant); err != nil {
			return err
		}
		all = append(all, c)
	}
	overtaken := false
	for range 3 {
		served, err := s.queue(all, max(s.cfg.Lease/8, 250*time.Millisecond))
		if err != nil {
			return err
		}
		overtaken = overtaken || !slices.IsSorted(served)
	}
	for i := 0; overtaken && i < 3; i++ {
		gap := max(s.cfg.Lease/4, time.Second)
		served, err := s.queue(all, gap)
		if err != nil {
			return err
		}
		if !slices.IsSorted(served) {
			return fmt.Errorf("%d adapters waited for one key, each asked %v after the one before, and they were "+
				"granted it in the order %v; do not offer order if the library does not promise it", waiters, gap, served)
		}
	}
	return nil
}

// queue lets the first hold the check's key until the others wait, and returns in which
// order they were served. Each grant is noted before its release is asked.
func (s *suite) queue(all []*protocol.Conn, gap time.Duration) (served []int, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	g, err := s.acquire(all[0], 5*time.Second)
	if err != nil {
		return nil, err
	}
	failed := make([]error, waiters+1)
	for i := 1; i <= waiters; i++ {
		wg.Go(func() {
			h, err := s.acquire(all[i], time.Duration(waiters+1)*gap+5*time.Second)
			if err != nil {
				failed[i] = fmt.Errorf("waiter %d of %d was not granted the key: %w", i, waiters, err)
				return
			}
			mu.Lock()
			served = append(served, i)
			mu.Unlock()
			failed[i] = s.release(all[i], h.Grant)
		})
		time.Sleep(gap)
	}
	failed[0] = s.release(all[0], g.Grant)
	wg.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return served, nil
}
