package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// fencingMonotonic compares each token with the greatest of the grants that had
// returned before its acquire was invoked, and finds tokens that repeat or are
// missing. Acquires that were under way together are in no order: etcd and
// ZooKeeper make the token when the client queues. O(n log n).
func fencingMonotonic(r *run) outcome {
	var f found
	for _, k := range r.keys {
		r.risingTokens(k, &f)
		r.repeatedTokens(k, &f)
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("The tokens of %s rise.", nouns.Count(len(r.grants), "grant")),
		summary: fmt.Sprintf("Of %s, %d got a token that does not rise, is reused or is missing.", nouns.Count(len(r.grants), "grant"), f.certain),
	}
	if len(r.grants) < 2 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("Only %s: nothing to compare.", nouns.Count(len(r.grants), "grant"))
	}
	return o
}

func (r *run) risingTokens(k *keyLog, f *found) {
	byInvoke := slices.Clone(k.grants)
	slices.SortFunc(byInvoke, func(a, b *grant) int { return cmp.Compare(a.invoke, b.invoke) })
	var top *grant // greatest token of the grants that have returned
	next := 0
	for _, g := range byInvoke {
		for ; next < len(k.grants) && k.grants[next].ok < g.invoked; next++ {
			if top == nil || k.grants[next].token > top.token {
				top = k.grants[next]
			}
		}
		switch {
		case g.token == 0:
			f.add(r, Violation{Key: k.name, At: g.ok, Operations: []int{g.op}},
				"%s was granted %q at %s without a token.", g.who(), k.name, r.seconds(g.ok))
		case top != nil && g.token < top.token:
			f.add(r, Violation{Key: k.name, At: g.ok, Operations: []int{top.op, g.op}},
				"%s asked for %q at %s, after %s had been granted it at %s, and got a lower token.",
				g.who(), k.name, r.seconds(g.invoked), top.who(), r.seconds(top.ok))
		}
	}
}

func (r *run) repeatedTokens(k *keyLog, f *found) {
	byToken := slices.Clone(k.grants)
	order := func(a, b *grant) int { return cmp.Compare(a.token, b.token) }
	if !slices.IsSortedFunc(byToken, order) {
		slices.SortStableFunc(byToken, order)
	}
	for i := 1; i < len(byToken); i++ {
		if g, h := byToken[i-1], byToken[i]; g.token == h.token && g.token != 0 {
			f.add(r, Violation{Key: k.name, At: h.ok, Operations: []int{g.op, h.op}},
				"%s was granted %q at %s with the token that %s had got at %s.",
				h.who(), k.name, r.seconds(h.ok), g.who(), r.seconds(g.ok))
		}
	}
}

// fenced is what the fenced copy decided, seen by the order of grants.
type fenced struct {
	found                  found
	refused, early, judged int // stale writes refused; stale ones accepted before any later write; all

	// Of the grants of a key that the copy has heard of, top is the latest by order, and
	// sent the one whose request was sent last: where order is open, it may be the certain one.
	top, sent heard
}

// heard is a grant of which the copy has heard by a note.
type heard struct {
	grant *grant
	note  int
}

// hear notes that the copy has heard of g.
func (s *fenced) hear(g *grant, note int) {
	if s.top.grant == nil || s.top.grant.pos < g.pos {
		s.top = heard{g, note}
	}
	if s.sent.grant == nil || s.sent.grant.sent < g.sent {
		s.sent = heard{g, note}
	}
}

// after is a grant that the copy has heard of and that came after g, a certain one if there is one.
func (s *fenced) after(g *grant) heard {
	switch {
	case s.top.grant == nil || s.top.grant.pos <= g.pos:
		return heard{}
	case !surely(g, s.top.grant) && surely(g, s.sent.grant):
		return s.sent
	}
	return s.top
}

// fencedWrites judges the decisions of the fenced copy by the order of grants,
// not of tokens, so a lock whose tokens lie cannot pass.
func fencedWrites(r *run) outcome {
	var s fenced
	for _, k := range r.keys {
		s.top, s.sent = heard{}, heard{}
		for _, i := range k.resource {
			r.fencedNote(k, &r.ops[i], &s)
		}
	}
	stale := s.refused + s.early + s.found.certain
	o := outcome{verdict: Holds, found: s.found,
		reason:  fmt.Sprintf("Of %s, %d came from superseded holders: %d refused, %d accepted before a later holder wrote.", nouns.Count(s.judged, "write"), s.refused+s.early, s.refused, s.early),
		summary: fmt.Sprintf("The fenced copy decided %d of %s wrongly.", s.found.certain, nouns.Count(s.judged, "write")),
	}
	switch {
	case s.judged == 0:
		o.verdict, o.reason = Unknown, "The resource decided no fenced write."
	case s.refused == 0 && stale == 0 && r.setup.Expect.StaleWrites == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("The scenario sets no stale write on, and none of %s was one.", nouns.Count(s.judged, "write"))
	case s.refused == 0:
		o.verdict = Unknown
		o.reason = fmt.Sprintf("No stale write was refused: %d of %s %s stale, %d accepted before a later holder wrote.", stale, nouns.Count(s.judged, "write"), was(stale), s.early)
	}
	return o
}

// fencedNote judges one note of the resource.
func (r *run) fencedNote(k *keyLog, op *history.Op, s *fenced) {
	g := r.byOwner[op.Owner]
	if g == nil || g.key != k {
		return
	}
	if op.F == history.ReadSeen {
		if r.setup.FenceOn == "read" {
			s.hear(g, op.Index)
		}
		return
	}
	if op.Fenced == nil {
		return
	}
	s.judged++
	stale, later := g.supersededAt(op.Time), s.after(g)
	switch {
	case op.Fenced.Accepted && later.grant != nil:
		s.found.add(r, Violation{Key: k.name, At: op.Time, Possible: !surely(g, later.grant), Operations: []int{g.op, later.grant.op, later.note, op.Index}},
			"The fenced copy of %q accepted %q of %s at %s, after it had heard of the later grant of %s.",
			k.name, op.Value, g.who(), r.seconds(op.Time), later.grant.who())
	case !op.Fenced.Accepted && r.validHolder(g, op) && !r.byStrictRule(g, op):
		s.found.add(r, Violation{Key: k.name, At: op.Time, Operations: []int{g.op, op.Index}},
			"The fenced copy of %q refused %q of %s at %s, whose grant was valid and superseded by none; it had registered token %d.",
			k.name, op.Value, g.who(), r.seconds(op.Time), op.Fenced.Token)
	case op.Fenced.Accepted && stale:
		s.early++
	case !op.Fenced.Accepted && stale:
		s.refused++
	}
	if op.Fenced.Accepted {
		s.hear(g, op.Index)
	}
}

// byStrictRule says whether the rule "<" explains the refusal: the holder had
// registered its token before.
func (r *run) byStrictRule(g *grant, op *history.Op) bool {
	return r.setup.Fencing == "strict" && g.token == op.Fenced.Token
}

// validHolder says whether g certainly was the valid holder when op was decided:
// nobody else can have been granted the key, and its lease ran.
func (r *run) validHolder(g *grant, op *history.Op) bool {
	if op.Time >= g.end || r.supersededSent(g) < op.Time {
		return false
	}
	_, valid := r.validAt(g, op.Time)
	return valid
}

// supersededSent is the earliest time at which a later grant may have been made.
// A grant whose own lease had ended when its client was told of it supersedes
// nobody: it claims nothing, whatever its token says.
func (r *run) supersededSent(g *grant) int64 {
	k := g.key
	if k.valid == nil {
		counts := func(h *grant) bool { return !r.neverValid(h) }
		if k.valid = k.firstLater(counts, sooner); !k.sure {
			k.maybeValid = k.openAfter(counts)
		}
	}
	if !k.sure && (k.maybeValid[g.pos] != nil || g.pos > 0 && k.order[g.pos-1].ok >= g.sent) {
		return -forever // another was under way with it, and may have come after
	}
	if h := k.valid[g.pos]; h != nil {
		return h.sent
	}
	return forever
}

// neverValid says that the lease of g had ended when its client was told of it.
func (r *run) neverValid(g *grant) bool {
	to, known := r.deadlineAt(g, r.ops[g.op].Deadline)
	return known && to <= g.ok
}
