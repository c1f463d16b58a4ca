package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// noun is what must happen once, in the words of its use.
type noun struct {
	prefix       string // of the effect
	item         string
	did, done    string // "ran", "run"
	what, unsafe string // what a fence cannot do
}

var (
	charges = noun{"charge ", "order", "charged", "charged", "charge", "what was charged stays charged, as the card checks no token"}
	runs    = noun{"run ", "slot", "ran", "run", "run", "what has run stays run, as the job checks no token"}
)

// onlyOnce looks for effects that happened twice in one world, in the resource's own
// log. O(n).
func (r *run) onlyOnce(s side, n noun) outcome {
	var f found
	items, happened, repeats, first, last := 0, 0, 0, -1, -1
	for _, k := range r.keys {
		by := map[string]int{}
		for _, i := range slices.Concat(k.Effects, r.unlogged(k)) {
			op := &r.Ops[i]
			c := s.of(op)
			if c == nil || !strings.HasPrefix(c.Value, n.prefix) {
				continue
			}
			if !c.Accepted {
				repeats++
				continue
			}
			what := strings.TrimPrefix(c.Value, n.prefix)
			if happened++; first < 0 {
				first = i
			}
			last = i
			before, twice := by[what]
			if !twice {
				by[what] = i
				items++
				continue
			}
			f.add(r, Violation{Key: k.Name, At: op.Time, Operations: r.evidence(before, i)},
				"%s %s %s of %q at %s, which %s had %s at %s%s.", r.doer(i), n.did, what, k.Name, r.seconds(op.Time),
				r.doer(before), n.done, r.seconds(r.Ops[before].Time), r.beyond(s, i, n))
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("Each of %s was %s once%s%s.", nouns.Count(items, n.item), n.done, r.rate(happened, first, last), repeated(repeats, n)),
		summary: fmt.Sprintf("%s too many for %s: %s in all%s%s.", nouns.Count(f.certain, n.what), nouns.Count(items, n.item),
			nouns.Count(happened, n.what), r.rate(happened, first, last), repeated(repeats, n)),
	}
	if happened < 2 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("Only %s: too little to tell.", nouns.Count(happened, n.what))
	}
	r.lacks(&o, s)
	return o
}

// beyond says that no fence could have helped, where the world has one.
func (r *run) beyond(s side, i int, n noun) string {
	if g := r.ByOwner[r.Ops[i].Owner]; s.name == fencedOf.name && g != nil && g.SupersededAt(r.Ops[i].Time) {
		return "; no fence helps: " + n.unsafe
	}
	return ""
}

func repeated(n int, of noun) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s refused, as its key was known", nouns.Count(n, "second "+of.what))
}
