package locktest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// memory is a harness for the in-memory lock, each client wrapped.
func memory(wrap func(locks.Client, *locks.Memory) locks.Client) locktest.Harness {
	const lease = 200 * time.Millisecond
	server := locks.NewMemory()
	return locktest.Harness{
		Promise: locks.MemoryPromise, Lease: lease, Slack: 300 * time.Millisecond,
		Open: func(ctx context.Context, client string) (locks.Client, error) {
			c, err := server.Open(ctx, locks.Config{Lease: lease, Client: client, Seed: 1})
			if wrap != nil && err == nil {
				c = wrap(c, server)
			}
			return c, err
		},
	}
}

func TestMemoryPasses(t *testing.T) {
	t.Parallel()
	if err := locktest.Err(locktest.Run(t.Context(), memory(nil))); err != nil {
		t.Error(err)
	}
}

// A lock that tells nobody until when it holds is sound all the same: it is extended by
// what it does, and not by what it tells.
func TestUntoldPasses(t *testing.T) {
	t.Parallel()
	h := memory(func(c locks.Client, _ *locks.Memory) locks.Client { return tellsNoDeadline{full(c)} })
	h.Promise.Validity = history.Untold
	if err := locktest.Err(locktest.Run(t.Context(), h)); err != nil {
		t.Error(err)
	}
}

func TestRunByName(t *testing.T) {
	t.Parallel()
	h := memory(func(c locks.Client, _ *locks.Memory) locks.Client { return noTokens{full(c)} })
	if got := locktest.Run(t.Context(), h, "cancel"); len(got) == 0 {
		t.Error("the named check did not run")
	}
	if got := locktest.Run(t.Context(), h, "interfaces"); len(got) != 0 {
		t.Errorf("a check that was not named ran: %v", got)
	}
}

// TestCatches shows that the suite catches broken locks, each by the check that
// names its fault.
func TestCatches(t *testing.T) {
	t.Parallel()
	broken := []struct {
		name, check string
		wrap        func(fullClient, *locks.Memory) locks.Client
	}{
		{"no-owner-check", "stale-release", func(c fullClient, m *locks.Memory) locks.Client { return noOwnerCheck{c, m} }},
		{"release-says-yes", "release-twice", func(c fullClient, _ *locks.Memory) locks.Client { return releaseSaysYes{c} }},
		{"tokens-repeat", "tokens", func(c fullClient, _ *locks.Memory) locks.Client { return tokensRepeat{c} }},
		{"no-tokens", "round-trip", func(c fullClient, _ *locks.Memory) locks.Client { return noTokens{c} }},
		{"deadline-from-receipt", "round-trip", func(c fullClient, _ *locks.Memory) locks.Client { return fromReceipt{c} }},
		{"left-after-limit", "wait-limit", func(c fullClient, _ *locks.Memory) locks.Client { return leftBehind{c} }},
		{"left-after-cancel", "cancel", func(c fullClient, _ *locks.Memory) locks.Client { return leftBehind{c} }},
		{"limit-ignored", "wait-limit", func(c fullClient, _ *locks.Memory) locks.Client { return limitIgnored{c} }},
		{"try-lies", "exclusion", func(c fullClient, _ *locks.Memory) locks.Client { return tryLies{c} }},
		{"try-lies", "try-refused", func(c fullClient, _ *locks.Memory) locks.Client { return tryLies{c} }},
		{"extend-lies", "extend", func(c fullClient, _ *locks.Memory) locks.Client { return extendLies{c} }},
		{"extend-lies", "expiry", func(c fullClient, _ *locks.Memory) locks.Client { return extendLies{c} }},
		{"one-owner", "owners", func(c fullClient, _ *locks.Memory) locks.Client { return oneOwner{c} }},
		{"close-keeps", "close", func(c fullClient, _ *locks.Memory) locks.Client { return closeKeeps{c} }},
		{"holder-lies", "holder", func(c fullClient, _ *locks.Memory) locks.Client { return holderLies{c} }},
		{"no-extender", "interfaces", func(c fullClient, _ *locks.Memory) locks.Client { return bare{c} }},
		{"panics", "handover", func(c fullClient, _ *locks.Memory) locks.Client { return panics{c} }},
	}
	for _, b := range broken {
		t.Run(b.name+"/"+b.check, func(t *testing.T) {
			t.Parallel()
			h := memory(func(c locks.Client, m *locks.Memory) locks.Client { return b.wrap(full(c), m) })
			got := locktest.Run(t.Context(), h, b.check)
			if len(got) != 1 {
				t.Fatalf("%s passed %s", b.name, b.check)
			}
			t.Log(got[0].Err)
		})
	}
}

// What a lock does not promise it is not asked, and not counted as asked either.
func TestAsks(t *testing.T) {
	for _, c := range []struct {
		promise history.Promise
		not     []string
	}{
		{history.Promise{}, []string{"try-refused", "no-limit", "tokens", "extend", "expiry", "shared", "permits", "reentrant"}},
		{history.Promise{Tries: true, Token: true, Extends: true, Leased: true, NoLimit: true}, []string{"wait-limit", "cancel", "shared", "permits", "reentrant"}},
	} {
		var not []string
		for _, check := range locktest.Checks {
			if !check.Asks(c.promise) {
				not = append(not, check.Name)
			}
		}
		if !slices.Equal(not, c.not) {
			t.Errorf("%+v is not asked %v, want %v", c.promise, not, c.not)
		}
	}
}

func TestChecksHaveNamesOfTheirOwn(t *testing.T) {
	var names []string
	for _, c := range locktest.Checks {
		if slices.Contains(names, c.Name) || c.Name == "" || c.About == "" {
			t.Errorf("check %q repeats a name, or lacks one or its sentence", c.Name)
		}
		names = append(names, c.Name)
	}
}

// fullClient is all that the in-memory lock offers; wrappers embed it and break
// one method.
type fullClient interface {
	locks.Client
	locks.Trier
	locks.Extender
	locks.Inspector
}

func full(c locks.Client) fullClient { return c.(fullClient) }

// change wraps what Acquire grants.
func change(g *locks.Grant, err error, f func(*locks.Grant)) (*locks.Grant, error) {
	if err == nil {
		f(g)
	}
	return g, err
}

type tellsNoDeadline struct{ fullClient }

func (c tellsNoDeadline) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return noDeadline(c.fullClient.Acquire(ctx, key))
}

func (c tellsNoDeadline) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return noDeadline(c.fullClient.Try(ctx, key))
}

func (c tellsNoDeadline) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	return noDeadline(c.fullClient.Extend(ctx, g))
}

func noDeadline(g *locks.Grant, err error) (*locks.Grant, error) {
	return change(g, err, func(g *locks.Grant) { g.Deadline = 0 })
}

type noOwnerCheck struct {
	fullClient
	m *locks.Memory
}

func (c noOwnerCheck) Release(ctx context.Context, g *locks.Grant) error {
	h, _ := c.Holder(ctx, g.Key)
	return c.fullClient.Release(ctx, &locks.Grant{Key: g.Key, Owner: h.Owner})
}

type releaseSaysYes struct{ fullClient }

func (c releaseSaysYes) Release(ctx context.Context, g *locks.Grant) error {
	c.fullClient.Release(ctx, g)
	return nil
}

type tokensRepeat struct{ fullClient }

func (c tokensRepeat) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	return change(g, err, func(g *locks.Grant) { g.Token = (g.Token + 1) / 2 })
}

type noTokens struct{ fullClient }

func (c noTokens) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	return change(g, err, func(g *locks.Grant) { g.Token = 0 })
}

type fromReceipt struct{ fullClient }

func (c fromReceipt) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	time.Sleep(time.Millisecond) // the answer takes its time
	return change(g, err, func(g *locks.Grant) { g.Deadline = history.Mono() + int64(g.Lease) })
}

// leftBehind goes on asking after its caller has gone.
type leftBehind struct{ fullClient }

func (c leftBehind) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	if err != nil {
		go c.fullClient.Acquire(context.Background(), key)
		time.Sleep(2 * time.Millisecond)
	}
	return g, err
}

type limitIgnored struct{ fullClient }

func (c limitIgnored) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.fullClient.Acquire(context.WithoutCancel(ctx), key)
}

// tryLies grants whatever the server says.
type tryLies struct{ fullClient }

func (c tryLies) Try(ctx context.Context, key string) (*locks.Grant, error) {
	if g, err := c.fullClient.Try(ctx, key); err == nil {
		return g, nil
	}
	now := history.Now()
	return &locks.Grant{
		Key: key, Owner: fmt.Sprint("liar/", now.Raw), Token: now.Raw, Sent: now, Lease: 200 * time.Millisecond,
		Deadline: now.Mono + int64(200*time.Millisecond),
	}, nil
}

func (c tryLies) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	return c.Try(ctx, key)
}

type extendLies struct{ fullClient }

func (c extendLies) Extend(_ context.Context, g *locks.Grant) (*locks.Grant, error) {
	r := *g
	r.Sent = history.Now()
	r.Deadline = r.Sent.Mono + int64(r.Lease)
	return &r, nil
}

type oneOwner struct{ fullClient }

func (c oneOwner) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	return change(g, err, func(g *locks.Grant) {
		*g = locks.Grant{
			Key: key, Owner: "me", Token: g.Token, Sent: g.Sent, Lease: g.Lease, Deadline: g.Deadline, State: g.Owner,
		}
	})
}

func (c oneOwner) Release(ctx context.Context, g *locks.Grant) error {
	return c.fullClient.Release(ctx, &locks.Grant{Key: g.Key, Owner: g.State.(string)})
}

// closeKeeps leaves its lock to a renewal that nobody stops.
type closeKeeps struct{ fullClient }

func (c closeKeeps) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, key)
	if err == nil {
		go func() {
			for range 20 {
				c.fullClient.Extend(context.Background(), g)
				time.Sleep(50 * time.Millisecond)
			}
		}()
	}
	return g, err
}

func (c closeKeeps) Close() error { return nil }

type holderLies struct{ fullClient }

func (c holderLies) Holder(context.Context, string) (locks.Holder, error) {
	return locks.Holder{Owner: "nobody"}, nil
}

type bare struct{ locks.Client }

type panics struct{ fullClient }

func (panics) Acquire(context.Context, string) (*locks.Grant, error) { panic("broken") }
