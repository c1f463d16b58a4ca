package models

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// brute decides a very small history by trying every order, and for each every
// choice of what of unknown outcome happened. legal says of a whole sequence
// whether it is the model's; it looks at the sequence as it stands and knows
// nothing of states, so that an error of specs shows here.
func brute(ops []Op, legal func([]*Op) bool) string {
	var seq []*Op
	var try func(done uint) bool
	try = func(done uint) bool {
		open := false
		for i := range ops {
			open = open || done>>i&1 == 0 && ops[i].Type != history.Info
		}
		if !open {
			return true
		}
		for i := range ops {
			if done>>i&1 == 1 || waits(ops, done, i) {
				continue
			}
			seq = append(seq, &ops[i])
			good := legal(seq) && try(done|1<<i)
			seq = seq[:len(seq)-1]
			if good {
				return true
			}
		}
		return false
	}
	if try(0) {
		return Legal
	}
	return Illegal
}

// waits says that another operation, which is not done, had returned before this one was called.
func waits(ops []Op, done uint, i int) bool {
	for j := range ops {
		if done>>j&1 == 0 && ops[j].Type != history.Info && ops[j].Return < ops[i].Call {
			return true
		}
	}
	return false
}

// held is how often an owner has taken the lock and not given it back, by a sequence.
func held(seq []*Op, of func(*Op) bool) (n int) {
	for _, op := range seq {
		switch {
		case !of(op) || op.Type == history.Fail:
		case op.F == Release || op.F == ReleaseR:
			n--
		default:
			n++
		}
	}
	return n
}

func all(*Op) bool { return true }

func ownedBy(owner string) func(*Op) bool { return func(op *Op) bool { return op.Owner == owner } }

// toldSince says that a grant among some operations told a token.
func toldSince(ops []*Op) bool {
	return slices.ContainsFunc(ops, func(op *Op) bool { return op.F != Release && op.Type != history.Fail && op.Token != 0 })
}

// sentences say in words of whole sequences what specs says in states: of the
// last operation, given the ones before it, which are legal.
var sentences = map[string]func(o Options, seq []*Op) bool{
	"mutex": func(_ Options, seq []*Op) bool { return oneHolder(seq) },
	"try": func(_ Options, seq []*Op) bool {
		before, op := seq[:len(seq)-1], seq[len(seq)-1]
		if op.F == Try && op.Type == history.Fail {
			return held(before, all) == 1 && held(before, ownedBy(op.Owner)) == 0
		}
		return oneHolder(seq)
	},
	"reentrant": func(_ Options, seq []*Op) bool {
		before, op := seq[:len(seq)-1], seq[len(seq)-1]
		mine := held(before, ownedBy(op.Owner))
		if op.F == Release || op.Type == history.Fail {
			return mine > 0 || op.Type == history.Fail
		}
		if held(before, all) != mine {
			return false
		}
		start := len(before)
		for ; mine > 0 && held(before[:start], all) > 0; start-- { // back to the outermost
		}
		for i, b := range before {
			if op.Token == 0 || b.Token == 0 || b.F == Release || b.Type == history.Fail {
				continue
			}
			if i >= start { // the token of this hold
				return op.Token == b.Token
			}
			if op.Token <= b.Token && !toldSince(before[start:]) {
				return false
			}
		}
		return true
	},
	"semaphore": func(o Options, seq []*Op) bool {
		op := seq[len(seq)-1]
		return held(seq, all) <= o.Permits && held(seq, ownedBy(op.Owner)) >= 0
	},
	"rwlock": func(_ Options, seq []*Op) bool {
		writes := func(op *Op) bool { return op.F == Acquire || op.F == Release }
		reads := func(op *Op) bool { return !writes(op) }
		op := seq[len(seq)-1]
		w, r := held(seq, writes), held(seq, reads)
		mine := func(of func(*Op) bool) int {
			return held(seq, func(x *Op) bool { return of(x) && x.Owner == op.Owner })
		}
		return w <= 1 && (w == 0 || r == 0) && mine(writes) >= 0 && mine(reads) >= 0 && mine(reads) <= 1
	},
	"ownerless": func(o Options, seq []*Op) bool {
		n := held(seq, all)
		return n >= 0 && n <= o.permits()
	},
	"fenced-mutex": func(_ Options, seq []*Op) bool {
		op := seq[len(seq)-1]
		mine := held(seq, func(x *Op) bool { return x.F != Extend && x.Owner == op.Owner })
		if held(seq, func(x *Op) bool { return x.F != Extend }) > 1 || mine < 0 {
			return false
		}
		return op.F == Extend && mine == 0 || rising(seq, func(i int) bool { // of whom renews something
			x := seq[i]
			return x.F != Extend || held(seq[:i], func(y *Op) bool { return y.F != Extend && y.Owner == x.Owner }) > 0
		})
	},
	"claims":        func(_ Options, seq []*Op) bool { return rising(seq, nil) && claimable(seq) },
	"lease-untimed": func(_ Options, seq []*Op) bool { return rising(seq, nil) && renewable(seq) && had(seq) },
	"lease": func(o Options, seq []*Op) bool {
		return rising(seq, nil) && renewable(seq) && had(seq) && timely(o, seq, nil)
	},
	"lease-windows": func(o Options, seq []*Op) bool { return renewable(seq) && had(seq) && timely(o, seq, nil) },
	"fenced-register": func(_ Options, seq []*Op) bool {
		before, op := seq[:len(seq)-1], seq[len(seq)-1]
		top, value := int64(0), ""
		for _, w := range before {
			if w.F == Write && w.Type != history.Fail {
				top, value = max(top, w.Token), w.Value
			}
		}
		switch {
		case op.Type == history.Fail:
			return op.F == Read || op.Token < top
		case op.F == Read:
			return op.Type == history.Info || op.Value == value
		}
		return op.Token >= top
	},
	"register":     func(_ Options, seq []*Op) bool { return readsBack(seq) },
	"kv":           func(_ Options, seq []*Op) bool { return readsBack(seq) },
	"cas-register": func(_ Options, seq []*Op) bool { return readsBack(seq) },
}

func oneHolder(seq []*Op) bool {
	op := seq[len(seq)-1]
	return held(seq, all) <= 1 && held(seq, ownedBy(op.Owner)) >= 0
}

// rising says that the last token that was answered is higher than all before it: to who
// has it already it may be answered again. counts says which answers count; nil: all.
func rising(seq []*Op, counts func(i int) bool) bool {
	op := seq[len(seq)-1]
	if op.F == Release || op.Type != history.OK || op.Token == 0 {
		return true
	}
	for i, before := range seq[:len(seq)-1] {
		if before.F == Release || before.Type != history.OK || counts != nil && !counts(i) {
			continue
		}
		if before.Token > op.Token || before.Token == op.Token && op.F != Extend && !toldAgain(seq[:i+1], seq[i+1:len(seq)-1], op) {
			return false
		}
	}
	return true
}

// toldAgain says that the owner of op was granted what it was told with the last of a
// sequence, and that nothing was granted or given back since.
func toldAgain(seq, since []*Op, op *Op) bool {
	return seq[len(seq)-1].Owner == op.Owner && !slices.ContainsFunc(since, func(x *Op) bool {
		return taking(x.F) && x.Type != history.Fail && x.Owner != op.Owner ||
			x.F == Release && x.Type != history.Fail && x.Owner == op.Owner || x.Type == history.Fail && x.Refused && !taking(x.F) && x.Owner == op.Owner
	})
}

// renewable says that the last operation, if a renewal that returned OK, is by
// who was granted the lock last of all and has not given it back since.
func renewable(seq []*Op) bool {
	op := seq[len(seq)-1]
	return op.F != Extend || op.Type != history.OK || holder(seq[:len(seq)-1]) == op.Owner
}

// holder is who was granted the lock last of all, and has not given it back since.
func holder(seq []*Op) string {
	for i, op := range slices.Backward(seq) {
		if !taking(op.F) || op.Type == history.Fail {
			continue
		}
		if slices.ContainsFunc(seq[i:], func(r *Op) bool { return r.F == Release && r.Type != history.Fail && r.Owner == op.Owner }) {
			return ""
		}
		return op.Owner
	}
	return ""
}

// had says that the last operation, if a release, is of who was granted the lock since it last gave it back.
func had(seq []*Op) bool {
	op := seq[len(seq)-1]
	if op.F != Release || op.Type == history.Fail {
		return true
	}
	for _, before := range slices.Backward(seq[:len(seq)-1]) {
		if before.Owner == op.Owner && before.Type != history.Fail && before.F != Extend {
			return before.F != Release
		}
	}
	return false
}

// claimable says that who renewed, or gave back, was granted the lock last of all, and
// has neither given it back nor been refused since.
func claimable(seq []*Op) bool {
	op := seq[len(seq)-1]
	if taking(op.F) || op.Type != history.OK {
		return true
	}
	for _, before := range slices.Backward(seq[:len(seq)-1]) {
		switch {
		case taking(before.F) && before.Type != history.Fail:
			return before.Owner == op.Owner
		case before.Owner == op.Owner && !taking(before.F) && (before.Type == history.Fail && before.Refused || before.Type == history.OK && before.F == Release):
			return false
		}
	}
	return false
}

// regrant says that an acquire only told its owner once more of the grant it has.
func regrant(before []*Op, op *Op) bool {
	for i, b := range slices.Backward(before) {
		if b.Type == history.OK && b.Token > 0 && b.Token == op.Token && b.F != Release {
			return toldAgain(before[:i+1], before[i+1:], op)
		}
	}
	return false
}

func lastGrant(seq []*Op) int {
	for i, op := range slices.Backward(seq) {
		if taking(op.F) && op.Type == history.OK && !regrant(seq[:i], op) {
			return i
		}
	}
	return -1
}

// timely tries every full instant for each operation of a sequence.
func timely(o Options, seq []*Op, at []int64) bool {
	if len(at) == len(seq) {
		return true
	}
	op := seq[len(at)]
	from, to := op.Called, op.Done
	if op.Type == history.Info {
		to = op.Called + 200
	}
	if len(at) > 0 {
		from = max(from, at[len(at)-1])
	}
	for x := from; x <= to; x++ {
		if free(o, seq[:len(at)], at, op, x) && timely(o, seq, append(at[:len(at):len(at)], x)) {
			return true
		}
		if op.F == Release {
			break // sooner is never worse for what follows, and saves the time
		}
	}
	return false
}

// free says that op, if a grant, can be made at x: what was granted last has
// been given back or its lease has ended.
func free(o Options, before []*Op, at []int64, op *Op, x int64) bool {
	if !taking(op.F) || op.Type == history.Fail || op.Type == history.OK && regrant(before, op) {
		return true
	}
	if op.Type == history.Info {
		return false // it is better not to have happened
	}
	last := lastGrant(before)
	if last < 0 {
		return true
	}
	end := int64(0)
	for i := last; i < len(before); i++ {
		b := before[i]
		switch {
		case b.F == Release && b.Type != history.Fail && b.Owner == before[last].Owner:
			return true
		case b.F == Extend && b.Type == history.Info && b.Owner == before[last].Owner && b.Lease == 0 && o.Lease == 0:
		case i == last || b.F == Extend && b.Type != history.Fail && b.Owner == before[last].Owner:
			end = at[i] + cmp.Or(b.Lease, int64(o.Lease))
		}
	}
	return x >= end
}

// readsBack replays writes by hand.
func readsBack(seq []*Op) bool {
	value := ""
	for i, op := range seq {
		last := i == len(seq)-1
		switch {
		case op.Type == history.Fail && op.F != CAS:
		case op.F == CAS && op.Type == history.Fail:
			if last && value == op.Old {
				return false
			}
		case op.F == Read:
			if last && op.Type == history.OK && value != op.Value {
				return false
			}
		case op.F == Append:
			value += op.Value
		case op.F == CAS && value != op.Old:
			return false
		default:
			value = op.Value
		}
	}
	return true
}

// TestAgreesWithBruteForce holds sweeps and Porcupine's models against what
// tries everything, on very small histories.
func TestAgreesWithBruteForce(t *testing.T) {
	checks(t, 2000)
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			var c tally
			rapid.Check(t, func(t *rapid.T) {
				events := random(t, s, rapid.IntRange(2, 6).Draw(t, "operations"))
				for i := range events { // equal times are settled by the order of events, which full instants cannot tell
					events[i].Time += int64(i)
				}
				c.agree(t, s, events, func(o Options, ops []Op) string {
					want := brute(ops, func(seq []*Op) bool { return sentences[s.model](o, seq) })
					if said := inProcess(s.model, o, ops); said != want {
						t.Fatalf("Porcupine says %s, trying everything %s:\n%s", said, want, text(events))
					}
					return want
				})
			})
			t.Log(c)
		})
	}
}
