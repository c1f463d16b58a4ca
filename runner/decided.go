package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

const (
	// underWay is how long a record may be on its way to the runner without one from elsewhere that was made
	// after it being judged before it. What takes longer is found by checker.Result.EarlyDoubt.
	underWay = 100 * time.Millisecond
	// lookShare is how many times as long as a look has taken no other is taken: the machine is the clients'.
	lookShare = 10
)

// decider ends a load once all that its scenario expects has been seen (--until decided): once the
// faults are over, what has come is judged again and again, by the judge of the whole run. A load that
// shows a violation that is expected ends then. Any other goes on for the scenario's time after its
// faults, so that nothing holds for want of what comes late: a server that is back, a lease
// that was left behind. What was seen in a part may look otherwise in the whole, so the whole is judged as ever.
type decider struct {
	s        *stage
	begun    time.Time
	expected map[string]checker.Expectation
	after    time.Time // the scenario's time after its faults is over
	looking  chan looked
	last     looked
}

// looked is what a look has found, at which record, and when there may be another.
type looked struct {
	seen checker.Seen
	at   int64
	next time.Time
}

// decider is nil where the load has its time.
func (s *stage) decider(begun time.Time) *decider {
	if s.Until != untilDecided {
		return nil
	}
	return &decider{s: s, begun: begun, expected: s.Scenario.ExpectedOf(history.LockName(s.Backend, s.setup.Promise.Library), s.FenceOn, s.setup.Promise.Idles)}
}

// untilDecided is the word of --until that ends a load early.
const untilDecided = "decided"

// healed says that all faults are over, and until when the scenario wants to go on.
func (d *decider) healed(after time.Time) {
	if d != nil {
		d.after = after
	}
}

// ends says whether the load ends now, before its time, and notes it. It never waits.
func (d *decider) ends(say Progress) bool {
	if d == nil {
		return false
	}
	select {
	case d.last = <-d.looking:
		d.looking = nil
	default:
	}
	now := time.Now()
	if d.last.seen == checker.Shown || d.last.seen == checker.Settled && now.After(d.after) {
		d.s.rec.note(history.Op{Time: d.last.at, F: history.Decided, Length: int64(now.Sub(d.begun))})
		say.Line(fmt.Sprintf("all that the scenario expects has been seen after %s: the load ends", now.Sub(d.begun).Round(time.Millisecond)))
		return true
	}
	if d.looking == nil && now.After(d.last.next) {
		d.looking = make(chan looked, 1)
		go func(found chan<- looked) {
			seen, at := seeSoFar(d.s.setup, d.s.rec.soFar(), d.expected)
			found <- looked{seen, at, now.Add((1 + lookShare) * time.Since(now))}
		}(d.looking)
	}
	return false
}

// seeSoFar looks at what has come of a load that goes on: as if all sources had ended a moment ago. at is
// the time of the last record.
func seeSoFar(setup history.Setup, ops []history.Op, expected map[string]checker.Expectation) (seen checker.Seen, at int64) {
	if len(ops) == 0 {
		return checker.TooLittle, 0
	}
	at = ops[len(ops)-1].Time
	until := at - int64(underWay)
	ops = slices.DeleteFunc(ops, func(op history.Op) bool { return op.Time > until })
	whole := map[string]int{}
	for _, name := range setup.Sources {
		whole[name] = 0
	}
	ops = append(ops, endNotes(ops, whole)...)
	history.Sort(ops)
	if history.Validate(setup, ops) != nil { // something is under way still
		return checker.TooLittle, at
	}
	return checker.See(setup, ops, expected), at
}
