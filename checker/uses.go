package checker

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Uses are the properties of the well-known uses of a lock, by history.Use. They are
// judged beside the others where the clients make that use.
var Uses = map[string][]Checker{
	history.Inventory: {
		{"never-oversold/unfenced", "More is sold than there is, by the copy without fencing.", always, func(r *run) outcome { return r.neverOversold(unfenced) }, nil},
		{"never-oversold/fenced", "More is sold than there is, by the fenced copy.", tokenedOrLockless, func(r *run) outcome { return r.neverOversold(fencedOf) }, nil},
	},
	history.Payment: {
		{"charged-once/unfenced", "An order is charged twice where the table of orders has no fence.", always, func(r *run) outcome { return r.onlyOnce(unfenced, charges) }, nil},
		{"charged-once/fenced", "An order is charged twice although the table of orders has a fence.", tokened, func(r *run) outcome { return r.onlyOnce(fencedOf, charges) }, nil},
	},
	history.Cron: {
		{"one-run-a-slot/unfenced", "A slot is run twice where the table of slots has no fence.", always, func(r *run) outcome { return r.onlyOnce(unfenced, runs) }, nil},
		{"one-run-a-slot/fenced", "A slot is run twice although the table of slots has a fence.", tokened, func(r *run) outcome { return r.onlyOnce(fencedOf, runs) }, nil},
	},
	history.File: {
		{"no-interleaving/unfenced", "Blocks of two writers stand mixed in the file without a fence.", always, func(r *run) outcome { return r.noInterleaving(unfenced) }, nil},
		{"no-interleaving/fenced", "Blocks of two writers stand mixed in the file whose storage checks tokens.", tokened, func(r *run) outcome { return r.noInterleaving(fencedOf) }, nil},
	},
	history.Cache: {
		{"one-rebuilder", "Two clients rebuild the same entry at once.", always, oneRebuilder, nil},
	},
	history.TwoKeys: {
		{"no-deadlock", "Clients wait for each other's keys for longer than a lease and the bound that the lock states.", always, noDeadlock, nil},
	},
}

// All is every property that there is, in the order of a report.
func All() []Checker {
	all := append([]Checker{}, Checkers...)
	for _, name := range []string{history.Inventory, history.Payment, history.Cron, history.File, history.Cache, history.TwoKeys} {
		all = append(all, Uses[name]...)
	}
	return all
}

// checkersOf are the properties that are judged of a history: those of its kind of
// lock, and those of its use.
func checkersOf(s history.Setup) []Checker {
	all := slices.DeleteFunc(slices.Clone(Checkers), func(c Checker) bool {
		return len(c.kinds) > 0 && !slices.Contains(c.kinds, s.Kind)
	})
	return append(all, Uses[s.Use.Name]...)
}

func tokenedOrLockless(s history.Setup) (bool, string) {
	if s.Use.Lockless {
		return true, ""
	}
	return tokened(s)
}

// lockless are the properties that mean something where nobody takes a lock.
func lockless(name string) bool {
	switch name {
	case "no-lost-update/unfenced", "never-oversold/unfenced", "never-oversold/fenced":
		return true
	}
	return false
}

// effect is one effect of a client: its steps as indexes into the history, -1 where
// there is none.
type effect struct {
	invoke, done int
	logged       bool
}

// effectOf finds an effect by its unique value, and makes it.
func (r *run) effectOf(value string) *effect {
	if r.byEffect == nil {
		r.byEffect = map[string]*effect{}
	}
	e := r.byEffect[value]
	if e == nil {
		e = &effect{invoke: -1, done: -1}
		r.byEffect[value] = e
	}
	return e
}

// effected files the note of the resource under its key.
func (r *run) effected(i int, op *history.Op) {
	k := r.key(op.Key)
	k.effects = append(k.effects, i)
	r.effectOf(op.Value).logged = true
}

// evidence is what a violation by effects or writes names: each with its invoke and
// the grant it was made on.
func (r *run) evidence(notes ...int) (ops []int) {
	for _, i := range notes {
		op := &r.ops[i]
		ops = append(ops, i)
		if e := r.byEffect[op.Value]; e != nil && e.invoke >= 0 {
			ops = append(ops, e.invoke)
		}
		if slot, ok := r.byValue[op.Value]; ok && r.writes[slot].invoke >= 0 {
			ops = append(ops, r.writes[slot].invoke)
		}
		if g := r.byOwner[op.Owner]; g != nil {
			ops = append(ops, g.op)
		}
	}
	return ops
}

// doer names who made an effect or a write.
func (r *run) doer(i int) string {
	op := &r.ops[i]
	if g := r.byOwner[op.Owner]; g != nil {
		return g.who()
	}
	if e := r.byEffect[op.Value]; e != nil && e.invoke >= 0 {
		return r.client(e.invoke)
	}
	return (&updates{r: r}).writer(op)
}

// rate writes how often something happened from the first note to the last.
func (r *run) rate(n, first, last int) string {
	took := r.ops[max(last, 0)].Time - r.ops[max(first, 0)].Time
	if n < 2 || took <= 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f a second", float64(n-1)/(float64(took)/1e9))
}
