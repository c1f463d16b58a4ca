package checker

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// logged says whether what was decided about a key by t must stand in the resource's log, with
// what shows that: all of it has come, to its end, or it goes on after t. In a part of a
// history the end stands for the log that it ended.
func (r *run) logged(key string, t int64) (by int, sure bool) {
	if s := r.Sources[r.Log.Node]; s != nil && s.End >= 0 && (r.Setup.Shows != "" || r.allCame(r.Log.Node)) {
		return s.End, true
	}
	if slices.ContainsFunc(r.cuts, func(c cut) bool { return r.cutsLog(c) && c.from < t }) {
		return -1, false
	}
	var own []int // they tell more than those of all keys
	if k := r.ByKey[key]; k != nil {
		own = k.Resource
	}
	for _, entries := range [][]int{own, r.Log.Entries} {
		i := sort.Search(len(entries), func(i int) bool { return r.Ops[entries[i]].Time > t })
		if i < len(entries) {
			return entries[i], true
		}
	}
	return -1, false
}

// cutsLog says whether a cut is one of the resource's log.
func (r *run) cutsLog(c cut) bool { return c.name == r.Log.Node || c.role == theResource }

// cutLog finds that the resource's log ends too early: it answered a request after its
// last entry, and has none of that.
func (r *run) cutLog() {
	if len(r.Log.Entries) == 0 || slices.ContainsFunc(r.cuts, r.cutsLog) || r.allCame(r.Log.Node) {
		return
	}
	last := -1
	answered := func(done int) {
		if done > last && r.Ops[done].Type == history.OK && (r.Ops[done].Unfenced != nil || r.Ops[done].Fenced != nil) && r.Ops[done].Time > r.Log.Last {
			last = done
		}
	}
	for _, w := range r.Writes {
		if w.Apply < 0 && w.Done >= 0 {
			answered(w.Done)
		}
	}
	for _, e := range r.ByEffect {
		if e.Note < 0 && e.Done >= 0 {
			answered(e.Done)
		}
	}
	if r.Log.Reads > 0 && r.Log.LateRead > r.Log.Last {
		last = max(last, r.Log.Answered)
	}
	if last < 0 {
		return
	}
	r.cuts = append(r.cuts, cut{role: theResource, from: r.Log.Last, why: fmt.Sprintf(
		"The resource's log ends at %s, although it answered %s at %s: what it logged after that is missing.",
		r.seconds(r.Log.Last), r.client(last), r.seconds(r.Ops[last].Time))})
}

// cutClients finds clients whose records end too early: the resource logged a request of
// theirs after their last record, and they recorded none that was under way.
func (r *run) cutClients() {
	if len(r.Log.Entries) == 0 {
		return
	}
	for _, i := range r.Log.Entries {
		op := &r.Ops[i]
		if op.Owner == "" || r.recorded(op) {
			continue
		}
		names := r.mayHaveAsked(op)
		for _, name := range names {
			r.cutClient(name, op, len(names) == 1)
		}
	}
}

// recorded says whether a client has recorded the request of which an entry of the log is.
func (r *run) recorded(op *history.Op) bool {
	switch op.F {
	case history.Apply:
		return r.Writes[r.ByValue[op.Value]].Invoke >= 0
	case history.Happened:
		return r.ByEffect[op.Value].Invoke >= 0
	}
	return r.Log.OpenReads[op.Owner]
}

// mayHaveAsked are the clients that may have made a request: whose grant it names, who asked as that owner, or any.
func (r *run) mayHaveAsked(op *history.Op) []string {
	if g := r.ByOwner[op.Owner]; g != nil {
		return []string{g.Node}
	}
	if ghost, ok := r.Ghosts[op.Owner]; ok {
		return []string{r.Ops[ghost.Info].Node}
	}
	if node, known := r.askedAs(op.Owner); known {
		return []string{node}
	}
	return r.Setup.Clients
}

// askedAs is the client that recorded a request to the resource as an owner: where nobody takes a lock no grant tells it.
func (r *run) askedAs(owner string) (node string, known bool) {
	if r.known.askedAs == nil {
		r.known.askedAs = map[string]string{}
		for i := range r.Ops {
			op := &r.Ops[i]
			if op.Type == history.Invoke && (op.F == history.Read || op.F == history.Write || op.F == history.Effect) {
				r.known.askedAs[op.Owner] = op.Node
			}
		}
	}
	node, known = r.known.askedAs[owner]
	return node, known
}

// cutClient finds that a client has not recorded what the resource answered; sure: it was asked by that one, and not perhaps by another.
func (r *run) cutClient(name string, op *history.Op, sure bool) {
	s := r.Sources[name]
	if r.allCame(name) || s != nil && s.Last >= op.Time || slices.ContainsFunc(r.cuts, func(c cut) bool { return c.name == name }) {
		return
	}
	c := cut{name: name, role: aClient, from: -trace.Forever, why: fmt.Sprintf(
		"Nothing is recorded of %s, although the resource may have answered it at %s: its records may be missing.", name, r.seconds(op.Time))}
	if s != nil {
		c.from = s.Last
		c.why = fmt.Sprintf("The records of %s end at %s, although the resource answered it at %s: what it recorded after that is missing.",
			name, r.seconds(s.Last), r.seconds(op.Time))
		if !sure {
			c.why = fmt.Sprintf("The records of %s end at %s, although the resource may have answered it at %s: what it recorded after that may be missing.",
				name, r.seconds(s.Last), r.seconds(op.Time))
		}
	}
	r.cuts = append(r.cuts, c)
}
