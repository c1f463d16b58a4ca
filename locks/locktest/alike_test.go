package locktest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/locktest"
)

// A lock that knows a key by the beginning of its name, and a client that takes what begins with its
// own name for its own, are caught.
func TestAlike(t *testing.T) {
	t.Parallel()
	h := memory(func(c locks.Client, _ *locks.Memory) locks.Client { return cutsKeys{full(c)} })
	if got := locktest.Run(t.Context(), h, "alike-keys"); len(got) != 1 || !strings.Contains(got[0].Err.Error(), "cannot be acquired while") {
		t.Error(got)
	}
	h = memory(nil)
	open := h.Open
	h.Open = func(ctx context.Context, client string) (locks.Client, error) {
		c, err := open(ctx, client)
		return knowsItself{full(c), client}, err
	}
	if got := locktest.Run(t.Context(), h, "alike-clients"); len(got) != 1 || !strings.Contains(got[0].Err.Error(), "while") {
		t.Error(got)
	}
}

// A release that a busy machine answers late is asked once more; one that fails at once is found.
func TestLateRelease(t *testing.T) {
	t.Parallel()
	for wait, found := range map[time.Duration]int{300 * time.Millisecond: 0, 0: 1} {
		h, server := memory(nil), locks.NewMemory()
		h.Lease = time.Second
		h.Open = func(ctx context.Context, client string) (locks.Client, error) {
			c, err := server.Open(ctx, locks.Config{Lease: h.Lease, Client: client, Seed: 1})
			return losesAnswer{full(c), wait}, err
		}
		if got := locktest.Run(t.Context(), h, "alike-keys"); len(got) != found {
			t.Errorf("after %v: %v", wait, got)
		}
	}
}

// losesAnswer is a client that does not hear of its releases, for so long.
type losesAnswer struct {
	fullClient
	wait time.Duration
}

func (c losesAnswer) Release(ctx context.Context, g *locks.Grant) error {
	if err := c.fullClient.Release(ctx, g); err != nil {
		return err
	}
	time.Sleep(c.wait)
	return errors.New("no answer")
}

// cutsKeys is a lock whose keys are the same where they begin alike.
type cutsKeys struct{ fullClient }

func (c cutsKeys) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	g, err := c.fullClient.Acquire(ctx, strings.TrimSuffix(key, "0"))
	return change(g, err, func(g *locks.Grant) { g.Key = key })
}

func (c cutsKeys) Release(ctx context.Context, g *locks.Grant) error {
	cut := *g
	cut.Key = strings.TrimSuffix(g.Key, "0")
	return c.fullClient.Release(ctx, &cut)
}

// knowsItself is a client that holds a key if its holder's name begins with its own.
type knowsItself struct {
	fullClient
	name string
}

func (c knowsItself) Acquire(ctx context.Context, key string) (*locks.Grant, error) {
	sent := history.Now()
	g, err := c.fullClient.Acquire(ctx, key)
	if h, _ := c.Holder(context.WithoutCancel(ctx), key); errors.Is(err, locks.ErrNotGranted) && strings.HasPrefix(h.Owner, c.name) {
		return &locks.Grant{Key: key, Owner: h.Owner, Token: 1, Sent: sent, Lease: 2e8, Deadline: sent.Mono + 2e8}, nil
	}
	return g, err
}
