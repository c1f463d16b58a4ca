package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// strangers finds writes and effects of owners that nobody was ever granted a key as, nor may have been, or
// that had given it back by then.
func (r *run) strangers(f *found) {
	for _, w := range r.Writes {
		if w.Invoke >= 0 {
			r.strange(f, w.Invoke, w.Apply, w.Done)
		}
	}
	for i := range r.Ops {
		if op := &r.Ops[i]; op.Type == history.Invoke && op.F == history.Effect {
			e := r.ByEffect[op.Value]
			r.strange(f, i, e.Note, e.Done)
		}
	}
}

func (r *run) strange(f *found, invoke, noted, done int) {
	op := &r.Ops[invoke]
	v := Violation{Key: op.Key, At: op.Time, Operations: []int{invoke, noted, done}}
	switch g := r.ByOwner[op.Owner]; {
	case op.Owner == "":
	case !r.mayHold(op):
		v.Possible = r.mayHoldUnnamed(op)
		f.add(r, v, "%s wrote %q to %q at %s as %q, which was never granted it.", r.client(invoke), op.Value, op.Key, r.seconds(op.Time), op.Owner)
	case g != nil && r.freeBy(g, op.Time) && g.Released < invoke:
		v.Operations = append(v.Operations, g.Released)
		f.add(r, v, "%s wrote %q to %q at %s, which it had given back by %s.", g.Who(), op.Value, op.Key, r.seconds(op.Time), r.seconds(r.Ops[g.Released].Time))
	}
}

// mayHold says whether the owner of an operation was granted its key, or may have been, and not only
// after the operation.
func (r *run) mayHold(op *history.Op) bool {
	if g := r.ByOwner[op.Owner]; g != nil && (op.Key == "" || g.Key.Name == op.Key) && g.Sent <= op.Time {
		return true
	}
	if op.Key == "" {
		_, ghost := r.Ghosts[op.Owner]
		return ghost || r.pending()[op.Owner]
	}
	k := r.logOf(r.ByKey[op.Key])
	if k == nil {
		return false
	}
	_, may := r.maybeNamed(k, op)
	return may
}

// mayHoldUnnamed says whether the client of an operation has an acquire of its key of which it is known neither how it ended nor as whom
// it was made: it may be that of an owner that nobody has heard of.
func (r *run) mayHoldUnnamed(op *history.Op) bool {
	return slices.ContainsFunc(r.Nameless(op.Node, op.Key), func(asked int) bool { return r.Ops[asked].Time <= op.Time })
}

// keptBeside is a grant of another client that nothing had ended while an operation of an owner of which it is not known
// whether it was granted the key before was under way; nil: there is none.
func (r *run) keptBeside(asked, done *history.Op) *trace.Grant {
	k, g := r.logOf(r.ByKey[asked.Key]), r.ByOwner[asked.Owner]
	if k == nil || g != nil && g.Op != done.Index || r.Setup.Kind.Shares() {
		return nil
	}
	h := k.lastGranted(asked.Time)
	if h == nil || h.Node == asked.Node || !slices.ContainsFunc(r.keptSpans(h, trace.ClockNoise), func(s trace.Span) bool {
		return s.From < asked.Time && done.Time < s.To
	}) {
		return nil
	}
	return h
}

// pending are the owners of acquires that were never answered: each may have been granted its key.
func (r *run) pending() map[string]bool {
	if r.known.pending == nil {
		r.known.pending = map[string]bool{}
		for _, k := range r.keys {
			for _, w := range k.Waits {
				if w.Done < 0 {
					r.known.pending[r.Ops[w.Invoke].Owner] = true
				}
			}
		}
	}
	return r.known.pending
}

// strangeClaims finds ok answers to who was never granted the key that it renews, changes or gives back, nor
// may have been: no acquire of its client came to an unknown end. It counts them.
func (r *run) strangeClaims(f *found) (claims int) {
	type by struct{ node, key string }
	unknown := map[by]int64{} // until when what it may have been granted lasts, unless it is renewed
	lasts := func(key string) int64 {
		if !r.keepsLeases() || r.Setup.Promise.DriftFactor > 0 {
			return trace.Forever
		}
		return r.mayBeRenewed(r.logOf(r.ByKey[key]))
	}
	maybe := func(node string, asked *history.Op) bool {
		until, was := unknown[by{node, asked.Key}]
		return was && asked.Time <= until
	}
	for i := range r.Ops {
		op := &r.Ops[i]
		p, completes := r.Started(i)
		if !completes {
			if _, ended := r.Ended(i); !ended && op.Owner == "" && (op.F == history.Acquire || op.F == history.Try) {
				unknown[by{op.Node, op.Key}] = trace.Forever
			}
			continue
		}
		invoke := &r.Ops[p]
		switch {
		case op.Type == history.Info && (op.F == history.Acquire || op.F == history.Try):
			if op.Owner == "" && invoke.Owner == "" { // else it is known as whom it may hold
				unknown[by{op.Node, invoke.Key}] = after(op.Time, lasts(invoke.Key))
			}
		case op.Type == history.Info && op.F == history.Extend && maybe(op.Node, invoke): // it may have renewed it at the last
			unknown[by{op.Node, invoke.Key}] = after(unknown[by{op.Node, invoke.Key}], lasts(invoke.Key))
		case op.Type != history.OK || op.F != history.Extend && op.F != history.Change && (op.F != history.Release || r.Setup.Promise.Mute):
		case invoke.Owner == "":
		case r.mayHold(invoke):
			if h := r.keptBeside(invoke, op); h != nil {
				r.unlessServers(func() {
					f.add(r, Violation{Key: invoke.Key, At: op.Time, Operations: []int{h.Op, p, i}},
						"%s was told ok to its %s of %q at %s as %q, an acquire that it was told no end of, and %s held it "+
							"all the while: in either order, one of them did not.",
						r.client(p), op.F, invoke.Key, r.seconds(op.Time), invoke.Owner, h.Who())
				})
			}
		case maybe(op.Node, invoke):
			if op.F != history.Release {
				unknown[by{op.Node, invoke.Key}] = after(op.Time, lasts(invoke.Key))
			}
		default:
			claims++
			f.add(r, Violation{Key: invoke.Key, At: op.Time, Operations: []int{p, i}},
				"%s was told ok to its %s of %q at %s as %q, which was never granted it.",
				r.client(p), op.F, invoke.Key, r.seconds(op.Time), invoke.Owner)
		}
	}
	return claims
}
