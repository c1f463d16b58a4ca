package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Validate checks what the judge assumes of every history. A broken assumption
// is an error of the harness, never of the lock: such a history must not be
// judged. The error is a Broken, or one of the setup.
func Validate(setup Setup, ops []Op) error {
	if err := setup.check(); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	v := validator{
		processes: map[int]process{},
		told:      map[told]bool{},
		owners:    map[string]granted{},
		values:    map[string]int{},
		faults:    map[victim]int{},
		byProcess: setup.Promise.Reentry == ByProcess,
	}
	for i := range ops {
		op := &ops[i]
		if op.Index != i {
			return &Broken{i, op, fmt.Errorf("its index is %d, and not %d", op.Index, i)}
		}
		if i > 0 && op.Time < ops[i-1].Time {
			return &Broken{i, op, fmt.Errorf("time goes back by %d ns", ops[i-1].Time-op.Time)}
		}
		if err := v.op(ops, op); err != nil {
			return &Broken{i, op, err}
		}
	}
	return nil
}

// Broken is a rule that an operation of a history breaks.
type Broken struct {
	Index int // of the operation
	op    *Op
	Err   error
}

// Error names the line and the operation.
func (b *Broken) Error() string {
	return fmt.Sprintf("line %d (%s %s of process %d on %q): %v", Line(b.Index), b.op.Type, b.op.F, b.op.Process, b.op.Node, b.Err)
}

// Unwrap is the rule that was broken.
func (b *Broken) Unwrap() error { return b.Err }

// Line is the line of a history file on which the operation of an index stands: the first is the header.
func Line(index int) int { return index + 2 }

// process is what one logical process is doing.
type process struct {
	pending int // index of the pending invoke, plus one
	retired bool
}

// granted is what is known of the grant of an owner.
type granted struct {
	index  int
	token  int64
	of     holding
	deeper bool // it was told a depth of a first hold that nobody has been told of yet
	back   bool // its holder asked to give some of it back
}

// told is a token that a holder was told by a renewal or a change.
type told struct {
	owner string
	token int64
}

// holding is which client holds which key.
type holding struct{ node, key string }

// victim names one fault at one of its victims.
type victim struct {
	id     int
	target string
}

type validator struct {
	processes map[int]process
	told      map[told]bool // but those of their grants
	owners    map[string]granted
	values    map[string]int
	faults    map[victim]int // index of the Begin that is open
	byProcess bool           // a lock is held by a client with all its threads
}

// furthest is the greatest time that an operation may name: 36 years of a
// MONOTONIC clock, which leaves room to add and subtract such times and leases.
const furthest = 1 << 60

// inRange refuses numbers with which the judge's arithmetic could overflow.
func (op *Op) inRange() error {
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"time", op.Time}, {"mono", op.Mono}, {"sent", op.Sent}, {"lease", op.Lease}, {"deadline", op.Deadline}, {"length", op.Length},
	} {
		if n.value > furthest || n.value < -furthest {
			return fmt.Errorf("%s %d ns is beyond 36 years", n.name, n.value)
		}
	}
	switch {
	case op.Lease < 0 && op.Type != Note: // a note may say what a server answered
		return fmt.Errorf("lease %d ns is negative", op.Lease)
	case op.Length < 0 && op.F != HostClock:
		return fmt.Errorf("length %d ns is negative", op.Length)
	case op.Token < 0:
		return fmt.Errorf("token %d is negative: it overflowed", op.Token)
	case op.Fenced != nil && op.Fenced.Token < 0:
		return fmt.Errorf("token %d of the fenced copy is negative: it overflowed", op.Fenced.Token)
	case op.Process < 0:
		return fmt.Errorf("process %d is negative", op.Process)
	}
	return nil
}

func (v *validator) op(ops []Op, op *Op) error {
	if err := errors.Join(op.inRange(), v.kind(op)); err != nil {
		return err
	}
	switch op.Type {
	case Invoke:
		return v.invoke(op)
	case OK, Fail, Info:
		return v.complete(ops, op)
	case Note:
		return v.note(ops, op)
	}
	return fmt.Errorf("unknown type %q", op.Type)
}

var operations = []F{Acquire, Try, Extend, Release, Change, Read, Write, Effect}

func (v *validator) invoke(op *Op) error {
	p := v.processes[op.Process]
	switch {
	case !slices.Contains(operations, op.F):
		return fmt.Errorf("%q is no operation of a client", op.F)
	case p.retired:
		return fmt.Errorf("the process was retired by an unknown outcome")
	case p.pending != 0:
		return fmt.Errorf("the operation of line %d of the process is still pending", Line(p.pending-1))
	}
	v.processes[op.Process] = process{pending: op.Index + 1}
	if g, held := v.owners[op.Owner]; held && op.F == Release {
		g.back = true
		v.owners[op.Owner] = g
	}
	if op.F != Write && op.F != Effect {
		return nil
	}
	if op.Value == "" {
		return fmt.Errorf("a %s without a value", op.F)
	}
	if before, ok := v.values[op.Value]; ok {
		return used("value", op.Value, before)
	}
	v.values[op.Value] = op.Index
	return v.carries(op)
}

// carries wants a write, and what the resource says of it, to carry the token of
// its grant, or one that was told since, where that is known: without it no fence can be judged.
func (v *validator) carries(op *Op) error {
	if g, ok := v.owners[op.Owner]; ok && g.token != op.Token && !v.told[told{op.Owner, op.Token}] {
		return fmt.Errorf("it carries token %d, but line %d granted %q with token %d", op.Token, Line(g.index), op.Owner, g.token)
	}
	return nil
}

func (v *validator) complete(ops []Op, op *Op) error {
	p := v.processes[op.Process]
	if p.retired {
		return fmt.Errorf("the process was retired by an unknown outcome")
	}
	if p.pending == 0 {
		return fmt.Errorf("nothing was invoked")
	}
	invoke := &ops[p.pending-1]
	switch {
	case op.F != invoke.F:
		return fmt.Errorf("line %d invoked %s", Line(invoke.Index), invoke.F)
	case op.Key != "" && op.Key != invoke.Key:
		return fmt.Errorf("line %d invoked it on key %q", Line(invoke.Index), invoke.Key)
	case op.Owner != "" && invoke.Owner != "" && op.Owner != invoke.Owner:
		return fmt.Errorf("line %d invoked it for owner %q", Line(invoke.Index), invoke.Owner)
	case op.Value != "" && invoke.Value != "" && op.Value != invoke.Value:
		return fmt.Errorf("line %d invoked it with value %q", Line(invoke.Index), invoke.Value)
	case op.Sent != 0 && (op.Sent < invoke.Time || op.Sent > op.Time):
		return fmt.Errorf("sent at %d, outside of its own span from %d to %d", op.Sent, invoke.Time, op.Time)
	}
	v.processes[op.Process] = process{retired: op.Type == Info}
	switch {
	case op.Type == OK && (op.F == Acquire || op.F == Try):
		return v.granted(op, invoke)
	case op.Type == OK && (op.F == Extend || op.F == Change) && op.Token != 0:
		if owner := cmp.Or(op.Owner, invoke.Owner); v.owners[owner].token != op.Token {
			v.told[told{owner, op.Token}] = true
		}
	}
	return nil
}

// notes are all there are.
var notes = []F{
	Apply, ReadSeen, Suspended, Resumed, Lost, Abstain, Holder, Fault, Stall, HostClock, Clock, Stop, Final, Woken, Held, End,
	Unparsed, ServerEnd, Adapter, Happened, Decided,
}

func (v *validator) note(ops []Op, op *Op) error {
	if !slices.Contains(notes, op.F) {
		return fmt.Errorf("%q is no note that is known", op.F)
	}
	if op.F == Final {
		for open, begun := range v.faults {
			return fmt.Errorf("all is said to be healed, but fault %d on %q is open since line %d", open.id, open.target, Line(begun))
		}
	}
	if op.Sent > op.Time {
		return fmt.Errorf("sent at %d, after its own time %d", op.Sent, op.Time)
	}
	if op.F == Apply || op.F == Happened {
		if w, ok := v.values[op.Value]; ok && op.Value != "" && op.Owner != ops[w].Owner {
			return fmt.Errorf("line %d wrote %q for owner %q", Line(w), op.Value, ops[w].Owner)
		}
		return v.carries(op)
	}
	if op.F != Fault {
		return nil
	}
	if op.Fault == nil {
		return fmt.Errorf("a fault note without its fault")
	}
	if FaultOf(op.Fault.Kind).About == "" { // what may be concluded from a fault depends on its kind
		return fmt.Errorf("fault %d has the kind %q: want one of %q", op.Fault.ID, op.Fault.Kind, FaultsThat(func(FaultKind) bool { return true }))
	}
	of := victim{op.Fault.ID, op.Fault.Target}
	begun, open := v.faults[of]
	switch op.Fault.Phase {
	case Begin:
		if open {
			return fmt.Errorf("fault %d began on line %d and was not healed", of.id, Line(begun))
		}
		v.faults[of] = op.Index
	case Heal:
		if !open {
			return fmt.Errorf("fault %d is healed, but it did not begin", of.id)
		}
		delete(v.faults, of)
	case Failed:
		return fmt.Errorf("the heal of fault %d failed: %s", of.id, op.Fault.Proof)
	case Observed:
		if !open {
			return fmt.Errorf("fault %d is observed, but it is not open", of.id)
		}
	case Missed, Skipped, Again:
	default:
		return fmt.Errorf("unknown phase %q of fault %d", op.Fault.Phase, of.id)
	}
	return nil
}

func used(what, name string, before int) error {
	return fmt.Errorf("%s %q was used on line %d", what, name, Line(before))
}
