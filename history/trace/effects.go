package trace

import (
	"github.com/dlmtest/dlmtest/history"
)

// Effect is one effect of a client: its steps as indexes into the history, -1 where
// there is none.
type Effect struct {
	Invoke, Done int
	Note         int // of the resource
}

// effectOf finds an effect by its unique value, and makes it.
func (t *Trace) effectOf(value string) *Effect {
	if t.ByEffect == nil {
		t.ByEffect = map[string]*Effect{}
	}
	e := t.ByEffect[value]
	if e == nil {
		e = &Effect{Invoke: -1, Done: -1, Note: -1}
		t.ByEffect[value] = e
	}
	return e
}

// effected files the note of the resource under its key.
func (t *Trace) effected(i int, op *history.Op) {
	k := t.key(op.Key)
	k.Effects = append(k.Effects, i)
	if e := t.effectOf(op.Value); e.Note < 0 {
		e.Note = i
	}
}
