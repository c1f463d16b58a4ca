package models

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// End ends what is pending as unknown and says what was found.
func (f *front) End() Result {
	r := Result{Model: f.name, Counts: f.counts}
	if f.err != nil {
		r.Reason = "the history cannot be judged: " + f.err.Error()
		return r
	}
	var open []*client
	for _, c := range f.clients {
		if c.busy {
			open = append(open, c)
		}
	}
	slices.SortFunc(open, func(a, b *client) int { return a.op.call.Index - b.op.call.Index })
	for _, c := range open {
		c.op.Type = history.Info
		if c.key.broken == "" {
			f.leaveLoose(&c.op, c.key)
		}
		f.finish(c, Ref{Index: f.counts.Events, Time: f.last})
	}
	names := make([]string, 0, len(f.keys))
	for name := range f.keys {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		k := f.keys[name]
		if k.broken == "" {
			k.judge.end()
		}
		f.explainLoose(k)
	}
	for _, k := range f.unjudged[:min(len(f.unjudged), unjudgedKept)] {
		r.Unjudged = append(r.Unjudged, keyed(k)+k.broken)
	}
	r.Counts.Unknown += len(open)
	r.Counts.Keys = len(f.keys)
	f.conclude(&r)
	return r
}

func (f *front) conclude(r *Result) {
	r.Found, r.Violations = f.found.count, f.found.kept
	switch {
	case r.Found > 0:
		r.Verdict, r.Reason = Violated, r.Violations[0].Message
	case r.Counts.Events == 0:
		r.Reason = "the history is empty"
	case r.Counts.OK == 0 && len(f.unjudged) == 0:
		r.Reason = "no operation is known to have happened"
	case len(f.unjudged) > 0:
		r.Reason = fmt.Sprintf("the history of %d of %d keys cannot be judged, nothing is wrong before that, nor with "+
			"the others: %s", len(f.unjudged), len(f.keys), r.Unjudged[0])
	case f.found.doubt != "":
		r.Reason = f.found.doubt
	default:
		r.Verdict = Holds
		r.Reason = fmt.Sprintf("%d operations that returned are those of a %s", r.Counts.OK, f.name)
	}
}
