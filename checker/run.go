package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// run is a history made ready for all checkers, in one pass over it.
type run struct {
	setup      history.Setup
	ops        []history.Op
	begin, end int64

	keys      []*keyLog
	grants    []*grant // by the time of their ok
	acts      []act
	writes    []write
	claims    []success
	losses    []loss
	faults    []*fault
	stalls    []stall        // unplanned and long enough to matter, by start
	jumps     []int          // HostClock notes
	blamed    []int          // Adapter notes
	abstained []int          // Abstain notes
	final     int            // the first Final note, or -1
	stops     map[string]int // the Stop note of each client
	clocks    map[string]*clock
	sources   map[string]*source
	log       logSeen
	cuts      []cut
	rests     rests // of the property that is being judged
	tooLittle bool  // was seen to judge one
	counts    Counts

	known known

	// Made once they are asked for: see readOutages.
	outage, unserved, off map[string][]span
	witness               map[string]bool // who waits: whether a partition names it
	parted                []string        // clients that partitions name
	unparted              bool            // there are others, too

	// Only while reading.
	byKey    map[string]*keyLog
	byOwner  map[string]*grant
	byValue  map[string]int // index into writes
	byEffect map[string]*effect
	process  map[int]pending
	sessions map[session][]*grant // open grants of each node, and of each process
	ghosts   map[string]ghostRef
	open     map[victim]*fault
	missed   map[victim]bool // faults that were looked for at their victim and not found
	slab     []grant
	allStall []stall
	answers  []int64 // of the service, in order; nil until they are asked for
}

// pending is what a process is doing: its invoke, plus one, and where its
// grant, wait or write is kept.
type pending struct {
	invoke, slot int
	grant        *grant
	last         int64 // time of its last operation
}

// write is one write of the guarded resource.
type write struct {
	invoke, apply, done int
	grant               *grant
}

// success is an extend or release that said ok.
type success struct {
	grant        *grant
	invoke, done int
}

// loss is a time at which the holder of a grant that it believed in was told that
// it is lost.
type loss struct {
	grant *grant
	op    int
	claim claim // the last one before it
}

type ghostRef struct {
	key  *keyLog
	slot int // into key.ghosts, plus one; 0: never acted
	info int
}

type victim struct {
	id     int
	target string
}

func newRun(setup history.Setup, ops []history.Op) *run {
	r := &run{
		setup: setup, ops: ops, final: -1,
		clocks: map[string]*clock{}, byKey: map[string]*keyLog{}, byOwner: make(map[string]*grant, len(ops)/16),
		byValue: make(map[string]int, len(ops)/16), process: map[int]pending{}, sessions: map[session][]*grant{},
		ghosts: map[string]ghostRef{}, open: map[victim]*fault{}, missed: map[victim]bool{},
		stops: map[string]int{}, sources: map[string]*source{},
	}
	if len(ops) > 0 {
		r.begin, r.end = ops[0].Time, ops[len(ops)-1].Time
	}
	for i := range ops {
		if f := ops[i].Fault; f != nil && f.Phase == history.Missed {
			r.missed[victim{f.ID, f.Target}] = true
		}
	}
	for i := range ops {
		r.read(i, &ops[i])
	}
	r.findCuts()
	r.planStalls()
	r.endBeliefs()
	for _, k := range r.keys {
		k.rank()
		if setup.Kind.Shares() {
			for _, g := range k.grants {
				g.by = nil // a later grant ends no earlier one
			}
		}
	}
	r.count()
	return r
}

// seconds writes a time relative to the first operation.
func (r *run) seconds(t int64) string { return fmt.Sprintf("%.3f s", float64(t-r.begin)/1e9) }

// length writes a duration.
func length(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
