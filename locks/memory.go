package locks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// Memory is a lock service inside this process, with leases and tokens: for tests
// and for demonstrations that need no cluster.
type Memory struct {
	mu     sync.Mutex
	token  int64
	leases map[string]memoryLease
}

type memoryLease struct {
	owner string
	until time.Time
}

// NewMemory makes an empty service.
func NewMemory() *Memory { return &Memory{leases: map[string]memoryLease{}} }

var sharedMemory = NewMemory()

// OpenMemory opens a session with the one service that this process shares.
func OpenMemory(ctx context.Context, c Config) (Client, error) { return sharedMemory.Open(ctx, c) }

// Open opens a session with this service.
func (m *Memory) Open(_ context.Context, c Config) (Client, error) {
	if c.Lease <= 0 {
		return nil, fmt.Errorf("locks: memory: lease %v is not positive", c.Lease)
	}
	return &memoryLock{
		cfg: c, server: m, owners: owners{client: c.Client},
		delay: newJitter(c, time.Millisecond, 3*time.Millisecond),
	}, nil
}

// holder needs mu.
func (m *Memory) holder(key string) (memoryLease, bool) {
	l, ok := m.leases[key]
	return l, ok && time.Now().Before(l.until)
}

func (m *Memory) take(key, owner string, lease time.Duration) (int64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, held := m.holder(key); held {
		return 0, false
	}
	m.token++
	m.leases[key] = memoryLease{owner, time.Now().Add(lease)}
	return m.token, true
}

// set ends the owner's lease after another length; 0 frees it.
func (m *Memory) set(key, owner string, lease time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, held := m.holder(key)
	if !held || l.owner != owner {
		return false
	}
	m.leases[key] = memoryLease{owner, time.Now().Add(lease)}
	return true
}

type memoryLock struct {
	cfg    Config
	server *Memory
	owners owners
	delay  *jitter
	held   holdings
}

// Acquire implements Client by polling.
func (l *memoryLock) Acquire(ctx context.Context, key string) (*Grant, error) {
	return poll(ctx, l.delay, func() (*Grant, error) { return l.Try(ctx, key) })
}

// Try implements Trier.
func (l *memoryLock) Try(_ context.Context, key string) (*Grant, error) {
	g := &Grant{Key: key, Owner: l.owners.next(), Lease: l.cfg.Lease, Sent: history.Now()}
	g.Deadline = g.Sent.Mono + int64(l.cfg.Lease)
	token, ok := l.server.take(key, g.Owner, l.cfg.Lease)
	if !ok {
		return nil, refused(ErrHeld)
	}
	g.Token = token
	l.held.add(g)
	return g, nil
}

// Release implements Client.
func (l *memoryLock) Release(_ context.Context, g *Grant) error {
	l.held.drop(g.Owner)
	if !l.server.set(g.Key, g.Owner, 0) {
		return ErrNotHeld
	}
	return nil
}

// Extend implements Extender.
func (l *memoryLock) Extend(_ context.Context, g *Grant) (*Grant, error) {
	sent := history.Now()
	if !l.server.set(g.Key, g.Owner, l.cfg.Lease) {
		return nil, ErrNotHeld
	}
	return renewed(g, sent, sent.Mono+int64(l.cfg.Lease)), nil
}

// Holder implements Inspector.
func (l *memoryLock) Holder(_ context.Context, key string) (Holder, error) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	lease, held := l.server.holder(key)
	if !held {
		return Holder{}, nil
	}
	return Holder{Owner: lease.owner, Left: time.Until(lease.until)}, nil
}

// Close implements Client.
func (l *memoryLock) Close() error {
	for _, g := range l.held.all() {
		l.server.set(g.Key, g.Owner, 0)
	}
	return nil
}
