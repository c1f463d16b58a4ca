package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// patience is how long a key that nobody holds may go without a grant.
func (r *run) patience() int64 { return 2*int64(r.setup.Lease) + int64(3*time.Second) }

// deadlockFreedom judges the final acquire of every key, and the times at which
// somebody waits for a key that nobody believes to hold while no fault is open.
func deadlockFreedom(r *run) outcome {
	var f found
	open := ""
	for _, name := range r.setup.Keys {
		open = cmp.Or(open, r.finalAcquire(name, &f))
	}
	for _, k := range r.keys {
		r.stuck(k, &f)
	}
	o := outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("Every key (%d) was granted after all was healed, and nobody waited in vain.", len(r.setup.Keys)),
		summary: fmt.Sprintf("%s for a key that nobody held %s not answered within %s.", nouns.Count(f.certain, "acquire"), was(f.certain), length(r.patience())),
	}
	switch {
	case r.final < 0:
		o.verdict, o.reason = Unknown, "Interrupted: the history ends before the final acquire of every key."
	case open != "":
		o.verdict, o.reason = Unknown, open
	}
	return o
}

// finalAcquire judges the first acquire of a key after the Final note, with those by
// which somebody goes on asking, and says why it cannot.
func (r *run) finalAcquire(name string, f *found) (open string) {
	k := r.byKey[name]
	if r.final < 0 {
		return ""
	}
	first := -1
	if k != nil {
		first = sort.Search(len(k.waits), func(i int) bool { return k.waits[i].invoke > r.final })
	}
	if k == nil || first == len(k.waits) {
		return fmt.Sprintf("Nobody asked for %q after all was healed.", name)
	}
	asked := k.waits[first]
	limit, until := asked.from+r.patience(), asked.from // until: somebody went on asking
	if asks := r.joined(k.waits[first:], asked.from, r.end); len(asks) > 0 {
		until = asks[0].to
	}
	i := sort.Search(len(k.grants), func(i int) bool { return k.grants[i].op > asked.invoke })
	switch {
	case i < len(k.grants) && k.grants[i].ok <= limit:
		return ""
	case until <= limit:
		return fmt.Sprintf("Nobody asked for %q for long enough after all was healed: given up after %s.", name, length(until-asked.from))
	}
	evidence := []int{r.final, asked.invoke, asked.done}
	took := "was not granted it by the end of the run"
	if i < len(k.grants) {
		evidence = append(evidence, k.grants[i].op)
		took = fmt.Sprintf("the key was granted after %s only", length(k.grants[i].ok-asked.from))
	}
	f.add(r, Violation{Key: name, At: limit, Operations: evidence},
		"%s asked for %q at %s, after all was healed, and %s.", r.ops[asked.invoke].Node, name, r.seconds(asked.from), took)
	return ""
}

// stuck looks at the gaps between beliefs that are longer than our patience. In
// them the clock starts anew at each fault's end, and at the end of each acquire whose
// outcome is unknown: it may have held the key meanwhile, and its grant may live for a
// lease that nobody knows of.
// An acquire that never returned counts as long as its client is known to have lived.
func (r *run) stuck(k *keyLog, f *found) {
	s := stuckIn{run: r, k: k, f: f}
	for _, w := range k.waits {
		if w, known := r.lasted(w); known && r.ops[w.invoke].F == history.Acquire {
			s.all.add(w)
			if r.ops[w.done].Type == history.Info {
				s.unknown = append(s.unknown, span{from: w.from, to: w.to})
			}
		}
	}
	slices.SortStableFunc(s.unknown, func(a, b span) int { return cmp.Compare(a.to, b.to) })
	free := r.begin
	for _, g := range k.grants {
		s.gap(free, g.ok)
		free = max(free, g.end)
	}
	s.gap(free, r.end)
}

// stuckIn judges the gaps of one key.
type stuckIn struct {
	*run
	k       *keyLog
	f       *found
	all     asker  // everybody
	unknown []span // acquires with an unknown outcome, by their end
}

func (s *stuckIn) gap(from, to int64) {
	if to-from <= s.patience() {
		return
	}
	for _, part := range without(span{from: from, to: to}, s.overs()) {
		if part.to-part.from <= s.patience() {
			continue
		}
		first := sort.Search(len(s.unknown), func(i int) bool { return s.unknown[i].to > part.from })
		end := sort.Search(len(s.unknown), func(i int) bool { return s.unknown[i].to >= part.to })
		for _, sound := range without(part, union(slices.Clone(s.unknown[first:max(first, end)]))) {
			s.stuckPart(s.k, sound, s.all.meeting(sound.from, sound.to), s.f)
		}
	}
}

// stuckPart judges a part of a gap in which nobody can have held the key.
func (r *run) stuckPart(k *keyLog, part span, waiting []wait, f *found) {
	for _, w := range r.joined(waiting, part.from, part.to) {
		if w.to-w.from > r.patience() {
			f.add(r, Violation{Key: k.name, At: w.from + r.patience(), Operations: w.within(w.from, w.to)},
				"%s waited for %q from %s to %s although nobody believed to hold it and no fault was open.",
				r.ops[w.waits[0].invoke].Node, k.name, r.seconds(w.from), r.seconds(w.to))
		}
	}
}

// over is when f has ended and, where it killed a server, the service has answered
// somebody since: a database that was killed reads its log first. One that never
// answers again fails where the keys are asked for at the end.
func (r *run) over(f *fault) int64 {
	if f.kind != "kill" && f.kind != "crash" || r.isClient(f.target) {
		return f.to
	}
	if r.answers == nil {
		r.answers = []int64{}
		for i := range r.ops {
			if op := &r.ops[i]; op.Type == history.OK && slices.Contains(ofService, op.F) {
				r.answers = append(r.answers, op.Time)
			}
		}
	}
	i, _ := slices.BinarySearch(r.answers, f.to)
	if i == len(r.answers) {
		return max(f.to, r.end)
	}
	return r.answers[i]
}

// ofService are the operations that the lock's servers answer.
var ofService = []history.F{history.Acquire, history.Try, history.Extend, history.Release}
