package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
)

// logSeen is what is known of the resource's log, which is one stream in the order of
// its times, whatever key an entry is about.
type logSeen struct {
	entries   []int           // indexes into the history
	reads     int             // of these, about reads
	last      int64           // time of the last entry
	openReads map[string]bool // owners of grants on which a read has no known outcome
	lateRead  int64           // the latest request to read that was answered
	answered  int             // its completion
}

func isLog(f history.F) bool {
	return f == history.Apply || f == history.ReadSeen || f == history.Happened
}

// looked takes the end of a read of the resource.
func (r *run) looked(op, invoke *history.Op) {
	switch {
	case op.Type == history.OK && invoke.Time > r.log.lateRead:
		r.log.lateRead, r.log.answered = invoke.Time, op.Index
	case op.Type == history.Info:
		r.log.open(invoke.Owner)
	}
}

func (l *logSeen) open(owner string) {
	if l.openReads == nil {
		l.openReads = map[string]bool{}
	}
	l.openReads[owner] = true
}

// logged says whether what was decided about k by t must stand in the resource's log, with
// what shows that: all of it has come, to its end, or it goes on after t. In a part of a
// history the end stands for the log that it ended.
func (r *run) logged(k *keyLog, t int64) (by int, sure bool) {
	for name, s := range r.sources {
		if s.end >= 0 && r.roleOf(name) == theResource && (r.setup.Shows != "" || r.allCame(name)) {
			return s.end, true
		}
	}
	for _, c := range r.cuts {
		if c.role == theResource && c.from < t {
			return -1, false
		}
	}
	for _, entries := range [][]int{k.resource, r.log.entries} { // one of the key tells more
		i := sort.Search(len(entries), func(i int) bool { return r.ops[entries[i]].Time > t })
		if i < len(entries) {
			return entries[i], true
		}
	}
	return -1, false
}

// cutLog finds that the resource's log ends too early: it answered a request after its
// last entry, and has none of that.
func (r *run) cutLog() {
	if len(r.log.entries) == 0 || slices.ContainsFunc(r.cuts, func(c cut) bool { return c.role == theResource }) ||
		slices.ContainsFunc(r.setup.Sources, func(name string) bool { return r.roleOf(name) == theResource }) {
		return // it has said itself whether that is all
	}
	last := -1
	answered := func(done int) {
		if done > last && r.ops[done].Type == history.OK && (r.ops[done].Unfenced != nil || r.ops[done].Fenced != nil) && r.ops[done].Time > r.log.last {
			last = done
		}
	}
	for _, w := range r.writes {
		if w.apply < 0 && w.done >= 0 {
			answered(w.done)
		}
	}
	for _, e := range r.byEffect {
		if !e.logged && e.done >= 0 {
			answered(e.done)
		}
	}
	if r.log.reads > 0 && r.log.lateRead > r.log.last {
		last = max(last, r.log.answered)
	}
	if last < 0 {
		return
	}
	r.cuts = append(r.cuts, cut{role: theResource, from: r.log.last, why: fmt.Sprintf(
		"The resource's log ends at %s, although it answered %s at %s: what it logged after that is missing.",
		r.seconds(r.log.last), r.client(last), r.seconds(r.ops[last].Time))})
}

// cutClients finds clients whose records end too early: the resource logged a request of
// theirs after their last record, and they recorded none that was under way.
func (r *run) cutClients() {
	if len(r.log.entries) == 0 {
		return
	}
	for _, p := range r.process {
		if p.invoke > 0 && r.ops[p.invoke-1].F == history.Read {
			r.log.open(r.ops[p.invoke-1].Owner)
		}
	}
	for _, i := range r.log.entries {
		op := &r.ops[i]
		if op.Owner == "" || r.recorded(op) {
			continue
		}
		for _, name := range r.mayHaveAsked(op) {
			r.cutClient(name, op)
		}
	}
}

// recorded says whether a client has recorded the request of which an entry of the log is.
func (r *run) recorded(op *history.Op) bool {
	switch op.F {
	case history.Apply:
		return r.writes[r.byValue[op.Value]].invoke >= 0
	case history.Happened:
		return r.byEffect[op.Value].invoke >= 0
	}
	return r.log.openReads[op.Owner]
}

// mayHaveAsked are the clients that may have made a request: whose grant it names, or any.
func (r *run) mayHaveAsked(op *history.Op) []string {
	if g := r.byOwner[op.Owner]; g != nil {
		return []string{g.node}
	}
	if ghost, ok := r.ghosts[op.Owner]; ok {
		return []string{r.ops[ghost.info].Node}
	}
	return r.setup.Clients
}

func (r *run) cutClient(name string, op *history.Op) {
	s := r.sources[name]
	if r.allCame(name) || s != nil && s.last >= op.Time || slices.ContainsFunc(r.cuts, func(c cut) bool { return c.name == name }) {
		return
	}
	c := cut{name: name, role: aClient, from: -forever, why: fmt.Sprintf(
		"Nothing is recorded of %s, although the resource may have answered it at %s: its records may be missing.", name, r.seconds(op.Time))}
	if s != nil {
		c.from = s.last
		c.why = fmt.Sprintf("The records of %s end at %s, although the resource answered it at %s: what it recorded after that is missing.",
			name, r.seconds(s.last), r.seconds(op.Time))
	}
	r.cuts = append(r.cuts, c)
}
