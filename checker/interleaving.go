package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/internal/nouns"
)

// noInterleaving follows the accepted blocks of a file in the order in which its
// storage took them. Each writer's blocks must stand together: who writes again after
// somebody else has begun leaves a file that nobody wrote. O(n).
func (r *run) noInterleaving(s side) outcome {
	var f found
	blocks, refused, writers, first, last := 0, 0, 0, -1, -1
	for _, k := range r.keys {
		latest := map[string]int{} // block of each writer
		var before int             // the block that stands last
		for _, i := range k.Effects {
			op := &r.Ops[i]
			c := s.of(op)
			if c == nil || c.Value == "" {
				continue
			}
			if !c.Accepted {
				refused++
				continue
			}
			if blocks++; first < 0 {
				first = i
			}
			last = i
			who := r.actsAs(i)
			own, again := latest[who]
			if !again {
				writers++
			}
			if again && r.actsAs(before) != who {
				f.add(r, Violation{Key: k.Name, At: op.Time, Operations: r.evidence(own, before, i)},
					"%s wrote %q of %q at %s behind %q of %s: between its own blocks stand those of another.",
					r.doer(i), c.Value, k.Name, r.seconds(op.Time), s.of(&r.Ops[before]).Value, r.doer(before))
			}
			latest[who], before = i, i
		}
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("%s of %s stand together in the %s file%s%s.", nouns.Count(blocks, "block"),
			nouns.Count(writers, "writer"), s.name, r.rate(blocks, first, last), stale(refused)),
		summary: fmt.Sprintf("%s went on behind another's blocks in the %s file, of %s by %s%s.",
			nouns.Count(f.certain, "writer"), s.name, nouns.Count(blocks, "block"), nouns.Count(writers, "writer"), stale(refused)),
	}
	if writers < 2 {
		o.verdict, o.reason = Unknown, fmt.Sprintf("Only %s wrote: too little to tell.", nouns.Count(writers, "writer"))
	}
	r.lacks(&o, s)
	return o
}

func stale(refused int) string {
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("; %s refused by its token", nouns.Count(refused, "block"))
}
