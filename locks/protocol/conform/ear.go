package conform

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// The events of the protocol.
const (
	suspended = "suspended"
	resumed   = "resumed"
	lost      = "lost"
)

// ear hears the events of one adapter, and whether each can be so.
type ear struct {
	born int64 // by CLOCK_MONOTONIC, ns

	mu     sync.Mutex
	deaf   bool // its session is being closed: what it tells now is about that
	events []protocol.Event
	last   map[string]string // the last event, by the grant that it named; "": the session
	wrong  []string
	more   chan struct{} // closed at the next event
}

func newEar() *ear {
	return &ear{born: history.Mono(), last: map[string]string{}, more: make(chan struct{})}
}

// hear is called in the order in which the adapter prints.
func (e *ear) hear(c *protocol.Conn, ev protocol.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.deaf {
		return
	}
	if why := e.untrue(c, ev); why != "" && !slices.Contains(e.wrong, why) {
		e.wrong = append(e.wrong, why)
	}
	e.last[ev.Grant] = ev.Event
	if ev.Event == lost && ev.Grant == "" { // and with it every grant made under it
		clear(e.last)
		e.last[""] = lost
	}
	e.events = append(e.events, ev)
	close(e.more)
	e.more = make(chan struct{})
}

// untrue says why an event cannot be so, or "".
func (e *ear) untrue(c *protocol.Conn, ev protocol.Event) string {
	granted, held := c.Granted(ev.Grant)
	what, now := "told "+ev.Event+" of the session", history.Mono()
	if ev.Grant != "" {
		what = fmt.Sprintf("told %s of the grant %q", ev.Event, ev.Grant)
	}
	switch {
	case !c.Offers(protocol.OfferEvents):
		return fmt.Sprintf("told %s, and hello does not offer events: offer it if the library promises them, else tell none", ev.Event)
	case ev.Grant != "" && !granted:
		return what + ", which it has not granted: answer acquire first, and copy the grant's name into its events"
	case ev.Grant != "" && !held:
		return what + " after its release was answered with ok, when nobody held it any more: stop watching a grant before you answer its release"
	case ev.At > now:
		return fmt.Sprintf("%s with at_ns %v from now: it is by CLOCK_MONOTONIC, in ns", what, time.Duration(ev.At-now))
	case ev.At != 0 && ev.At < e.born:
		return fmt.Sprintf("%s with at_ns %v before the adapter was started: it is by CLOCK_MONOTONIC, in ns", what, time.Duration(e.born-ev.At))
	}
	return e.outOfTurn(what, ev)
}

// outOfTurn says why an event cannot follow those before it, or "".
func (e *ear) outOfTurn(what string, ev protocol.Event) string {
	own, whole := e.last[ev.Grant], e.last[""]
	switch {
	case ev.Event == resumed && own == lost:
		return what + " after lost: what is lost stays lost; acquire it anew"
	case ev.Event == resumed && own != suspended && whole != suspended:
		return what + ", which was not suspended: tell resumed only after suspended, and nothing when the first connection is made"
	case ev.Event == suspended && own == suspended:
		return what + " twice, with nothing between: tell it once, when it changes"
	case ev.Event == lost && own == lost && ev.Grant != "":
		return what + " twice: it is lost once"
	}
	return ""
}

// count is how many events have come so far.
func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.events)
}

// after waits for the first event that is wanted of those from the nth on, at most limit;
// "": it has not come, or the adapter has failed.
func (e *ear) after(n int, c *protocol.Conn, limit time.Duration, wanted func(protocol.Event) bool) string {
	end := time.After(limit)
	for {
		e.mu.Lock()
		events, more := e.events[n:], e.more
		e.mu.Unlock()
		if i := slices.IndexFunc(events, wanted); i >= 0 {
			return events[i].Event
		}
		select {
		case <-more:
		case <-c.Failed():
			return ""
		case <-end:
			return ""
		}
	}
}

// stop makes it deaf, and returns what was wrong.
func (e *ear) stop() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deaf = true
	return e.wrong
}
