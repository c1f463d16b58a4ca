package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// site is a cluster and who watches over it, for one run or for several.
type site struct {
	run     clusters.Run
	cluster *clusters.Cluster
	where   string // docker or local
	janitor *clusters.Janitor
	every   []*node // servers, the resource, clients, those too that a run does not use
	shape   string  // of the runs that it can serve; "": no other
	served  int     // runs
}

// downLimit is for all nodes together: a second on a quiet machine, a minute for a daemon that others keep busy.
const downLimit = 90 * time.Second

// down removes all nodes and closes their logs.
func (s *site) down(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, downLimit)
	defer cancel()
	err := s.cluster.Down(ctx)
	if err != nil {
		s.janitor.Leave(s.run)
		err = fmt.Errorf("not all of the cluster could be removed; what is left goes within two minutes if the daemon "+
			"can be reached, else at the next start: %w", err)
	}
	err = errors.Join(err, s.janitor.Done())
	s.closeLogs()
	return err
}

func (s *site) closeLogs() {
	for _, n := range s.every {
		_ = n.log.Close() // a log is no evidence
	}
}

// clients is how many client nodes there are.
func (s *site) clients() (n int) {
	for _, x := range s.every {
		if x.Spec.Role == "client" {
			n++
		}
	}
	return n
}

// ErrShared is of a run that failed on a cluster that earlier runs had used, which may be why.
var ErrShared = errors.New("its cluster had served earlier runs")

// shared says of an error of a run whether its cluster was shared.
func (s *stage) shared(err error) error {
	if err != nil && s.earlier > 0 {
		err = fmt.Errorf("%w; %w", err, ErrShared)
	}
	return err
}

// again has all nodes serve another run. On an error the site is of no use any more.
func (s *site) again(ctx context.Context, p *plan, rec *recorder, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, againLimit)
	defer cancel()
	next, errs := make([]*node, len(s.every)), make([]error, len(s.every))
	var wait sync.WaitGroup
	for i, n := range s.every {
		var spec *agent.Child
		if n.serves() {
			spec = p.serverChild(n)
		}
		wait.Go(func() { next[i], errs[i] = n.again(ctx, rec, filepath.Join(dir, logsDir), spec) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.every = next
	return nil
}

// againLimit is how long the nodes of a site may take to be ready for another run.
const againLimit = 10 * time.Second

// Warm keeps clusters between runs of one lock that differ in their scenarios alone. Each run on one has keys of its own,
// its clients and the guarded resource are started anew, and the servers go on, as those of a service do. Who finds
// something there has to see it again in a cluster of its own: what an earlier run has left may be the cause.
type Warm struct {
	Most int // clusters that wait for a run at a time

	number atomic.Int64   // of runs
	going  sync.WaitGroup // clusters that are being taken down

	mu       sync.Mutex
	moved    *sync.Cond // a cluster waits, or has started
	idle     []*site    // that waits longest first
	starting int        // clusters, at this moment
	errs     []error    // of clusters that were taken down
	closed   bool
}

const (
	// warmClients is how many clients a warm cluster has at least: few runs have more.
	warmClients = 6
	// warmRuns are served by one cluster: what clients leave on their nodes and on the servers grows.
	warmRuns = 25
)

// shapeOf is what two runs have in common that can have the same cluster; "": this one can have none but its own. Programs
// are started for faults of clocks and disks, and a cluster that is not dlmtest's own is not dlmtest's to share.
func (p *plan) shapeOf() string {
	if p.Warm == nil || nemesis.Bends(p.faults) || p.disks() || p.Resource == "postgres" || p.Compose != "" || p.elsewhere() {
		return ""
	}
	client := p.clients[0]
	client.Name = ""
	return fmt.Sprintf("%+v|%s|%s|%+v|%+v|%+v", p.Settings, p.Backend, p.Self, p.servers, p.other, client)
}

// keys is what the names of a run's keys end with: nobody else's do.
func (w *Warm) keys() string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("-w%d", w.number.Add(1))
}

// take is a cluster that waits for a run of this shape with so many clients; nil: there is none, and the run has its turn to start one,
// until it says that it has begun. Clusters that start all at once, as at the begin of a hunt, keep each other from being of use.
func (w *Warm) take(shape string, clients int) (_ *site, begun func()) {
	if w == nil {
		return nil, func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moved == nil {
		w.moved = sync.NewCond(&w.mu)
	}
	for {
		for i, s := range slices.Backward(w.idle) {
			if shape != "" && s.shape == shape && s.clients() >= clients {
				w.idle = slices.Delete(w.idle, i, i+1)
				return s, func() {}
			}
		}
		if w.starting < max(runtime.NumCPU()/2, 1) {
			w.starting++
			return nil, w.started
		}
		w.moved.Wait() // whoever starts one has a limit
	}
}

// started ends the turn of a run.
func (w *Warm) started() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starting--
	w.moved.Broadcast()
}

// give has a cluster wait for its next run, and returns one that has to go instead; nil: none has.
func (w *Warm) give(s *site) (goes *site) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return s
	}
	if w.moved != nil {
		w.moved.Broadcast()
	}
	if w.idle = append(w.idle, s); len(w.idle) > w.Most {
		goes = w.idle[0]
		w.idle = slices.Delete(w.idle, 0, 1)
	}
	return goes
}

// away takes a cluster down while its last run is judged and the next one starts; Close waits for it. After Close it is down
// when away returns.
func (w *Warm) away(ctx context.Context, s *site) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return s.down(ctx)
	}
	w.going.Go(func() {
		if err := s.down(ctx); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.errs = append(w.errs, err)
		}
	})
	return nil
}

// Close takes down the clusters that wait, and those that are given from now on.
func (w *Warm) Close(ctx context.Context) (err error) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	idle := w.idle
	w.idle, w.closed = nil, true
	w.mu.Unlock()
	errs := make([]error, len(idle))
	var wait sync.WaitGroup
	for i, s := range idle {
		wait.Go(func() { errs[i] = s.down(ctx) })
	}
	wait.Wait()
	w.going.Wait()
	return errors.Join(append(errs, w.errs...)...)
}

// leave takes the cluster of a run down, now or beside what comes next, or leaves it for the next run. sound: the run went as planned.
func (s *stage) leave(ctx context.Context, sound bool) error {
	goes := s.site
	if s.served++; sound && s.shape != "" && s.served < warmRuns && !s.spoilt() {
		s.closeLogs()
		goes = s.Warm.give(goes)
	}
	switch {
	case goes == nil:
		return nil
	case s.Warm == nil || s.Scenario.Alone(): // whoever comes next is to have the machine alone as well
		return goes.down(ctx)
	}
	return s.Warm.away(ctx, goes)
}

// spoilt says that the servers may not be what they were: one has ended, was killed, or (where they depend on each other)
// was away from the others for a while. A node whose records did not end may be busy with them.
func (s *stage) spoilt() bool {
	s.rec.mu.Lock()
	defer s.rec.mu.Unlock()
	if s.lost > 0 || s.open || s.rec.err != nil || s.rec.blamed != nil {
		return true
	}
	alone := !slices.ContainsFunc(s.servers, func(n *node) bool { return len(n.Spec.Leads) > 0 })
	return slices.ContainsFunc(s.rec.ops, func(op history.Op) bool {
		struck := op.Fault != nil && slices.ContainsFunc(s.servers, func(n *node) bool { return n.Name() == op.Fault.Target })
		return struck && (!alone || op.Fault.Kind == "kill" || op.Fault.Kind == "crash")
	})
}
