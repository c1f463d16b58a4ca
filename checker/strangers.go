package checker

import "github.com/dlmtest/dlmtest/history"

// strangers finds writes of owners that nobody was ever granted a key as, nor may have been.
func (r *run) strangers(f *found) {
	for _, w := range r.Writes {
		if w.Grant != nil || w.Invoke < 0 {
			continue
		}
		op := &r.Ops[w.Invoke]
		if op.Owner == "" || r.mayHold(op) {
			continue
		}
		f.add(r, Violation{Key: op.Key, At: op.Time, Operations: []int{w.Invoke, w.Apply, w.Done}},
			"%s wrote %q to %q at %s as %q, which was never granted it.", r.client(w.Invoke), op.Value, op.Key, r.seconds(op.Time), op.Owner)
	}
}

// mayHold says whether the owner of an operation was granted its key, or may have been, and not only
// after the operation.
func (r *run) mayHold(op *history.Op) bool {
	g := r.ByOwner[op.Owner]
	_, maybe := r.Ghosts[op.Owner]
	return maybe || g != nil && (op.Key == "" || g.Key.Name == op.Key) && g.Sent <= op.Time
}

// strangeClaims finds ok answers to who was never granted the key that it renews or gives back, nor
// may have been: no acquire of its client came to an unknown end.
func (r *run) strangeClaims(f *found) {
	type by struct{ node, key string }
	unknown := map[by]bool{}
	for i := range r.Ops {
		op := &r.Ops[i]
		p, completes := r.Started(i)
		if !completes {
			continue
		}
		invoke := &r.Ops[p]
		switch {
		case op.Type == history.Info && (op.F == history.Acquire || op.F == history.Try):
			unknown[by{op.Node, invoke.Key}] = true
		case op.Type != history.OK || op.F != history.Extend && (op.F != history.Release || r.Setup.Promise.Mute):
		case invoke.Owner != "" && !r.mayHold(invoke) && !unknown[by{op.Node, invoke.Key}]:
			f.add(r, Violation{Key: invoke.Key, At: op.Time, Operations: []int{p, i}},
				"%s was told ok to its %s of %q at %s as %q, which was never granted it.",
				r.client(p), op.F, invoke.Key, r.seconds(op.Time), invoke.Owner)
		}
	}
}
