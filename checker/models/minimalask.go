package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Minimal finds the smallest history of a violation and, where ask is not nil,
// puts it to Porcupine, which must find fault with it, too. The events are those
// that are left, for whoever saves them.
func (m *Minimizer) Minimal(v Violation, ask func(string, Options, []Op) string) (*Minimal, []Event) {
	left, unfinished, err := m.Minimize(v)
	if err != nil {
		return &Minimal{Why: err.Error()}, nil
	}
	out, events := &Minimal{Unfinished: unfinished}, []Event{}
	for _, i := range left {
		e := m.events[i]
		events = append(events, e)
		out.Events = append(out.Events, Ref{i, e.Line, e.Time})
	}
	switch {
	case ask == nil:
	case m.budget.ctx.Err() != nil:
		out.Oracle = "gave up: it was interrupted"
	default:
		out.Oracle = m.confirm(v, events, ask)
	}
	return out, events
}

// What Porcupine says of a history in which a violation was found, beside "gave up: …".
const (
	Confirmed    = "confirmed"
	Contradicted = "contradicted"
	Decided      = "alone decided" // there is no other verdict that it could confirm
)

// Draw has Porcupine draw the events of a smallest history: see the function Draw.
func (m *Minimizer) Draw(ctx context.Context, self []string, events []Event) (html string, err error) {
	return Draw(ctx, self, m.model.Name, m.options, m.asked(events))
}

// asked are the operations of one key that Porcupine is asked about.
func (m *Minimizer) asked(events []Event) []Op {
	all := Ops(m.model, m.options, events)
	if len(all) != 1 {
		return nil
	}
	return slices.DeleteFunc(all[0], func(op Op) bool {
		return onlySearched(m.model.Name) && m.options.silent(op.F, op.Type, op.Value)
	})
}

// confirm asks Porcupine about the history of one key. It must be illegal. What was left out of
// it may have been for an owner whom the source does not tell, so then all of it is asked about.
func (m *Minimizer) confirm(v Violation, events []Event, ask func(string, Options, []Op) string) string {
	said := ask(m.model.Name, m.options, m.asked(events))
	if p := m.piece(v.Key); said == Illegal {
		_, last := p.named(v)
		said = freed(m.model.Name, m.options, p.until(last), ask)
	}
	switch said {
	case Illegal:
		return Confirmed
	case Legal:
		return Contradicted
	default:
		return said
	}
}

// minimalOf begins the first line of a question for a minimal history.
const minimalOf = "minimal "

// askMinimal reduces a history in the child, where all that Porcupine is asked
// on the way has one limit of time and one of memory.
func askMinimal(ctx context.Context, self []string, model string, o Options, ops []Op) ([]int, error) {
	if self == nil {
		return nil, errors.New("Porcupine was not asked, and only it decides this model")
	}
	text, err := json.Marshal(question{o, ops})
	if err != nil {
		return nil, err
	}
	said := RunChild(ctx, self, minimalOf+model, text)
	var left []int
	if json.Unmarshal([]byte(said), &left) != nil {
		return nil, fmt.Errorf("Porcupine %s", said)
	}
	return left, nil
}

// answerMinimal is the other end of askMinimal.
func answerMinimal(model string, q question) string {
	limit := time.Now().Add(OracleTime * 9 / 10)
	if at := q.unwritten(model); at >= 0 {
		return fmt.Sprintf("[%d]", at)
	}
	left, done := reduceOps(q.Ops, everything(q.Ops), needing(model, q.Ops), func(ops []Op) bool {
		rest := max(time.Until(limit), time.Millisecond)
		said := ordered(model, q.Options, ops, rest)
		if said == "" {
			said = Consult(model, q.Options, ops, rest)
		}
		return said == Illegal
	}, func() bool { return time.Now().After(limit) })
	if left == nil {
		return "gave up: it finds no fault with it, or not in time"
	}
	if !done || time.Now().After(limit) {
		return "gave up: the history was not small in time"
	}
	places := []int{}
	for _, op := range left {
		places = append(places, slices.IndexFunc(q.Ops, func(other Op) bool { return other.Call == op.Call }))
	}
	text, err := json.Marshal(places)
	if err != nil {
		return "gave up: " + err.Error()
	}
	return string(text)
}

// unwritten is the operation of a register that alone shows what is wrong; -1: there is none.
func (q *question) unwritten(model string) int {
	if !onlySearched(model) {
		return -1
	}
	telling := slices.DeleteFunc(slices.Clone(q.Ops), func(op Op) bool { return q.Options.silent(op.F, op.Type, op.Value) })
	at := unwritten(q.Options.Init, telling)
	if at < 0 {
		return -1
	}
	return slices.IndexFunc(q.Ops, func(op Op) bool { return op.Call == telling[at].Call })
}
