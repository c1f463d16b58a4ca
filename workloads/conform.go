package workloads

import (
	"context"
	"os"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/locks/locktest"
	"github.com/dlmtest/dlmtest/locks/protocol"
	protocolconform "github.com/dlmtest/dlmtest/locks/protocol/conform"
)

// Conformed is what the conformance suites have found.
type Conformed struct {
	Checks   int                       `json:"checks"` // how many were made
	Findings []protocolconform.Finding `json:"findings"`
	// NotAsked are checks that are due, and could not be made here.
	NotAsked []protocolconform.NotAsked `json:"not_asked,omitempty"`
	Hello    *protocol.Result           `json:"hello,omitempty"` // what an adapter said of itself
}

// conform runs the conformance suite of locks against a real cluster; of an adapter
// first that of the protocol.
func conform(ctx context.Context, l *link, s Spec) error {
	if len(s.Settings.Adapter) == 0 {
		if err := onceReady(ctx, l, s); err != nil {
			return err
		}
	}
	l.say(Said{Ready: true})
	if t, ok := next(ctx, l); !ok || !t.Begin {
		return nil
	}
	entry, err := s.entry()
	if err != nil {
		return err
	}
	var c Conformed
	if len(s.Settings.Adapter) == 0 {
		c.judge(ctx, entry, s.Lock, libraries.Process(s.Settings.Library))
	} else {
		c = ConformAdapter(ctx, entry, protocol.Command{Argv: s.Settings.Adapter, Log: os.Stderr}, s.Lock)
	}
	l.say(Said{Conformed: &c})
	return nil
}

// onceReady returns when the service of a lock of ours serves.
func onceReady(ctx context.Context, l *link, s Spec) error {
	r := newRecorder(l, s)
	if err := r.connect(ctx); err != nil {
		return err
	}
	return r.closeLock()
}

// ConformAdapter asks an adapter whether it keeps the protocol and, if it does, whether
// its lock keeps what it claims. lock says what the service behind it states.
func ConformAdapter(ctx context.Context, lock locks.Lock, cmd protocol.Command, c locks.Config) Conformed {
	r := protocolconform.Run(ctx, cmd, c)
	out := Conformed{Checks: r.Asked, Findings: r.Findings, NotAsked: r.NotAsked, Hello: &r.Hello}
	if len(r.Findings) > 0 {
		return out // a lock behind an adapter that errs cannot be judged
	}
	lock = libraries.Told(lock, r.Hello)
	lock.Open = func(ctx context.Context, c locks.Config) (locks.Client, error) { return protocol.Open(ctx, cmd, c) }
	out.judge(ctx, lock, c, true)
	return out
}

// judge adds what the suite of locks finds. process: the lock is behind the lock client
// protocol, which has no way to call an acquire off before its wait_ms.
func (c *Conformed) judge(ctx context.Context, lock locks.Lock, cfg locks.Config, process bool) {
	var names []string
	about := map[string]string{}
	h := locktest.For(lock, cfg)
	for _, check := range locktest.Checks {
		if about[check.Name] = check.About; check.Asks(h.Promise) && (check.Name != "cancel" || !process) {
			names = append(names, check.Name)
		}
	}
	c.Checks += len(names)
	for _, f := range locktest.Run(ctx, h, names...) {
		c.Findings = append(c.Findings, protocolconform.Finding{Check: f.Check, Problem: f.Err.Error(), About: about[f.Check]})
	}
}
