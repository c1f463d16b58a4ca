package protocol_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// asAdapter names the adapter that this test binary is when it is started again.
const asAdapter = "DLMTEST_TEST_ADAPTER"

func TestMain(m *testing.M) {
	switch name := os.Getenv(asAdapter); {
	case name == "good":
		adapter.Main(memoryAdapter())
	case name == "bare": // grants all, and offers nothing
		each(func(string, int64) string { return "" })(bufio.NewScanner(os.Stdin))
		os.Exit(0)
	case name != "":
		bad[name].run(bufio.NewScanner(os.Stdin))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// memoryAdapter is a sound lock inside its own process.
func memoryAdapter() adapter.Adapter {
	return adapter.Adapter{Name: "memory", Library: "1.0", Offers: []string{"try", "extend", "token", "validity", "sent", "lease", "events", "wait", "shared", "permits", "reentrant"},
		Open: func(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
			if c.Lease <= 0 {
				return nil, fmt.Errorf("%w: lease %v", adapter.ErrConfig, c.Lease)
			}
			return &memory{lease: c.Lease, held: map[string][]*adapter.Grant{}, tell: tell}, nil
		}}
}

type memory struct {
	lease time.Duration
	tell  adapter.Tell
	mu    sync.Mutex
	token int64
	held  map[string][]*adapter.Grant
}

func (m *memory) Try(_ context.Context, a adapter.Ask) (*adapter.Grant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := 0.0
	for _, g := range m.held[a.Key] {
		if m.holds(g) && (a.Thread == "" || g.State.(part).thread != a.Thread) {
			held += g.State.(part).of
		}
	}
	own := part{a.Key, 1, a.Thread}
	switch {
	case a.Shared:
		own.of = 1e-6
	case a.Permits > 0:
		own.of = float64(a.Want) / float64(a.Permits)
	}
	if held+own.of > 1+1e-9 {
		return nil, adapter.ErrHeld
	}
	m.token++
	g := &adapter.Grant{Token: m.token, Sent: adapter.Monotonic(), State: own}
	g.Deadline = g.Sent + int64(m.lease)
	m.held[a.Key] = append(m.held[a.Key], g)
	return g, nil
}

// part of a key: all, as much as the permits of a grant, or next to nothing for a reader.
type part struct {
	key    string
	of     float64
	thread string // of a reentrant hold
}

func (m *memory) holds(g *adapter.Grant) bool {
	return slices.Contains(m.held[g.State.(part).key], g) && g.Deadline > adapter.Monotonic()
}

func (m *memory) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	for {
		g, err := m.Try(ctx, a)
		if err == nil {
			if n, err := strconv.Atoi(a.Key); err == nil { // a key that is a number: so many events follow
				defer func() {
					for range n {
						go m.tell("lost", g, "as asked")
					}
				}()
			}
			return g, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (m *memory) Extend(_ context.Context, g *adapter.Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.holds(g) {
		return adapter.ErrNotHeld
	}
	g.Sent = adapter.Monotonic()
	g.Deadline = g.Sent + int64(m.lease)
	return nil
}

func (m *memory) Release(_ context.Context, g *adapter.Grant) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.holds(g) {
		return adapter.ErrNotHeld
	}
	key := g.State.(part).key
	m.held[key] = slices.DeleteFunc(m.held[key], func(h *adapter.Grant) bool { return h == g })
	return nil
}

func (m *memory) Close() error { return nil }

// self is this test binary.
func self() string { return os.Args[0] }
