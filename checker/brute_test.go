package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definitions of fairness and false-loss, each asked of every pair of
// operations, against the judge on rough histories.

// brute is a history as the definitions see it.
type brute struct {
	r *run
}

// until is when a wait came to an end, or when its client, for which it never did, was
// killed or asked to end; 0: nobody knows.
func (b brute) until(w wait) int64 {
	if w.done >= 0 {
		return w.to
	}
	stop, death, missed := int64(forever), int64(forever), map[int]bool{}
	for _, op := range b.r.ops {
		if op.F == history.Fault && op.Fault.Phase == history.Missed {
			missed[op.Fault.ID] = true
		}
	}
	for _, op := range b.r.ops {
		switch asked := b.r.ops[w.invoke]; {
		case op.Node != asked.Node:
		case op.F == history.Stop:
			stop = op.Time
		case op.F == history.Fault && op.Fault.Kind == "kill" && op.Fault.Phase == history.Begin && !missed[op.Fault.ID] && op.Time >= asked.Time:
			death = min(death, op.Time)
		}
	}
	if until := min(stop, death); until < forever {
		return until
	}
	return 0
}

// faultAt says whether a fault that matches, or its aftermath, meets [from, to].
func (b brute) faultAt(from, to int64, match func(*fault) bool) bool {
	return slices.ContainsFunc(b.r.faults, func(f *fault) bool {
		end := f.to
		if end < forever {
			end += b.r.aftermath()
		}
		return f.begin >= 0 && match(f) && f.from <= to && from <= end
	})
}

// overtaken are the invokes of the waits that were.
func (b brute) overtaken() []int {
	var waits []int
	for _, k := range b.r.keys {
		for _, w := range k.waits {
			if w.done >= 0 && b.r.ops[w.invoke].F == history.Acquire && b.isOvertaken(k, w) {
				waits = append(waits, w.invoke)
			}
		}
	}
	return waits
}

func (b brute) isOvertaken(k *keyLog, w wait) bool {
	done := &b.r.ops[w.done]
	var g *grant
	until := w.to - b.r.aftermath()
	switch done.Type {
	case history.Info:
		return false
	case history.OK:
		g = b.r.byOwner[done.Owner]
		until = g.sent
	}
	return slices.ContainsFunc(k.grants, func(h *grant) bool {
		if h.ok <= w.from || h.ok >= until {
			return false
		}
		if g != nil && g.token > 0 && h.token > g.token &&
			!b.faultAt(w.from, until, func(f *fault) bool { return f.kind == "crash" }) {
			return true
		}
		return h.invoked > w.from+b.r.aftermath() && h.ok > w.from+b.r.aftermath() &&
			!b.faultAt(w.from, h.ok, func(*fault) bool { return true })
	})
}

// falselyLost are the operations by which holders were told of a loss that was none.
func (b brute) falselyLost() []int {
	var ops []int
	for _, l := range b.r.losses {
		deadline, known := b.r.deadlineAt(l.grant, l.claim.deadline)
		if known && b.r.ops[l.op].Time < deadline && !l.claim.cut && !b.explained(l) {
			ops = append(ops, l.op)
		}
	}
	return ops
}

func (b brute) explained(l loss) bool {
	g, told, from := l.grant, b.r.ops[l.op].Time, b.r.ops[l.claim.op].Sent
	for i := range b.r.ops { // a renewal without an answer
		op := &b.r.ops[i]
		if op.Type == history.Invoke && op.F == history.Extend && op.Owner == g.owner && i > g.op {
			j := slices.IndexFunc(b.r.ops[i+1:], func(o history.Op) bool { return o.Process == op.Process && o.Type != history.Note })
			if j < 0 || b.r.ops[i+1+j].Type == history.Info {
				return true
			}
		}
	}
	for _, h := range g.key.grants { // somebody else was granted it
		if h != g && h.sent <= told && !surely(h, g) {
			return true
		}
	}
	for _, w := range g.key.waits { // or may have been
		end := w.to
		switch {
		case w.done < 0:
			for _, f := range b.r.faults {
				if f.kind == "kill" && f.begin >= 0 && !f.missed && f.from >= w.from && f.target == b.r.ops[w.invoke].Node {
					end = min(end, f.from)
				}
			}
		case b.r.ops[w.done].Type != history.Info:
			continue
		}
		if w.from <= told && (end == forever || end+b.r.aftermath() >= g.sent) {
			return true
		}
	}
	own := func(f *fault) bool {
		if f.kind == "latency" && f.slow > 0 && 4*f.slow <= int64(b.r.setup.Lease) {
			return false
		}
		return f.target == g.node || slices.Contains(f.cut, g.node) || len(b.r.setup.Servers) == 0
	}
	forgets := func(f *fault) bool {
		return (f.kind == "kill" || f.kind == "crash" || f.kind == "clock") && !slices.Contains(b.r.setup.Clients, f.target)
	}
	return b.faultAt(from, told, own) || b.faultAt(g.sent, told, forgets) || b.away(g.node, from, told)
}

// away asks at each change of a fault whether too few servers were in reach.
func (b brute) away(node string, from, to int64) bool {
	for _, s := range b.r.outages(node) { // compared with each instant in TestWithout
		if s.from <= to && (s.to == forever || from <= s.to+b.r.aftermath()) {
			return true
		}
	}
	return false
}

func TestFalseLossAgrees(t *testing.T) {
	agrees(t, func(r *run) ([]int, found) { return brute{r}.falselyLost(), falseLoss(r).found })
}

func TestFairnessAgrees(t *testing.T) {
	agrees(t, func(r *run) ([]int, found) { return brute{r}.overtaken(), fairness(r).found })
}

// agrees compares the operations that must be named by one violation each with the
// violations that were found.
func agrees(t *testing.T, judge func(*run) ([]int, found)) {
	bothWays(t, 40, func(t *rapid.T) bool { // so many that equal times are among them
		r := newRun(rough(t))
		want, f := judge(r)
		if len(f.list) != len(want) {
			t.Fatalf("%+v, want %v", f.list, want)
		}
		for _, v := range f.list {
			if !slices.ContainsFunc(want, func(i int) bool { return slices.Contains(v.Operations, i) }) {
				t.Fatalf("%+v, want one of %v", v, want)
			}
		}
		return len(want) > 0
	})
}

// bothWays draws rounds of histories, and more of them until check has said yes and no
// often enough: what is drawn from one side alone shows nothing.
func bothWays(t *testing.T, rounds int, check func(*rapid.T) bool) {
	t.Helper()
	seen := map[bool]int{}
	few := func() bool { return seen[true] < 20 || seen[false] < 20 }
	for n := 0; n < rounds || n < 20*rounds && few(); n++ {
		rapid.Check(t, func(t *rapid.T) { seen[check(t)]++ })
	}
	if few() {
		t.Errorf("one-sided histories: %v", seen)
	}
	t.Logf("%v", seen)
}
