package checker

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// incident is one fault on all its victims, or several that are judged as one.
type incident struct {
	kind     string
	victims  []string
	from, to int64
	id       int              // of the first fault
	begin    int              // its first Begin note
	hit      map[string]*hits // by victim, when it keeps what that holds
	suspects []trace.Span     // see run.suspects
	parts    []*incident      // of several that are judged as one
	refused  int64            // how far apart refusals may be: see run.joined
	room     bool             // who holds a part of a key excuses nothing: see run.excused
}

// hits are the times, in order, in which a fault may keep a victim from giving back what it
// holds: those in which its programs are stopped, those in which its links hold or take what is sent on them, and all
// but slight delays, under which it is served.
type hits struct{ stopped, mute, all []trace.Span }

func (h *hits) add(f *trace.Fault, slight bool) {
	s, kind := trace.Span{From: f.From, To: f.To}, history.FaultOf(f.Kind)
	if !slight {
		h.all = append(h.all, s)
	}
	if kind.Stops {
		h.stopped = append(h.stopped, s)
	}
	if len(f.Cut) == 0 && (kind.Silent || kind.Message && !kind.MessageOnly) { // where it names peers, see outages
		h.mute = append(h.mute, s)
	}
}

// incidents are the faults that began.
func (r *run) incidents() []*incident {
	var all []*incident
	byID := map[int]*incident{}
	for _, f := range r.Faults {
		if f.Begin < 0 {
			continue
		}
		in := byID[f.ID]
		if in == nil {
			in = &incident{id: f.ID, kind: f.Kind, from: f.From, to: f.To, begin: f.Begin, hit: map[string]*hits{}}
			byID[f.ID] = in
			all = append(all, in)
		}
		in.victims = append(in.victims, f.Target)
		if r.keeps(f) {
			if in.hit[f.Target] == nil {
				in.hit[f.Target] = &hits{}
			}
			in.hit[f.Target].add(f, !r.slows(f))
		}
		in.from, in.to, in.begin = min(in.from, f.From), max(in.to, f.To), min(in.begin, f.Begin)
	}
	return all
}

// keeps says whether a fault may keep what its victim holds. A client's clock moves
// nothing, and a partition from which it still reaches a majority leaves it served.
func (r *run) keeps(f *trace.Fault) bool {
	switch {
	case f.Kind == "clock":
		return slices.Contains(r.Setup.Servers, f.Target)
	case len(f.Cut) > 0 && !history.FaultOf(f.Kind).Link && len(r.Setup.Servers) > 0:
		return trace.Meets(r.outages(f.Target), f.From, f.To)
	}
	return true
}

// near joins incidents that follow each other within a time.
func (r *run) near(all []*incident, within int64) (joined []*incident) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *incident) int { return cmp.Compare(a.from, b.from) })
	for _, in := range all {
		n := len(joined) - 1
		if n < 0 || in.from > after(joined[n].to, within) {
			joined = append(joined, &incident{from: in.from, to: in.to, begin: in.begin, kind: in.kind, victims: in.victims,
				hit: map[string]*hits{}, refused: within / 2, room: true})
			n++
		}
		joined[n].take(in)
	}
	for _, in := range joined {
		for _, h := range in.hit {
			h.stopped, h.mute, h.all = trace.Union(h.stopped), trace.Union(h.mute), trace.Union(h.all)
		}
	}
	return joined
}

// take makes another incident a part of this one.
func (in *incident) take(part *incident) {
	in.to, in.parts = max(in.to, part.to), append(in.parts, part)
	for node, more := range part.hit {
		if in.hit[node] == nil {
			in.hit[node] = &hits{}
		}
		in.hit[node].stopped = append(in.hit[node].stopped, more.stopped...)
		in.hit[node].mute = append(in.hit[node].mute, more.mute...)
		in.hit[node].all = append(in.hit[node].all, more.all...)
	}
}

// told says for a message which of its parts lasted at some time of [from, to], and by
// which notes they began.
func (in *incident) told(from, to int64) (words string, begins []int) {
	last := in
	for _, part := range in.parts {
		if part.from < to && part.to > from {
			last, begins = part, append(begins, part.begin)
		}
	}
	switch len(begins) {
	case 0:
		return fmt.Sprintf("%s on %s", in.kind, in.on()), []int{in.begin}
	case 1:
		return fmt.Sprintf("%s on %s", last.kind, last.on()), begins
	}
	return fmt.Sprintf("%s, the last a %s on %s,", nouns.Count(len(begins), "fault"), last.kind, last.on()), begins
}

// on names the victims for a message.
func (in *incident) on() string {
	if len(in.victims) == 1 {
		return in.victims[0]
	}
	return fmt.Sprintf("%s and %s", in.victims[0], nouns.Count(len(in.victims)-1, "other"))
}

// longerOf is by how much the longest lease of a victim that may hold the key in a fault is longer than that of the run.
func (r *run) longerOf(k *keyLog, in *incident) (longer int64) {
	for _, g := range k.Grants {
		if in.hit[g.Node] != nil && g.OK < in.to && r.answeredUntil(g) > in.from {
			longer = max(longer, r.longestLease(g)-int64(r.Setup.Lease))
		}
	}
	return longer
}

// minority says whether a client reached a majority of the servers at some time
// of the fault, so that the service still owed it grants.
func (r *run) minority(in *incident) bool {
	whole := trace.Span{From: in.from, To: max(min(in.to, r.End), in.from+1)}
	r.readOutages()
	served := func(node string) bool { return len(without(whole, r.unserved[node])) > 0 }
	return r.unparted && served("") || slices.ContainsFunc(r.parted, served)
}

// outages are the times, in order, in which nothing is owed to a client: it is
// stopped itself, or it reaches no majority of the servers.
func (r *run) outages(node string) []trace.Span {
	r.readOutages()
	spans, made := r.outage[node]
	if parted, waits := r.witness[node]; !made && waits {
		from := "" // those that no partition names are served alike
		if parted {
			from = node
		}
		spans = trace.Union(slices.Concat(r.unserved[from], r.off[node]))
		r.outage[node] = spans
	}
	return spans
}

// readOutages walks through the begins and ends of all faults, once.
func (r *run) readOutages() {
	if r.outage != nil {
		return
	}
	r.outage, r.unserved, r.off, r.witness = map[string][]trace.Span{}, map[string][]trace.Span{}, map[string][]trace.Span{}, map[string]bool{}
	r.findParted()
	var changes []change
	for _, f := range slices.Concat(r.Faults, r.ended()) {
		if f.Begin >= 0 {
			changes = append(changes, change{f.From, f, 1}, change{f.To, f, -1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	n := newNetwork(r.Setup.Servers)
	for i, c := range changes {
		n.change(c.fault, c.step)
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		next := int64(trace.Forever)
		if i+1 < len(changes) {
			next = changes[i+1].at
		}
		for _, node := range append([]string{""}, r.parted...) {
			if !n.serves(node) {
				r.unserved[node] = trace.Append(r.unserved[node], c.at, next)
			}
		}
	}
	r.findOff()
}

// findParted tells those who wait and whom a partition names from all others, which are
// served alike.
func (r *run) findParted() {
	named := map[string]bool{}
	for _, f := range r.Faults {
		for _, peer := range f.Cut {
			named[peer], named[f.Target] = true, true
		}
	}
	for _, node := range r.waiters() {
		r.witness[node] = named[node]
		if named[node] {
			r.parted = append(r.parted, node)
		} else {
			r.unparted = true
		}
	}
}

// findOff finds when each node was stopped itself.
func (r *run) findOff() {
	n := newNetwork(r.Setup.Servers)
	for _, f := range r.Faults {
		if _, waits := r.witness[f.Target]; waits && f.Begin >= 0 && f.From < f.To && n.stops(f) {
			r.off[f.Target] = append(r.off[f.Target], trace.Span{From: f.From, To: f.To})
		}
	}
}

// waiters are the clients, and whoever else waited for a key.
func (r *run) waiters() []string {
	names := slices.Clone(r.Setup.Clients)
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, k := range r.keys {
		for _, w := range k.Waits {
			if node := r.Ops[w.Invoke].Node; !known[node] {
				known[node] = true
				names = append(names, node)
			}
		}
	}
	return names
}

// change is the begin or the end of a fault.
type change struct {
	at    int64
	fault *trace.Fault
	step  int
}

// eachWithout is what spans, which are in order, leave of some others.
func eachWithout(all, spans []trace.Span) (left []trace.Span) {
	for _, s := range all {
		left = append(left, without(s, spans)...)
	}
	return left
}

// without is what spans, which are in order, leave of s.
func without(s trace.Span, spans []trace.Span) []trace.Span { return slices.Collect(clearOf(s, spans)) }

// clearOf tells what spans, which are in order, leave of s, the earliest first: who asks no further pays for no more.
func clearOf(s trace.Span, spans []trace.Span) iter.Seq[trace.Span] {
	return func(yield func(trace.Span) bool) {
		i := sort.Search(len(spans), func(i int) bool { return spans[i].To > s.From })
		for ; i < len(spans) && spans[i].From < s.To; i++ {
			if spans[i].From > s.From && !yield(trace.Span{From: s.From, To: spans[i].From}) {
				return
			}
			s.From = spans[i].To
		}
		if s.From < s.To {
			yield(s)
		}
	}
}
