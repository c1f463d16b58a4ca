package zookeeper

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// What is lost is not resumed: the session that follows is another one. The states are
// those of an expiry as zk.Conn tells them.
func TestExpiredIsNotResumed(t *testing.T) {
	states := make(chan zk.Event, 16)
	for _, s := range []zk.State{zk.StateHasSession, zk.StateDisconnected, zk.StateHasSession, // it has survived a cut
		zk.StateDisconnected, zk.StateExpired, zk.StateHasSession} {
		states <- zk.Event{Type: zk.EventSession, State: s}
	}
	close(states)
	var told []string
	listen(states, func() {}, func(event string, _ *adapter.Grant, _ string) { told = append(told, event) })
	if want := []string{"suspended", "resumed", "suspended", "lost"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
