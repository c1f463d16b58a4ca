package adapter_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// session is a lock of one's own: SET NX PX, again after 50 ms, on one Redis. It has no owner check, which conform and a
// run find.
type session struct {
	conn  net.Conn
	lines *bufio.Reader
	lease time.Duration
	turn  sync.Mutex // requests come side by side
}

func (s *session) do(words ...string) (answer string, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	fmt.Fprintf(s.conn, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(s.conn, "$%d\r\n%s\r\n", len(w), w)
	}
	answer, err = s.lines.ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	for {
		sent := adapter.Monotonic()
		answer, err := s.do("SET", "lock/"+a.Key, "held", "NX", "PX", fmt.Sprint(s.lease.Milliseconds()))
		if err != nil {
			return nil, err // nobody knows whether it is held
		}
		if answer == "+OK" {
			return &adapter.Grant{Sent: sent, State: a.Key}, nil
		}
		select {
		case <-ctx.Done():
			return nil, adapter.ErrHeld // as it was last answered
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *session) Release(_ context.Context, g *adapter.Grant) error {
	answer, err := s.do("DEL", "lock/"+g.State.(string))
	if err == nil && answer == ":0" {
		return adapter.ErrNotHeld
	}
	return err
}

func (s *session) Close() error { return s.conn.Close() }

// A whole adapter. Build it with CGO_ENABLED=0, and: dlmtest conform --backend redis --adapter-files . -- /adapter/mine
func ExampleMain() {
	adapter.Main(adapter.Adapter{Name: "mine", Offers: []string{"lease", "wait", "sent"},
		Open: func(ctx context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Endpoints[0])
			if err != nil {
				return nil, err
			}
			return &session{conn: conn, lines: bufio.NewReader(conn), lease: c.Lease}, nil
		}})
}
