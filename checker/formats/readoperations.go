package formats

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// readOperations reads JSON objects of one whole operation each, in the order of
// their calls, and puts calls and returns into one order.
func (r *Reader) readOperations() error {
	p := &jsonText{source: newSource(r.in)}
	q := returns{}
	last := int64(-1)
	err := p.objects(func() error {
		o := operation{step: step{line: p.line, told: toldType}}
		if err := p.object(func(name form) error { return o.field(p, r.o.Fields, name) }); err != nil {
			return err
		}
		if err := o.check(); err != nil {
			return r.at(o.line, err)
		}
		if o.call < last {
			return r.at(o.line, fmt.Errorf("call %d comes after call %d: operations must be in the order of their calls", o.call, last))
		}
		last = o.call
		if err := r.returned(&q, o.call); err != nil {
			return err
		}
		return r.called(&q, &o)
	})
	if err != nil {
		return err
	}
	return r.returned(&q, 1<<62)
}

// operation is one line of the file.
type operation struct {
	step
	call, ret         int64
	called            bool
	out               string
	calledAt, endedAt int64
}

func (o *operation) field(p *jsonText, own map[string]string, name form) error {
	value, err := p.value()
	if err != nil {
		return err
	}
	switch name.text {
	case "call":
		if o.called {
			return name.errorf("call comes twice")
		}
		o.called = true
		o.call, err = value.count("call", 1<<61)
	case "ret":
		if o.ret != 0 {
			return name.errorf("ret comes twice")
		}
		if !value.nothing() {
			o.ret, err = value.count("ret", 1<<61)
		}
	case "out":
		if o.out != "" {
			return name.errorf("out comes twice")
		}
		o.out, err = value.name("out")
	case "t_call":
		o.calledAt, err = value.count("t_call", latest)
		o.told |= toldTime
	case "t_ret":
		o.endedAt, err = value.count("t_ret", latest)
	default:
		which, other := fieldOf(name.text, own)
		if _, told := own[name.text]; told && which == 0 {
			return nil
		}
		if which == 0 || which == toldType || which == toldTime {
			return name.errorf("unknown field %s", clip(name.text))
		}
		return o.set(which, name.text, other, value)
	}
	return err
}

func (o *operation) check() error {
	switch o.out {
	case "ok", "fail":
		if o.ret <= o.call {
			return fmt.Errorf("ret %d is not after call %d", o.ret, o.call)
		}
		if o.endedAt != 0 && o.endedAt < o.calledAt {
			return fmt.Errorf("t_ret is before t_call")
		}
	case "info", "open":
	default:
		return fmt.Errorf("out %s: want ok, fail, info or open", clip(o.out))
	}
	if !o.called {
		return fmt.Errorf("an operation without call")
	}
	return o.complete()
}

// called gives the call, and keeps the return until its turn.
func (r *Reader) called(q *returns, o *operation) error {
	done := o.step
	done.kind, done.time = history.Type(o.out), o.endedAt
	o.kind, o.time, o.note = history.Invoke, o.calledAt, ""
	f, err := meaning(o.f, r.o.Meanings)
	if err != nil {
		return r.at(o.line, err)
	}
	if f == models.Acquire && o.value.kind == boolean { // it tells whether it got the lock, so it did not wait
		o.try, done.try = true, true
	}
	o.told &^= toldToken | toldOwner
	if f == models.Read || isLock(f) { // what came back is not known at the call
		o.value = r.asked(o.value)
	}
	if isLock(f) && f != models.Release && f != models.ReleaseR {
		o.token = 0
		if o.out == string(history.OK) || o.out == string(history.Fail) { // else it is what was asked for
			o.lease = 0
		}
	}
	if err := r.take(&o.step); err != nil {
		return err
	}
	switch o.out {
	case "open":
	case "info": // when nobody knows whether it happens, it does not matter when that is said
		done.time = o.calledAt
		return r.take(&done)
	default:
		heap.Push(q, later{o.ret, done})
	}
	return nil
}

// asked is the value of a call, of which the file tells that of the return.
func (r *Reader) asked(v form) form {
	if v.kind == list && len(v.items) == 2 && r.tuples != no {
		return form{kind: list, items: []form{v.items[0], {kind: null}}, line: v.line, column: v.column}
	}
	return form{kind: null, line: v.line, column: v.column}
}

// returned gives the returns before a moment. One at that very moment comes
// after the call: who touch count as concurrent.
func (r *Reader) returned(q *returns, before int64) error {
	for len(*q) > 0 && (*q)[0].at < before {
		if err := r.take(&heap.Pop(q).(*later).step); err != nil {
			return err
		}
	}
	return nil
}

// later is a return whose turn has not come.
type later struct {
	at int64
	step
}

// returns is a heap, the earliest on top.
type returns []*later

func (q returns) Len() int { return len(q) }
func (q returns) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].line < q[j].line
}
func (q returns) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push and Pop are for container/heap.
func (q *returns) Push(x any) { l := x.(later); *q = append(*q, &l) }

// Pop takes the last one.
func (q *returns) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// sortByCall puts whole operations into the order of their calls.
func sortByCall(ops []operation) {
	slices.SortStableFunc(ops, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
}
