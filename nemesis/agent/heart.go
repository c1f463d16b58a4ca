package agent

import (
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// beat is how often the agent shows itself that it is being scheduled.
const beat = 10 * time.Millisecond

// heart counts beats and reports the gaps between them: on a starved machine a
// violation may be our own doing.
type heart struct {
	count atomic.Int64
	least atomic.Int64 // ns; gaps shorter than this are not reported; 0: none are
}

// startHeart beats until the process ends; stalled gets each gap that is at least
// the limit, with the raw time of its end.
func startHeart(stalled func(at int64, gap time.Duration)) *heart {
	h := &heart{}
	go func() {
		last := history.Raw()
		for range time.Tick(beat) {
			now := history.Raw()
			gap := time.Duration(now-last) - beat
			if least := h.least.Load(); least > 0 && gap >= time.Duration(least) {
				stalled(now, gap)
			}
			last = now
			h.count.Add(1)
		}
	}()
	return h
}

func (h *heart) limit(d time.Duration) { h.least.Store(int64(d)) }

func (a *agent) stalled(at int64, gap time.Duration) {
	a.note(history.Op{Time: at, F: history.Stall, Length: int64(gap), Error: "the agent was not scheduled"})
}
