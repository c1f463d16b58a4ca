package workloads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/spare"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// Worker is the program of a client node: it is told its Spec on in, runs it and
// writes agent.Lines to w. It returns when it is done or when in ends.
func Worker(ctx context.Context, in io.Reader, w io.Writer) error {
	spare.Threads()
	l, ctx := newLink(ctx, in, w)
	defer l.end()
	told, ok := next(ctx, l)
	if !ok || told.Spec == nil {
		return errors.New("worker: no spec came first")
	}
	spec := *told.Spec
	if spec.Clients > 0 { // a program that has more looks for work on all of them each time it wakes up
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0)/spec.Clients, 1))
	}
	err := protocol.Adopt(spec.Env) // what an adapter leaves behind is paused and killed with us
	if err != nil {
		return err
	}
	err = fmt.Errorf("worker: unknown mode %q", spec.Mode)
	if m, known := modes[spec.Mode]; known {
		err = m.run(ctx, l, spec)
	}
	if err != nil && ctx.Err() == nil {
		l.say(Said{Fatal: err.Error()})
	}
	l.say(Said{Done: true})
	return err
}

// next waits for a word of the runner; false: the agent is gone.
func next(ctx context.Context, l *link) (Told, bool) {
	select {
	case t := <-l.told:
		return t, true
	case <-ctx.Done():
		return Told{}, false
	}
}

// readyLimit is how long a cluster may take until a client's first lock operation succeeds.
const readyLimit = 90 * time.Second

// connect opens lock and resource and returns once a lock operation and a read
// have succeeded: an open port is no proof of service.
func (r *recorder) connect(ctx context.Context) error {
	entry, err := r.spec.entry()
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	r.endless, r.reentry = entry.Promise.NoLimit, entry.Promise.Reentry
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	r.spec.Lock.Between = func(key, owner string) { r.link.checkpoint(AtBetween, key, owner) }
	r.lock, err = retry(ctx, r.link, func(ctx context.Context) (locks.Client, error) { return ready(ctx, entry, r.spec) })
	if err != nil {
		return fmt.Errorf("the lock service %s: %w", history.LockName(r.spec.Backend, r.spec.Settings.Library), err)
	}
	r.watchAdapter()
	if r.spec.Resource.Addr == "" {
		return nil
	}
	r.res, err = retry(ctx, r.link, func(ctx context.Context) (resource.Resource, error) { return openResource(ctx, r.spec) })
	if err != nil {
		return fmt.Errorf("the guarded resource: %w", err)
	}
	return nil
}

// openLimit is how long one attempt to open may take. A JVM that compiles its adapter
// needs some seconds on a busy machine.
const openLimit = 20 * time.Second

// retry calls open until it succeeds. Only set-up does this; no recorded call is repeated.
func retry[T any](ctx context.Context, l *link, open func(context.Context) (T, error)) (T, error) {
	said := time.Now()
	for {
		try, cancel := context.WithTimeout(ctx, openLimit)
		v, err := open(try)
		cancel()
		if err == nil {
			return v, nil
		}
		if errors.Is(err, locks.ErrConfig) || errors.Is(err, locks.ErrFaulty) || isFault(err) || ctx.Err() != nil {
			return v, err
		}
		if time.Since(said) > time.Second {
			said = time.Now()
			l.say(Said{Waiting: err.Error()})
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return v, err
		}
	}
}

// ready opens a session and proves it by one lock operation on a key of its own.
func ready(ctx context.Context, entry locks.Lock, s Spec) (locks.Client, error) {
	c, err := entry.Open(ctx, s.Lock)
	if err != nil {
		return nil, err
	}
	g, err := c.Acquire(ctx, fmt.Sprintf("ready-%s-%s", s.Node, s.Mode))
	if err == nil {
		err = c.Release(ctx, g)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func openResource(ctx context.Context, s Spec) (resource.Resource, error) {
	var res resource.Resource
	var err error
	if s.Settings.Resource == "postgres" {
		res, err = resource.OpenPostgres(ctx, s.Resource.Addr, resource.RulesOf(s.Settings))
	} else {
		var client *resource.Client
		if client, err = resource.Dial(s.Resource.Addr); err == nil {
			client.Key, res = s.Resource.Key, client
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := res.Read(ctx, resource.ReadRequest{Key: "ready"}); err != nil {
		_ = res.Close()
		return nil, err
	}
	return res, nil
}

// finally acquires every key once on a connection of its own, after all faults
// are healed: a key that cannot be acquired is a deadlock.
func finally(ctx context.Context, l *link, s Spec) error {
	r := newRecorder(l, s)
	if err := r.connect(ctx); err != nil {
		return err
	}
	defer func() { _ = r.closeLock() }()
	l.say(Said{Hello: r.hello()})
	r.note(history.Op{F: history.Final})
	p := r.process()
	for _, key := range s.Keys {
		if g, err := p.acquireAll(ctx, key); err == nil {
			_ = p.giveBack(ctx, g) // recorded
		}
	}
	if logged, ok := r.res.(resource.Logger); ok {
		ops, err := logged.Log(ctx)
		if err != nil {
			return fmt.Errorf("the log of the guarded resource: %w", err)
		}
		for _, op := range ops {
			l.record(op)
		}
	}
	return nil
}
