package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// fenced is what the fenced copy decided, seen by the order of grants.
type fenced struct {
	found                  found
	refused, early, judged int // stale writes refused; stale ones accepted before any later write; all

	// Of the grants of a key that the copy has heard of, top is the latest by order, and
	// sent the one whose request was sent last: where order is open, it may be the certain one.
	top, sent heard
	used      map[withToken]int // the accepted write of each grant with each of its tokens, where the copy is to accept one only
	written   map[int64]int     // tokens with which a write was accepted, and the first note of each
}

// withToken is a grant with one of the tokens that its client was told.
type withToken struct {
	grant *trace.Grant
	token int64
}

// heard is a grant of which the copy has heard by a note.
type heard struct {
	grant *trace.Grant
	note  int
}

// hear notes that the copy has heard of g.
func (s *fenced) hear(g *trace.Grant, note int) {
	if s.top.grant == nil || s.top.grant.Pos < g.Pos {
		s.top = heard{g, note}
	}
	if s.sent.grant == nil || s.sent.grant.Sent < g.Sent {
		s.sent = heard{g, note}
	}
}

// after is a grant that the copy has heard of and that came after g, a certain one if there is one.
func (s *fenced) after(g *trace.Grant) heard {
	switch {
	case s.top.grant == nil || s.top.grant.Pos <= g.Pos:
		return heard{}
	case !trace.Surely(g, s.top.grant) && trace.Surely(g, s.sent.grant):
		return s.sent
	}
	return s.top
}

// fencedWrites judges the decisions of the fenced copy by the order of grants,
// not of tokens, so a lock whose tokens lie cannot pass. A refusal is judged by the tokens that the copy says it had registered,
// too, and of a read-write lock, whose readers have no order, by these alone.
func fencedWrites(r *run) outcome {
	var s fenced
	for _, k := range r.keys {
		s.top, s.sent, s.used, s.written = heard{}, heard{}, map[withToken]int{}, map[int64]int{}
		for _, i := range r.decisions(k) {
			op := &r.Ops[i]
			if r.Setup.Kind.Shares() {
				r.fencedWriter(k, op, &s)
			} else {
				r.fencedNote(k, op, &s)
			}
			if op.F == history.Apply && op.Fenced != nil && op.Fenced.Accepted {
				if _, before := s.written[op.Token]; !before {
					s.written[op.Token] = i
				}
			}
		}
	}
	if !r.Setup.Kind.Shares() || r.Setup.Promise.Token {
		s.brokenBySelf(r)
	}
	stale := s.refused + s.early + s.found.certain
	o := outcome{verdict: Holds, found: s.found,
		reason: fmt.Sprintf("Of %s, %d came from superseded holders: %d refused, %d accepted before a later "+
			"holder wrote.", nouns.Count(s.judged, "write"), s.refused+s.early, s.refused, s.early),
		summary: fmt.Sprintf("The fenced copy decided %d of %s wrongly.", s.found.certain, nouns.Count(s.judged, "write")),
	}
	switch _, shares := alone(r.Setup); {
	case r.Setup.Kind.Shares():
		o.verdict, o.reason = NA, shares
	case s.judged == 0:
		o.verdict, o.reason = Unknown, "The resource decided no fenced write."
	case s.refused == 0 && stale == 0 && r.Setup.Expect.StaleWrites == 0:
		o.verdict, o.reason = NA, fmt.Sprintf("The scenario plans no stale write, and none of %s was one.", nouns.Count(s.judged, "write"))
	case s.refused == 0:
		o.verdict = Unknown
		o.reason = fmt.Sprintf("No stale write was refused: %d of %s %s stale, %d accepted before a later "+
			"holder wrote.", stale, nouns.Count(s.judged, "write"), was(stale), s.early)
	}
	return o
}

// decisions are the notes of the resource of a key that its fence may have decided, in order: of a file each block, too. A card,
// a mail or a job checks no token.
func (r *run) decisions(k *keyLog) []int {
	if r.Setup.Use.Name != history.File {
		return k.Resource
	}
	all := slices.Concat(k.Resource, k.Effects)
	slices.Sort(all)
	return all
}

// staleBlocks counts the blocks of files that reached the resource on a superseded grant.
func (r *run) staleBlocks() (n int) {
	for _, k := range r.keys {
		for _, i := range r.decisions(k) {
			if g := r.ByOwner[r.Ops[i].Owner]; r.Ops[i].F == history.Happened && g != nil && g.SupersededAt(r.Ops[i].Time) {
				n++
			}
		}
	}
	return n
}

// fencedNote judges one note of the resource.
func (r *run) fencedNote(k *keyLog, op *history.Op, s *fenced) {
	g := r.ByOwner[op.Owner]
	if g == nil || g.Key != k.Key {
		return
	}
	if op.F == history.ReadSeen {
		if r.Setup.FenceOn == history.OnRead {
			s.hear(g, op.Index)
		}
		return
	}
	block := op.F == history.Happened // one grant writes many with one token, however strict fencing is
	if op.Fenced == nil || block && (op.Fenced.Value == "" || op.Fenced.Previous != "") {
		return
	}
	s.judged++
	stale, later := g.SupersededAt(op.Time), s.after(g)
	as := withToken{g, cmp.Or(op.Token, g.Token)}
	used, twice := s.used[as]
	if !twice {
		used, twice = s.acceptedWith(r, op)
	}
	switch {
	case op.Fenced.Accepted && twice && !block:
		s.acceptedTwice(r, k, g, used, op)
	case op.Fenced.Accepted && later.grant != nil:
		s.found.add(r, Violation{Key: k.Name, At: op.Time, Possible: !trace.Surely(g, later.grant),
			Operations: []int{g.Op, later.grant.Op, later.note, op.Index}},
			"The fenced copy of %q accepted %q of %s at %s, after it had heard of the later grant of %s.",
			k.Name, op.Value, g.Who(), r.seconds(op.Time), later.grant.Who())
	case belowItsOwn(op):
		s.acceptedBelow(r, k, g, op)
	case !op.Fenced.Accepted && r.validHolder(g, op) && (block || !s.byStrictRule(r, as, op)) && !r.byOwnToken(as, op):
		s.found.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, op.Index}},
			"The fenced copy of %q refused %q of %s at %s, whose grant was valid and superseded by none; it had registered token %d.",
			k.Name, op.Value, g.Who(), r.seconds(op.Time), op.Fenced.Token)
	case !op.Fenced.Accepted && !stale && r.aboveAll(g, op):
		s.refusedAboveAll(r, k, g, op)
	case op.Fenced.Accepted && stale:
		s.early++
	case !op.Fenced.Accepted && stale:
		s.refused++
	}
	if op.Fenced.Accepted {
		s.hear(g, op.Index)
		if r.Setup.Fencing == history.Strict && as.token != 0 && !block {
			s.used[as] = op.Index
		}
	}
}

// byStrictRule says whether the rule "<" explains the refusal: a write with that token had been accepted before. That a
// read has registered it does not.
func (s *fenced) byStrictRule(r *run, as withToken, op *history.Op) bool {
	_, before := s.written[as.token]
	return r.Setup.Fencing == history.Strict && as.token == op.Fenced.Token && before
}

// byOwnToken says whether the copy had registered a higher token that the holder itself was told later.
func (r *run) byOwnToken(as withToken, op *history.Op) bool {
	return op.Fenced.Token > as.token && r.hadToken(as.grant, op.Fenced.Token, op.Index)
}

// fencedWriter judges one note of the resource of a lock that several clients may hold: a writer is alone.
func (r *run) fencedWriter(k *keyLog, op *history.Op, s *fenced) {
	g := r.ByOwner[op.Owner]
	if r.Setup.Kind != history.ReadWrite || op.F != history.Apply || op.Fenced == nil || g == nil || g.Key != k.Key {
		return
	}
	if !writes(g, op.Time) {
		return
	}
	s.judged++
	used, twice := s.acceptedWith(r, op)
	switch {
	case op.Fenced.Accepted && twice:
		s.acceptedTwice(r, k, g, used, op)
	case belowItsOwn(op):
		s.acceptedBelow(r, k, g, op)
	case !op.Fenced.Accepted && r.aboveAll(g, op):
		s.refusedAboveAll(r, k, g, op)
	}
}

// acceptedWith is the write that a strict copy has accepted before with the token of another.
func (s *fenced) acceptedWith(r *run, op *history.Op) (used int, twice bool) {
	if r.Setup.Fencing != history.Strict || op.Token == 0 {
		return 0, false
	}
	used, twice = s.written[op.Token]
	return used, twice
}

func (s *fenced) acceptedTwice(r *run, k *keyLog, g *trace.Grant, used int, op *history.Op) {
	s.found.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, used, op.Index}},
		"The fenced copy of %q accepted %q of %s at %s, although a write with that token had been accepted before, and fencing is strict.",
		k.Name, op.Value, g.Who(), r.seconds(op.Time))
}

// belowItsOwn says whether the copy accepted a token below one that it had registered by its own word: by no order of grants
// is that a fence.
func belowItsOwn(op *history.Op) bool {
	return op.Fenced.Accepted && op.Token != 0 && op.Token < op.Fenced.Token
}

func (s *fenced) acceptedBelow(r *run, k *keyLog, g *trace.Grant, op *history.Op) {
	s.found.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, op.Index}},
		"The fenced copy of %q accepted %q of %s at %s with token %d, and had registered %d.",
		k.Name, op.Value, g.Who(), r.seconds(op.Time), op.Token, op.Fenced.Token)
}

// writes says whether who holds g is the writer at a time.
func writes(g *trace.Grant, at int64) bool {
	mode := g.Mode
	if next := sort.Search(len(g.Turns), func(i int) bool { return g.Turns[i].At > at }); next > 0 {
		mode = g.Turns[next-1].Mode
	}
	return mode == history.Exclusive
}

func (s *fenced) refusedAboveAll(r *run, k *keyLog, g *trace.Grant, op *history.Op) {
	s.found.add(r, Violation{Key: k.Name, At: op.Time, Operations: []int{g.Op, op.Index}},
		"The fenced copy of %q refused %q of %s at %s, whose grant was valid and whose token, %d, is not below what it had registered (%d).",
		k.Name, op.Value, g.Who(), r.seconds(op.Time), cmp.Or(op.Token, g.Token), op.Fenced.Token)
}
