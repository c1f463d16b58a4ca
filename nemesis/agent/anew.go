package agent

import "errors"

// answerAnew readies the node for another run on the same cluster, and answers m: what comes after the answer belongs to
// that run. A server, of which spec says how it is watched, goes on. A worker (spec is nil) is ended with its links.
func (a *agent) answerAnew(m Message, spec *Child) {
	if err := a.clear(spec); err != nil {
		m.Error = err.Error()
		a.out.send(m)
		return
	}
	a.out.anew(m)
}

// clear ends what the last run has left on the node. A fault of clocks or disks cannot be cleared away.
func (a *agent) clear(spec *Child) error {
	a.mu.Lock()
	c := a.child
	spoilt := a.disk != nil || a.page != nil || len(a.held)+len(a.looked) > 0
	a.mu.Unlock()
	switch {
	case spoilt:
		return errors.New("anew: a fault of the last run is still in force, or what it needs is still there")
	case spec == nil && c != nil:
		c.planned.Store(true)
		c.kill()
		<-c.ended
	case spec != nil && (c == nil || c.over()):
		return errors.New("anew: the node's server does not run")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs++
	for _, arm := range a.arms {
		if arm.limit != nil {
			arm.limit.Stop() // the next run has faults of the same numbers
		}
	}
	a.former, a.arms = Ended{}, nil
	if a.ways != nil {
		_ = a.ways.open.Close() // nobody is at their ends
		a.ways = nil
	}
	if spec == nil {
		a.child = nil
		a.beats.limit(0)
		return nil
	}
	a.beats.limit(spec.Stall)
	return a.serveProbe(spec)
}

// over says that the child has ended.
func (c *child) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}
