package agent

import (
	"sync"
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

	stalled func(at int64, gap time.Duration)
	mu      sync.Mutex
	last    int64 // raw ns: of the beat before
}

// startHeart beats until the process ends; stalled gets each gap that is at least
// the limit, with the raw time of its end.
func startHeart(stalled func(at int64, gap time.Duration)) *heart {
	h := &heart{stalled: stalled, last: history.Raw()}
	go func() {
		for range time.Tick(beat) {
			h.look()
			h.count.Add(1)
		}
	}()
	return h
}

// look reports the gap since the last beat, if it is one. Who ends the records looks once
// more: what kept the agent from beating may have kept it from being asked as well, and
// which of both comes first is chance.
func (h *heart) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := history.Raw()
	gap := time.Duration(now-h.last) - beat
	if least := h.least.Load(); least > 0 && gap >= time.Duration(least) {
		h.stalled(now, gap)
	}
	h.last = now
}

func (h *heart) limit(d time.Duration) { h.least.Store(int64(d)) }

func (a *agent) stalled(at int64, gap time.Duration) {
	a.note(history.Op{Time: at, F: history.Stall, Length: int64(gap), Error: "the agent was not scheduled"})
}
