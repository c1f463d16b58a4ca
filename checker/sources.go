package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// role is what a source of records is.
type role int

const (
	aClient role = iota
	aServer
	theResource
)

// cut is a source whose records are missing from a time on: they have no end, or another
// number than it told, or others prove that one more must follow.
type cut struct {
	name string
	role role
	from int64
	why  string
}

// rests says on what a property rests besides the records that a violation names.
type rests struct {
	// resource: that it holds is read from the whole log of the resource.
	resource bool
	// absent: a violation may come of what the resource did not log.
	absent bool
	// others: a violation may come of what a client did not record that it does not name, such
	// as a grant or a release. Of those that it names each may have given the key back, or
	// have been stalled.
	others bool
}

// restsOf is the table of all properties. Each reads what clients recorded.
var restsOf = map[string]rests{
	"mutual-exclusion":         {},
	"rw-exclusion":             {},
	"permits":                  {others: true},
	"lease-exclusion":          {},
	"reentrancy":               {},
	"fencing-monotonic":        {},
	"fenced-writes":            {resource: true, others: true}, // it refuses whom a grant that is missing superseded
	"no-lost-update/unfenced":  {resource: true},               // neverApplied asks for the log itself
	"no-lost-update/fenced":    {resource: true},
	"same-reads":               {resource: true},
	"one-leader":               {resource: true},
	"release-by-owner":         {others: true},
	"honest-claims":            {},
	"false-loss":               {others: true},
	"loss-noticed":             {},
	"validity-bound":           {},
	"deadlock-freedom":         {others: true},
	"availability":             {others: true},
	"recovery":                 {others: true},
	"honest-refusal":           {others: true},
	"wait-limit":               {},
	"lock-info":                {others: true},
	"fairness":                 {others: true},
	"starvation":               {others: true},
	"free-lock":                {others: true},
	"herd":                     {others: true},
	"never-oversold/unfenced":  {resource: true},
	"never-oversold/fenced":    {resource: true},
	"charged-once/unfenced":    {resource: true},
	"charged-once/fenced":      {resource: true},
	"one-run-a-slot/unfenced":  {resource: true},
	"one-run-a-slot/fenced":    {resource: true},
	"no-interleaving/unfenced": {resource: true},
	"no-interleaving/fenced":   {resource: true},
	"one-rebuilder":            {resource: true, absent: true},
	"no-deadlock":              {others: true},
}

// on judges a property. What its violations rest on is known meanwhile.
func (c Checker) on(r *run) outcome {
	r.rests = restsOf[c.Name]
	return c.check(r)
}

// source is one that records.
type source struct {
	records int
	last    int64
	said    int64 // the last that its child recorded, and not its agent
	end     int   // its End note, or -1
}

// heard files an operation under who recorded it.
func (r *run) heard(i int, op *history.Op) {
	s := r.sources[op.Node]
	if s == nil {
		s = &source{end: -1, said: -forever}
		r.sources[op.Node] = s
	}
	if op.F == history.End && op.Type == history.Note {
		s.end = i
		return
	}
	s.records++
	s.last = op.Time
	if op.F != history.Fault && op.F != history.Stall && op.F != history.Gate {
		s.said = op.Time
	}
	if op.Type == history.Note && isLog(op.F) {
		r.log.entries = append(r.log.entries, i)
		r.log.last, r.log.node = op.Time, op.Node
		if op.F == history.ReadSeen {
			r.log.reads++
		}
	}
}

// findCuts finds who has not recorded all that he did, or whose records have not all
// come. A part of a history tells nothing of that.
func (r *run) findCuts() {
	if r.setup.Shows != "" {
		return
	}
	killed := r.nobodyEnded()
	for _, name := range r.setup.Sources {
		r.unended(name, killed)
	}
	r.cutLog()
	r.cutClients()
	slices.SortStableFunc(r.cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.name, b.name)) })
}

func (r *run) roleOf(name string) role {
	switch {
	case slices.Contains(r.setup.Clients, name):
		return aClient
	case slices.Contains(r.setup.Servers, name):
		return aServer
	}
	return theResource
}

// allCame says that all has come that a source recorded.
func (r *run) allCame(name string) bool {
	s := r.sources[name]
	return s != nil && s.end >= 0 && int64(s.records) == r.ops[s.end].Length
}

// nobodyEnded says that it was the recorder which ended, in the middle: it took in what
// all had sent until then.
func (r *run) nobodyEnded() bool {
	return len(r.setup.Sources) > 0 && !slices.ContainsFunc(r.setup.Sources, func(name string) bool {
		s := r.sources[name]
		return s != nil && s.end >= 0
	})
}

// unended judges a source by its End note. Where nobody has ended, a server that has
// said nothing had nothing to say, and who was killed had said all.
func (r *run) unended(name string, nobody bool) {
	s := cmp.Or(r.sources[name], &source{end: -1, said: -forever})
	c := cut{name: name, role: r.roleOf(name), from: -forever}
	switch {
	case r.allCame(name), nobody && (c.role == aServer || r.deathAfter(name, s.said) != nil):
		return
	case nobody:
		if s.records > 0 {
			c.from = s.last
		}
	case s.end >= 0:
		c.why = fmt.Sprintf("%s recorded %s, of which %d are here: some are missing, and it is not known which.", name, nouns.Count(int(r.ops[s.end].Length), "operation"), s.records)
	case s.records == 0:
		c.why = fmt.Sprintf("Nothing has come of what %s recorded, and no end of it.", name)
	default:
		c.from = s.last
		c.why = fmt.Sprintf("The records of %s have no end: what it recorded after %s may be missing.", name, r.seconds(s.last))
	}
	r.cuts = append(r.cuts, c)
}

// incomplete are the doubts about what is missing.
func (r *run) incomplete() []doubt {
	var doubts []doubt
	if r.setup.Shows == "" && r.nobodyEnded() {
		doubts = append(doubts, doubt{text: fmt.Sprintf("No node has ended its records: they stop at %s, and some of what was done before may be missing.", r.seconds(r.end))})
	}
	for _, c := range r.cuts {
		if c.why == "" {
			continue
		}
		d := doubt{text: c.why}
		if c.role == theResource {
			for name, on := range restsOf {
				if on.resource {
					d.affects = append(d.affects, name)
				}
			}
		}
		doubts = append(doubts, d)
	}
	return doubts
}

// mayMiss says whether a violation may come of a record that is missing. Without those
// of a server it is not known whether a stall touches it.
func (r *run) mayMiss(v *Violation) bool {
	if len(r.cuts) == 0 {
		return false
	}
	to := v.At
	for _, i := range v.Operations {
		to = max(to, r.ops[i].Time)
	}
	return slices.ContainsFunc(r.cuts, func(c cut) bool {
		switch {
		case to <= c.from:
			return false
		case c.role == theResource:
			return r.rests.absent || c.why != "" && c.name != "" // its agent notes the stalls of the resource, too
		}
		return c.role == aServer || r.rests.others || slices.ContainsFunc(v.Operations, func(i int) bool { return r.ops[i].Node == c.name })
	})
}
