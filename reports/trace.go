package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// trace is a history paired up: what is drawn and what stories are made of.
type trace struct {
	latency *latency // once it was measured
	setup   history.Setup
	ops     []history.Op
	started map[int]int // completion → its invoke
	ended   map[int]int // invoke → its completion
	grants  []*grant    // by time
	byOwner map[string]*grant
	writes  []*write
	byValue map[string]*write
	effects map[string]*effect // by value
	faults  []*fault
	byKey   map[string][]*grant
	gates   []int    // notes of the harness holding a client
	losing  []*write // see lossy
	sought  bool
}

// newTrace pairs up a history in one pass.
func newTrace(setup history.Setup, ops []history.Op) *trace {
	t := &trace{
		setup: setup, ops: ops,
		started: map[int]int{}, ended: map[int]int{},
		byOwner: map[string]*grant{}, byValue: map[string]*write{}, effects: map[string]*effect{}, byKey: map[string][]*grant{},
	}
	pending := map[int]int{} // process → invoke
	open := map[string][]*grant{}
	for i := range ops {
		op := &ops[i]
		switch op.Type {
		case history.Invoke:
			pending[op.Process] = i
			t.invoked(i, op)
		case history.Note:
			t.noted(i, op, open)
		default:
			if from, ok := pending[op.Process]; ok {
				delete(pending, op.Process)
				t.started[i], t.ended[from] = from, i
				t.completed(i, from, op, open)
			}
		}
	}
	t.finish()
	return t
}

// invoked takes what is known as soon as an operation starts. A belief ends when
// its release is asked for, whatever comes of it.
func (t *trace) invoked(i int, op *history.Op) {
	switch op.F {
	case history.Release:
		if !t.byOwner[op.Owner].inner() {
			t.endBelief(t.byOwner[op.Owner], i)
		}
	case history.Effect:
		t.asked(i, op)
	case history.Write:
		w := &write{owner: op.Owner, invoke: i, done: -1, apply: -1}
		t.writes = append(t.writes, w)
		t.byValue[op.Value] = w
		if g := t.byOwner[op.Owner]; g != nil {
			g.writes = append(g.writes, w)
		}
	}
}

// completed takes the outcome of the operation that was invoked at from.
func (t *trace) completed(i, from int, op *history.Op, open map[string][]*grant) {
	g := t.byOwner[cmp.Or(op.Owner, t.ops[from].Owner)]
	switch {
	case isAcquire(op.F) && op.Type == history.OK && op.Depth > 1 && g != nil:
		g.depth++
		g.renewed = append(g.renewed, i)
		g.claim(op)
	case isAcquire(op.F) && op.Type == history.OK:
		g = &grant{depth: 1, mode: op.Mode, permits: max(op.Permits, 1), owner: op.Owner, key: cmp.Or(op.Key, t.ops[from].Key), node: op.Node, token: op.Token, invoke: from, ok: i, end: -1}
		t.grants, t.byOwner[op.Owner] = append(t.grants, g), g
		t.byKey[g.key] = append(t.byKey[g.key], g)
		open[op.Node] = append(slices.DeleteFunc(open[op.Node], func(g *grant) bool { return g.end >= 0 }), g)
		g.claim(op)
	case op.F == history.Effect:
		if e := t.effects[t.ops[from].Value]; e != nil {
			e.done = i
		}
	case op.F == history.Write:
		if w := t.byValue[t.ops[from].Value]; w != nil {
			w.done = i
		}
	case g == nil:
	case op.F == history.Extend && op.Type == history.OK:
		g.renewed = append(g.renewed, i)
		g.claim(op)
	case op.F == history.Extend && op.Type == history.Fail:
		g.events = append(g.events, i)
		t.endBelief(g, i)
	case op.F == history.Read && op.Type == history.OK:
		g.reads = append(g.reads, i)
	case op.F == history.Change && op.Type == history.OK:
		g.both = true
		g.renewed = append(g.renewed, i)
		g.claim(op)
	case op.F == history.Release:
		if op.Type == history.OK && g.depth > 1 {
			g.depth--
		}
		g.events = append(g.events, i)
	}
}

// noted takes an event that is no operation.
func (t *trace) noted(i int, op *history.Op, open map[string][]*grant) {
	switch op.F {
	case history.Apply:
		if w := t.byValue[op.Value]; w != nil {
			w.apply = i
		}
	case history.Happened:
		if e := t.effects[op.Value]; e != nil {
			e.note = i
		}
	case history.Fault:
		if op.Fault != nil {
			t.faulted(i, op.Fault)
			if op.Fault.Phase == history.Begin && deadly(op.Fault.Kind) {
				t.told(i, open[op.Fault.Target], "") // the dead believe nothing
				open[op.Fault.Target] = nil
			}
		}
	case history.Gate:
		t.gates = append(t.gates, i)
	case history.Lost, history.Abstain:
		t.told(i, open[op.Node], op.Owner)
	}
}

// told ends the beliefs of one grant, or without an owner of all of them.
func (t *trace) told(i int, grants []*grant, owner string) {
	for _, g := range grants {
		if owner == "" || g.owner == owner {
			if g.end < 0 && t.ops[i].F != history.Fault {
				g.events = append(g.events, i)
			}
			t.endBelief(g, i)
		}
	}
}

func (t *trace) endBelief(g *grant, i int) {
	if g != nil && g.end < 0 {
		g.end = i
	}
}

// faulted takes one phase of a fault.
func (t *trace) faulted(i int, note *history.FaultNote) {
	var f *fault
	for _, known := range slices.Backward(t.faults) {
		if known.id == note.ID && known.target == note.Target {
			f = known
			break
		}
	}
	if f == nil && note.Phase == history.Skipped {
		return // it never was
	}
	if f == nil {
		f = &fault{id: note.ID, kind: note.Kind, target: note.Target, begin: -1, observed: -1, end: -1, beg: i}
		t.faults = append(t.faults, f)
	}
	if len(note.Cut) > 0 {
		f.cut = note.Cut
	}
	switch note.Phase {
	case history.Begin:
		f.begin, f.beg = i, i
	case history.Observed:
		f.observed = i
	case history.Missed:
		f.missed = true
	case history.Heal, history.Failed:
		f.end = i
	}
	if note.Proof != "" && f.end < 0 {
		f.proof = note.Proof
	}
}

// finish turns deadlines and ends into spans, once all ends are known.
func (t *trace) finish() {
	for _, g := range t.grants {
		g.belief = span{t.ops[g.ok].Time, t.endTime()}
		if g.end >= 0 {
			g.belief.to = t.ops[g.end].Time
		}
		g.cut(t.ops)
	}
}

// lasted is the raw time that a fault lasted.
func (t *trace) lasted(f *fault) span {
	s := span{t.ops[f.beg].Time, t.endTime()}
	if f.end >= 0 {
		s.to = t.ops[f.end].Time
	}
	return s
}

func (t *trace) startTime() int64 {
	if len(t.ops) == 0 {
		return 0
	}
	return t.ops[0].Time
}

func (t *trace) endTime() int64 {
	if len(t.ops) == 0 {
		return 0
	}
	return t.ops[len(t.ops)-1].Time
}

func isAcquire(f history.F) bool { return f == history.Acquire || f == history.Try }

// deadly says whether a fault ends its victim's memory.
func deadly(kind string) bool {
	return strings.Contains(kind, "kill") || strings.Contains(kind, "crash") || strings.Contains(kind, "restart")
}
