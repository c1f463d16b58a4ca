package reports

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// tracks is what a drawing shows of a run, in raw time. Comparisons and pictures are
// drawn from it; the timeline of a report has data of its own, which holds every operation.
type tracks struct {
	span
	lanes  []*trackLane // clients, then the servers that a fault struck
	faults []trackFault
	twice  []trackTwice
	writes []trackWrite // by time
}

type trackLane struct {
	name  string
	role  Role
	waits []span
	holds []trackHold // by time
}

// trackHold is a grant while its holder believed in it.
type trackHold struct {
	belief span
	valid  []span
	key    string
	token  int64
}

// trackFault is a fault at one of its victims.
type trackFault struct {
	span
	id           int
	kind, victim string
	proof        string
	seen         bool
}

// trackTwice is when two clients believed to hold one key.
type trackTwice struct {
	span
	a, b, key string
}

// trackWrite is a write where the resource decided it.
type trackWrite struct {
	at               int64
	node, value      string
	token            int64
	unfenced, fenced int64 // see outcome
	stale            bool  // on a grant that had been superseded
}

// newTracks takes a trace apart. Nothing in it looks at a verdict. What the harness
// does after all was healed is no part of it.
func newTracks(t *view) *tracks {
	s := &tracks{span: span{t.Begin, t.End}}
	if i := slices.IndexFunc(t.Ops, func(op history.Op) bool { return op.Type == history.Invoke }); i >= 0 {
		s.from = t.Ops[i].Time // before that servers say that they are there
	}
	if i := slices.IndexFunc(t.Ops, func(op history.Op) bool { return op.F == history.Final }); i >= 0 {
		s.to = t.Ops[i].Time
	}
	b := trackBuilder{tracks: s, trace: t, byName: map[string]*trackLane{}}
	for _, name := range t.Setup.Clients {
		b.lane(name, Client)
	}
	for _, g := range t.Grants {
		if g.OK <= s.to {
			l := b.lane(g.Node, Client)
			l.holds = append(l.holds, trackHold{belief(g), t.valid(g), g.Key.Name, g.Token})
		}
	}
	for i := range t.Ops {
		if op := &t.Ops[i]; op.Type == history.Invoke && isAcquire(op.F) && op.Time <= s.to {
			b.wait(i, op)
		}
	}
	b.addFaults()
	b.sort()
	b.addTwice()
	for _, w := range t.writes() {
		if w.Apply >= 0 {
			a, by := &t.Ops[w.Apply], &t.Ops[w.Invoke]
			s.writes = append(s.writes, trackWrite{a.Time, by.Node, by.Value, by.Token, outcome(a.Unfenced), outcome(a.Fenced), t.Stale(w)})
		}
	}
	slices.SortStableFunc(s.writes, func(a, b trackWrite) int { return cmp.Compare(a.at, b.at) })
	return s
}

type trackBuilder struct {
	*tracks
	trace  *view
	byName map[string]*trackLane
}

func (b *trackBuilder) lane(name string, role Role) *trackLane {
	if b.byName[name] == nil {
		b.byName[name] = &trackLane{name: name, role: role}
		b.lanes = append(b.lanes, b.byName[name])
	}
	return b.byName[name]
}

func (b *trackBuilder) wait(i int, op *history.Op) {
	w := span{op.Time, b.to}
	if end, ok := b.trace.Ended(i); ok {
		w.to = b.trace.Ops[end].Time
	}
	l := b.lane(op.Node, Client)
	l.waits = append(l.waits, w)
}

func (b *trackBuilder) addFaults() {
	for _, f := range b.trace.Faults {
		b.lane(f.Target, Server)
		b.faults = append(b.faults, trackFault{b.trace.lasted(f), f.ID, f.Kind, f.Target, f.Proof, !f.Missed && f.Seen >= 0})
	}
	slices.SortStableFunc(b.faults, func(a, c trackFault) int { return cmp.Compare(a.from, c.from) })
}

// sort puts clients first, then servers by their numbers.
func (b *trackBuilder) sort() {
	slices.SortStableFunc(b.lanes, func(a, c *trackLane) int {
		aName, aN := numbered(a.name)
		cName, cN := numbered(c.name)
		if a.role == Client && c.role == Client {
			return 0 // as the run lists them
		}
		return cmp.Or(cmp.Compare(rankOf(a.role), rankOf(c.role)), cmp.Compare(aName, cName), aN-cN)
	})
}

func rankOf(r Role) int { return slices.Index([]Role{Client, Server, Resource}, r) }

// addTwice takes where two clients believe to hold one key.
func (b *trackBuilder) addTwice() {
	for _, k := range b.trace.Keys {
		for _, o := range b.trace.Overlaps(k) {
			b.twice = append(b.twice, trackTwice{span{o.From, o.To}, o.A.Node, o.B.Node, k.Name})
		}
	}
	slices.SortStableFunc(b.twice, func(a, c trackTwice) int { return cmp.Or(cmp.Compare(a.from, c.from), cmp.Compare(a.key, c.key)) })
}

// firstFault is when the first fault began; ok is false where there was none.
func (s *tracks) firstFault() (f trackFault, ok bool) {
	if len(s.faults) == 0 {
		return f, false
	}
	return s.faults[0], true
}
