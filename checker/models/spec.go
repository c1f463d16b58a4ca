package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/dlmtest/dlmtest/history"
)

// spec is a model as Porcupine wants it: how one operation changes the state.
// It is written apart from the sweeps, which are tested against it.
type spec struct {
	init func(Options) any
	// step returns the state after an operation that happened, and whether that
	// was legal. Of an operation of unknown outcome only the call is known.
	step func(o Options, state any, op *Op) (any, bool)
	// total says that an operation of unknown outcome is legal in every state, so
	// that the end of the history is as good a place for it as never. The search
	// is far shorter for it.
	total bool
	// asserts says that a failure is an observation too; else it is left out.
	asserts func(*Op) bool
}

// porcupine allows an operation of unknown outcome to have never happened:
// Porcupine places every operation somewhere and would report violations that
// are none.
func (s spec) porcupine(o Options) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{s.init(o)} },
		Step: func(state, input, _ any) []any {
			op := input.(*Op)
			if op.Type == history.Fail && (s.asserts == nil || !s.asserts(op)) {
				return []any{state}
			}
			var next []any
			if after, legal := s.step(o, state, op); legal {
				next = append(next, after)
			}
			if op.Type == history.Info && !s.total {
				next = append(next, state)
			}
			return next
		},
		DescribeOperation: func(input, _ any) string {
			op := input.(*Op)
			words := []string{op.Owner, string(op.F), op.Old, op.Value}
			if op.Token != 0 {
				words = append(words, fmt.Sprintf("token %d", op.Token))
			}
			return strings.Join(strings.Fields(strings.Join(append(words, string(op.Type)), " ")), " ")
		},
	}
	return m.ToModel()
}

// The states. All are comparable.
type (
	heldBy struct{ owner string }
	again  struct {
		owner string
		depth int
		token int64
	}
	crowd  struct{ owners string } // sorted, one a permit
	rw     struct{ writer, readers string }
	fenced struct {
		owner string
		token int64
	}
	leased struct {
		owner    string
		token    int64
		now, end instant
	}
	stored struct {
		value string
		token int64
	}
)

func nobody(Options) any { return heldBy{} }

// specs has a model for each name of Models, and Claims.
var specs = map[string]spec{
	Claims:  {init: func(Options) any { return fenced{} }, step: claimsStep},
	"mutex": {init: nobody, step: mutexStep},
	"try": {init: nobody, asserts: func(op *Op) bool { return op.F == Try },
		step: func(o Options, state any, op *Op) (any, bool) {
			if op.Type == history.Fail {
				s := state.(heldBy)
				return s, s.owner != "" && s.owner != op.Owner
			}
			return mutexStep(o, state, op)
		}},
	"reentrant":     {init: func(Options) any { return again{} }, step: reentrantStep},
	"semaphore":     {init: func(Options) any { return crowd{} }, step: semaphoreStep},
	"rwlock":        {init: func(Options) any { return rw{} }, step: rwStep},
	"ownerless":     {init: func(Options) any { return 0 }, step: ownerlessStep},
	"fenced-mutex":  {init: func(Options) any { return fenced{} }, step: fencedStep},
	"lease":         {init: func(Options) any { return leased{} }, step: leaseStep},
	"lease-windows": {init: func(Options) any { return leased{} }, step: leaseStep},
	"lease-untimed": {init: func(Options) any { return fenced{} }, step: untimedStep},
	"fenced-register": {init: func(o Options) any { return stored{value: o.Init} }, step: guardedStep,
		asserts: func(op *Op) bool { return op.F == Write }},
	"register": {total: true, init: func(o Options) any { return o.Init }, step: registerStep},
	"kv":       {total: true, init: func(o Options) any { return o.Init }, step: registerStep},
	"cas-register": {total: true, init: func(o Options) any { return o.Init }, step: registerStep,
		asserts: func(op *Op) bool { return op.F == CAS }},
}

// Claims is a model for Porcupine alone: a lock that may be lost at any time, where
// an OK to an extend or a release says that its owner held it. Tokens rise, where
// there are any.
const Claims = "claims"

func claimsStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(fenced)
	switch op.F {
	case Extend:
		return s, s.owner == op.Owner
	case Release:
		return fenced{token: s.token}, s.owner == op.Owner
	}
	return fenced{op.Owner, op.Token}, op.Token == 0 || op.Token > s.token
}

func mutexStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(heldBy)
	if op.F == Release {
		return heldBy{}, s.owner == op.Owner
	}
	return heldBy{op.Owner}, s.owner == ""
}

func reentrantStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(again)
	switch {
	case op.F == Release && s.owner != op.Owner, op.F != Release && s.owner != "" && s.owner != op.Owner:
		return s, false
	case op.F == Release && s.depth == 1:
		return again{}, true
	case op.F == Release:
		s.depth--
		return s, true
	case s.owner == "":
		return again{op.Owner, 1, op.Token}, true
	}
	s.depth++
	return s, op.Token == 0 || s.token == 0 || op.Token == s.token
}

func with(owners, owner string) string {
	all := append(strings.Fields(owners), owner)
	slices.Sort(all)
	return strings.Join(all, " ")
}

func without(owners, owner string) (string, bool) {
	all := strings.Fields(owners)
	i := slices.Index(all, owner)
	if i < 0 {
		return owners, false
	}
	return strings.Join(slices.Delete(all, i, i+1), " "), true
}

// word makes an owner's name fit for a list.
func word(owner string) string { return fmt.Sprintf("%x", owner) }

func semaphoreStep(o Options, state any, op *Op) (any, bool) {
	s := state.(crowd)
	if op.F == Release {
		rest, held := without(s.owners, word(op.Owner))
		return crowd{rest}, held
	}
	return crowd{with(s.owners, word(op.Owner))}, len(strings.Fields(s.owners)) < o.permits()
}

func rwStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(rw)
	me := word(op.Owner)
	switch op.F {
	case Release:
		return rw{}, s.writer == me
	case ReleaseR:
		rest, held := without(s.readers, me)
		return rw{readers: rest}, held
	case AcquireR:
		_, again := without(s.readers, me)
		return rw{readers: with(s.readers, me)}, s.writer == "" && !again
	}
	return rw{writer: me}, s.writer == "" && s.readers == ""
}

func ownerlessStep(o Options, state any, op *Op) (any, bool) {
	out := state.(int)
	if op.F == Release {
		return out - 1, out > 0
	}
	return out + 1, out < o.permits()
}

func fencedStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(fenced)
	switch {
	case op.F == Release:
		return fenced{token: s.token}, s.owner == op.Owner
	case op.Type == history.Info: // some token, the next one
		return fenced{op.Owner, s.token}, s.owner == ""
	}
	return fenced{op.Owner, op.Token}, s.owner == "" && op.Token > s.token
}

// untimedStep keeps who was granted the lock last and has not given it back.
func untimedStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(fenced)
	switch {
	case op.F == Release && s.owner == op.Owner:
		return fenced{token: s.token}, true
	case op.F == Release || op.Type == history.Info:
		return s, true
	case op.F == Extend:
		return s, s.owner == op.Owner
	}
	return fenced{op.Owner, op.Token}, op.Token > s.token
}

// leaseStep keeps the earliest instant at which an operation that comes now can
// take effect, and at which the lock is free again.
func leaseStep(o Options, state any, op *Op) (any, bool) {
	s := state.(leased)
	at := instant{op.Called, op.Call}
	if s.now.after(at) {
		at = s.now
	}
	if taking(op.F) && op.Type != history.Info && s.end.after(at) {
		at = s.end
	}
	if op.Type != history.Info && at.after(instant{op.Done, op.Return}) {
		return s, false
	}
	switch {
	case op.F == Release:
		s.now = at
		if s.owner != op.Owner {
			return s, true
		}
		s.owner = ""
		if s.end.after(at) {
			s.end = at
		}
		return s, true
	case op.Type == history.Info: // of an unknown lease; it is better not to have happened
		return s, false
	}
	end := expiry(at.time, cmp.Or(op.Lease, int64(o.Lease)))
	if op.F == Extend {
		return leased{s.owner, s.token, at, end}, s.owner == op.Owner
	}
	return leased{op.Owner, op.Token, at, end}, op.Token == 0 || op.Token > s.token
}

func guardedStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(stored)
	switch {
	case op.F == Read:
		return s, op.Type == history.Info || op.Value == s.value
	case op.Type == history.Fail:
		return s, op.Token < s.token
	}
	return stored{op.Value, op.Token}, op.Token >= s.token
}

func registerStep(_ Options, state any, op *Op) (any, bool) {
	value := state.(string)
	switch {
	case op.F == Read:
		return value, op.Type == history.Info || op.Value == value
	case op.F == Append:
		return value + op.Value, true
	case op.F == CAS && op.Type == history.Fail:
		return value, op.Old != value
	case op.F == CAS && op.Type == history.Info && op.Old != value:
		return value, true
	case op.F == CAS:
		return op.Value, op.Old == value
	}
	return op.Value, true
}
