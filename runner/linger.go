package runner

import (
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// In a load that lingers a key is stuck if somebody waits for it and nothing has happened to it for so many leases: a grant, a
// renewal or a release that was answered, or a fault that was over. Whoever was granted it last may still work.
const (
	stuckFree = 1
	stuckHeld = 3
)

// lingering has a load go on behind its time while a key is stuck, until it moves or the judge has seen that it does
// not: a wait that is cut short is no violation, and a scenario that is long enough for it costs each run that time.
type lingering struct {
	s     *stage
	read  int                 // records that were looked at
	moved map[string]movement // by key
	ends  time.Time           // at the latest
	from  time.Time           // the load's time was over
}

// movement is the last that happened to a key.
type movement struct {
	at    int64 // raw; until something has happened, that of the first request
	held  bool  // it was a grant, or a renewal
	asked int64 // the last request for it
}

// lingering is nil where a load has its time.
func (s *stage) lingering() *lingering {
	if !s.Linger {
		return nil
	}
	return &lingering{s: s, moved: map[string]movement{}}
}

// goesOn says whether the load goes on although its time is over.
func (l *lingering) goesOn() bool {
	if l == nil {
		return false
	}
	now := time.Now()
	if l.from.IsZero() {
		l.from, l.ends = now, now.Add(checker.Patience(l.s.lease)+2*l.s.lease)
	}
	l.look()
	if now.After(l.ends) || !l.stuck(history.Raw()) {
		return false
	}
	l.s.lingered = now.Sub(l.from)
	return true
}

// look reads what was recorded since it looked last.
func (l *lingering) look() {
	for _, op := range l.s.rec.since(l.read) {
		l.read++
		if op.Fault != nil && op.Fault.Phase == history.Heal {
			for key, m := range l.moved {
				m.at = max(m.at, op.Time)
				l.moved[key] = m
			}
			continue
		}
		m := l.moved[op.Key]
		asks := op.F == history.Acquire || op.F == history.Try
		switch {
		case op.Key == "" || !asks && op.F != history.Extend && op.F != history.Release:
			continue
		case op.Type == history.OK:
			m.at, m.held = max(m.at, op.Time), op.F != history.Release
		case op.Type == history.Invoke && asks:
			if m.asked = max(m.asked, op.Time); m.at == 0 { // it is free until somebody is granted it
				m.at = op.Time
			}
		case op.F == history.Release: // nothing came of it, or nobody knows what
			m.held = false
		}
		l.moved[op.Key] = m
	}
}

// stuck says that a key of the load waits to be granted, and not yet for longer than the judge needs.
func (l *lingering) stuck(now int64) bool {
	for key, m := range l.moved {
		still, waits := time.Duration(now-m.at), m.asked > m.at || len(l.s.rec.feed.Waiting(key)) > 0
		least := stuckFree * l.s.lease
		if m.held {
			least = stuckHeld * l.s.lease
		}
		if waits && still > least && still < checker.Patience(l.s.lease)+l.s.lease/2 && slices.Contains(l.s.setup.Keys, key) {
			return true
		}
	}
	return false
}
