package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// handing is one release: whose it is, and how it ended.
type handing struct {
	grant        *trace.Grant // nil: its owner was never told that it was granted the key
	invoke, done int          // done is -1 where it was never answered
	maybe        bool         // its owner may have been granted the key all the same
}

// releaseByOwner finds releases that freed the grant of somebody else. What is
// seen of one is its effect: a release on a superseded grant G1, or of who has none, is followed,
// while the grant G2 that was the last is valid and not given back, by a third
// grant, or by a look at the server that finds G2 gone. If the server had been
// seen without G2 before, its end had another cause.
func releaseByOwner(r *run) outcome {
	var f found
	late, all := 0, 0
	for i := range r.Ops {
		h, is := r.handing(i)
		if !is {
			continue
		}
		all++
		if h.grant != nil && !h.grant.SupersededAt(r.Ops[h.invoke].Time) {
			continue
		}
		late++
		r.judgeRelease(h, &f)
	}
	put := fmt.Sprintf("%d of %s came after their grant was superseded", late, nouns.Count(all, "release"))
	if late == 0 {
		put = fmt.Sprintf("none of %s came after its grant was superseded, so this was not put to the test", nouns.Count(all, "release"))
	}
	return outcome{verdict: Holds, found: f,
		reason:  fmt.Sprintf("No release freed another's grant; %s.", put),
		summary: fmt.Sprintf("%s of %d freed the grant of another client.", nouns.Count(f.certain, "release"), all),
	}
}

// handing is the release that an operation invokes, unless it gave back an inner hold or does not say whose it is.
func (r *run) handing(i int) (h handing, is bool) {
	op := &r.Ops[i]
	if op.F != history.Release || op.Type != history.Invoke || op.Owner == "" || r.ByKey[op.Key] == nil {
		return h, false
	}
	h = handing{grant: r.ByOwner[op.Owner], invoke: i, done: -1}
	if done, ended := r.Ended(i); ended {
		h.done = done
	}
	if g := h.grant; g != nil && (g.Key.Name != op.Key || g.Op > i) {
		h.grant = nil
	}
	if h.grant == nil {
		h.maybe = r.mayHold(op) || slices.ContainsFunc(r.logOf(r.ByKey[op.Key]).Waits, func(w trace.Wait) bool {
			return r.Ops[w.Invoke].Node == op.Node && (w.Done < 0 || r.Ops[w.Done].Type == history.Info)
		})
	}
	return h, h.done < 0 || r.Ops[h.done].Depth == 0
}

// judgeRelease judges a release of who had nothing to give back any more.
func (r *run) judgeRelease(release handing, f *found) {
	invoke, done := &r.Ops[release.invoke], release.done
	k := r.logOf(r.ByKey[invoke.Key])
	if done >= 0 && r.Ops[done].Type == history.Fail {
		return
	}
	holder := k.lastGranted(invoke.Time)
	if holder == nil || holder.Node == invoke.Node && release.grant == nil || release.grant != nil && !trace.Surely(release.grant, holder) {
		return
	}
	if r.seenWithout(k, holder, holder.OK, invoke.Time) >= 0 {
		return
	}
	evidence, who, why := []int{holder.Op, release.invoke, done}, r.client(release.invoke), "without a grant, which "+holder.Who()+" had"
	possible := done < 0 || r.Ops[done].Type != history.OK || release.maybe
	if g := release.grant; g != nil {
		evidence, who, why = append(evidence, g.Op), g.Who(), "on a grant that "+holder.Who()+" had superseded"
		possible = possible || r.both(g, holder)
	}
	until := r.owedUntil(holder, invoke.Time)
	if third := k.grantBetween(invoke.Time, until, holder); third != nil {
		f.add(r, Violation{Key: k.Name, At: third.OK, Possible: possible, Operations: append(evidence, third.Op)},
			"%s released %q at %s %s, and %s was granted it at %s while that grant was valid.",
			who, k.Name, r.seconds(invoke.Time), why, third.Who(), r.seconds(third.OK))
		return
	}
	if done < 0 {
		return
	}
	if seen := r.seenWithout(k, holder, r.Ops[done].Time, until); seen >= 0 {
		f.add(r, Violation{Key: k.Name, At: r.Ops[seen].Time, Possible: possible, Operations: append(evidence, seen)},
			"%s released %q at %s %s, and at %s the server knew that grant no more.",
			who, k.Name, r.seconds(invoke.Time), why, r.seconds(r.Ops[seen].Time))
	}
}

// grantBetween is the first grant after t, if it was proven before until.
func (k *keyLog) grantBetween(t, until int64, not *trace.Grant) *trace.Grant {
	i := sort.Search(len(k.Grants), func(i int) bool { return k.Grants[i].OK > t })
	if i == len(k.Grants) || k.Grants[i].OK >= until || k.Grants[i] == not {
		return nil
	}
	return k.Grants[i]
}

// validUntil is the end of the validity interval of g that contains t, else t.
func (r *run) validUntil(g *trace.Grant, t int64) int64 {
	until, _ := r.ValidAt(g, t)
	return until
}
