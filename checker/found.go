package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// listed is how many violations of one property are told one by one, of the
// certain ones, the disturbed and the possible; all are counted.
const listed = 10000

// found collects the violations of one property.
type found struct {
	list                         []Violation
	certain, possible, disturbed int // disturbed: certain ones that a stall touches
	unlisted                     int
	missing                      int // what may be caused by missing records: they are not listed
}

// add records a violation whose evidence is ops. The message is only made for
// those that are listed.
func (f *found) add(r *run, v Violation, format string, args ...any) {
	v.Operations = slices.DeleteFunc(v.Operations, func(op int) bool { return op < 0 })
	slices.Sort(v.Operations)
	v.Operations = slices.Compact(v.Operations)
	if r.mayMiss(&v) {
		f.missing++
		return
	}
	v.Disturbed = !r.rests.steady && r.disturbed(v.Operations) && !r.outlasts(&v)
	var before int
	switch {
	case v.Possible:
		before = f.possible
		f.possible++
	case v.Disturbed:
		before = f.disturbed
		f.certain++
		f.disturbed++
	default:
		before = f.certain - f.disturbed
		f.certain++
	}
	if before >= listed {
		f.unlisted++
		return
	}
	v.Message = fmt.Sprintf(format, args...)
	f.list = append(f.list, v)
}

// property turns an outcome into a judgement. Certain violations decide, unless
// a stall of our own touches every one of them; possible ones only take away
// the certainty that all is well.
func (o outcome) property(name string) Property {
	f := o.found
	slices.SortStableFunc(f.list, func(a, b Violation) int { return cmp.Compare(a.At, b.At) })
	p := Property{Name: name, Verdict: o.verdict, Reason: o.reason, Violations: f.list, Unlisted: f.unlisted}
	switch {
	case f.certain > f.disturbed:
		p.Verdict, p.Reason = Violated, o.summary
	case f.missing > 0:
		p.Verdict = Unknown
		p.Reason = fmt.Sprintf("%s may be caused by missing records.", nouns.Count(f.missing, "apparent violation"))
	case f.certain > 0:
		p.Verdict, p.Disturbed = Unknown, true
		p.Reason = fmt.Sprintf("Disturbed; repeat: an unplanned stall of a node touches %s.", countOf("each of ", f.certain, "violation"))
	case f.possible > 0 && o.verdict != NA:
		p.Verdict = Unknown
		p.Reason = fmt.Sprintf("%s: unknown outcomes, an unknown order of grants, two holders at once or late answers leave it open.",
			nouns.Count(f.possible, "possible violation"))
	}
	return p
}

// countOf writes "1 grant", "all of 2 grants".
func countOf(all string, n int, noun string) string {
	if n == 1 {
		all = ""
	}
	return all + nouns.Count(n, noun)
}

// verb agrees with n.
func verb(n int, plural string) string {
	if n == 1 {
		return plural + "s"
	}
	return plural
}

// was agrees with n.
func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// disturbed says whether an unplanned stall longer than an eighth of the lease
// touches the span of ops on a node that takes part. Servers always take part.
func (r *run) disturbed(ops []int) bool {
	if len(ops) == 0 || len(r.stalls) == 0 {
		return false
	}
	r.stalled()
	to := r.Ops[ops[len(ops)-1]].Time
	return stalledIn(r.known.servers, r.Ops[ops[0]].Time, to) ||
		slices.ContainsFunc(r.parties(ops), func(p party) bool { return stalledIn(r.known.stalls[p.node], p.from, to) })
}

// outlasts says that a wait goes on for longer than it may between the stalls that touch it. A stall does no more than a fault that
// stops its node: the clock starts anew when what it may have left behind is over.
func (r *run) outlasts(v *Violation) bool {
	if v.lasts == (trace.Span{}) {
		return false
	}
	var stalls []trace.Span
	parties := r.parties(v.Operations)
	for _, s := range r.stalls {
		if s.Server || slices.ContainsFunc(parties, func(p party) bool { return p.node == s.Node }) {
			stalls = append(stalls, trace.Span{From: s.From, To: after(s.To, r.aftermath())})
		}
	}
	return longestOf(without(v.lasts, trace.Union(stalls))) > v.limit
}

// party is who takes part in a violation, and from when on what happens to it matters.
type party struct {
	node string
	from int64
}

// parties are whose operations these are: who recorded them, and, of what the resource
// logged, whose request it was. What is done on a grant, a stall since that grant may have
// delayed: one of the client, and one of the resource, which its reads wait for, too.
func (r *run) parties(ops []int) (all []party) {
	for _, i := range ops {
		op, first := &r.Ops[i], r.Ops[ops[0]].Time
		all = append(all, party{op.Node, first})
		asked := -1
		switch op.F {
		case history.Apply:
			if slot, known := r.ByValue[op.Value]; known {
				asked = r.Writes[slot].Invoke
			}
		case history.Happened:
			if e := r.ByEffect[op.Value]; e != nil {
				asked = e.Invoke
			}
		}
		if asked >= 0 {
			all = append(all, party{r.Ops[asked].Node, min(first, r.Ops[asked].Time)})
		}
		if g := r.ByOwner[op.Owner]; op.Owner != "" && g != nil {
			all = append(all, party{g.Node, min(first, g.Sent)})
			if asked >= 0 {
				all = append(all, party{op.Node, min(first, g.Sent)})
			}
		}
	}
	return all
}
