package workloads

import (
	"context"
	"errors"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// entry is the lock under test.
func (s Spec) entry() (locks.Lock, error) {
	if len(s.Settings.Adapter) > 0 {
		return libraries.Adapter(s.Backend, s.Settings.Adapter)
	}
	return libraries.Find(s.Backend, s.Settings.Library)
}

// HasAdapter says whether the lock is behind an adapter, a process that the worker starts.
func (s Spec) HasAdapter() bool {
	return len(s.Settings.Adapter) > 0 || libraries.Process(s.Settings.Library)
}

// hello is what an adapter said of itself; nil: the lock is no process.
func (r *recorder) hello() *protocol.Result {
	b, ok := r.lock.(protocol.Bare)
	if !ok || !r.spec.HasAdapter() {
		return nil
	}
	h := b.Hello()
	return &h
}

// watchAdapter records the moment at which an adapter breaks the protocol.
func (r *recorder) watchAdapter() {
	f, ok := r.lock.(protocol.Faulty)
	if !ok {
		return
	}
	r.sound = make(chan struct{})
	go func() {
		<-f.Failed()
		r.blame(f.Fault())
		close(r.sound)
	}()
}

// blame records, once, what an adapter did against the protocol.
func (r *recorder) blame(err error) {
	if isFault(err) {
		r.blamed.Do(func() { r.note(history.Op{F: history.Adapter, Error: err.Error()}) })
	}
}

func isFault(err error) bool {
	var f *protocol.Fault
	return errors.As(err, &f)
}

// whileSound is ctx, ended when the adapter has broken the protocol: nothing more can be
// asked of it.
func (r *recorder) whileSound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if r.sound != nil {
		go func() {
			select {
			case <-r.sound:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

// closeLock ends the session. An adapter that does not end with it is to blame.
func (r *recorder) closeLock() error {
	err := r.lock.Close()
	r.blame(err)
	return err
}
