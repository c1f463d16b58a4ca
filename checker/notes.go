package checker

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// fault is one fault at one victim.
type fault struct {
	id               int
	kind, target     string
	cut              []string // the peers of a partition, if they are known
	from, to         int64
	begin            int // its Begin note, -1 when there was none
	observed, missed bool
	skipped          bool  // it began, and met nothing to hit
	slow             int64 // of a latency: what it adds to a round trip at most; 0: not known
}

// stall is a span in which a node was not scheduled.
type stall struct {
	node     string
	from, to int64
	reach    int64 // where they are filed: the latest end of this and all earlier ones
	server   bool  // no client: it takes part in everything
}

func (r *run) note(i int, op *history.Op) {
	switch op.F {
	case history.Apply:
		k := r.key(op.Key)
		k.resource = append(k.resource, i)
		if slot, ok := r.byValue[op.Value]; ok {
			if r.writes[slot].apply < 0 {
				r.writes[slot].apply = i
			}
			return
		}
		r.byValue[op.Value] = len(r.writes)
		r.writes = append(r.writes, write{invoke: -1, apply: i, done: -1, grant: r.byOwner[op.Owner]})
	case history.Happened:
		r.effected(i, op)
	case history.ReadSeen:
		k := r.key(op.Key)
		k.resource = append(k.resource, i)
	case history.Holder:
		k := r.key(op.Key)
		k.holders = append(k.holders, i)
	case history.Lost:
		r.told(op, func(g *grant) { r.lost(g, i, op) })
	case history.Abstain:
		r.abstained = append(r.abstained, i)
		r.told(op, func(g *grant) { g.stop(i, op.Time) })
	case history.Suspended:
		r.told(op, func(g *grant) { g.claims = append(g.claims, claim{at: op.Time, op: i, cut: true}) })
	case history.Resumed:
		r.told(op, func(g *grant) {
			g.claims = append(g.claims, claim{at: op.Time, deadline: g.deadline(r), op: i})
		})
	case history.Fault:
		r.fault(i, op)
	case history.Stall:
		r.allStall = append(r.allStall, stall{node: op.Node, from: op.Time - op.Length, to: op.Time})
	case history.HostClock:
		r.jumps = append(r.jumps, i)
	case history.Adapter:
		r.blamed = append(r.blamed, i)
	case history.Stop:
		r.stops[op.Node] = i
	case history.Final:
		if r.final < 0 {
			r.final = i
		}
	}
}

// told calls f for the grants that a note to a client concerns: that of its
// owner, else those of the process that it names, else all of its node, as a session
// ends for all its grants. Grants whose belief has ended are forgotten on the way.
func (r *run) told(op *history.Op, f func(*grant)) {
	if op.Owner != "" {
		if g := r.byOwner[op.Owner]; g != nil && g.end == forever {
			f(g)
		}
		return
	}
	r.toldNode(op.Node, op.Process, f)
}

func (r *run) fault(i int, op *history.Op) {
	if op.Fault == nil {
		return
	}
	of := victim{op.Fault.ID, op.Fault.Target}
	f := r.open[of]
	if op.Fault.Phase == history.Skipped {
		r.skip(f)
		return
	}
	if f == nil || (op.Fault.Phase == history.Begin && f.begin >= 0) {
		f = &fault{id: of.id, kind: op.Fault.Kind, target: of.target, from: op.Time, to: forever, begin: -1}
		r.open[of] = f
		r.faults = append(r.faults, f)
	}
	switch op.Fault.Phase {
	case history.Begin:
		f.begin, f.from, f.cut, f.slow = i, op.Time, op.Fault.Cut, op.Length
		if f.kind == "kill" && !r.missed[of] { // the dead believe nothing
			r.toldNode(f.target, 0, func(g *grant) { g.stop(i, op.Time); g.killed = true })
		}
	case history.Observed:
		f.observed = true
	case history.Missed:
		f.missed = true
	case history.Heal, history.Failed:
		f.to = op.Time
	}
}

// skip counts a fault that could not be, where it did not begin, or that met nothing
// to hit, where it did.
func (r *run) skip(f *fault) {
	if f != nil {
		f.skipped = true
		return
	}
	r.counts.FaultsSkipped++
}

// planStalls keeps the stalls that nobody planned and that are longer than an
// eighth of the lease. Only a fault that stops programs may stop the agent beside
// them: a disk that hangs, a process that dies with all its memory.
func (r *run) planStalls() {
	planned := r.stopping()
	for _, s := range r.allStall {
		if meets(planned[s.node], s.from, s.to) {
			continue
		}
		r.counts.MaxStall = max(r.counts.MaxStall, s.to-s.from)
		if s.to-s.from > int64(r.setup.Lease)/8 {
			s.server = len(r.setup.Clients) > 0 && !r.isClient(s.node)
			r.stalls = append(r.stalls, s)
		}
	}
	slices.SortFunc(r.stalls, func(a, b stall) int { return cmp.Compare(a.from, b.from) })
}

// stops are the faults that stop programs.
var stops = map[string]bool{"pause": true, "stall-worker": true, "kill": true, "crash": true, "disk-stall": true}

// endBeliefs ends at its deadline the belief of each holder that was never heard
// of after it: its process died with the grant. Who was heard of believes on.
func (r *run) endBeliefs() {
	for _, g := range r.grants {
		if g.end != forever {
			continue
		}
		deadline, known := r.raw(g.node, g.deadline(r))
		if !known && g.deadline(r) != 0 {
			last := &r.ops[g.op]
			deadline, known = g.sent+r.leaseOf(last), true
		}
		if known && max(g.lastSeen, r.process[g.process].last) <= deadline {
			g.end = max(deadline, g.ok)
		}
	}
}

// deadline is the one that g claims last, by its node's own MONOTONIC; 0: none.
func (g *grant) deadline(r *run) int64 {
	for i := len(g.claims) - 1; i >= 0; i-- {
		if !g.claims[i].cut {
			return g.claims[i].deadline
		}
	}
	return r.ops[g.op].Deadline
}
