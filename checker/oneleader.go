package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// oneLeader follows who wrote the resource, by its own log: once a write of the next
// leader was accepted, the one before it is over, and a write of it shows that two
// acted at once. Who is the next is told by the grants, and where these leave it open
// by who acted first. It looks at the unfenced copy, as what the leaders do besides is not
// fenced, and says what fencing would have stopped. O(n).
func oneLeader(r *run) outcome {
	var f found
	acts, terms, refused := 0, 0, 0
	for _, k := range r.keys {
		t := term{first: map[string]int{}, over: map[string]int{}}
		for _, i := range k.Resource {
			op := &r.Ops[i]
			if op.F != history.Apply || op.Unfenced == nil || !op.Unfenced.Accepted {
				continue
			}
			acts++
			by, was := t.superseded(r.ByOwner[op.Owner], op.Owner)
			if !was {
				terms += t.begin(r.ByOwner[op.Owner], op.Owner, i)
				continue
			}
			if op.Fenced != nil && !op.Fenced.Accepted {
				refused++
			}
			evidence := []int{by, i}
			if g := r.ByOwner[op.Owner]; g != nil {
				evidence = append(evidence, g.Op)
			}
			f.add(r, Violation{Key: k.Name, At: op.Time, Operations: evidence},
				"%s acted as the leader of %q at %s, although %s had acted as a later one at %s.",
				r.actor(op), k.Name, r.seconds(op.Time), r.actor(&r.Ops[by]), r.seconds(r.Ops[by].Time))
		}
	}
	total, longest := r.leaderless()
	figures := fmt.Sprintf(" Nobody led for %s in all, for %s at the longest.", length(total), length(longest))
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s in %s: no leader acted after the next one had.", nouns.Count(acts, "act"), nouns.Count(terms, "term")) + figures,
		summary: fmt.Sprintf("%s of %d came from a leader after the next one had acted; the fenced copy refused "+
			"%d of these.", nouns.Count(f.certain, "act"), acts, refused) + figures,
	}
	if terms < 2 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("There was %s in which a leader acted: nobody took over.", nouns.Count(terms, "term"))
	}
	return o
}

// actor names who wrote what the resource logged.
func (r *run) actor(op *history.Op) string {
	if g := r.ByOwner[op.Owner]; g != nil {
		return g.Who()
	}
	return fmt.Sprintf("owner %q", op.Owner)
}

// leaderless is the time in which nobody believed to lead, from the first grant of a
// key to the last: in all, and at the longest.
func (r *run) leaderless() (total, longest int64) {
	for _, k := range r.keys {
		free := int64(trace.Forever)
		for _, g := range k.Grants {
			if gap := g.OK - free; gap > 0 {
				total += gap
				longest = max(longest, gap)
			}
			if free == trace.Forever || g.End > free {
				free = g.End
			}
		}
	}
	return total, longest
}

// term is who leads a key, by what was written.
type term struct {
	owner string
	first map[string]int // by owner: its first write
	over  map[string]int // by owner: the first write of whoever came after it
	// newest was granted last of all who wrote: whoever was surely granted before any of
	// them was so before this one.
	newest *trace.Grant
}

// superseded says whether an owner leads no more, and by which write that is known.
func (t *term) superseded(g *trace.Grant, owner string) (by int, was bool) {
	if g != nil && t.newest != nil && trace.Surely(g, t.newest) {
		return t.first[t.newest.Owner], true
	}
	by, was = t.over[owner]
	return by, was
}

// begin notes a write of who leads now, and returns 1 if that is another than before.
func (t *term) begin(g *trace.Grant, owner string, i int) int {
	if owner == t.owner {
		return 0
	}
	if t.owner != "" {
		t.over[t.owner] = i
	}
	t.owner, t.first[owner] = owner, i
	if g != nil && (t.newest == nil || newer(g, t.newest)) {
		t.newest = g
	}
	return 1
}

// newer says whether g was granted later than h, as far as that can be known.
func newer(g, h *trace.Grant) bool {
	if g.Key.Sure {
		return g.Pos > h.Pos
	}
	return g.Sent > h.Sent
}
