package checker

import (
	"fmt"
	"math"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
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
}

const noEffects = "it has no model of what a use does in the world"

const noTime = "it has no model of how long something may take"

// questions has an entry for each property of Checkers.
var questions = map[string]posed{
	"mutual-exclusion":         {of: (*run).askBelief, whole: true},
	"lease-exclusion":          {of: (*run).askValidity, whole: true},
	"fencing-monotonic":        {of: (*run).askTokens, whole: true},
	"fenced-writes":            {of: (*run).askFenced},
	"no-lost-update/unfenced":  {of: func(r *run, k *keyLog) []question { return r.askUpdates(k, unfenced) }},
	"no-lost-update/fenced":    {of: func(r *run, k *keyLog) []question { return r.askUpdates(k, fencedOf) }},
	"honest-claims":            {of: (*run).askClaims},
	"release-by-owner":         {why: "it has no model of whose grant a release frees"},
	"validity-bound":           {why: noTime},
	"deadlock-freedom":         {why: noTime},
	"availability":             {why: noTime},
	"recovery":                 {why: noTime},
	"fairness":                 {why: "it has no model of a queue"},
	"rw-exclusion":             {of: (*run).askActing, whole: true},
	"permits":                  {of: (*run).askActing, whole: true},
	"reentrancy":               {why: "it has no model of what a holder is told of its own holds"},
	"same-reads":               {why: "it has no model of a reader that looks twice"},
	"one-leader":               {why: "it has no model of terms"},
	"loss-noticed":             {why: noTime},
	"honest-refusal":           {why: "its model of a refusal knows no lock that may be lost"},
	"wait-limit":               {why: noTime},
	"lock-info":                {why: "it has no model of what the servers say"},
	"starvation":               {why: "it has no model of a queue"},
	"free-lock":                {why: noTime},
	"herd":                     {why: "it has no model of what a release wakes"},
	"false-loss":               {why: "it has no model of what a client is told"},
	"never-oversold/unfenced":  {why: noEffects},
	"never-oversold/fenced":    {why: noEffects},
	"charged-once/unfenced":    {why: noEffects},
	"charged-once/fenced":      {why: noEffects},
	"one-run-a-slot/unfenced":  {why: noEffects},
	"one-run-a-slot/fenced":    {why: noEffects},
	"no-interleaving/unfenced": {why: noEffects},
	"no-interleaving/fenced":   {why: noEffects},
	"one-rebuilder":            {why: noEffects},
	"no-deadlock":              {why: noTime},
}

// at is a time as Porcupine counts it.
func (r *run) at(t int64) int { return int(t - r.begin) }

// grantedOp is the acquire of g, which had the lock at some instant of it.
func (r *run) grantedOp(g *grant, from int64) models.Op {
	return models.Op{F: models.Acquire, Type: history.OK, Owner: g.owner, Token: g.token, Call: r.at(from), Return: r.at(g.ok)}
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
	for _, g := range k.grants {
		ops = append(ops, r.grantedOp(g, g.sent))
		switch {
		case !r.setup.Strict:
			until := g.sent // it did nothing: it may have lost the lock at once
			if g.lastAct > g.ok {
				until = g.lastAct
			}
			ops = append(ops, r.given(g.owner, until))
		case g.end != forever:
			ops = append(ops, r.given(g.owner, max(g.end, g.sent)))
		}
	}
	asked := []question{{model: "mutex", ops: ops}}
	if k.sure {
		asked = append(asked, question{model: "fenced-mutex", ops: ops})
	}
	return asked
}

// askValidity makes a mutex of the times in which a lease was valid.
func (r *run) askValidity(k *keyLog) []question {
	if r.setup.Kind.Shares() {
		return r.askShares(r.valid(k, map[string]int{}))
	}
	var ops []models.Op
	for i, g := range k.grants {
		spans, known := r.validity(nil, g, i)
		if !known {
			return nil
		}
		for n, s := range spans {
			owner := fmt.Sprintf("%s %d", g.owner, n)
			ops = append(ops, models.Op{F: models.Acquire, Type: history.OK, Owner: owner, Call: r.at(s.from), Return: r.at(s.from)})
			if s.to != forever {
				ops = append(ops, r.given(owner, s.to))
			}
		}
	}
	return []question{{model: "mutex", ops: ops}}
}

// askTokens makes a lock that may be lost at any time, whose tokens rise.
func (r *run) askTokens(k *keyLog) []question {
	var ops []models.Op
	for _, g := range k.grants {
		ops = append(ops, r.grantedOp(g, g.invoked))
	}
	return []question{{model: "lease-untimed", ops: ops}}
}

// askFenced makes a fenced register of the log of the fenced copy. Its tokens are
// the places of the grants in their order, as the lock's own may lie.
func (r *run) askFenced(k *keyLog) []question {
	var ops []models.Op
	top := -1
	for _, i := range k.resource {
		op := &r.ops[i]
		g := r.byOwner[op.Owner]
		if g == nil || g.key != k || op.F == history.ReadSeen && (r.setup.FenceOn != "read" || g.pos <= top) || op.F == history.Apply && op.Fenced == nil {
			continue
		}
		write := models.Op{F: models.Write, Type: history.OK, Value: fmt.Sprint(i), Token: int64(g.pos + 1), Call: i, Return: i}
		if op.F == history.Apply && !op.Fenced.Accepted {
			write.Type = history.Fail
		} else {
			top = max(top, g.pos)
		}
		ops = append(ops, write)
	}
	return []question{{model: "fenced-register", ops: ops}}
}

// askUpdates makes a register of the log of one copy: each accepted write is a
// compare-and-set from what its writer had read.
func (r *run) askUpdates(k *keyLog, s side) []question {
	var ops []models.Op
	initial, notes := "", 0
	logged, replaced := map[string]bool{}, map[string]int{}
	for _, i := range k.resource {
		op := &r.ops[i]
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
	for _, w := range r.writes { // acknowledged, but in no log: what overwrote it saw it there
		if w.invoke < 0 || w.done < 0 || r.ops[w.invoke].Key != k.name || logged[r.ops[w.invoke].Value] || r.ops[w.done].Type != history.OK {
			continue
		}
		value, until := r.ops[w.invoke].Value, w.done
		if i, ok := replaced[value]; ok {
			until = min(until, i)
		}
		if c := s.of(&r.ops[w.done]); c == nil || c.Accepted {
			ops = append(ops, models.Op{F: models.Write, Type: history.OK, Value: value, Call: w.invoke, Return: until})
		}
	}
	return []question{{model: "cas-register", options: models.Options{Init: initial}, ops: ops}}
}

// askClaims makes a lock that may be lost at any time, of which an answer to an
// extend or release says that it was held.
func (r *run) askClaims(k *keyLog) []question {
	var ops []models.Op
	for _, g := range k.grants {
		op := r.grantedOp(g, g.sent)
		if !k.sure {
			op.Token = 0
		}
		ops = append(ops, op)
	}
	for _, c := range r.claims {
		if c.grant.key == k {
			op := models.Op{F: models.Extend, Type: history.OK, Owner: c.grant.owner, Call: r.at(r.ops[c.invoke].Time), Return: r.at(r.ops[c.done].Time)}
			if r.ops[c.done].F == history.Release {
				op.F = models.Release
			}
			ops = append(ops, op)
		}
	}
	return []question{{model: models.Claims, ops: ops}}
}
