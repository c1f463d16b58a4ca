// Package locktest is the suite that every lock driver passes, in the manner of
// testing/fstest: it needs no *testing.T, so it runs inside a client container
// against a real cluster as well as in go test.
package locktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// Harness is a driver under test.
type Harness struct {
	// Open opens the session of one more client. Sessions that a check leaves open
	// are closed after it.
	Open    func(ctx context.Context, client string) (locks.Client, error)
	Promise history.Promise
	Lease   time.Duration
	Renews  bool          // see locks.Lock
	Slow    bool          // see locks.Lock
	Clients int           // in the contention check; 0: 5
	Slack   time.Duration // what counts as quick, on top of the lock's own bound; 0: 1s
	// Prefix of every key, so that suites on one cluster keep apart.
	Prefix string
}

// For is the harness of a lock under test, with the keys of this run its own.
func For(l locks.Lock, c locks.Config) Harness {
	open := func(ctx context.Context, client string) (locks.Client, error) {
		c := c
		c.Client = client
		return l.Open(ctx, c)
	}
	return Harness{
		Open: open, Promise: l.Bounded(c.Lease), Lease: c.Lease, Renews: l.Renews, Slow: l.Slow,
		Prefix: fmt.Sprintf("locktest-%d-", time.Now().UnixNano()),
	}
}

// Finding is one check that failed.
type Finding struct {
	Check string
	Err   error
}

// Check is one named demand on a lock.
type Check struct {
	Name  string
	About string
	skip  func(history.Promise) bool
	run   func(*trial) error
}

// Asks says whether the check is made of a lock with this promise.
func (c Check) Asks(p history.Promise) bool { return c.skip == nil || !c.skip(p) }

// Err joins findings to one error, nil when there are none.
func Err(findings []Finding) error {
	var errs []error
	for _, f := range findings {
		errs = append(errs, fmt.Errorf("%s: %w", f.Check, f.Err))
	}
	return errors.Join(errs...)
}

// Run runs the named checks, or all of them, and returns those that failed. Each
// has its own key, so one failure does not bring about the next.
func Run(ctx context.Context, h Harness, names ...string) []Finding {
	var out []Finding
	for _, c := range Checks {
		if len(names) > 0 && !contains(names, c.Name) || !c.Asks(h.Promise) {
			continue
		}
		if err := runOne(ctx, h, c); err != nil {
			out = append(out, Finding{c.Name, err})
		}
	}
	return out
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// runOne bounds a check, as a broken lock may well hang.
func runOne(ctx context.Context, h Harness, c Check) (err error) {
	if h.Clients == 0 {
		h.Clients = 5
	}
	if h.Slack == 0 {
		h.Slack = time.Second
	}
	limit := 10*h.Lease + 10*h.Slack + 5*h.Promise.Bound
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t := &trial{Harness: h, ctx: ctx, key: h.Prefix + c.Name, name: c.Name}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("panic: %v", r)
			}
		}()
		done <- c.run(t)
	}()
	select {
	case err = <-done:
	case <-time.After(limit + h.Slack):
		return fmt.Errorf("still hangs %v after its context of %v ended", h.Slack, limit)
	}
	return errors.Join(err, t.close())
}

// trial is one check in progress.
type trial struct {
	Harness
	ctx  context.Context
	key  string
	name string

	mu      sync.Mutex
	clients []locks.Client
}

// open opens one more client, named after the check.
func (t *trial) open() (locks.Client, error) { return t.openAs(len(t.clients) + 1) }

// openAs opens one more client, named after the check and a number.
func (t *trial) openAs(number int) (locks.Client, error) {
	t.mu.Lock()
	n := len(t.clients)
	t.clients = append(t.clients, nil)
	t.mu.Unlock()
	c, err := t.Open(t.ctx, fmt.Sprintf("%s-%d", strings.ReplaceAll(t.name, "/", "-"), number))
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	t.mu.Lock()
	t.clients[n] = c
	t.mu.Unlock()
	return c, nil
}

func (t *trial) two() (a, b locks.Client, err error) {
	if a, err = t.open(); err == nil {
		b, err = t.open()
	}
	return a, b, err
}

func (t *trial) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, c := range t.clients {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// acquire waits for at most limit, and checks what every grant must say.
func (t *trial) acquire(c locks.Client, limit time.Duration) (*locks.Grant, error) {
	ctx, cancel := context.WithTimeout(t.ctx, limit)
	defer cancel()
	before := history.Now()
	g, err := t.ask(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("acquire: %w", err)
	}
	return g, t.honest(g, before)
}

// ask acquires. Where the lock knows no limit of a wait, the check goes on alone when
// ctx ends, and what is granted later is given back.
func (t *trial) ask(ctx context.Context, c locks.Client) (*locks.Grant, error) {
	if !t.Promise.NoLimit {
		return c.Acquire(ctx, t.key)
	}
	ch := make(chan waited, 1)
	go func() {
		g, err := c.Acquire(ctx, t.key)
		ch <- waited{g: g, err: err}
	}()
	select {
	case w := <-ch:
		return w.g, w.err
	case <-ctx.Done():
		go func() {
			if w := <-ch; w.err == nil {
				_ = c.Release(t.ctx, w.g)
			}
		}()
		return nil, fmt.Errorf("%w: the check waits no longer", locks.ErrNotGranted)
	}
}

// honest checks the claims of a grant or a renewal that was asked for at before.
func (t *trial) honest(g *locks.Grant, before history.Stamp) error {
	now := history.Now()
	switch {
	case g.Key != t.key:
		return fmt.Errorf("the grant is for key %q, not %q", g.Key, t.key)
	case g.Owner == "":
		return errors.New("the grant has no owner")
	case g.Sent.Raw < before.Raw || g.Sent.Raw > now.Raw:
		return fmt.Errorf("sent is %v before the call, or %v after its answer",
			time.Duration(before.Raw-g.Sent.Raw), time.Duration(g.Sent.Raw-now.Raw))
	case t.Promise.Token != (g.Token > 0):
		return fmt.Errorf("token is %d, but tokens promised: %v", g.Token, t.Promise.Token)
	case !t.Promise.Leased && g.Deadline != 0:
		return errors.New("a lock without lease claims a deadline")
	case t.Promise.Validity == history.Untold && g.Deadline != 0:
		return errors.New("a lock that does not tell until when it is valid has a deadline")
	case t.Promise.Leased && t.Promise.Validity != history.Untold && g.Deadline == 0:
		return errors.New("a leased lock claims no deadline")
	case t.Promise.Leased && g.Lease != t.Lease:
		return fmt.Errorf("the lease is %v, asked for %v", g.Lease, t.Lease)
	case g.Deadline > 0 && t.Promise.Validity != history.Unproven && g.Deadline > g.Sent.Mono+int64(t.Lease)-int64(t.drift()):
		return fmt.Errorf("the deadline is %v later than sent + lease − drift",
			time.Duration(g.Deadline-g.Sent.Mono)-t.Lease+t.drift())
	case g.Deadline > 0 && g.Deadline <= now.Mono:
		return errors.New("the deadline had passed when it was granted")
	}
	return nil
}

func (t *trial) drift() time.Duration {
	return time.Duration(float64(t.Lease)*t.Promise.DriftFactor) + t.Promise.DriftFixed
}

// quick is how long an acquire may take that has nothing to wait for: well below
// a lease, or a lock left behind would pass for free.
func (t *trial) quick() time.Duration { return min(t.Slack, t.Lease*3/4) }

// soon is how long a waiter may take to get what has been released.
func (t *trial) soon() time.Duration {
	if t.Slow {
		return t.Lease + t.Slack
	}
	return t.quick()
}

// afterLease is how long it may take until the lease of a holder has ended and
// the next is granted.
func (t *trial) afterLease() time.Duration { return t.Lease + t.Promise.Bound + t.Slack }

func want(target, err error, what string) error {
	if !errors.Is(err, target) {
		return fmt.Errorf("%s: got %s, want an error that matches %q", what, fmt.Sprint(err), fmt.Sprint(target))
	}
	return nil
}
