package checker

import (
	"fmt"
	"math"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// question is a history of one key as a model of Porcupine wants it.
type question struct {
	model   string
	options models.Options
	ops     []models.Op
}

// posed is how a property is put to Porcupine.
type posed struct {
	// of makes the questions about a key; the history is illegal if it is illegal by
	// any of them, and legal only if it is legal by all.
	of func(*run, *keyLog) []question
	// whole says that a whole history is legal if and only if the property holds, not
	// only that the smallest history of a violation is illegal.
	whole bool
	why   string // why there is no model of it
	// shares says why there is none of a lock that several clients may hold.
	shares string
	// entry: only a violation that names an entry of the resource's log is asked about.
	entry bool
	// holds: it asks about holds alone, so not about a write of an owner without a grant.
	holds bool
}

// at is a time as Porcupine counts it.
func (r *run) at(t int64) int { return int(t - r.Begin) }

// grantedOp is the acquire of g, which had the lock at some instant of it.
func (r *run) grantedOp(g *trace.Grant, from int64) models.Op {
	return models.Op{F: models.Acquire, Type: history.OK, Owner: g.Owner, Token: g.Token, Call: r.at(from), Return: r.at(g.OK)}
}

// given ends a hold at some time from t on.
func (r *run) given(owner string, t int64) models.Op {
	return models.Op{F: models.Release, Type: history.OK, Owner: owner, Call: r.at(t), Return: math.MaxInt}
}

// askBelief makes a mutex of what the holders did: each held the lock from its
// grant to its last act on it, or, read strictly, to the end of its belief. If that
// can be, because two answers overlapped, it still must fit the tokens.
func (r *run) askBelief(k *keyLog) []question {
	var ops []models.Op
	for _, g := range k.Grants {
		ops = append(ops, r.grantedOp(g, g.Sent))
		switch {
		case !r.Setup.Strict:
			until := g.Sent // it did nothing: it may have lost the lock at once
			if g.LastAct > g.OK {
				until = g.LastAct
			}

			ops = append(ops, r.given(g.Owner, until))
		case g.End != trace.Forever:
			ops = append(ops, r.given(g.Owner, max(g.End, g.Sent)))
		}
	}
	asked := []question{{model: "mutex", ops: ops}}
	if k.Sure {
		asked = append(asked, question{model: "fenced-mutex", ops: ops})
	}
	if kept := r.keptOps(k); len(kept) > 0 {
		asked = append(asked, question{model: "mutex", ops: kept})
	}
	return asked
}

// keptOps are the holds of a key from their answers, as long as nothing can have ended them, and of those that may
// have been over by their answer the instant at which they were made.
func (r *run) keptOps(k *keyLog) (ops []models.Op) {
	lasts := false
	for _, g := range k.Grants {
		spans := r.keptSpans(g, trace.ClockNoise)
		lasts = lasts || len(spans) > 0
		if len(spans) == 0 {
			ops = append(ops, r.grantedOp(g, g.Sent), r.given(g.Owner, g.Sent))
		}
		for i, s := range spans {
			op := r.grantedOp(g, s.From)
			if op.Return = r.at(s.From); i > 0 { // it was told that it is safe again
				op.Owner = fmt.Sprintf("%s %d", g.Owner, i)
			}
			if ops = append(ops, op); s.To < trace.Forever-trace.ClockNoise {
				ops = append(ops, r.given(op.Owner, s.To))
			}
		}
	}
	if !lasts {
		return nil
	}
	return ops
}

// askValidity makes a mutex of the times in which a lease was valid.
func (r *run) askValidity(k *keyLog) []question {
	if r.Setup.Kind.Shares() && r.Setup.Promise.Validity == history.Untold {
		return r.askShares(r.owedShares(k))
	}
	if r.Setup.Kind.Shares() {
		return r.askShares(r.valid(k, map[string]int{}))
	}
	if r.Setup.Promise.Validity == history.Untold {
		return []question{{model: "mutex", ops: r.keptOps(k)}}
	}
	var ops []models.Op
	for i, g := range k.Grants {
		spans, known := r.OwedValidity(nil, g, i)
		if !known {
			return nil
		}
		for n, s := range spans {
			owner := fmt.Sprintf("%s %d", g.Owner, n)
			ops = append(ops, models.Op{F: models.Acquire, Type: history.OK, Owner: owner, Call: r.at(s.From), Return: r.at(s.From)})
			if s.To != trace.Forever {
				ops = append(ops, r.given(owner, s.To))
			}
		}
	}
	return []question{{model: "mutex", ops: ops}}
}

// askTokens makes a lock that may be lost at any time, whose tokens rise.
func (r *run) askTokens(k *keyLog) []question {
	var ops []models.Op
	all := r.tokened(k)
	for _, g := range all {
		ops = append(ops, r.grantedOp(g, g.Sent))
	}
	var looked []models.Op
	for _, p := range r.byLooks(k, all) {
		op := r.grantedOp(p.Grant, p.sent)
		op.Return = r.at(p.ok)
		looked = append(looked, op)
	}
	tokened := models.Options{Tokened: true}
	return []question{{model: "lease-untimed", options: tokened, ops: ops}, {model: "lease-untimed", options: tokened, ops: looked}}
}

// askFenced makes a fenced register of the log of the fenced copy. Its tokens are
// the places of the grants in their order, as the lock's own may lie.
func (r *run) askFenced(k *keyLog) []question {
	var ops, below []models.Op
	top, apart, strict := -1, 1, r.Setup.Fencing == history.Strict
	if strict { // between two tokens stands the first one, used up
		apart = 2
	}
	for _, i := range r.decisions(k) {
		op := &r.Ops[i]
		g := r.ByOwner[op.Owner]
		if g == nil || g.Key != k.Key || op.F == history.ReadSeen &&
			(r.Setup.FenceOn != history.OnRead || g.Pos <= top) || op.F != history.ReadSeen && op.Fenced == nil {
			continue
		}
		write := models.Op{F: models.Write, Type: history.OK, Value: fmt.Sprint(i), Token: int64(apart * (g.Pos + 1)), Call: i, Return: i}
		if op.F != history.ReadSeen && belowItsOwn(op) {
			below = append(below, registered(op, i)...)
		}
		if op.F != history.ReadSeen && !op.Fenced.Accepted {
			write.Type = history.Fail
		} else {
			top = max(top, g.Pos)
		}
		ops = append(ops, write)
		if strict && op.F == history.Apply && op.Fenced.Accepted {
			write.Value, write.Token = write.Value+" used", write.Token+1
			ops = append(ops, write)
		}
	}
	asked := []question{{model: "fenced-register", ops: ops}}
	if len(below) > 0 {
		asked = append(asked, question{model: "fenced-register", ops: below})
	}
	if strict {
		asked = append(asked, r.askTwice(k)...)
	}
	return append(asked, r.askStanding(k)...)
}

// askUpdates makes a register of the log of one copy: each accepted write is a
// compare-and-set from what its writer had read.
func (r *run) askUpdates(k *keyLog, s side) []question {
	var ops []models.Op
	initial, notes := "", 0
	logged, replaced := map[string]bool{}, map[string]int{}
	for _, i := range k.Resource {
		op := &r.Ops[i]
		c := s.of(op)
		if op.F != history.Apply || c == nil || !c.Accepted {
			continue
		}
		if notes++; notes == 1 {
			initial = c.Previous
		}
		logged[op.Value], replaced[c.Previous] = true, i
		ops = append(ops, models.Op{F: models.CAS, Type: history.OK, Old: c.Base, Value: op.Value, Call: i, Return: i})
	}
	for _, w := range r.Writes { // acknowledged, but in no log: what overwrote it saw it there
		if w.Invoke < 0 || w.Done < 0 || r.Ops[w.Invoke].Key != k.Name || logged[r.Ops[w.Invoke].Value] || r.Ops[w.Done].Type != history.OK {
			continue
		}
		value, until := r.Ops[w.Invoke].Value, w.Done
		if i, ok := replaced[value]; ok {
			until = min(until, i)
		}
		if c := s.of(&r.Ops[w.Done]); c == nil || c.Accepted {
			ops = append(ops, models.Op{F: models.Write, Type: history.OK, Value: value, Call: w.Invoke, Return: until})
		}
	}
	for _, odd := range r.standings(s) { // what the copy refused, or did not log, and what stands there all the same
		if odd.key != k || odd.write == nil {
			continue
		}
		from := odd.refused
		if from < 0 {
			from = odd.write.Invoke
		}
		if c := s.of(&r.Ops[from]); c != nil {
			ops = append(ops, models.Op{F: models.CAS, Type: history.OK, Old: c.Base, Value: odd.value, Call: from, Return: odd.by})
		}
	}
	return []question{{model: "cas-register", options: models.Options{Init: initial}, ops: ops}}
}

// askClaims makes a lock that may be lost at any time, of which an answer to an
// extend or release says that it was held.
func (r *run) askClaims(k *keyLog) []question {
	var ops []models.Op
	for _, g := range k.Grants {
		op := r.grantedOp(g, g.Sent)
		if !k.Sure {
			op.Token = 0
		}
		ops = append(ops, op)
	}
	for _, c := range r.Successes {
		if c.Grant.Key == k.Key {
			op := models.Op{F: models.Extend, Type: history.OK, Owner: c.Grant.Owner, Call: r.at(r.Ops[c.Invoke].Time), Return: r.at(r.Ops[c.Done].Time)}
			if r.Ops[c.Done].F == history.Release {
				op.F = models.Release
			}
			if r.lateOK(c.Grant, c.Invoke, c.Done) { // the model knows no lease: its ok says that it held the lock then, too
				op.Call = r.at(r.supersededBy(c.Grant).OK) + 1
			} else if len(r.lateCrowd(c.Grant, c.Invoke, c.Done)) > 0 {
				op.Call = r.at(k.crowded[c.Grant]) + 1
			}
			// Of two of one time the history says which was first.
			if given := c.Grant.Released; given >= 0 && given < c.Invoke && !r.KeepsSome(c.Grant, c.Invoke) {
				op.Call = max(op.Call, r.at(r.Ops[given].Time)+1)
				op.Return = max(op.Return, op.Call)
			}
			ops = append(ops, op)
			if r.tooMany(c) { // of a permit that it never had
				ops = append(ops, op)
			}
		}
	}
	for _, s := range r.toldSafe() {
		if s.grant.Key == k.Key { // as above, of a lease: it was found alive after the other grant
			ops = append(ops, models.Op{F: models.Extend, Type: history.OK, Owner: s.grant.Owner,
				Call: r.at(max(s.after, s.by.OK)) + 1, Return: r.at(r.Ops[s.op].Time)})
		}
	}
	return []question{{model: models.Claims, ops: ops}}
}
