package checker

import (
	"cmp"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// heldAs is how a grant is held, as far as its client was told or had asked for.
type heldAs struct {
	said history.Op // its mode and its permits
	ops  []int      // that say so
	open int        // changes, and releases of a part, that are under way
	last int        // completion of the latest of those that have ended
	// unknown are the invokes of changes and releases of a part of which nobody was told how they ended. Each may come late, once.
	unknown []int
	came    []came // of releases of a part: which of them may have come by now, each of these a way
	first   int    // the first that there ever was; 0: there is none
	given   int    // the ok to the release of all that its client had been told it has; 0: there is none
}

// renewedOther finds renewals that tell another mode, or another number of permits, than their client held and asked to
// renew. What a change or the release of a part that was under way meanwhile has made of it is open. One of unknown outcome
// may have come before the renewal or may not: the answer tells which, so what it tells must be one of the two, must not take back
// what was told before, and must have had room beside others: see roomless. A client may renew what it held before a
// change, so an answer that repeats the request is none of another.
func (r *run) renewedOther(f *found) {
	held := map[string]*heldAs{}
	for i := range r.Ops {
		op := &r.Ops[i]
		if op.Type == history.Note {
			continue
		}
		g := r.ByOwner[op.Owner]
		if g != nil && g.Op == i {
			asked := &r.Ops[g.Invoke]
			held[g.Owner] = &heldAs{ops: []int{g.Invoke, i}, last: i, came: []came{0},
				said: history.Op{Mode: cmp.Or(op.Mode, asked.Mode), Permits: cmp.Or(op.Permits, asked.Permits)}}
			continue
		}
		invoke := i
		if op.Type != history.Invoke {
			invoke, _ = r.Started(i)
		}
		asked := &r.Ops[invoke]
		switch h := held[asked.Owner]; {
		case h == nil || asked.Key != "" && asked.Key != r.ByOwner[asked.Owner].Key.Name:
		case h.given > 0 && h.given < invoke && op.Type == history.OK && r.KeepsSome(r.ByOwner[asked.Owner], invoke): // else see claimsLost
			f.add(r, Violation{Key: r.ByOwner[asked.Owner].Key.Name, At: op.Time, Operations: append([]int{invoke, i}, h.ops...)},
				"%s was told ok to its %s of %q at %s, but had given back by %s all that it had been told to have.",
				r.ByOwner[asked.Owner].Who(), asked.F, r.ByOwner[asked.Owner].Key.Name, r.seconds(op.Time), r.seconds(r.Ops[h.given].Time))
		case asked.F == history.Change || asked.F == history.Release:
			if asked.F == history.Release && op.Type == history.OK && h.first > 0 && h.said.Permits > 0 && asked.Permits >= h.said.Permits {
				r.gaveMore(f, h, asked, op)
			}
			h.takes(asked, op)
		case asked.F == history.Extend && op.Type == history.OK && h.open == 0 && h.last < invoke:
			if repeats(&r.Setup, asked, op) {
				continue
			}
			was := history.Op{Mode: cmp.Or(h.said.Mode, asked.Mode), Permits: cmp.Or(h.said.Permits, asked.Permits)}
			if r.settles(h, &was, op) {
				if other(&r.Setup, &was, op) {
					h.ops, h.last = append(h.ops, invoke, i), i // one that was asked for before may have been renewed before that came
				}
				r.roomless(f, h, asked, op)
				continue
			}
			g := r.ByOwner[asked.Owner]
			f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append([]int{invoke, i}, h.ops...)},
				"%s held %q %s, and was told ok to its renewal at %s: it holds it %s.", g.Who(), g.Key.Name,
				r.share(&was), r.seconds(op.Time), r.share(op))
		}
	}
}

// gaveMore records a release that was told ok of more permits than its client had been told that it has, or than others left.
func (r *run) gaveMore(f *found, h *heldAs, asked, op *history.Op) {
	g := r.ByOwner[asked.Owner]
	if asked.Permits == h.said.Permits || int(asked.Permits) > r.LeftBy(g, asked.Index) { // the latter: see tooMany
		r.roomless(f, h, asked, op)
		return
	}
	f.add(r, Violation{Key: g.Key.Name, At: op.Time, Operations: append([]int{asked.Index, op.Index}, h.ops...)},
		"%s was told ok at %s to its release of %s of %q, and had been told before that it has %d.",
		g.Who(), r.seconds(op.Time), nouns.Count(int(asked.Permits), "permit"), g.Key.Name, h.said.Permits)
}

// takes follows a change, or a release, which may be of a part.
func (h *heldAs) takes(asked, op *history.Op) {
	if op.Type == history.Invoke {
		h.open++
		return
	}
	part := asked.F == history.Change || asked.Permits > 0 && asked.Permits < h.said.Permits
	if !part && op.Type == history.OK && h.given == 0 && h.first > 0 && h.said.Permits > 0 {
		h.given, h.ops = op.Index, append(h.ops, asked.Index, op.Index)
	}
	if !part {
		return // it stays open: what is given back is not renewed, and honestClaims says so
	}
	h.open, h.last = h.open-1, op.Index
	if op.Type == history.Info {
		h.unknown, h.first = append(h.unknown, asked.Index), cmp.Or(h.first, asked.Index)
	}
	if op.Type != history.OK {
		return
	}
	if asked.F == history.Release {
		h.said.Permits -= asked.Permits
	} else {
		h.said.Mode, h.ops = cmp.Or(op.Mode, asked.Mode), h.ops[:2:2]
	}
	h.ops = append(h.ops, asked.Index, op.Index)
}

// repeats says whether an answer tells what its request said, or nothing.
func repeats(setup *history.Setup, asked, told *history.Op) bool {
	switch setup.Kind {
	case history.ReadWrite:
		return told.Mode == "" || asked.Mode == told.Mode
	case history.Semaphore:
		return told.Permits == 0 || asked.Permits == told.Permits
	}
	return true
}
