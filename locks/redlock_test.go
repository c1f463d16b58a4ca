package locks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/dlmtest/dlmtest/history"
)

func TestRedlockValidity(t *testing.T) {
	sent := history.Stamp{Mono: int64(time.Hour)}
	for _, c := range []struct{ lease, elapsed, want time.Duration }{
		{10 * time.Second, 0, 10*time.Second - 102*time.Millisecond}, // 1 % and 2 ms
		{2 * time.Second, 300 * time.Millisecond, 1678 * time.Millisecond},
		{time.Second, 990 * time.Millisecond, -2 * time.Millisecond}, // too late to be a grant
	} {
		now := sent.Mono + int64(c.elapsed)
		if got := time.Duration(redlockDeadline(sent, c.lease) - now); got != c.want {
			t.Errorf("lease %v, %v elapsed: valid for %v, want %v", c.lease, c.elapsed, got, c.want)
		}
	}
}

var errDown = errors.New("down")

// voting asks five nodes that answer as told: y, n, or - for none.
func voting(l *redlock, votes string) *ballot {
	left := make(chan byte, len(votes))
	for _, v := range []byte(votes) {
		left <- v
	}
	return l.ask(nil, func(ctx context.Context, _ *redis.Client) (bool, error) {
		switch v := <-left; v {
		case '-':
			<-ctx.Done()
			return false, errDown
		default:
			return v == 'y', nil
		}
	})
}

func TestRedlockVerdicts(t *testing.T) {
	l := &redlock{nodes: make([]*redis.Client, 5), node: 30 * time.Millisecond}
	for votes, want := range map[string]error{
		"yyyyy": nil, "yyynn": nil, "yyy--": nil,
		"nnnyy": ErrNotHeld, "nnnnn": ErrNotHeld, "nnn--": ErrNotHeld,
		"yynn-": errDown, "yy---": errDown, "-----": errDown,
	} {
		if err := voting(l, votes).verdict("k", "release"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", votes, err, want)
		}
	}
	l.behind.Wait()
}

func TestRedlockStoppedNodeBlocksNobody(t *testing.T) {
	l := &redlock{nodes: make([]*redis.Client, 5), node: 2 * time.Second}
	start := time.Now()
	if b := voting(l, "yyy--"); !b.yes {
		t.Error("no quorum")
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("waited %v for the stopped nodes", took)
	}
}

// A DEL must not overtake its SET on a node, or the key stays for a lease.
func TestRedlockKeepsOrderOnANode(t *testing.T) {
	l := &redlock{nodes: make([]*redis.Client, 3), node: time.Second}
	hold := make(chan struct{})
	slow := make(chan int, 1)
	slow <- 1
	first := l.ask(nil, func(context.Context, *redis.Client) (bool, error) {
		select {
		case <-slow:
			<-hold // one node's SET is slow
		default:
		}
		return true, nil
	})
	sent := make(chan struct{}, 3)
	second := l.ask(first, func(context.Context, *redis.Client) (bool, error) {
		sent <- struct{}{}
		return true, nil
	})
	if !second.yes || len(sent) != 2 {
		t.Errorf("quorum %v, %d nodes asked; the slow one must not be yet", second.yes, len(sent))
	}
	close(hold)
	l.behind.Wait()
	if len(sent) != 3 {
		t.Errorf("%d nodes asked in the end", len(sent))
	}
}

func TestCountHolder(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		name string
		left map[string][]time.Duration
		errs int
		want Holder
		err  bool
	}{
		{"free", map[string][]time.Duration{"": {0, 0, 0, 0, 0}}, 0, Holder{}, false},
		{"held", map[string][]time.Duration{"a": {s, 3 * s, 2 * s, 4 * s}, "": {0}}, 0, Holder{"a", 2 * s}, false},
		{"split", map[string][]time.Duration{"a": {s, s}, "b": {s, s}, "": {0}}, 0, Holder{}, false},
		{"minority down", map[string][]time.Duration{"": {0, 0, 0}}, 2, Holder{}, false},
		{"cannot be told", map[string][]time.Duration{"a": {s, s}, "": {0, 0}}, 1, Holder{}, true},
	} {
		got, err := countHolder(c.left, 5, make([]error, c.errs))
		if got != c.want || (err != nil) != c.err {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}
