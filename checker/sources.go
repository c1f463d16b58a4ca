package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history/trace"
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

// rests says on what a property rests besides the records that a violation names. Each reads what
// clients recorded.
type rests struct {
	// resource: that it holds is read from the whole log of the resource.
	resource bool
	// absent: a violation may come of what the resource did not log.
	absent bool
	// others: a violation may come of what a client did not record that it does not name, such
	// as a grant or a release. Of those that it names each may have given the key back, or
	// have been stalled.
	others bool
	// steady: no node that was not scheduled is the cause of a violation. What takes time, and
	// what a client does with a lock that it has lost, depends on that. But no stall of a client
	// makes the server's ok true, or its token greater, and none of the resource makes a sound
	// lock grant twice.
	steady bool
	// servers: a fault of a server, which its own agent records, would excuse a violation.
	servers bool
}

// unlessServers records violations that a fault of a server would excuse, whatever else the property rests on.
func (r *run) unlessServers(add func()) {
	was := r.rests
	r.rests.servers = true
	add()
	r.rests = was
}

// steadily has no stall excuse what is recorded from now on, until what it returns is called.
func (r *run) steadily() func() {
	was := r.rests
	r.rests.steady = true
	return func() { r.rests = was }
}

// findCuts finds who has not recorded all that he did, or whose records have not all
// come. A part of a history tells nothing of that.
func (r *run) findCuts() {
	if r.Setup.Shows != "" {
		return
	}
	killed := r.nobodyEnded()
	for _, name := range r.Setup.Sources {
		r.unended(name, killed)
	}
	r.cutLog()
	r.cutClients()
	slices.SortStableFunc(r.cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.name, b.name)) })
}

func (r *run) roleOf(name string) role {
	switch {
	case slices.Contains(r.Setup.Clients, name):
		return aClient
	case slices.Contains(r.Setup.Servers, name):
		return aServer
	}
	return theResource
}

// allCame says that all has come that a source recorded.
func (r *run) allCame(name string) bool {
	s := r.Sources[name]
	return s != nil && s.End >= 0 && int64(s.Records) == r.Ops[s.End].Length
}

// nobodyEnded says that it was the recorder which ended, in the middle: it took in what
// all had sent until then.
func (r *run) nobodyEnded() bool {
	return len(r.Setup.Sources) > 0 && !slices.ContainsFunc(r.Setup.Sources, func(name string) bool {
		s := r.Sources[name]
		return s != nil && s.End >= 0
	})
}

// unended judges a source by its End note. Where nobody has ended, a server that has
// said nothing had nothing to say, and who was killed had said all.
func (r *run) unended(name string, nobody bool) {
	s := cmp.Or(r.Sources[name], &trace.Source{End: -1, Said: -trace.Forever})
	c := cut{name: name, role: r.roleOf(name), from: -trace.Forever}
	switch {
	case r.allCame(name), nobody && (c.role == aServer || r.deathAfter(name, s.Said) != nil):
		return
	case nobody:
		if s.Records > 0 {
			c.from = s.Last
		}
	case s.End >= 0:
		c.why = fmt.Sprintf("%s recorded %s, of which %d are here: some are missing, and it is not known which.", name,
			nouns.Count(int(r.Ops[s.End].Length), "operation"), s.Records)
		if int64(s.Records) > r.Ops[s.End].Length {
			c.why = fmt.Sprintf("%s recorded %s, and %d are here: some are not its own, and it is not known which.", name,
				nouns.Count(int(r.Ops[s.End].Length), "operation"), s.Records)
		}
	case s.Records == 0:
		c.why = fmt.Sprintf("Nothing has come of what %s recorded, and no end of it.", name)
	default:
		c.from = s.Last
		c.why = fmt.Sprintf("The records of %s have no end: what it recorded after %s may be missing.", name, r.seconds(s.Last))
	}
	r.cuts = append(r.cuts, c)
}

// incomplete are the doubts about what is missing.
func (r *run) incomplete() []doubt {
	var doubts []doubt
	if r.Setup.Shows == "" && r.nobodyEnded() {
		doubts = append(doubts, doubt{text: fmt.Sprintf("No node has ended its records: they stop at %s, and some of "+
			"what was done before may be missing.", r.seconds(r.End))})
	}
	for _, c := range r.cuts {
		if c.why == "" {
			continue
		}
		d := doubt{text: c.why}
		if c.role == theResource {
			d.affects = func(c Checker) bool { return c.rests.resource }
		}
		doubts = append(doubts, d)
	}
	return doubts
}

// mayMiss says whether a violation may come of a record that is missing. Without those
// of a server, or of the agent of the resource, it is not known whether a stall touches it.
func (r *run) mayMiss(v *Violation) bool {
	if len(r.cuts) == 0 {
		return false
	}
	to := v.At
	for _, i := range v.Operations {
		to = max(to, r.Ops[i].Time)
	}
	return slices.ContainsFunc(r.cuts, func(c cut) bool {
		switch {
		case to <= c.from:
			return false
		case c.role == theResource:
			return r.rests.absent || !r.rests.steady && c.why != "" && c.name != ""
		case c.role == aServer:
			return !r.rests.steady || r.rests.servers
		}
		return r.rests.others || slices.ContainsFunc(r.parties(v.Operations), func(p party) bool { return p.node == c.name })
	})
}
