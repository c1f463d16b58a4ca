// Package trace is the one interpretation of a history: who was granted what, until when
// each holder believed in it and until when its lease was valid, what was written, and
// what faults, stalls and clocks there were. The judge, the story, the page, the figures
// and the pictures read it, so they cannot differ.
//
// A history keeps facts, in the order of their time; what follows from several of them
// is said here and nowhere else. Times are raw nanoseconds, as in the history, and
// operations are indexes into it, -1 where there is none.
package trace

import "github.com/dlmtest/dlmtest/history"

// Trace is a history made ready to be judged, told and drawn, in one pass over it.
type Trace struct {
	Setup      history.Setup
	Ops        []history.Op
	Begin, End int64 // times of the first and the last operation

	Keys       []*Key   // in the order in which they were first named
	Grants     []*Grant // by the time of their ok
	Writes     []Write
	Successes  []Success          // in order
	Losses     []Loss             // in order
	Faults     []*Fault           // in the order of their first notes
	Stalls     []Stall            // as they were noted, planned ones too
	Jumps      []int              // HostClock notes
	Unparsed   map[string]int     // the last Unparsed note of a node
	Skips      []int              // Skipped notes
	Unbegun    int                // of these, those of a fault that had not begun
	Blamed     []int              // Adapter notes
	ServerEnds []int              // ServerEnd notes
	Abstained  []int              // Abstain notes
	Final      int                // the first Final note, or -1
	Decided    int                // the Decided note, or -1
	Held       []int              // Held notes: the harness held a client at a checkpoint
	Stops      map[string]int     // the Stop note of each client
	Sources    map[string]*Source // by node
	Log        Log

	ByKey    map[string]*Key     // by name
	ByOwner  map[string]*Grant   // the owner of a grant is unique, but see shared
	shared   map[ownedBy]*Grant  // grants that were told to a client as if it had that of another
	ByValue  map[string]int      // of a write: index into Writes
	ByEffect map[string]*Effect  // by the unique value
	Ghosts   map[string]GhostRef // by the owner of an acquire that may have been granted
	nameless map[request][]int   // acquires, by their invoke, that nobody has named, while it is not known how they ended
	strange  map[string]bool     // owners that were never granted a key, and asked to change a hold or to give it back
	lostAt   map[string][]int64  // by node: when it was told of losses that name no grant
	pairs    []int32             // see Started and Ended; index plus one
	acts     []Act
	clocks   map[string]*Clock
	byOwn    map[string]*readings // nil: they say nothing
	mute     map[string][]Span    // see Trace.muted
	process  map[int]pending
	sessions map[session][]*Grant // open grants of each node, and of each process
	open     map[victim]*Fault
	missed   map[victim]bool // faults that were looked for at their victim and not found
	slab     []Grant
}

// New reads a history that history.Validate accepts.
func New(setup history.Setup, ops []history.Op) *Trace {
	t := &Trace{
		Setup: setup, Ops: ops, Final: -1, Decided: -1, pairs: make([]int32, len(ops)),
		clocks: map[string]*Clock{}, byOwn: map[string]*readings{}, ByKey: map[string]*Key{}, ByOwner: make(map[string]*Grant, len(ops)/16),
		shared:  map[ownedBy]*Grant{},
		ByValue: make(map[string]int, len(ops)/16), process: map[int]pending{}, sessions: map[session][]*Grant{},
		Ghosts: map[string]GhostRef{}, open: map[victim]*Fault{}, missed: map[victim]bool{},
		Stops: map[string]int{}, Sources: map[string]*Source{}, Unparsed: map[string]int{},
		nameless: map[request][]int{}, strange: map[string]bool{}, lostAt: map[string][]int64{},
	}
	if len(ops) > 0 {
		t.Begin, t.End = ops[0].Time, ops[len(ops)-1].Time
	}
	for i := range ops {
		if f := ops[i].Fault; f != nil && f.Phase == history.Missed {
			t.missed[victim{f.ID, f.Target}] = true
		}
	}
	for i := range ops {
		t.read(i, &ops[i])
	}
	t.leaveReadsOpen()
	t.planStalls()
	t.endBeliefs()
	for _, g := range t.Grants {
		g.Until = max(min(g.End, t.End), g.OK)
	}
	for _, k := range t.Keys {
		k.rank()
		if setup.Kind.Shares() {
			for _, g := range k.Grants {
				g.By = nil // a later grant ends no earlier one
			}
		}
	}
	return t
}

// Started is the invoke that an operation completes; false: it completes none.
func (t *Trace) Started(done int) (invoke int, ok bool) {
	return int(t.pairs[done]) - 1, t.pairs[done] > 0 && t.Ops[done].Type != history.Invoke
}

// Ended is the completion of an invoke; false: it was never answered.
func (t *Trace) Ended(invoke int) (done int, ok bool) {
	return int(t.pairs[invoke]) - 1, t.pairs[invoke] > 0 && t.Ops[invoke].Type == history.Invoke
}

// pending is what a process is doing: its invoke, plus one, and where its
// grant, wait or write is kept.
type pending struct {
	invoke, slot int
	grant        *Grant
	last         int64 // time of its last operation
}

// Write is one write of the guarded resource: its invoke, the note of the resource, its
// completion, and the grant that it was made on; nil: of none that is known.
type Write struct {
	Invoke, Apply, Done int
	Grant               *Grant
}

// Success is an extend, a change or a release that said ok: its invoke and its completion.
type Success struct {
	Grant        *Grant
	Invoke, Done int
}

// Loss is a time at which the holder of a grant that it believed in was told that
// it is lost.
type Loss struct {
	Grant *Grant
	Op    int
	Claim Claim // the last one before it
}

// request is what a client asks for.
type request struct{ node, key string }

// GhostRef is an acquire whose outcome is unknown.
type GhostRef struct {
	key    *Key
	slot   int  // into key.Ghosts, plus one; 0: never acted
	turned bool // its owner asked to change it, or to give it back
	Info   int  // its completion
}

type victim struct {
	id     int
	target string
}
