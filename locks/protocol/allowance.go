package protocol

import "time"

// allowance is how much an adapter may tell beyond short answers to what it is asked: its events, and the words of its
// refusals. All of it is recorded, and would fill the disk and the memory of the machine, which no limit of its node counts.
type allowance struct {
	left int // bytes
	at   time.Time
}

const (
	allowedAtOnce   = 16 << 20
	allowedASecond  = 1 << 20
	ofAnAnswer      = 256 // bytes of a line that cost nothing
	ofAnEventsNotes = 256 // what is recorded of an event beside its words
)

// take counts a line, and says whether it was still allowed.
func (a *allowance) take(line int, event bool, now time.Time) bool {
	if a.at.IsZero() {
		a.left, a.at = allowedAtOnce, now
	}
	if more := int(now.Sub(a.at).Seconds() * allowedASecond); more > 0 {
		a.left, a.at = min(allowedAtOnce, a.left+more), now
	}
	if event {
		a.left -= line + ofAnEventsNotes
	} else {
		a.left -= max(0, line-ofAnAnswer)
	}
	return a.left >= 0
}
