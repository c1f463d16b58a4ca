package agent

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/history"
)

// readings notes, from before a clock fault to its end, what a server's program reads
// as its clocks, so that a report can draw them. It is computed from the page that the
// program reads them through; that it does is what the proof of the fault shows. A
// lock client stamps its own operations and needs none of this.
type readings struct {
	agent         *agent
	worker        bool // the child stamps its own
	stop, stopped chan struct{}
}

// readEvery is short against a lease and long against what a note costs.
const readEvery = 250 * time.Millisecond

// watchClock takes the first reading, and then one every now and then. a.mu is held.
func (a *agent) watchClock() *readings {
	r := &readings{agent: a, worker: a.child.spec.Speaks, stop: make(chan struct{}), stopped: make(chan struct{})}
	r.read()
	go func() {
		defer close(r.stopped)
		tick := time.NewTicker(readEvery)
		defer tick.Stop()
		for {
			select {
			case <-r.stop:
				return
			case <-tick.C:
				r.read()
			}
		}
	}()
	return r
}

func (r *readings) read() {
	if r.worker {
		return
	}
	bend, raw := r.agent.page.Bend(), history.Raw()
	r.agent.note(history.Op{F: history.Clock, Time: raw, Mono: bend.Monotonic.At(raw), Real: bend.Realtime.At(read(unix.CLOCK_REALTIME))})
}

func (r *readings) end() {
	select {
	case <-r.stop:
	default:
		close(r.stop)
	}
	<-r.stopped
}
