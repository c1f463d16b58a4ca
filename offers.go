package dlmtest

import (
	"context"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// trying, extending and telling are the abilities that a session has where its lock
// promises them.
type (
	trying    struct{ of *session }
	extending struct{ of *session }
	telling   struct{ of *session }
)

// Try implements locks.Trier.
func (t trying) Try(ctx context.Context, key string) (*locks.Grant, error) {
	return t.of.take(ctx, "Try", key, t.of.client.(Trier).Try)
}

// Extend implements locks.Extender.
func (e extending) Extend(ctx context.Context, g *locks.Grant) (*locks.Grant, error) {
	h := g.State.(*hold)
	extender, ok := h.grant.(Extender)
	if !ok {
		return nil, broken("Extend", "grant", h.grant, "Extend(context.Context) error")
	}
	begun := history.Now()
	if _, err := guard(ctx, "Extend", func() (struct{}, error) { return struct{}{}, extender.Extend(ctx) }); err != nil {
		return nil, err
	}
	renewed := *g
	if err := e.of.claim("Extend", &renewed, h.grant, begun); err != nil {
		return nil, err
	}
	return &renewed, nil
}

// Events implements locks.Notifier.
func (t telling) Events() <-chan locks.Event { return t.of.events }

// offering is the session with the abilities that its lock promises, and no others.
func (s *session) offering() locks.Client {
	t, e, n := trying{s}, extending{s}, telling{s}
	type offers struct{ try, extend, tell bool }
	switch p := s.Promise; (offers{p.Try, p.Extend, p.Lost}) {
	case offers{try: true}:
		return struct {
			*session
			trying
		}{s, t}
	case offers{extend: true}:
		return struct {
			*session
			extending
		}{s, e}
	case offers{tell: true}:
		return struct {
			*session
			telling
		}{s, n}
	case offers{try: true, extend: true}:
		return struct {
			*session
			trying
			extending
		}{s, t, e}
	case offers{try: true, tell: true}:
		return struct {
			*session
			trying
			telling
		}{s, t, n}
	case offers{extend: true, tell: true}:
		return struct {
			*session
			extending
			telling
		}{s, e, n}
	case offers{true, true, true}:
		return struct {
			*session
			trying
			extending
			telling
		}{s, t, e, n}
	}
	return s
}
