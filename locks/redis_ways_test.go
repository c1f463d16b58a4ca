package locks

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A primary that a Sentinel names is reached by the way that leads there.
func TestWayToANamedServer(t *testing.T) {
	var asked atomic.Int32
	primary := fakeRedis(t, func(words []string) string {
		if strings.EqualFold(words[0], "PING") {
			asked.Add(1)
			return "+PONG"
		}
		return "-ERR unknown command"
	})
	sentinel := fakeRedis(t, func(words []string) string {
		if len(words) > 1 && strings.EqualFold(words[1], "get-master-addr-by-name") {
			return "*2\r\n$18\r\nreplicated.invalid\r\n$4\r\n6379"
		}
		if strings.EqualFold(words[0], "SENTINEL") {
			return "*0"
		}
		if strings.EqualFold(words[0], "SUBSCRIBE") {
			return fmt.Sprintf("*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1", len(words[1]), words[1])
		}
		return "-ERR unknown command"
	})
	for _, c := range []struct {
		ways map[string]string
		want bool
	}{{map[string]string{"replicated.invalid:6379": primary}, true}, {map[string]string{"replicated.invalid:6380": primary}, false}, {nil, false}} {
		asked.Store(0)
		db := failoverRedis(Config{Endpoints: []string{sentinel}, Ways: c.ways, Lease: 10 * time.Second})
		err := db.Ping(t.Context()).Err()
		if (err == nil) != c.want || (asked.Load() > 0) != c.want {
			t.Errorf("%v: %v, asked %d times", c.ways, err, asked.Load())
		}
		_ = db.Close()
	}
}
