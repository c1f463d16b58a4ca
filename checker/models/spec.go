package models

import (
	"fmt"
	"hash/maphash"
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
	// who has the lock, for an operation of which nobody knows for whom it was.
	who func(state any) []string
	// asserts says that a failure is an observation too; else it is left out.
	asserts func(*Op) bool
}

var stateSeed = maphash.MakeSeed()

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
			for _, one := range s.asked(state, op) {
				if after, legal := s.step(o, state, one); legal {
					next = append(next, after)
				}
			}
			if op.Type == history.Info && !s.total {
				next = append(next, state)
			}
			return next
		},
		// Sets of states are compared by their hashes first.
		Hash: func(state any) uint64 { return maphash.Comparable(stateSeed, state) },
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
		token int64 // of the hold; 0: it was told none
		top   int64
	}
	crowd  struct{ owners string } // sorted, one a permit
	rw     struct{ writer, readers string }
	fenced struct {
		owner string
		token int64
	}
	lent struct {
		owner string // who was granted it last, and has not given it back
		token int64
		mine  int64  // the owner's token; 0: nobody knows it
		out   string // owners who were granted it and have not given it back: sorted words
	}
	leased struct {
		lent
		now, end instant
	}
	claimed struct {
		owner       string
		token, mine int64 // the greatest, and the owner's; 0: nobody knows it
	}
	stored struct {
		value string
		token int64
	}
)

func nobody(Options) any { return heldBy{} }

// specs has a model for each name of Models.
var specs = map[string]spec{
	Claims: {init: func(Options) any { return claimed{} }, step: claimsStep, who: whoHolds,
		asserts: func(op *Op) bool { return op.Refused && !taking(op.F) }},
	"mutex": {init: nobody, step: mutexStep, who: whoHolds},
	"try": {init: nobody, who: whoHolds, asserts: func(op *Op) bool { return op.F == Try },
		step: func(o Options, state any, op *Op) (any, bool) {
			if op.Type == history.Fail {
				s := state.(heldBy)
				return s, s.owner != "" && s.owner != op.Owner
			}
			return mutexStep(o, state, op)
		}},
	"reentrant":     {init: func(Options) any { return again{} }, step: reentrantStep},
	"semaphore":     {init: func(Options) any { return crowd{} }, step: semaphoreStep, who: whoHolds},
	"rwlock":        {init: func(Options) any { return rw{} }, step: rwStep, who: whoHolds},
	"ownerless":     {init: func(Options) any { return 0 }, step: ownerlessStep},
	"fenced-mutex":  {init: func(Options) any { return fenced{} }, step: fencedStep, who: whoHolds},
	"lease":         {init: func(Options) any { return leased{} }, step: leaseStep, who: whoHolds},
	"lease-windows": {init: func(Options) any { return leased{} }, step: leaseStep, who: whoHolds},
	"lease-untimed": {init: func(Options) any { return lent{} }, step: untimedStep, who: whoHolds},
	"fenced-register": {init: func(o Options) any { return stored{value: o.Init} }, step: guardedStep,
		asserts: func(op *Op) bool { return op.F == Write }},
	Etcd:       {init: newEtcd, step: etcdStep},
	"register": {total: true, init: func(o Options) any { return o.Init }, step: registerStep},
	"kv":       {total: true, init: func(o Options) any { return o.Init }, step: registerStep},
	"cas-register": {total: true, init: func(o Options) any { return o.Init }, step: registerStep,
		asserts: func(op *Op) bool { return op.F == CAS }},
}

// Claims is the name of a lock that may be lost at any time, where an OK to a renewal or
// a release says that its owner held it, and a refusal that it did not. Tokens rise,
// where there are any.
const Claims = "claims"

func claimsStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(claimed)
	mine := is(s.owner, op.Owner)
	switch {
	case op.Type == history.Fail && mine, op.F == Release && op.Type == history.OK:
		return claimed{token: s.token}, mine
	case op.Type != history.OK && !taking(op.F):
		return s, true
	case op.Type == history.Info: // some token, the next one
		return claimed{op.Owner, s.token, 0}, true
	case op.F == Extend, op.Token > 0 && op.Token == s.mine && s.owner == op.Owner:
		return claimed{op.Owner, max(s.token, op.Token), max(s.mine, op.Token)}, mine && (op.Token == 0 || op.Token >= s.token)
	case op.Token == 0:
		return claimed{op.Owner, s.token, 0}, true
	}
	return claimed{op.Owner, op.Token, op.Token}, op.Token > s.token
}

// is says whether an owner may be the holder. That one may be anybody who has a name.
func is(holder, owner string) bool {
	return holder == owner || holder == Anybody && !strings.HasPrefix(owner, "process")
}

func mutexStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(heldBy)
	if op.F == Release {
		return heldBy{}, is(s.owner, op.Owner)
	}
	return heldBy{op.Owner}, s.owner == ""
}

func reentrantStep(_ Options, state any, op *Op) (any, bool) {
	s := state.(again)
	switch {
	case op.F == Release && s.owner != Anybody && op.Owner == Anybody && s.owner != "": // it may be the holder
		op = &Op{F: Release, Owner: s.owner}
	case op.F == Release && !is(s.owner, op.Owner), op.F != Release && s.owner != "" && !is(s.owner, op.Owner) && op.Owner != Anybody:
		return s, false
	}
	if s.owner == Anybody && op.Owner != Anybody || s.owner == "" { // now it is known who that is
		s.owner = op.Owner
	}
	switch {
	case op.F == Release && s.depth == 1:
		return again{top: s.top}, true
	case op.F == Release:
		s.depth--
		return s, true
	}
	s.depth++
	if op.Token == 0 || s.token != 0 {
		return s, op.Token == 0 || op.Token == s.token
	}
	legal := op.Token > s.top
	s.token, s.top = op.Token, op.Token
	return s, legal
}

func with(owners, owner string) string {
	all := append(strings.Fields(owners), owner)
	slices.Sort(all)
	return strings.Join(all, " ")
}

func without(owners, owner string) (string, bool) {
	all := strings.Fields(owners)
	i := slices.Index(all, owner)
	if i < 0 && is(Anybody, owner) {
		i = slices.Index(all, Anybody)
	}
	if i < 0 {
		return owners, false
	}
	return strings.Join(slices.Delete(all, i, i+1), " "), true
}

// word makes an owner's name fit for a list.
func word(owner string) string {
	if name, unnamed := strings.CutPrefix(owner, "process "); unnamed {
		return "process" + name
	}
	if owner == Anybody {
		return Anybody
	}
	return fmt.Sprintf("%x", owner)
}

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
		return rw{}, is(s.writer, me)
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
