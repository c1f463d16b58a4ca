package timeline

import (
	"cmp"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Tracks is what a drawing shows of a run, in raw time. Comparisons and pictures are
// drawn from it; the timeline of a report has data of its own, which holds every operation.
type Tracks struct {
	Span
	Lanes  []*Lane // clients, then the servers that a fault struck
	Faults []Fault
	Twice  []Twice
	Writes []Write // by time
}

// Lane is what one node did.
type Lane struct {
	Name  string
	Role  reports.Role
	Waits []Span
	Holds []Hold // by time
}

// Hold is a grant while its holder believed in it.
type Hold struct {
	Belief Span
	Valid  []Span
	Key    string
	Token  int64
}

// Fault is a fault at one of its victims.
type Fault struct {
	Span
	Id           int
	Kind, Victim string
	Proof        string
	Seen         bool
}

// Twice is when two clients believed to hold one key.
type Twice struct {
	Span
	A, B, Key string
}

// Write is a write where the resource decided it.
type Write struct {
	At               int64
	Node, Value      string
	token            int64
	Unfenced, Fenced int64 // see outcome
	Stale            bool  // on a grant that had been superseded
}

// Load is when clients used the lock: from their first operation to the harness's own final acquires. What comes before is
// the start of the cluster, and takes as long as the machine likes.
func (t *View) Load() Span {
	load := Span{t.Begin, t.End}
	if i := slices.IndexFunc(t.Ops, func(op history.Op) bool { return op.Type == history.Invoke }); i >= 0 {
		load.From = t.Ops[i].Time
	}
	if i := slices.IndexFunc(t.Ops, func(op history.Op) bool { return op.F == history.Final }); i >= 0 {
		load.To = t.Ops[i].Time
	}
	return load
}

// NewTracks takes a trace apart. Nothing in it looks at a verdict. What the harness
// does after all was healed is no part of it.
func NewTracks(t *View) *Tracks {
	s := &Tracks{Span: t.Load()}
	b := trackBuilder{Tracks: s, trace: t, byName: map[string]*Lane{}}
	for _, name := range t.Setup.Clients {
		b.lane(name, reports.Client)
	}
	for _, g := range t.Grants {
		if g.OK <= s.To {
			l := b.lane(g.Node, reports.Client)
			l.Holds = append(l.Holds, Hold{Belief(g), t.Valid(g), g.Key.Name, g.Token})
		}
	}
	for i := range t.Ops {
		if op := &t.Ops[i]; op.Type == history.Invoke && IsAcquire(op.F) && op.Time <= s.To {
			b.wait(i, op)
		}
	}
	b.addFaults()
	b.sort()
	b.addTwice()
	for _, w := range t.Recorded() {
		if w.Apply >= 0 {
			a, by := &t.Ops[w.Apply], &t.Ops[w.Invoke]
			s.Writes = append(s.Writes, Write{a.Time, by.Node, by.Value, by.Token, Outcome(a.Unfenced), Outcome(a.Fenced), t.Stale(w)})
		}
	}
	slices.SortStableFunc(s.Writes, func(a, b Write) int { return cmp.Compare(a.At, b.At) })
	return s
}

type trackBuilder struct {
	*Tracks
	trace  *View
	byName map[string]*Lane
}

func (b *trackBuilder) lane(name string, role reports.Role) *Lane {
	if b.byName[name] == nil {
		b.byName[name] = &Lane{Name: name, Role: role}
		b.Lanes = append(b.Lanes, b.byName[name])
	}
	return b.byName[name]
}

func (b *trackBuilder) wait(i int, op *history.Op) {
	w := Span{op.Time, b.To}
	if end, ok := b.trace.Ended(i); ok {
		w.To = b.trace.Ops[end].Time
	}
	l := b.lane(op.Node, reports.Client)
	l.Waits = append(l.Waits, w)
}

func (b *trackBuilder) addFaults() {
	for _, f := range b.trace.Faults {
		b.lane(f.Target, reports.Server)
		b.Faults = append(b.Faults, Fault{b.trace.Lasted(f), f.ID, f.Kind, f.Target, f.Proof, !f.Missed && f.Seen >= 0})
	}
	slices.SortStableFunc(b.Faults, func(a, c Fault) int { return cmp.Compare(a.From, c.From) })
}

// sort puts clients first, then servers by their numbers.
func (b *trackBuilder) sort() {
	slices.SortStableFunc(b.Lanes, func(a, c *Lane) int {
		aName, aN := say.Numbered(a.Name)
		cName, cN := say.Numbered(c.Name)
		if a.Role == reports.Client && c.Role == reports.Client {
			return 0 // as the run lists them
		}
		return cmp.Or(cmp.Compare(rankOf(a.Role), rankOf(c.Role)), cmp.Compare(aName, cName), aN-cN)
	})
}

func rankOf(r reports.Role) int {
	return slices.Index([]reports.Role{reports.Client, reports.Server, reports.Resource}, r)
}

// addTwice takes where two clients believe to hold one key.
func (b *trackBuilder) addTwice() {
	for _, k := range b.trace.Keys {
		for _, o := range b.trace.Overlaps(k) {
			b.Twice = append(b.Twice, Twice{Span{o.From, o.To}, o.A.Node, o.B.Node, k.Name})
		}
	}
	slices.SortStableFunc(b.Twice, func(a, c Twice) int { return cmp.Or(cmp.Compare(a.From, c.From), cmp.Compare(a.Key, c.Key)) })
}

// FirstFault is when the first fault began; ok is false where there was none.
func (s *Tracks) FirstFault() (f Fault, ok bool) {
	if len(s.Faults) == 0 {
		return f, false
	}
	return s.Faults[0], true
}

// Outcome is 0 where there is no such copy, 1 accepted, 2 rejected.
func Outcome(c *history.Copy) int64 {
	switch {
	case c == nil:
		return 0
	case c.Accepted:
		return 1
	}
	return 2
}

// Flag is a truth as a drawing carries it: 1 or 0.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
