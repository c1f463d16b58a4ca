package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// run is the trace of a history, with what checkers make of it.
type run struct {
	*trace.Trace
	keys      []*keyLog     // as those of the trace
	stalls    []trace.Stall // unplanned and long enough to matter, by start
	cuts      []cut
	rests     rests          // of the property that is being judged
	idle      []*trace.Fault // that met nothing to hit: see dropIdle
	tooLittle bool           // was seen to judge one
	counts    Counts

	known   known
	answers []int64 // of the service, in order; nil until they are asked for

	changed map[*trace.Grant][]trace.Wait // made once: see run.changes

	// Made once they are asked for: see readOutages.
	outage, unserved, off map[string][]trace.Span
	witness               map[string]bool // who waits: whether a partition names it
	parted                []string        // clients that partitions name
	unparted              bool            // there are others, too
}

// keyLog is a key, with what checkers look up of it again and again.
type keyLog struct {
	*trace.Key
	// By position, each made when it is first asked for. met: see meet. The others are of
	// those that may have come later: see openAfter.
	met, beside, acting, kept []*trace.Grant
	last                      []*trace.Grant           // see keyLog.lastGranted
	claimed                   map[rival][]*trace.Grant // see run.rivalClaim
	made                      map[*trace.Grant]made    // see run.madeFrom
	looked                    map[lookedAt]int         // see run.lookedWithout
	lasts                     map[*trace.Grant]int64   // see run.lastsUntil
	// valid and maybeValid are later grants, certain and possible, that ever claimed anything.
	valid, maybeValid []*trace.Grant
	asked             *asking      // see run.asked
	gaps              *peaks       // see keyLog.dry
	held              []trace.Span // see run.holds
	free              []trace.Span // made once: see run.roomIn
	heldReach         []int64
	heldBy            map[string]int        // by node: its first grant
	after             map[rival]superseders // see run.supersededBy
	superseded        map[*trace.Grant]*trace.Grant
	crowds            map[int][]int64         // see run.crowdsOf
	crowded           map[*trace.Grant]int64  // see run.crowdBefore
	suspects          []trace.Span            // made once: see run.suspects
	wrong             []trace.Span            // made once: see run.askedByWrongClock
	may               *heldBy                 // made once: see run.freeBeside
	sure              *heldBy                 // made once: see run.owedBeside
	others            []int                   // made once: see run.otherLook
	underway, left    map[string][]trace.Span // made once: see run.readNames, as the next one
	ownNames          bool
	maybe             map[string]maybe // made once: since when an owner may have been granted it though nobody knows; see run.maybeNamed
	named             map[string]int   // made once: the first look that named an owner; see run.grantedBehind
	longest           int64            // made once: see run.longestLook; 0: not yet
	told              toldLeases       // made once: see run.leasesOf
}

func newRun(setup history.Setup, ops []history.Op) *run {
	r := &run{Trace: trace.New(setup, ops)}
	for _, k := range r.Trace.Keys {
		r.keys = append(r.keys, &keyLog{Key: k})
	}
	r.dropIdle()
	r.findCuts()
	r.pickStalls()
	r.count()
	return r
}

// dropIdle takes out the faults that met nothing to hit: they excuse nothing.
func (r *run) dropIdle() {
	idle := func(f *trace.Fault) bool { return f.Skipped }
	for _, f := range r.Faults {
		if idle(f) {
			r.idle = append(r.idle, f)
		}
	}
	r.Faults = slices.DeleteFunc(r.Faults, idle)
}

// logOf is what checkers know of the key of a trace; nil where there is none.
func (r *run) logOf(k *trace.Key) *keyLog {
	if k == nil {
		return nil
	}
	return r.keys[k.Index]
}

// pickStalls keeps the stalls that nobody planned and that are longer than an
// eighth of the lease.
func (r *run) pickStalls() {
	for _, s := range r.Trace.Stalls {
		if s.Planned {
			continue
		}
		r.counts.MaxStall = max(r.counts.MaxStall, s.To-s.From)
		if s.To-s.From > int64(r.Setup.Lease)/8 {
			s.Server = len(r.Setup.Clients) > 0 && !r.isClient(s.Node)
			r.stalls = append(r.stalls, s)
		}
	}
	slices.SortFunc(r.stalls, func(a, b trace.Stall) int { return cmp.Compare(a.From, b.From) })
}

// seconds writes a time relative to the first operation.
func (r *run) seconds(t int64) string { return fmt.Sprintf("%.3f s", float64(t-r.Begin)/1e9) }

// length writes a duration.
func length(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }
