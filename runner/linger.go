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
	begun map[int]int64       // the faults that began, by id
	ends  time.Time           // at the latest
	from  time.Time           // the load's time was over
}

// movement is the last that happened to a key.
type movement struct {
	at    int64 // raw; until something has happened, that of the first request
	held  bool  // it was a grant, or a renewal
	asked int64 // the last request for it
	clock int64 // the judge's patience begins then: the last that happened, an acquire of unknown outcome ended, or connections flowed after a cut
}

// lingering is nil where a load has its time.
func (s *stage) lingering() *lingering {
	if !s.Linger {
		return nil
	}
	return &lingering{s: s, moved: map[string]movement{}, begun: map[int]int64{}}
}

// goesOn says whether the load goes on although its time is over.
func (l *lingering) goesOn() bool {
	if l == nil {
		return false
	}
	now := time.Now()
	if l.from.IsZero() {
		l.from, l.ends = now, now.Add(2*checker.Patience(l.s.lease))
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
		if op.Fault != nil {
			l.fault(op.Fault, op.Time)
			continue
		}
		m := l.moved[op.Key]
		asks := op.F == history.Acquire || op.F == history.Try
		switch {
		case op.Key == "" || !asks && op.F != history.Extend && op.F != history.Release:
			continue
		case op.Type == history.Info && asks:
			m.clock = max(m.clock, op.Time)
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

// fault starts the clocks of all keys anew as one ends.
func (l *lingering) fault(f *history.FaultNote, at int64) {
	switch f.Phase {
	case history.Begin:
		l.begun[f.ID] = at
	case history.Heal:
		flows := at
		if began, known := l.begun[f.ID]; known && f.Kind == "partition" {
			flows = checker.FlowAgain(began, at)
		}
		for key, m := range l.moved {
			m.at, m.clock = max(m.at, at), max(m.clock, flows)
			l.moved[key] = m
		}
	}
}

// stuck says that a key of the load waits to be granted, and not yet for longer than the judge needs.
func (l *lingering) stuck(now int64) bool {
	for key, m := range l.moved {
		still, counted, waits := time.Duration(now-m.at), time.Duration(now-max(m.at, m.clock)), m.asked > m.at || len(l.s.rec.feed.Waiting(key)) > 0
		least := stuckFree * l.s.lease
		if m.held {
			least = stuckHeld * l.s.lease
		}
		if waits && still > least && counted < checker.Patience(l.s.lease)+l.s.lease/2 && slices.Contains(l.s.setup.Keys, key) {
			return true
		}
	}
	return false
}
