package models

import (
	"math"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// needing lists, for each operation of a key, those without which it would tell of
// another history: if one of them is left out, so must it be. Leaving out
// operations in this way never makes a legal history illegal.
//
//   - A grant and its release belong together: a grant alone would hold on. A
//     session less leaves all others as they were. Its renewals are a part of it. Where nobody owns a grant, the
//     first release goes with the first grant.
//   - A read needs every write whose value it may have seen, so does a
//     compare-and-set; one that failed needs all that may have stood there. Other
//     writes may go: what was seen still stood there last.
//   - A refused write of a fenced register needs the higher tokens before it.
//
// ops are in the order of their returns.
func needing(model string, ops []Op) [][]int {
	needs := make([][]int, len(ops))
	switch model {
	case "register", "cas-register", "kv", "fenced-register":
		r := newRegisterNeeds(model, ops)
		for i := range ops {
			needs[i] = r.of(i)
		}
	case "ownerless":
		paired(ops, needs, func(*Op) string { return "" }, 0, false)
	default:
		paired(ops, needs, func(op *Op) string { return op.Owner }, -1, model == Claims || strings.HasPrefix(model, "lease"))
		goingOn(ops, needs, model == "reentrant")
	}
	return needs
}

// paired makes grants and releases of one owner need each other: the last grant
// that is open and a release, or with first = 0 the first one. retold: a grant with the
// token that its owner has only tells of it once more.
func paired(ops []Op, needs [][]int, owner func(*Op) string, first int, retold bool) {
	open := map[string][]int{}
	token := map[int]int64{} // of a grant, as its owner was told it last
	for i := range ops {
		op := &ops[i]
		who := owner(op)
		held := open[who]
		switch {
		case op.Type == history.Fail:
		case op.F == Extend && len(held) > 0: // of the last grant that is open
			grant := held[len(held)-1]
			needs[i], needs[grant] = append(needs[i], grant), append(needs[grant], i)
			if op.Type == history.OK {
				token[grant] = max(token[grant], op.Token)
			}
		case op.F == Extend:
		case taking(op.F) && op.Type == history.OK && op.Token > 0 && len(held) > 0 && retold && token[held[len(held)-1]] == op.Token:
			grant := held[len(held)-1] // told of it once more
			needs[i], needs[grant] = append(needs[i], grant), append(needs[grant], i)
		case taking(op.F) && op.Type == history.OK:
			open[who], token[i] = append(held, i), op.Token
		case !taking(op.F) && len(held) > 0:
			at := first
			if at < 0 {
				at = len(held) - 1
			}
			grant := held[at]
			open[who] = append(held[:at:at], held[at+1:]...)
			needs[i], needs[grant] = append(needs[i], grant), append(needs[grant], i)
		}
	}
}

// goingOn makes all operations need each other of an owner that goes on after an outcome
// that nobody knows, and of those that an acquire by anybody may explain. So do those of an owner
// of reentrant holds with tokens: without an outer grant the inner ones are two holds with one token.
func goingOn(ops []Op, needs [][]int, nested bool) {
	of, unknown := map[string][]int{}, map[string]bool{}
	for i := range ops {
		who := ops[i].Owner
		of[who] = append(of[who], i)
		unknown[who] = unknown[who] || ops[i].Type == history.Info && ops[i].F != Extend || nested && ops[i].Token > 0
	}
	any := of[Anybody]
	for who, mine := range of {
		if !unknown[who] && len(any) == 0 {
			continue
		}
		mine = slices.Concat(mine, any)
		for j, i := range mine {
			next := mine[(j+1)%len(mine)]
			needs[i] = append(needs[i], next)
		}
	}
}

// registerNeeds finds the writes that the operations of a register need.
type registerNeeds struct {
	model string
	ops   []Op
	over  []int // of each operation: the first return of a write that was called after it
}

func newRegisterNeeds(model string, ops []Op) *registerNeeds {
	r := &registerNeeds{model: model, ops: ops, over: make([]int, len(ops))}
	var writes []int // by their calls, the last one first
	for i := range ops {
		if sure := ops[i].Type == history.OK; sure && (ops[i].F == Write || ops[i].F == CAS) {
			writes = append(writes, i)
		}
	}
	slices.SortFunc(writes, func(a, b int) int { return ops[b].Call - ops[a].Call })
	next, first := 0, math.MaxInt
	for i := len(ops) - 1; i >= 0; i-- { // by their returns, the last one first
		for ; next < len(writes) && ops[writes[next]].Call > ops[i].Return; next++ {
			first = min(first, ops[writes[next]].Return)
		}
		r.over[i] = first
		if ops[i].Type == history.Info { // it may take effect at any later time
			r.over[i] = math.MaxInt
		}
	}
	return r
}

// of lists what one operation needs.
func (r *registerNeeds) of(i int) []int {
	op := &r.ops[i]
	switch {
	case op.F == Read && op.Type != history.OK:
	case op.F == Read && r.model == "kv":
		return r.writes(i, func(w *Op) bool { return strings.Contains(op.Value, w.Value) })
	case op.F == Read:
		return r.writes(i, func(w *Op) bool { return w.Value == op.Value })
	case op.F == CAS && op.Type == history.Fail:
		return r.writes(i, func(w *Op) bool { return w.Value != op.Old })
	case op.F == CAS:
		return r.writes(i, func(w *Op) bool { return w.Value == op.Old })
	case op.F == Write && op.Type == history.Fail && r.model == "fenced-register":
		return r.writes(i, func(w *Op) bool { return w.Token > op.Token })
	}
	return nil
}

// writes lists those that operation i may have seen. One that was surely
// overwritten before it was not; of these the last is taken where there is no other,
// as what was never written would be another story.
func (r *registerNeeds) writes(i int, wanted func(*Op) bool) (needs []int) {
	last := -1
	for j := range r.ops {
		w := &r.ops[j]
		if j == i || w.F == Read || w.Type == history.Fail || w.Call > r.ops[i].Return || !wanted(w) {
			continue
		}
		if r.over[j] < r.ops[i].Call {
			last = j
		} else {
			needs = append(needs, j)
		}
	}
	if len(needs) == 0 && last >= 0 {
		needs = append(needs, last)
	}
	return needs
}
