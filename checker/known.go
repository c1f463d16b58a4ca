package checker

import (
	"cmp"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history/trace"
)

// known is what checkers look up again and again, each part made when it is first asked
// for: whoever walks over all faults for each grant takes the square of a history's length.
type known struct {
	clients     map[string]bool
	spans       map[string][]trace.Span            // of faults, by a name for what matches
	own         map[string][]trace.Span            // of each node, the faults that may keep it from the service
	claimed     map[*trace.Grant]int               // see run.lastClaim
	stopped     map[string][]trace.Span            // of each node, the faults that stop its programs
	kills       map[string][]*trace.Fault          // of each node, those that were not missed, by their begin
	begun       map[int]*trace.Fault               // by its Begin note
	stalls      map[string][]trace.Stall           // of each node, by their begin
	servers     []trace.Stall                      // of whoever takes part in everything
	flows       map[string][]timed                 // see run.flowsFor
	abstains    map[string][]int                   // by owner, the notes of it
	asked       *meetings                          // of all keys; see run.keysIn
	long        map[string][]trace.Span            // see run.firstStall
	ended       []*trace.Fault                     // see run.ended
	over        map[*trace.Fault]int64             // see run.sessionOver
	anyHit      *bool                              // a fault may have hit servers that are not known, see run.keepsLeases
	told        toldLeases                         // see run.leasesOfAll
	shocks      []*trace.Fault                     // see run.shocks
	facts       map[*fact]int                      // see run.factOf
	lapses      []unserved                         // see run.unservedFor
	forgets     []timed                            // see run.forgetsFrom
	hindered    map[string][]trace.Span            // see run.hindered
	hits        map[string][]trace.Span            // see run.hits
	faultsOf    map[string][]timed                 // see run.faultsOf
	faultsOfAll []*trace.Fault                     // see run.faultsUpon
	pending     map[string]bool                    // see run.pending
	tokens      map[*trace.Grant]map[int64]int     // see run.hadToken
	waiting     map[string][]int                   // see run.leftWaiting
	askedAs     map[string]string                  // see run.askedAs
	unknown     map[wanted][]trace.Span            // see run.unknownOf
	denials     map[*trace.Grant][]int             // see run.denialsOf
	moves       map[string][]int64                 // see run.moved
	unlogged    map[string][]int                   // see run.unlogged
	alone       map[string][]trace.Span            // see run.unreached
	away        map[string]map[string][]trace.Span // see run.readAway
	unknowns    map[actor]int                      // see run.lastUnknown
	engaged     map[string]map[string][]trace.Span // see run.engaged
}

// isClient says whether a node is one of the clients.
func (r *run) isClient(node string) bool {
	if r.known.clients == nil {
		r.known.clients = map[string]bool{}
		for _, c := range r.Setup.Clients {
			r.known.clients[c] = true
		}
	}
	return r.known.clients[node]
}

// faultyAs are the times, in order and made once for a name, of the faults that match, each with its aftermath.
func (r *run) faultyAs(name string, match func(*trace.Fault) bool) []trace.Span {
	return once(&r.known.spans, name, func() []trace.Span {
		return faultsUntil(slices.Concat(r.Faults, r.shocks()), match, func(f *trace.Fault) int64 { return r.faded(f, f.To) })
	})
}

// faultyUpon are the times, made once for a name, of the faults that match and may hinder a node, with their aftermath.
func (r *run) faultyUpon(name, node string, match func(*trace.Fault) bool) []trace.Span {
	return once(&r.known.spans, name+" "+node, func() []trace.Span {
		return faultsUntil(r.faultsUpon(node), match, func(f *trace.Fault) int64 { return r.faded(f, f.To) })
	})
}

// once makes the spans of a name, such as a node, when they are first asked for.
func once(known *map[string][]trace.Span, name string, spans func() []trace.Span) []trace.Span {
	all, made := (*known)[name]
	if made {
		return all
	}
	if *known == nil {
		*known = map[string][]trace.Span{}
	}
	all = spans()
	(*known)[name] = all
	return all
}

// hindering are the times of the faults that may keep from a node what the service owes it, with their aftermath.
func (r *run) hindering(node string) []trace.Span {
	return r.faultyUpon("hinder", node, func(*trace.Fault) bool { return true })
}

// ownFaults are the times in which a fault of a node or of its links may keep it from
// the service, with their aftermath. Where the servers are not known so may any fault but another client's.
func (r *run) ownFaults(node string) []trace.Span {
	if len(r.Setup.Servers) == 0 {
		return r.faultyUpon("own of", node, func(f *trace.Fault) bool { return r.slows(f) && (r.hitsWay(f, node) || r.mayBeOfAll(f)) })
	}
	return once(&r.known.own, node, func() (spans []trace.Span) {
		for _, f := range r.faultsOf(node) {
			if r.slows(f.fault) {
				spans = append(spans, f.Span)
			}
		}
		return trace.Union(spans)
	})
}

// ownShaken are the times in which a fault of a node or of its links that the service does not survive may end what it holds.
func (r *run) ownShaken(node string) []trace.Span {
	return r.endingUpon("own shake", node, func(f *trace.Fault) bool {
		return r.slows(f) && (r.hitsWay(f, node) || r.mayBeOfAll(f)) && !r.survived(f, node)
	})
}

// killsOf are the kills of a node, by their begin.
func (r *run) killsOf(node string) []*trace.Fault {
	if r.known.kills == nil {
		r.known.kills = map[string][]*trace.Fault{}
		for _, f := range r.Faults {
			if f.Kind == "kill" && f.Begin >= 0 && !f.Missed {
				r.known.kills[f.Target] = append(r.known.kills[f.Target], f)
			}
		}
		for _, all := range r.known.kills {
			slices.SortStableFunc(all, func(a, b *trace.Fault) int { return cmp.Compare(a.From, b.From) })
		}
	}
	return r.known.kills[node]
}

// timed is a fault with its time and aftermath, and how far that or any that began before it reaches.
type timed struct {
	trace.Span
	fault *trace.Fault
	reach int64
}

// faultsOf are the faults of a node, or of its links to the service, by their begin.
func (r *run) faultsOf(node string) []timed {
	if r.known.faultsOf == nil {
		r.known.faultsOf = map[string][]timed{}
		for _, f := range r.Faults {
			if f.Begin < 0 {
				continue
			}
			h := timed{Span: trace.Span{From: f.From, To: r.faded(f, f.To)}, fault: f}
			for i, node := range append([]string{f.Target}, f.Cut...) {
				if (i == 0 || node != f.Target) && r.hitsWay(f, node) {
					r.known.faultsOf[node] = append(r.known.faultsOf[node], h)
				}
			}
		}
		for _, all := range r.known.faultsOf {
			reaching(all)
		}
	}
	return r.known.faultsOf[node]
}

// reaching sorts faults by their begin, and tells how far each and all before it reach.
func reaching(all []timed) {
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.From, b.From) })
	for i := range all {
		if all[i].reach = all[i].To; i > 0 {
			all[i].reach = max(all[i].To, all[i-1].reach)
		}
	}
}

// diedAfter is the first kill of a node that began after an operation; nil: there is none.
func (r *run) diedAfter(node string, op int) *trace.Fault {
	kills := r.killsOf(node) // by their begin, in time and in the history
	if i := sort.Search(len(kills), func(i int) bool { return kills[i].Begin > op }); i < len(kills) {
		return kills[i]
	}
	return nil
}

// beganBy is the fault of a Begin note; nil: it is none.
func (r *run) beganBy(note int) *trace.Fault {
	if r.known.begun == nil {
		r.known.begun = map[int]*trace.Fault{}
		for _, f := range r.Faults {
			if _, twice := r.known.begun[f.Begin]; !twice {
				r.known.begun[f.Begin] = f
			}
		}
	}
	return r.known.begun[note]
}

// overs are the times, in order, from the begin of each fault that concerns a key until it is over.
func (r *run) overs(k *keyLog) []trace.Span {
	return once(&r.known.spans, "over for "+k.Name, func() (spans []trace.Span) {
		for _, f := range r.concern(k) {
			s := trace.Span{From: f.From, To: r.over(f)}
			if f.Kind == "kill" && r.isClient(f.Target) { // what a dead client leaves behind is over when its lease is, whether it is started again or not
				s.To = min(s.To, after(f.From, r.aftermath()))
			}
			spans = append(spans, s)
		}
		return trace.Union(spans)
	})
}

// stalled files the stalls by who was stalled, each list with its reach.
func (r *run) stalled() {
	if r.known.stalls != nil {
		return
	}
	r.known.stalls = map[string][]trace.Stall{}
	reach := func(all []trace.Stall, s trace.Stall) []trace.Stall {
		if s.Reach = s.To; len(all) > 0 {
			s.Reach = max(s.To, all[len(all)-1].Reach)
		}
		return append(all, s)
	}
	for _, s := range r.stalls { // they are in order
		if s.Server {
			r.known.servers = reach(r.known.servers, s)
		}
		r.known.stalls[s.Node] = reach(r.known.stalls[s.Node], s)
	}
}

// stalledIn says whether one of stalls touches [from, to].
func stalledIn(stalls []trace.Stall, from, to int64) bool {
	n := sort.Search(len(stalls), func(i int) bool { return stalls[i].From > to })
	return n > 0 && stalls[n-1].Reach >= from
}

// firstAfter is the first of some operations, which are in order, after another; -1: none.
func firstAfter(ops []int, op int) int {
	if i := sort.SearchInts(ops, op+1); i < len(ops) {
		return ops[i]
	}
	return -1
}

// abstainsOf are the notes that say that an owner did not write.
func (r *run) abstainsOf(owner string) []int {
	if r.known.abstains == nil {
		r.known.abstains = map[string][]int{}
		for _, i := range r.Abstained {
			r.known.abstains[r.Ops[i].Owner] = append(r.known.abstains[r.Ops[i].Owner], i)
		}
	}
	return r.known.abstains[owner]
}
