package dlmtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// everything is what the memory lock can be made to offer.
var everything = Promise{Leased: true, Token: true, Until: true, Sent: true, Lost: true, Extend: true, Try: true, Bound: 100 * time.Millisecond}

// memory is a lock under test over the one that dlmtest has in memory.
func memory(p Promise) Lock {
	return Lock{Name: "memory", Backends: []string{"redis"}, Promise: p, Open: func(ctx context.Context, c Config) (Client, error) {
		m, err := locks.OpenMemory(ctx, locks.Config{Endpoints: c.Endpoints, Lease: c.Lease, Client: c.Client, Seed: c.Seed})
		if err != nil {
			return nil, err
		}
		return &memoryClient{m}, nil
	}}
}

type memoryClient struct{ locks.Client }

func (c *memoryClient) Acquire(ctx context.Context, key string) (Grant, error) {
	return c.grant(c.Client.Acquire(ctx, key))
}

func (c *memoryClient) Try(ctx context.Context, key string) (Grant, error) {
	return c.grant(c.Client.(locks.Trier).Try(ctx, key))
}

func (c *memoryClient) grant(g *locks.Grant, err error) (Grant, error) {
	if err != nil {
		return nil, err
	}
	return &memoryGrant{c: c.Client, g: g, asked: time.Now(), lost: make(chan struct{})}, nil
}

type memoryGrant struct {
	c     locks.Client
	g     *locks.Grant
	asked time.Time
	lost  chan struct{}
}

func (m *memoryGrant) Release(ctx context.Context) error { return m.c.Release(ctx, m.g) }
func (m *memoryGrant) Extend(ctx context.Context) error {
	asked := time.Now()
	g, err := m.c.(locks.Extender).Extend(ctx, m.g)
	if err == nil {
		m.g, m.asked = g, asked
	}
	return err
}
func (m *memoryGrant) Token() int64          { return m.g.Token }
func (m *memoryGrant) Until() time.Time      { return m.asked.Add(m.g.Lease) }
func (m *memoryGrant) Sent() time.Time       { return m.asked }
func (m *memoryGrant) Lost() <-chan struct{} { return m.lost }

// conforms runs the conformance suite of dlmtest over a Lock, as dlmtest conform does.
func conforms(t *testing.T, l Lock) []locktest.Finding {
	t.Helper()
	entry := l.library().On[0]
	h := locktest.For(entry, locks.Config{Lease: 300 * time.Millisecond, Endpoints: []string{t.Name()}})
	h.Promise.Bound, h.Clients = l.Promise.Bound, 3
	return locktest.Run(t.Context(), h)
}

func TestConforms(t *testing.T) {
	for name, p := range map[string]Promise{
		"everything": everything,
		"least":      {Leased: true, Bound: everything.Bound},
		"until":      {Leased: true, Until: true, Extend: true, Bound: everything.Bound},
		"sent":       {Leased: true, Sent: true, Try: true, Token: true, Bound: everything.Bound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := locktest.Err(conforms(t, memory(p))); err != nil {
				t.Error(err)
			}
		})
	}
}

// bad is a client whose methods are what a test makes of them.
type bad struct {
	acquire func(context.Context) (Grant, error)
	close   func() error
}

func (b bad) Acquire(ctx context.Context, _ string) (Grant, error) { return b.acquire(ctx) }
func (b bad) Close() error {
	if b.close == nil {
		return nil
	}
	return b.close()
}

// claims is a grant that says what it likes.
type claims struct {
	token       int64
	until, sent time.Time
}

func (claims) Release(context.Context) error { panic("boom in Release") }
func (c claims) Token() int64                { return c.token }
func (c claims) Until() time.Time            { return c.until }
func (c claims) Sent() time.Time             { return c.sent }

// silent is a grant that can be given back, and nothing else.
type silent struct{}

func (silent) Release(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func hang(context.Context) (Grant, error) { select {} }

func giving(g Grant) func(context.Context) (Grant, error) {
	return func(context.Context) (Grant, error) { return g, nil }
}

// Whatever a Lock does that none may do is named as its mistake, with what to do.
func TestFaults(t *testing.T) {
	defer func(was time.Duration) { overtime = was }(overtime)
	overtime = 100 * time.Millisecond
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for _, c := range []struct {
		name, want string
		promise    Promise
		client     Client
		release    bool
	}{
		{"panics", "Acquire panicked: boom", Promise{}, bad{acquire: func(context.Context) (Grant, error) { panic("boom") }}, false},
		{"panics in release", "Release panicked: boom in Release", Promise{}, bad{acquire: giving(claims{})}, true},
		{"hangs", "Acquire has not returned 100ms after its context ended", Promise{}, bad{acquire: hang}, false},
		{"ends its goroutine", "neither a grant nor an error", Promise{}, bad{acquire: func(context.Context) (Grant, error) { return nil, nil }}, false},
		{"no client", "Open returned neither a client nor an error", Promise{}, nil, false},
		{"no Try", "no method Try(", Promise{Try: true}, bad{}, false},
		{"no Token", "Promise.Token is true, and the grant (dlmtest.silent) has no method Token() int64", Promise{Token: true}, bad{acquire: giving(silent{})}, false},
		{"no Until", "no method Until() time.Time", Promise{Leased: true, Until: true}, bad{acquire: giving(silent{})}, false},
		{"no Sent", "no method Sent() time.Time", Promise{Leased: true, Sent: true}, bad{acquire: giving(silent{})}, false},
		{"token 0", "has the token 0", Promise{Token: true}, bad{acquire: giving(claims{})}, false},
		{"token -7", "has the token -7", Promise{Token: true}, bad{acquire: giving(claims{token: -7})}, false},
		{"valid never", "which was before it was asked for", Promise{Leased: true, Until: true}, bad{acquire: giving(claims{})}, false},
		{"negative lease", "which was before it was asked for", Promise{Leased: true, Until: true}, bad{acquire: giving(claims{until: in(-time.Second)})}, false},
		{"sent long ago", "want Sent within the call", Promise{Leased: true, Sent: true}, bad{acquire: giving(claims{sent: in(-time.Hour)})}, false},
		{"sent in the future", "want Sent within the call", Promise{Leased: true, Sent: true}, bad{acquire: giving(claims{sent: in(time.Hour)})}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Lock{Name: "bad", Backends: []string{"redis"}, Promise: c.promise, Open: func(context.Context, Config) (Client, error) { return c.client, nil }}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			s, err := l.open("redis")(ctx, locks.Config{Lease: time.Second, Client: "client-1"})
			var g *locks.Grant
			if err == nil {
				g, err = s.Acquire(ctx, "key")
			}
			if err == nil && c.release {
				err = s.Release(ctx, g)
			}
			if !errors.Is(err, locks.ErrFaulty) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want a fault with %q", err, c.want)
			}
			if strings.Contains(c.name, "panics") && !strings.Contains(err.Error(), "adapter_test.go:") {
				t.Errorf("it does not say where: %v", err)
			}
		})
	}
}

func TestHangsInOpen(t *testing.T) {
	defer func(was time.Duration) { overtime = was }(overtime)
	overtime = 100 * time.Millisecond
	l := Lock{Name: "slow", Backends: []string{"redis"}, Open: func(context.Context, Config) (Client, error) { select {} }}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.open("redis")(ctx, locks.Config{}); !errors.Is(err, locks.ErrFaulty) {
		t.Errorf("got %v, want a fault", err)
	}
}

// A session tells of a loss once, not of one after its release, and Close ends it.
func TestLost(t *testing.T) {
	s, err := func() (locks.Client, error) {
		l := memory(everything)
		return l.open("redis")(t.Context(), locks.Config{Lease: time.Second, Client: "client-1", Endpoints: []string{t.Name()}})
	}()
	if err != nil {
		t.Fatal(err)
	}
	acquire := func() (*locks.Grant, chan struct{}) {
		g, err := s.Acquire(t.Context(), "key")
		if err != nil {
			t.Fatal(err)
		}
		return g, g.State.(*hold).grant.(*memoryGrant).lost
	}
	released, quiet := acquire()
	if err := s.Release(t.Context(), released); err != nil {
		t.Fatal(err)
	}
	close(quiet)
	g, lost := acquire()
	close(lost)
	if e := <-s.(locks.Notifier).Events(); e.Owner != g.Owner || e.Kind != locks.Lost {
		t.Errorf("told %+v, want the loss of %s", e, g.Owner)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if e, open := <-s.(locks.Notifier).Events(); open {
		t.Errorf("told %+v after the end", e)
	}
}
