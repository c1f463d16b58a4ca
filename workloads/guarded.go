package workloads

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// client is one run of the guarded-write loop.
type client struct {
	*recorder
	main    *process
	random  *rand.Rand
	writes  int
	entries map[string]aged // of the cache, as this client has seen them
	stopped chan struct{}   // closed when the runner has asked for the end

	mu   sync.Mutex
	open map[string]bool // owners of the grants in hand
	lost map[string]bool // owners of grants that the client was told are lost
}

// loop runs rounds until the runner has asked for the end.
func loop(round func(*client, context.Context)) func(context.Context, *link, Spec) error {
	return func(ctx context.Context, l *link, s Spec) error {
		c, begun, err := begin(ctx, l, s)
		if err != nil || !begun {
			return err
		}
		ctx, cancel := c.whileSound(ctx)
		defer cancel()
		for ctx.Err() == nil && !c.told() {
			round(c, ctx)
			sleep(ctx, c.about(s.Think))
		}
		return c.closeLock()
	}
}

// begin connects and waits for the word of the runner; false: there is none to come.
func begin(ctx context.Context, l *link, s Spec) (*client, bool, error) {
	r := newRecorder(l, s)
	c := &client{recorder: r, main: r.process(), random: rand.New(rand.NewPCG(s.Seed, uint64(s.Life*perLife+s.Number))),
		stopped: make(chan struct{}), open: map[string]bool{}, lost: map[string]bool{}}
	if s.Life > 0 {
		begun, err := c.again(ctx)
		return c, begun, err
	}
	if err := r.connect(ctx); err != nil {
		return nil, false, err
	}
	c.listens()
	l.say(Said{Ready: true, Hello: r.hello()})
	if t, ok := next(ctx, l); !ok || !t.Begin {
		return nil, false, r.closeLock()
	}
	go c.watchSchedule(ctx)
	go c.awaitStop(ctx)
	return c, true, nil
}

// awaitStop notes that the client has lived until it was asked to end, beside the loop:
// a wait that never ends is known to have lasted until then.
func (c *client) awaitStop(ctx context.Context) {
	if t, ok := next(ctx, c.link); ok && t.Stop {
		c.note(history.Op{F: history.Stop})
		close(c.stopped)
	}
}

// told says whether the runner has asked for the end.
func (c *client) told() bool {
	select {
	case <-c.stopped:
		return true
	default:
		return false
	}
}

// work takes its time, but not if its client has been asked to end: others may wait for what was granted so late, and their runner for them all.
func (c *client) work(ctx context.Context, d time.Duration) {
	if !c.told() {
		sleep(ctx, d)
	}
}

// round of the guarded write: acquire, read the resource, work, write it, release.
func (c *client) round(ctx context.Context) { c.locked(ctx, c.key(), c.hold) }

// locked runs a critical section under the lock of a key, from acquire to release.
func (c *client) locked(ctx context.Context, key string, hold func(context.Context, *locks.Grant)) {
	c.link.checkpoint(AtWaiting, key, "")
	g, err := c.main.acquire(ctx, key)
	if err != nil {
		return // recorded; the loop's think time follows
	}
	c.inHand(g, true)
	defer c.inHand(g, false)
	c.inspect(ctx, key)
	stop := c.renew(ctx, g)
	hold(ctx, g)
	stop()
	c.link.checkpoint(AtReleasing, key, g.Owner)
	release, cancel := context.WithTimeout(ctx, c.releaseLimit())
	defer cancel()
	_ = c.main.release(release, g) // recorded
}

// hold is the critical section.
func (c *client) hold(ctx context.Context, g *locks.Grant) {
	c.link.checkpoint(AtAcquired, g.Key, g.Owner)
	read, cancel := context.WithTimeout(ctx, c.callLimit())
	seen, err := c.main.read(read, g)
	cancel()
	if err != nil {
		return
	}
	c.work(ctx, c.about(c.spec.Work))
	c.link.checkpoint(AtBeforeWrite, g.Key, g.Owner)
	if why := c.doubt(g); why != "" {
		c.note(history.Op{F: history.Abstain, Process: c.main.id, Key: g.Key, Owner: g.Owner, Error: why})
		return
	}
	c.link.checkpoint(AtWriting, g.Key, g.Owner)
	c.write(ctx, g, seen)
}

func (c *client) write(ctx context.Context, g *locks.Grant, seen resource.Copies) {
	c.writes++
	ctx, cancel := context.WithTimeout(ctx, c.callLimit())
	defer cancel()
	_ = c.main.write(ctx, g, valueOf(c.author(), c.writes), seen) // recorded
}

// doubt is what the client's own check says against writing; "": nothing.
func (c *client) doubt(g *locks.Grant) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.spec.Settings.SelfFence {
	case FenceDeadline:
		if left := g.Valid(); left <= 0 {
			return fmt.Sprintf("its deadline passed %.3f s ago by its own clock", -left.Seconds())
		}
	case FenceSession:
		if c.lost[g.Owner] {
			return "it was told that its session is lost"
		}
	}
	return ""
}

// renew extends g each third of its lease until the returned stop is called. It
// has a process id of its own, as its calls overlap those of the work.
func (c *client) renew(ctx context.Context, g *locks.Grant) (stop func()) {
	extender, ok := c.lock.(locks.Extender)
	if !c.spec.Renew || !ok || g.Lease == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := c.process()
		checkpoint := func() { c.link.checkpoint(AtRenewing, g.Key, g.Owner) }
		err := locks.Renew(ctx, recorded{p, extender}, g, c.spec.Patience, checkpoint, func(next *locks.Grant) {
			c.mu.Lock()
			defer c.mu.Unlock()
			g.Deadline = next.Deadline
		})
		if err != nil {
			c.lose(history.Op{F: history.Lost, Process: p.id, Key: g.Key, Owner: g.Owner, Error: err.Error()})
		}
	}()
	return func() { cancel(); <-done }
}

// inHand keeps which grants a lost session takes with it.
func (c *client) inHand(g *locks.Grant, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[g.Owner] = yes; !yes {
		delete(c.open, g.Owner)
	}
}

// lose records that a grant is lost, and remembers it for check-session.
func (c *client) lose(op history.Op) {
	c.mu.Lock()
	c.lost[op.Owner] = true
	if op.Owner == "" { // the session is over, and with it all grants made under it; later ones are not
		for owner := range c.open {
			c.lost[owner] = true
		}
	}
	c.mu.Unlock()
	c.note(op)
}

// listens has what the session learns about itself recorded.
func (c *client) listens() {
	if n, ok := c.lock.(locks.Notifier); ok {
		go c.listen(n.Events())
	}
}

// listen records what the session learns about itself.
func (c *client) listen(events <-chan locks.Event) {
	kinds := map[locks.EventKind]history.F{locks.Suspended: history.Suspended, locks.Resumed: history.Resumed, locks.Lost: history.Lost}
	for e := range events {
		op := history.Op{F: kinds[e.Kind], Owner: e.Owner, Error: e.Why, Time: e.At.Raw, Mono: e.At.Mono, Real: e.At.Real}
		if e.Kind == locks.Lost {
			c.lose(op)
		} else {
			c.note(op)
		}
	}
}

// inspect reads at the server who holds the key, beside the loop: evidence of
// whose fault a violation is.
func (c *client) inspect(ctx context.Context, key string) {
	i, ok := c.lock.(locks.Inspector)
	if !ok {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(ctx, c.spec.Lock.Lease)
		defer cancel()
		sent := history.Raw()
		h, err := i.Holder(ctx, key)
		op := history.Op{F: history.Holder, Key: key, Owner: h.Owner, Sent: sent, Lease: int64(h.Left)}
		if err != nil {
			op.Error = err.Error()
		}
		c.note(op)
	}()
}

// callLimit bounds one call that must end: well above any planned pause of a
// server, so that a slow answer is an answer.
func (c *client) callLimit() time.Duration { return 2*c.spec.Lock.Lease + 3*time.Second }

// releaseLimit bounds a release. Its client goes on after it, and the request may still arrive.
func (c *client) releaseLimit() time.Duration { return cmp.Or(c.spec.ReleaseWait, c.callLimit()) }

// about is a random duration in [d/2, 3d/2).
func (c *client) about(d time.Duration) time.Duration {
	return about(c.random, d)
}

// sleep waits for d; false: ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// watchSchedule notes when this process was not scheduled for an eighth of the
// lease: in a planned pause, or because the machine is overloaded.
func (c *client) watchSchedule(ctx context.Context) {
	least := c.spec.Lock.Lease / 8
	beat, last := agent.PaceOf(least), history.Raw()
	for sleep(ctx, beat) {
		now := history.Raw()
		if gap := time.Duration(now-last) - beat; agent.Missed(gap, least) {
			c.note(history.Op{F: history.Stall, Length: int64(gap), Error: "the client was not scheduled"})
		}
		last = now
	}
}
