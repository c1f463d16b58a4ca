package trace

import (
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// Fault is one fault at one victim.
type Fault struct {
	ID               int
	Kind, Target     string
	Cut              []string // the peers of a partition, if they are known
	OneConn          bool     // it may have the connection of one message alone, and a new one is served
	From, To         int64
	First, Begin     int    // its Begin note, -1 when there was none; First is its first note then
	Seen, EndOp      int    // its first Observed note, and the one that ended it
	Again            int64  // of a partition: when the last of its connections made progress again; 0: not known
	AgainOp          int    // the note of that; 0: none
	Proof            string // the last thing that was shown of it before its end
	Observed, Missed bool
	Skipped          bool  // it began, and met nothing to hit
	Back             bool  // of the kill of a client: it was started again
	Slow             int64 // of a latency: what it adds to a round trip at most; 0: not known
}

// Stall is a span in which a node was not scheduled.
type Stall struct {
	Node     string
	From, To int64
	Reach    int64 // where they are filed: the latest end of this and all earlier ones
	Server   bool  // no client: it takes part in everything
	Planned  bool  // by a fault
}

func (t *Trace) note(i int, op *history.Op) {
	switch op.F {
	case history.Apply:
		k := t.key(op.Key)
		k.Resource = append(k.Resource, i)
		if slot, ok := t.ByValue[op.Value]; ok {
			if t.Writes[slot].Apply < 0 {
				t.Writes[slot].Apply = i
			}
			return
		}
		t.ByValue[op.Value] = len(t.Writes)
		t.Writes = append(t.Writes, Write{Invoke: -1, Apply: i, Done: -1, Grant: t.ByOwner[op.Owner]})
	case history.Happened:
		t.effected(i, op)
	case history.ReadSeen:
		k := t.key(op.Key)
		k.Resource = append(k.Resource, i)
	case history.Holder:
		k := t.key(op.Key)
		k.Holders = append(k.Holders, i)
	case history.Lost:
		if op.Owner == "" {
			t.lostAt[op.Node] = append(t.lostAt[op.Node], op.Time)
		} else if g := t.owned(op); g != nil && g.Abstains {
			g.Told = min(g.Told, op.Time)
		}
		t.told(op, func(g *Grant) { g.Events = append(g.Events, i); t.lost(g, i, op) })
	case history.Abstain:
		t.Abstained = append(t.Abstained, i)
		t.told(op, func(g *Grant) { g.Events = append(g.Events, i); g.stop(i, op.Time); g.Abstains = true })
	case history.Suspended:
		t.told(op, func(g *Grant) { g.Claims = append(g.Claims, Claim{At: op.Time, Op: i, By: i, Cut: true}) })
	case history.Resumed:
		t.told(op, func(g *Grant) {
			g.Claims = append(g.Claims, Claim{At: op.Time, Deadline: t.Deadline(g), Op: i, By: i})
		})
	case history.Fault:
		t.fault(i, op)
	case history.Held:
		t.Held = append(t.Held, i)
	case history.Stall:
		t.Stalls = append(t.Stalls, Stall{Node: op.Node, From: op.Time - op.Length, To: op.Time})
	case history.HostClock:
		t.Jumps = append(t.Jumps, i)
	case history.Adapter:
		t.Blamed = append(t.Blamed, i)
	case history.ServerEnd:
		t.ServerEnds = append(t.ServerEnds, i)
	case history.Unparsed:
		t.Unparsed[op.Node] = i
	case history.End:
		t.ended(i, op)
	case history.Decided:
		t.Decided = i
	case history.Stop:
		t.Stops[op.Node] = i
	case history.Final:
		if t.Final < 0 {
			t.Final = i
		}
	}
}

// ended takes the end of a client.
func (t *Trace) ended(i int, op *history.Op) {
	_, asked := t.Stops[op.Node] // else it may have gone on, and nobody has heard of it
	t.toldNode(op.Node, 0, func(g *Grant) {
		if asked || g.Nest.Open > 0 { // who does not know how often it has a lock may give it back as it closes its session
			g.stop(i, op.Time)
			g.Left = asked
		}
	})
}

// told calls f for the grants that a note to a client concerns: that of its
// owner, else those of the process that it names, else all of its node, as a session
// ends for all its grants. Grants whose belief has ended are forgotten on the way.
func (t *Trace) told(op *history.Op, f func(*Grant)) {
	if op.Owner != "" {
		if g := t.owned(op); g != nil && g.End == Forever {
			f(g)
		}
		return
	}
	t.toldNode(op.Node, op.Process, func(g *Grant) {
		if op.Key == "" || op.Key == g.Key.Name {
			f(g)
		}
	})
}

func (t *Trace) fault(i int, op *history.Op) {
	if op.Fault == nil {
		return
	}
	of := victim{op.Fault.ID, op.Fault.Target}
	f := t.open[of]
	if op.Fault.Phase == history.Skipped {
		t.skip(f)
		t.Skips = append(t.Skips, i)
		return
	}
	if f == nil || (op.Fault.Phase == history.Begin && f.Begin >= 0) {
		f = &Fault{ID: of.id, Kind: op.Fault.Kind, Target: of.target, From: op.Time, To: Forever, First: i, Begin: -1, Seen: -1, EndOp: -1}
		t.open[of] = f
		t.Faults = append(t.Faults, f)
	}
	switch op.Fault.Phase {
	case history.Begin:
		f.First, f.Begin, f.From, f.Cut, f.Slow = i, i, op.Time, op.Fault.Cut, op.Length
		f.OneConn = history.FaultOf(f.Kind).Message && !op.Fault.Whole
		if f.Kind == "kill" && !t.missed[of] { // the dead believe nothing
			t.toldNode(f.Target, 0, func(g *Grant) { g.stop(i, op.Time); g.Killed = true })
		}
	case history.Observed:
		if f.Observed = true; f.Seen < 0 {
			f.Seen = i
		}
	case history.Missed:
		f.Missed = true
	case history.Heal, history.Failed:
		f.To, f.EndOp, f.Back = op.Time, i, op.Fault.Back
	case history.Again:
		f.Again, f.AgainOp = max(f.Again, op.Time), i
	}
	if op.Fault.Proof != "" && f.EndOp < 0 {
		f.Proof = op.Fault.Proof
	}
}

// skip counts a fault that could not be, where it did not begin, or that met nothing
// to hit, where it did.
func (t *Trace) skip(f *Fault) {
	if f != nil {
		f.Skipped = true
		return
	}
	t.Unbegun++
}

// planStalls marks the stalls that a fault has planned. Only a fault that stops
// programs may stop the agent beside them: a disk that hangs, a process that dies with
// all its memory. Of a stall that began before it the part before is no fault's.
func (t *Trace) planStalls() {
	planned := t.Stopping()
	for i := range t.Stalls {
		s := &t.Stalls[i]
		spans := planned[s.Node]
		n := sort.Search(len(spans), func(n int) bool { return spans[n].To >= s.From })
		switch {
		case n == len(spans) || spans[n].From > s.To:
		case s.From < spans[n].From:
			s.To = spans[n].From
		default:
			s.Planned = true
		}
	}
}

// endBeliefs ends at its deadline the belief of each holder that was never heard
// of after it: its process died with the grant. Who was heard of believes on.
func (t *Trace) endBeliefs() {
	for _, g := range t.Grants {
		if g.End != Forever {
			continue
		}
		deadline, known := t.Raw(g.Node, t.Deadline(g))
		if !known && t.Deadline(g) != 0 {
			last := &t.Ops[g.Op]
			deadline, known = g.Sent+t.LeaseOf(last), true
		}
		if known && max(g.LastSeen, t.process[g.Process].last) <= deadline {
			g.End = max(deadline, g.OK)
		}
	}
}

// Deadline is the one that g claims last, by its node's own MONOTONIC; 0: none.
func (t *Trace) Deadline(g *Grant) int64 {
	for i := len(g.Claims) - 1; i >= 0; i-- {
		if !g.Claims[i].Cut {
			return g.Claims[i].Deadline
		}
	}
	return t.Ops[g.Op].Deadline
}

// Stopping are the times in which faults stop the programs of each node.
func (t *Trace) Stopping() map[string][]Span {
	all := map[string][]Span{}
	for _, f := range t.Faults {
		if f.Begin >= 0 && history.FaultOf(f.Kind).Stops {
			all[f.Target] = append(all[f.Target], Span{From: f.From, To: f.To})
		}
	}
	for node, spans := range all {
		all[node] = Union(spans)
	}
	return all
}
