package agent

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// How often a process shows itself that it is being scheduled: four times within the gaps that it is to report, and now
// and then where it reports none. Each beat of a Go program that is idle costs several switches of threads, and a machine
// has a hundred of them.
const (
	leastBeat = 10 * time.Millisecond
	idleBeat  = 200 * time.Millisecond
)

// PaceOf is the time between two beats where gaps of least are reported; 0: none are.
func PaceOf(least time.Duration) time.Duration {
	if least <= 0 {
		return idleBeat
	}
	return max(least/4, leastBeat)
}

// Missed says whether a gap, which is what came on top of a beat's own pace, is to be reported where those of least are. What kept a
// process from running began up to a beat after the last one, which the gap does not have: half of a beat is allowed for.
func Missed(gap, least time.Duration) bool { return gap >= least-least/8 }

// heart counts beats and reports the gaps between them: on a starved machine a
// violation may be our own doing.
type heart struct {
	count atomic.Int64
	least atomic.Int64 // ns; gaps shorter than this are not reported; 0: none are

	stalled func(at int64, gap time.Duration)
	mu      sync.Mutex
	pace    time.Duration
	tick    *time.Ticker
	last    int64 // raw ns: of the beat before
}

// startHeart beats until the process ends; stalled gets each gap that is at least
// the limit, with the raw time of its end.
func startHeart(stalled func(at int64, gap time.Duration)) *heart {
	h := &heart{stalled: stalled, last: history.Raw(), pace: idleBeat, tick: time.NewTicker(idleBeat)}
	go func() {
		for range h.tick.C {
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
	gap := time.Duration(now-h.last) - h.pace
	if least := time.Duration(h.least.Load()); least > 0 && Missed(gap, least) {
		h.stalled(now, gap)
	}
	h.last = now
}

// limit has gaps of at least d reported from now on; 0: none.
func (h *heart) limit(d time.Duration) {
	h.look() // what was missed so far is missed under the limit so far
	h.mu.Lock()
	defer h.mu.Unlock()
	h.least.Store(int64(d))
	h.pace = PaceOf(d)
	if h.tick != nil {
		h.tick.Reset(h.pace)
	}
}

func (a *agent) stalled(at int64, gap time.Duration) {
	a.note(history.Op{Time: at, F: history.Stall, Length: int64(gap), Error: "the agent was not scheduled"})
}
