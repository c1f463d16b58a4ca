package locks

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// An inner hold that comes too late is given up alone: the hold around it may have been
// renewed while the answer was on its way.
func TestAnInnerHoldIsGivenUpAlone(t *testing.T) {
	scripts := make(chan string, 8)
	addr := fakeRedis(t, func(words []string) string {
		switch strings.ToUpper(words[0]) {
		case "PING":
			return "+PONG"
		case "EVAL":
			scripts <- words[1]
			return ":1"
		}
		return "-ERR unknown command"
	})
	l, err := openRedisLock(t.Context(), Config{Endpoints: []string{addr}, Lease: time.Second, Client: "c"}, firstRedis)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	hold := redisHold{[]string{"k", "t"}, redisNestFree, redisNestExtend}
	for depth, want := range map[int]string{1: redisNestFree, 2: redisUnnest} {
		err := l.giveUp(t.Context(), &Grant{Key: "k", Owner: "c/1", Depth: depth, State: hold}, errStale)
		if !errors.Is(err, ErrNotGranted) {
			t.Errorf("%d deep: %v", depth, err)
		}
		if asked := <-scripts; asked != want {
			t.Errorf("%d deep: it asked for %q", depth, asked)
		}
	}
}
