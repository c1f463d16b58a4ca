package checker

import (
	"cmp"
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// retold are the renewals and changes of a key's grants that tell another token, and the changes by which a reader became the writer,
// each as a grant.
func (r *run) retold(k *keyLog) (all []*trace.Grant) {
	for _, g := range k.Grants {
		token := g.Token
		for _, c := range g.Claims {
			op := &r.Ops[c.Op]
			invoke, _ := r.Started(c.Op)
			writes := op.F == history.Change && op.Type == history.OK && cmp.Or(op.Mode, r.Ops[invoke].Mode) == history.Exclusive
			told := (op.F == history.Extend || op.F == history.Change) && op.Type == history.OK && op.Token != 0 && op.Token != token
			if !told && !writes {
				continue
			}
			again := *g
			again.Owner, again.Token, again.Op, again.Invoke = fmt.Sprint(g.Owner, " ", c.Op), cmp.Or(op.Token, token), c.Op, invoke
			again.Sent, again.OK = cmp.Or(op.Sent, r.Ops[invoke].Time), op.Time
			switch {
			case writes:
				again.Mode = history.Exclusive
			case len(g.Turns) > 0: // it may be the writer no more
				again.Mode = history.Shared
			}
			all, token = append(all, &again), again.Token
		}
	}
	return all
}

// keptToken says whether g is the change by which a reader became the writer, and kept a token that it had.
func (r *run) keptToken(g *trace.Grant) bool {
	return r.Ops[g.Op].F == history.Change && r.hadToken(r.ByOwner[r.ownerOf(g)], g.Token, g.Op)
}

// ownerOf is the owner of a grant, also of one that retold has made; an answer may leave it to its request.
func (r *run) ownerOf(g *trace.Grant) string {
	if invoke, answers := r.Started(g.Op); answers {
		return cmp.Or(r.Ops[g.Op].Owner, r.Ops[invoke].Owner)
	}
	return r.Ops[g.Op].Owner
}

// hadToken says whether the client of g had been told a token before an operation: by its grant, a renewal or a change.
func (r *run) hadToken(g *trace.Grant, token int64, before int) bool {
	if g.Token == token {
		return true
	}
	told, known := r.known.tokens[g]
	if !known {
		told = map[int64]int{}
		for _, c := range g.Claims {
			op := &r.Ops[c.Op]
			tells := op.Type == history.OK && (op.F == history.Extend || op.F == history.Change)
			if _, again := told[op.Token]; !again && tells && op.Token != 0 {
				told[op.Token] = c.Op
			}
		}
		if r.known.tokens == nil {
			r.known.tokens = map[*trace.Grant]map[int64]int{}
		}
		r.known.tokens[g] = told
	}
	first, was := told[token]
	return was && first < before
}

// granted are the operations that show a grant, and words for it.
func (r *run) granted(g *trace.Grant) (ops []int, was, had string) {
	switch r.Ops[g.Op].F {
	case history.Extend:
		return []int{g.Op}, "renewed", "had renewed"
	case history.Change:
		if g.Mode == history.Shared {
			return []int{g.Op}, "became a reader of", "had become a reader of"
		}
		return []int{g.Op}, "became the writer of", "had become the writer of"
	}
	if ghost, unknown := r.Ghosts[g.Owner]; unknown && r.ByOwner[g.Owner] == nil {
		return []int{ghost.Info, g.Op}, "acted on", "had acted on"
	}
	return []int{g.Op}, "was granted", "had been granted"
}
