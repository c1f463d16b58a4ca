package checker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// Patience is how long a free key may go without a grant, or who has lost one and is within reach of the service without being told.
func Patience(lease time.Duration) time.Duration { return 2*lease + 3*time.Second }

func (r *run) patience() int64 { return int64(Patience(r.Setup.Lease)) }

// deadlockFreedom judges the final acquire of every key, and the times at which
// somebody waits for a key that nobody believes to hold while no fault is open.
func deadlockFreedom(r *run) outcome {
	var f found
	open := ""
	for _, name := range r.Setup.Keys {
		open = cmp.Or(open, r.finalAcquire(name, &f))
	}
	for _, k := range r.keys {
		r.stuck(k, &f)
		r.stuckShares(k, &f)
		r.stuckInTurn(k, &f)
		r.stuckPermits(k, &f)
		r.stuckBeside(k, &f)
		r.stuckInRow(k, &f)
		r.stuckChanges(k, &f)
	}
	wanted := "a key that nobody held"
	if r.Setup.Kind.Shares() { // others may hold the rest of it
		wanted = "what was free"
	}
	o := outcome{verdict: Holds, found: f,
		reason: fmt.Sprintf("Every key (%d) was granted after all was healed, and nobody waited in vain.", len(r.Setup.Keys)),
		summary: fmt.Sprintf("%s for %s %s not answered within %s.",
			nouns.Count(f.certain, "acquire"), wanted, was(f.certain), length(r.patience())),
	}
	switch {
	case r.Final < 0:
		o.verdict, o.reason = Unknown, "Interrupted: the history ends before the final acquire of every key."
	case open != "":
		o.verdict, o.reason = Unknown, open
	}
	return o
}

// waitedLong names the longest of the waits that lasted for more than our patience and are no violation.
func (r *run) waitedLong() string {
	var longest stretch
	key, n := "", 0
	for _, k := range r.keys {
		for _, w := range r.alone(k, func(*history.Op) bool { return true }) {
			n++
			if w.to-w.from > longest.to-longest.from {
				longest, key = w, k.Name
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of more than %s may be due to holders, to faults or to requests of unknown outcome; "+
		"the longest is that of %s for %q, from %s to %s.",
		nouns.Count(n, "wait"), length(r.patience()), r.client(longest.waits[0].Invoke), key, r.seconds(longest.from), r.seconds(longest.to))
}

// finalAcquire judges the first acquire of a key after the Final note, with those by
// which somebody goes on asking, and says why it cannot.
func (r *run) finalAcquire(name string, f *found) (open string) {
	k := r.logOf(r.ByKey[name])
	if r.Final < 0 {
		return ""
	}
	first := -1
	if k != nil {
		first = sort.Search(len(k.Waits), func(i int) bool { return k.Waits[i].Invoke > r.Final })
	}
	if k == nil || first == len(k.Waits) {
		return fmt.Sprintf("Nobody asked for %q after all was healed.", name)
	}
	asked := k.Waits[first]
	limit, until := r.patientUntil(k, asked), asked.From // until: somebody went on asking
	if asks := r.joined(k.Waits[first:], asked.From, r.End, 0); len(asks) > 0 {
		until = asks[0].to
	}
	i := sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].Op > asked.Invoke })
	switch {
	case i < len(k.Grants) && k.Grants[i].OK <= limit:
		return ""
	case until <= limit:
		return fmt.Sprintf("Nobody asked for %q for long enough after all was healed: given up after %s.", name, length(until-asked.From))
	}
	if r.tooFew(asked.From) {
		return fmt.Sprintf("Nobody could be granted %q at the end: too many servers have ended by themselves.", name)
	}
	if g := r.halfReleased(k); g != nil {
		return fmt.Sprintf("%s holds %q still, as a release of it was lost and nothing ends its grant.", g.Who(), name)
	}
	evidence := []int{r.Final, asked.Invoke, asked.Done}
	took := "was not granted it by the end of the run"
	if i < len(k.Grants) {
		until = min(until, k.Grants[i].OK)
		evidence = append(evidence, k.Grants[i].Op)
		took = fmt.Sprintf("the key was granted after %s only", length(k.Grants[i].OK-asked.From))
	}
	f.add(r, Violation{Key: name, At: limit, Operations: evidence, lasts: trace.Span{From: asked.From, To: until}, limit: limit - asked.From},
		"%s asked for %q at %s, after all was healed, and %s.", r.Ops[asked.Invoke].Node, name, r.seconds(asked.From), took)
	return ""
}

// halfReleased is a grant of a reentrant lock without a lease that its holder has released as
// often as it took it, of which one release may not have arrived; the service says that it
// is held still, and has granted the key to nobody since.
func (r *run) halfReleased(k *keyLog) *trace.Grant {
	for _, g := range k.Grants {
		if !r.Setup.Promise.Leased && g.By == nil && (g.End == trace.Forever && g.Nest.Open > 0 || g.MayHold()) {
			return g
		}
	}
	return nil
}

// stuck looks at the gaps between beliefs that are longer than our patience. In
// them the clock starts anew at each fault's end, and at the end of each acquire whose
// outcome is unknown: it may have held the key meanwhile, see ghost, and its grant may live
// for a lease that nobody knows of.
// An acquire that never returned counts as long as its client is known to have lived.
func (r *run) stuck(k *keyLog, f *found) {
	s := stuckIn{run: r, k: k, f: f, before: f.certain, longer: r.unsureFor(k)}
	for _, w := range k.Waits {
		if w, known := r.lasted(w); known { // who is refused and tries again goes on waiting
			s.all.add(w)
			if r.Ops[w.Done].Type == history.Info {
				s.unknown = append(s.unknown, r.ghost(w))
			}
		}
	}
	slices.SortStableFunc(s.unknown, func(a, b trace.Span) int { return cmp.Compare(a.To, b.To) })
	free := r.Begin
	for _, g := range k.Grants {
		s.gap(free, g.OK)
		free = max(free, r.keepsUntil(g))
	}
	s.gap(free, r.End)
}

// keepsUntil is until when a hold of g keeps others from its key: who believes on behind a lease that
// ends by its time, and does not renew it, keeps nobody. Our patience counts the lease of the run, so what was not
// given back keeps them for as much longer as its own is.
func (r *run) keepsUntil(g *trace.Grant) int64 {
	p, end := r.Setup.Promise, g.End
	if p.Leased && r.ungiven(g) {
		end = after(end, r.longestLease(g)-int64(r.Setup.Lease))
	}
	if !p.Leased && g.MayHold() {
		if g.By != nil {
			return max(end, g.By.OK)
		}
		return trace.Forever
	}
	if !p.Leased || p.Session || p.Renews {
		return end
	}
	return min(end, r.lastsUntil(g))
}

// ungiven says that the belief in g is over and its lease may not be: its holder died, or ended without giving it back,
// or was not told how its release ended, or that of a part before.
func (r *run) ungiven(g *trace.Grant) bool {
	unknown := g.Release >= 0 && g.Released < 0 && (g.Done < 0 || r.Ops[g.Done].Type == history.Info)
	return g.Killed || g.Left && !r.Setup.Promise.Session || unknown || g.MayHold() || r.KeepsSome(g, g.Released)
}

// patientUntil is for how long the final acquire of a key may wait: one of a lease that is longer than that of the run may
// still keep it.
func (r *run) patientUntil(k *keyLog, asked trace.Wait) int64 {
	until := asked.From
	for _, f := range r.Faults {
		if f.Begin >= 0 && f.To < trace.Forever && f.Kind == "partition" && r.mayHinder(f, r.Ops[asked.Invoke].Node) {
			until = max(until, flows(f)) // the patience of who asks begins when it can be heard
		}
	}
	for _, g := range k.Grants {
		longer := r.longestLease(g) > int64(r.Setup.Lease)
		if r.Setup.Promise.Leased && longer && g.OK < asked.From && (g.End > asked.From || r.ungiven(g)) {
			until = max(until, r.lastsUntil(g)-int64(r.Setup.Lease))
		}
	}
	for _, unsure := range r.unsureFor(k) {
		if unsure.From < asked.From {
			until = max(until, unsure.To)
		}
	}
	return until + r.patience()
}

// ghost is when an acquire of unknown outcome may have had the key while its client waited for
// it. Where nothing kept an answer from coming it had the key only as its client gave up: a grant
// from before that would have been answered. Its lease ends by itself, within our patience. A
// session that is open keeps what nobody knows of, and so may what is left at some servers of many.
func (r *run) ghost(w trace.Wait) trace.Span {
	r.stalled()
	node := r.Ops[w.Invoke].Node
	if !r.keepsLeases() || r.Setup.Promise.DriftFactor > 0 || trace.Meets(r.hindering(node), w.From, w.To) ||
		stalledIn(r.known.stalls[node], w.From, w.To) || stalledIn(r.known.servers, w.From, w.To) {
		return trace.Span{From: w.From, To: w.To}
	}
	return trace.Span{From: max(w.From, w.To-int64(r.Setup.Lease)/4), To: w.To}
}

// stuckIn judges the gaps of one key.
type stuckIn struct {
	*run
	k       *keyLog
	f       *found
	all     asker        // everybody
	unknown []trace.Span // acquires with an unknown outcome, by their end
	longer  []trace.Span // see run.unsureFor
	before  int          // what was found of other keys
}

func (s *stuckIn) gap(from, to int64) {
	if to-from <= s.patience() {
		return
	}
	for _, part := range without(trace.Span{From: from, To: to}, s.overs(s.k)) {
		first := sort.Search(len(s.unknown), func(i int) bool { return s.unknown[i].To > part.From })
		end := sort.Search(len(s.unknown), func(i int) bool { return s.unknown[i].To >= part.To })
		for _, sound := range without(part, trace.Union(slices.Concat(s.unknown[first:max(first, end)], s.longer))) {
			s.stuckPart(s.k, sound, s.all.meeting(sound.From, sound.To), s.f)
		}
		s.unknownRow(part)
	}
}

// unknownRow judges what acquires of unknown outcome leave of a part of a gap: each may have been
// granted the key, and kept it for a lease and the bound, once. As it may also have been slow before
// each, it takes half as much again as our patience. Where a fault may have kept answers,
// or some of many servers remember who gave up, nothing is known; a stall of who asks takes the certainty.
func (s *stuckIn) unknownRow(part trace.Span) {
	if s.f.certain > s.before || s.Setup.Promise.DriftFactor > 0 {
		return
	}
	for _, w := range s.joined(s.all.meeting(part.From, part.To), part.From, part.To, 0) {
		first := sort.Search(len(s.unknown), func(i int) bool { return s.unknown[i].To >= w.from-s.mayBeGranted(s.k) })
		end := sort.Search(len(s.unknown), func(i int) bool { return s.unknown[i].To > w.to })
		kept := int64(end-first) * s.mayBeGranted(s.k)
		if w.to-w.from-kept <= s.patience()*3/2 || trace.Meets(s.hinderingAll(s.k), w.from, w.to) {
			continue
		}
		s.f.add(s.run, Violation{Key: s.k.Name, At: w.from + kept + s.patience()*3/2, Operations: w.within(w.from, w.to),
			Possible: s.askerStalled(s.k, w.from, w.to)},
			"%s waited for %q from %s to %s although nobody believed to hold it and no fault that concerns it was open; %s of unknown "+
				"outcome can have kept it for %s at most.", s.whoWaited(w.within(w.from, w.to)), s.k.Name, s.seconds(w.from),
			s.seconds(w.to), nouns.Count(end-first, "acquire"), length(kept))
	}
}

// stuckPart judges a part of a gap in which nobody can have held the key.
func (r *run) stuckPart(k *keyLog, part trace.Span, waiting []trace.Wait, f *found) {
	for _, w := range r.joined(waiting, part.From, part.To, r.patience()/2) {
		if w.to-w.from > r.patience() {
			f.add(r, Violation{Key: k.Name, At: w.from + r.patience(), Operations: w.within(w.from, w.to),
				lasts: trace.Span{From: w.from, To: w.to}, limit: r.patience()},
				"%s waited for %q from %s to %s although nobody believed to hold it and no fault that concerns it was open.",
				r.whoWaited(w.within(w.from, w.to)), k.Name, r.seconds(w.from), r.seconds(w.to))
		}
	}
}

// whoWaited names all whose requests make up a wait: where several took turns, nobody waited for all of it.
func (r *run) whoWaited(requests []int) string {
	var who []string
	for _, i := range requests {
		if node := r.client(i); node != "" && !slices.Contains(who, node) {
			who = append(who, node)
		}
	}
	if len(who) < 2 {
		return listedWords(who)
	}
	return listedWords(who) + ", always one of them,"
}
