package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// otherThanAsked finds grants of another mode, or of another number of permits, than was asked for, and changes into
// another mode; and renewals that tell of another. What the history does not say on both sides is not compared: an answer
// without a mode grants what was asked for. O(n).
func (r *run) otherThanAsked(f *found) {
	for _, g := range r.Grants {
		r.tellOther(f, g, g.Invoke, g.Op)
	}
	for _, c := range r.Successes {
		if r.Ops[c.Done].F == history.Change {
			r.tellOther(f, c.Grant, c.Invoke, c.Done)
		}
	}
	if r.Setup.Kind == history.ReadWrite || r.Setup.Kind == history.Semaphore {
		r.renewedOther(f)
	}
}

func (r *run) tellOther(f *found, g *trace.Grant, invoke, done int) {
	asked, told := &r.Ops[invoke], &r.Ops[done]
	if !other(&r.Setup, asked, told) {
		return
	}
	f.add(r, Violation{Key: g.Key.Name, At: told.Time, Operations: []int{g.Op, invoke, done}},
		"%s asked to hold %q %s, and was told ok at %s: it holds it %s.", g.Who(), g.Key.Name,
		r.share(asked), r.seconds(told.Time), r.share(told))
}

// share says in words how an operation asks for a lock that several may hold, or is told that it holds it.
func (r *run) share(op *history.Op) string {
	if r.Setup.Kind == history.Semaphore {
		return fmt.Sprintf("with %s", nouns.Count(int(op.Permits), "permit"))
	}
	return roleIn(trace.Share{Exclusive: op.Mode == history.Exclusive})
}

// other says whether an operation is told ok of something else than it asked for, and both are recorded.
func other(setup *history.Setup, asked, told *history.Op) bool {
	switch setup.Kind {
	case history.ReadWrite:
		return asked.Mode != "" && told.Mode != "" && asked.Mode != told.Mode
	case history.Semaphore:
		return asked.Permits > 0 && told.Permits > 0 && asked.Permits != told.Permits
	}
	return false
}

// namesOther says whether a violation names an operation that is told ok of something else than it asked for, or a renewal
// that tells of something for which it did not ask.
func (m *minimizer) namesOther(v *Violation) bool {
	asked := map[int]*history.Op{}
	for _, i := range v.Operations {
		op := &m.ops[i]
		if op.Type == history.Invoke {
			asked[op.Process] = op
		}
		from := asked[op.Process]
		if from == nil || from.F != op.F || op.Type != history.OK {
			continue
		}
		if other(&m.setup, from, op) || op.F == history.Extend && !repeats(&m.setup, from, op) {
			return true
		}
	}
	return false
}
