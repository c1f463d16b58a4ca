package resource

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dlmtest/dlmtest/history"
)

// Store is the built-in resource, in memory. One mutex covers the decision, its
// time stamp and its log line, so the log's order is the order of its times and
// the order in which things happened. It is a Resource itself, for tests and
// for clients in the same program.
type Store struct {
	rules Rules
	emit  func(history.Op)

	mu   sync.Mutex
	keys map[string]*record
	last int64 // Time of the latest log line
}

// record is one key.
type record struct {
	unfenced string
	fenced   string
	fence    fence
	decided  map[string]decision // by Value; kept for the whole run, to know repeats
	happened map[string]happening
	once     map[string]string // world and what was done there under an idempotency key, to the Value that did it
}

type decision struct {
	req    WriteRequest
	copies Copies
}

// NewStore returns an empty store. It hands each line of its log to emit, under
// its mutex: Apply notes for writes, ReadSeen notes for reads, with strictly
// increasing times. emit must not call the store, and should be quick.
func NewStore(rules Rules, emit func(history.Op)) (*Store, error) {
	if err := rules.Check(); err != nil {
		return nil, err
	}
	return &Store{rules: rules, emit: emit, keys: map[string]*record{}}, nil
}

// Read implements Resource.
func (s *Store) Read(ctx context.Context, req ReadRequest) (Copies, error) {
	if err := errors.Join(ended(ctx), req.Check()); err != nil {
		return Copies{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record(req.Key)
	if s.rules.FenceOn == OnRead {
		r.fence.highest = max(r.fence.highest, req.Token)
	}
	copies := Copies{
		Unfenced: history.Copy{Value: r.unfenced},
		Fenced:   history.Copy{Value: r.fenced, Token: r.fence.highest},
	}
	s.log(history.Op{F: history.ReadSeen, Key: req.Key, Owner: req.Owner, Token: req.Token}, copies)
	return copies, nil
}

// Write implements Resource.
func (s *Store) Write(ctx context.Context, req WriteRequest) (Copies, error) {
	if err := errors.Join(ended(ctx), req.Check()); err != nil {
		return Copies{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record(req.Key)
	if earlier, ok := r.decided[req.Value]; ok {
		if earlier.req != req {
			return Copies{}, Reused(req.Value)
		}
		return earlier.copies, nil
	}
	copies := r.write(s.rules, req)
	r.decided[req.Value] = decision{req, copies}
	s.log(history.Op{F: history.Apply, Key: req.Key, Owner: req.Owner, Token: req.Token, Value: req.Value}, copies)
	return copies, nil
}

// ended is the error of a call whose context ended before it began.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("resource: %w: %w", ErrNoEffect, err)
	}
	return nil
}

// Close implements Resource; a store in memory has nothing to close.
func (s *Store) Close() error { return nil }

func (s *Store) record(key string) *record {
	r := s.keys[key]
	if r == nil {
		r = &record{decided: map[string]decision{}, happened: map[string]happening{}, once: map[string]string{}}
		s.keys[key] = r
	}
	return r
}

// write decides both copies.
func (r *record) write(rules Rules, req WriteRequest) Copies {
	c := Copies{
		Unfenced: history.Copy{Base: req.UnfencedBase, Previous: r.unfenced, Accepted: req.stands(req.UnfencedBase, r.unfenced)},
		Fenced:   history.Copy{Base: req.FencedBase, Previous: r.fenced, Accepted: rules.accepts(r.fence, req.Token) && req.stands(req.FencedBase, r.fenced)},
	}
	if c.Unfenced.Accepted {
		r.unfenced = req.Value
	}
	if c.Fenced.Accepted {
		r.fenced = req.Value
		r.fence.highest = max(r.fence.highest, req.Token)
		r.fence.written = max(r.fence.written, req.Token)
	}
	c.Fenced.Token = r.fence.highest
	return c
}

// log stamps one line and hands it on. Two readings of the clock may be equal
// where it ticks coarsely: it then waits for the next tick rather than invent a
// time that has not come yet.
func (s *Store) log(op history.Op, copies Copies) {
	now := history.Now()
	for now.Raw <= s.last {
		now = history.Now()
	}
	s.last = now.Raw
	op.Type = history.Note
	op.Time, op.Mono, op.Real = now.Raw, now.Mono, now.Real
	op.Unfenced, op.Fenced = &copies.Unfenced, &copies.Fenced
	s.emit(op)
}
