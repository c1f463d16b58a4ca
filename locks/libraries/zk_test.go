package libraries

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/locks"
)

// What is lost is not resumed: the session that follows is another one. The states are
// those of an expiry as zk.Conn tells them.
func TestExpiredIsNotResumed(t *testing.T) {
	c := &zkClient{Queue: locks.NewQueue(), ready: make(chan struct{})}
	states := make(chan zk.Event, 16)
	for _, s := range []zk.State{zk.StateHasSession, zk.StateDisconnected, zk.StateHasSession, // it has survived a cut
		zk.StateDisconnected, zk.StateExpired, zk.StateHasSession} {
		states <- zk.Event{Type: zk.EventSession, State: s}
	}
	close(states)
	c.listen(states)
	c.End()
	var told []locks.EventKind
	for e := range c.Events() {
		told = append(told, e.Kind)
	}
	if want := []locks.EventKind{locks.Suspended, locks.Resumed, locks.Suspended, locks.Lost}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
