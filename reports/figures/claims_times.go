package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Samples that a quantile needs before it says anything.
const (
	enoughForP50 = 20
	enoughForP99 = 300
)

// compare holds a quantile of a histogram against a limit.
func (c Claimed) compare(h *window, one, many, more string) (Agrees, string) {
	enough := enoughForP50
	if c.Quantile > 90 {
		enough = enoughForP99
	}
	if int(h.TotalCount()) < enough {
		return NotMeasured, strings.TrimSpace(fmt.Sprintf("Too few: %d %s, where p%s needs %d. %s", h.TotalCount(),
			say.Verb(int(h.TotalCount()), one, many), say.Number(c.Quantile), enough, more))
	}
	took := h.took(c.Quantile)
	text := fmt.Sprintf("p%s of %s %s was %s, on one machine that all nodes share, with no network between them.",
		say.Number(c.Quantile), say.Thousands(int(h.TotalCount())), many, say.Length(took))
	if took <= c.Below {
		return Confirmed, text
	}
	return Contradicted, text
}

// acquireLatency takes the acquires of a free lock alone: what the others took is
// mostly the time for which somebody else held it.
func (j *claimJudge) acquireLatency(c Claimed) (Agrees, string) {
	if j.free == nil {
		j.free = j.freeAcquires()
	}
	return c.compare(j.free, "acquire of a free lock", "acquires of a free lock", "With --keys 20 most acquires are such.")
}

// freeAcquires are the acquires during which, from end to end, nobody else asked for
// the key or held it and no fault was in force.
func (j *claimJudge) freeAcquires() *window {
	type busy struct {
		timeline.Span
		wait bool
	}
	h := newWindow(3)
	for key, waits := range j.waiting {
		var all []busy
		for _, w := range waits {
			all = append(all, busy{timeline.Span{From: w.from, To: w.to}, w.granted})
		}
		for _, g := range j.GrantsOf(key) {
			all = append(all, busy{Span: timeline.Span{From: g.OK, To: j.freed(g)}})
		}
		for _, f := range j.Faults {
			all = append(all, busy{Span: j.Lasted(f)})
		}
		slices.SortFunc(all, func(a, b busy) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
		reach := int64(-1 << 62)
		for i, b := range all {
			if b.wait && reach < b.From && (i+1 == len(all) || all[i+1].From >= b.To) {
				h.record((b.To - b.From) / 1000)
			}
			reach = max(reach, b.To)
		}
	}
	return h
}

// freed is when a grant can no longer be in the way: its release was answered. What
// was not given back may be kept for a lease.
func (j *claimJudge) freed(g *trace.Grant) int64 {
	for _, i := range slices.Backward(g.Events) {
		if j.Ops[i].F == history.Release && j.Ops[i].Type == history.OK {
			return j.Ops[i].Time
		}
	}
	return max(g.Until, g.OK) + int64(j.Setup.Lease)
}

func (j *claimJudge) releaseLatency(c Claimed) (Agrees, string) {
	for i, class := range classes {
		if class.operation == "release" {
			return c.compare(&j.measure().whole[i], "release", "releases", "")
		}
	}
	return NotMeasured, "No release has ended."
}

// within is the duration that a claim names.
func (c Claimed) within(lease time.Duration) time.Duration {
	if c.Within == "lease" || c.Within == "" {
		return lease
	}
	d, _ := time.ParseDuration(c.Within) // checked when it was read
	return d
}

// releasedWithin takes the holders that were killed while nothing else was at fault.
// Who waits sees a free lock only when it asks again, or is told: that is let pass.
func (j *claimJudge) releasedWithin(c Claimed) (Agrees, string) {
	limit := c.within(j.Setup.Lease)
	late := limit + max(limit/4, 500*time.Millisecond)
	n, longest := 0, time.Duration(0)
	for _, r := range j.Recoveries {
		f := j.killed(r)
		if f == nil {
			continue
		}
		waited := time.Duration(r.Waited)
		if r.Waited < 0 {
			if waited = time.Duration(j.Length - r.Begin); waited <= late {
				continue // the run ended before anything was due
			}
		}
		if j.alone(f, j.Lasted(f).From, j.Lasted(f).From+int64(waited)) {
			n, longest = n+1, max(longest, waited)
		}
	}
	if n == 0 {
		return NotMeasured, "No client was killed that held a key for which another one waited."
	}
	text := fmt.Sprintf("After %s of a holder the next client had the key within %s; claimed are %s, and up to %s are "+
		"let pass, as who waits has to ask again or to be told.", say.Count(n, "death"), say.Length(longest), say.Length(limit), say.Length(late))
	if longest > late {
		return Contradicted, text
	}
	return Confirmed, text
}

// killed is the fault of a recovery if it is a client's death, seen there, with the
// key in its hands.
func (j *claimJudge) killed(r Recovery) *trace.Fault {
	if r.Kind != "kill" || !r.Held || len(r.Victims) != 1 || !j.IsClient(r.Victims[0]) {
		return nil
	}
	i := slices.IndexFunc(j.Faults, func(f *trace.Fault) bool { return f.ID == r.Fault && f.Seen >= 0 && !f.Missed })
	if i < 0 {
		return nil
	}
	return j.Faults[i]
}

// alone says whether no other fault was in force.
func (j *claimJudge) alone(f *trace.Fault, from, to int64) bool {
	return !slices.ContainsFunc(j.Faults, func(o *trace.Fault) bool {
		s := j.Lasted(o)
		return o.ID != f.ID && s.From <= to && s.To >= from
	})
}
