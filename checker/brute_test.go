package checker

import (
	"flag"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definitions of fairness and false-loss, each asked of every pair of
// operations, against the judge on rough histories.

// brute is a history as the definitions see it.
type brute struct {
	r *run
}

// until is when a wait came to an end, or when its client, for which it never did, was
// killed or asked to end, or else asked for anything else last; 0: nobody knows.
func (b brute) until(w trace.Wait) int64 {
	if w.Done >= 0 {
		return w.To
	}
	stop, death, missed := int64(trace.Forever), int64(trace.Forever), map[int]bool{}
	for _, op := range b.r.Ops {
		if op.F == history.Fault && op.Fault.Phase == history.Missed {
			missed[op.Fault.ID] = true
		}
	}
	for _, op := range b.r.Ops {
		switch asked := b.r.Ops[w.Invoke]; {
		case op.Node != asked.Node:
		case op.F == history.Stop:
			stop = op.Time
		case op.F == history.Fault && op.Fault.Kind == "kill" && op.Fault.Phase == history.Begin && !missed[op.Fault.ID] && op.Time >= asked.Time:
			death = min(death, op.Time)
		}
	}
	if until := min(stop, death); until < trace.Forever {
		return until
	}
	last := int64(0) // what another process of its client asked for last
	for _, op := range b.r.Ops[w.Invoke+1:] {
		if op.Node != b.r.Ops[w.Invoke].Node || op.Type != history.Invoke {
			continue
		}
		last = op.Time
		if op.Owner != "" && !slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			return (o.F == history.Acquire || o.F == history.Try) && o.Owner == op.Owner && (o.Type == history.OK || o.Type == history.Info)
		}) {
			return 0 // it may be what was waited for
		}
	}
	return last
}

// faultAt says whether a fault that matches, or its aftermath, meets [from, to].
func (b brute) faultAt(from, to int64, match func(*trace.Fault) bool) bool {
	return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		end := b.fades(f)
		return f.Begin >= 0 && match(f) && f.From <= to && from <= end
	})
}

// fades is when what a fault left behind is over, by its definition.
func (b brute) fades(f *trace.Fault) int64 {
	if f.To == trace.Forever {
		return trace.Forever
	}
	end := f.To + b.r.aftermath()
	if f.Kind == "partition" {
		end = max(end, 2*f.To-f.From+sec/2, f.Again)
	}
	return end
}

// overtaken are the invokes of the waits that were.
func (b brute) overtaken() []int {
	var waits []int
	for _, k := range b.r.keys {
		for _, w := range k.Waits {
			if w, known := b.r.lasted(w); known && b.r.Ops[w.Invoke].F == history.Acquire && b.isOvertaken(k, w) {
				waits = append(waits, w.Invoke)
			}
		}
	}
	return waits
}

func (b brute) isOvertaken(k *keyLog, w trace.Wait) bool {
	done := &b.r.Ops[w.Done]
	var g *trace.Grant
	until, arrives := w.To-int64(b.r.Setup.Lease)/2, max(int64(b.r.Setup.Lease), int64(time.Second))
	switch done.Type {
	case history.Info:
		return false
	case history.Note:
		until = w.To
	case history.OK:
		g = b.r.ByOwner[done.Owner]
		until = g.Sent
		if done.Sent == 0 {
			until = g.OK
		}
	}
	return slices.ContainsFunc(k.Grants, func(h *trace.Grant) bool {
		if h.OK <= w.From || h.OK >= until {
			return false
		}
		if g != nil && g.Token > 0 && h.Token > g.Token && h.OK < g.Sent &&
			!b.faultAt(w.From, until, func(f *trace.Fault) bool { return f.Kind == "crash" }) {
			return true
		}
		clear := w.From + arrives
		if begin, end := b.noiseBefore(b.r.Ops[w.Invoke].Node, h.OK); end == trace.Forever {
			return false
		} else if end > w.From {
			clear = end + arrives + end - begin
		}
		return b.firstAsked(h) > clear && h.OK > clear
	})
}

// noiseBefore is the last stretch of faults that may hinder a client and begin by a time, each within the aftermath of the one before it.
func (b brute) noiseBefore(node string, at int64) (begin, end int64) {
	end = math.MinInt64
	for _, f := range b.r.Faults {
		if b.hinders(f, node) && f.Begin >= 0 && f.From <= at {
			end = max(end, b.fades(f))
		}
	}
	begin = end
	for grows := true; grows; {
		grows = false
		for _, f := range b.r.Faults {
			if b.hinders(f, node) && f.Begin >= 0 && f.From < begin && b.fades(f) >= begin {
				begin, grows = f.From, true
			}
		}
	}
	return begin, end
}

// hinders says whether a fault may keep from a client what it is owed: it hit servers, the client itself or its links.
func (b brute) hinders(f *trace.Fault, node string) bool {
	client := func(name string) bool { return slices.Contains(b.r.Setup.Clients, name) }
	servers := !client(f.Target) && (len(f.Cut) == 0 || slices.ContainsFunc(f.Cut, func(peer string) bool { return !client(peer) }))
	return servers || f.Target == node || slices.Contains(f.Cut, node) || b.anybodys(f)
}

// anybodys says that nobody names the servers, and a fault is not one client's alone.
func (b brute) anybodys(f *trace.Fault) bool {
	return len(b.r.Setup.Servers) == 0 && (f.Kind == "clock" || !slices.Contains(b.r.Setup.Clients, f.Target))
}

// falselyLost are the operations by which holders were told of a loss that was none.
func (b brute) falselyLost() []int {
	var ops []int
	for _, l := range b.r.Losses {
		deadline, known := b.r.DeadlineAt(l.Grant, l.Claim.Deadline)
		if known && b.r.Ops[l.Op].Time < deadline && !l.Claim.Cut && !b.explained(l) {
			ops = append(ops, l.Op)
		}
	}
	return ops
}

func (b brute) explained(l trace.Loss) bool {
	g, told, from := l.Grant, b.r.Ops[l.Op].Time, b.r.Ops[l.Claim.Op].Sent
	for i := range b.r.Ops { // a renewal without an answer
		op := &b.r.Ops[i]
		if op.Type == history.Invoke && op.F == history.Extend && op.Owner == g.Owner && i > g.Op && op.Time >= from && op.Time <= told {
			j := slices.IndexFunc(b.r.Ops[i+1:], func(o history.Op) bool { return o.Process == op.Process && o.Type != history.Note })
			if j < 0 || b.r.Ops[i+1+j].Type == history.Info {
				return true
			}
		}
	}
	own := func(f *trace.Fault) bool {
		if f.Kind == "latency" && f.Slow > 0 && 4*f.Slow <= int64(b.r.Setup.Lease) {
			return false
		}
		server := func(n string) bool { return len(b.r.Setup.Servers) == 0 || slices.Contains(b.r.Setup.Servers, n) }
		way := f.Target == g.Node && (len(f.Cut) == 0 || slices.ContainsFunc(f.Cut, server)) || server(f.Target) && slices.Contains(f.Cut, g.Node)
		return way || b.anybodys(f)
	}
	held := b.heldBy(l)
	knew := max(g.Sent, held)
	forgets := func(f *trace.Fault) bool {
		server := (f.Kind == "kill" || f.Kind == "crash" || f.Kind == "clock") && !slices.Contains(b.r.Setup.Clients, f.Target)
		allTheWhile := f.Seen >= 0 && f.From < knew && b.r.Ops[f.Seen].Time <= knew && knew < f.To && told < f.To
		return server && !allTheWhile
	}
	return b.faultAt(max(from, held), told, own) || b.faultAt(knew, told, forgets) || b.away(g.Node, max(from, held), told)
}

// heldBy is when a look named the holder of a loss last, or it gave back a part, before it was told or asked for what it was refused.
func (b brute) heldBy(l trace.Loss) (at int64) {
	by := l.Op
	if b.r.Ops[by].Type == history.Fail {
		for by--; b.r.Ops[by].Type != history.Invoke || b.r.Ops[by].Process != b.r.Ops[l.Op].Process; by-- {
		}
	}
	named := int64(0)
	for i := range b.r.Ops {
		switch op := &b.r.Ops[i]; {
		case op.Time > b.r.Ops[by].Time || op.Owner != l.Grant.Owner:
		case op.F == history.Holder && op.Key == l.Grant.Key.Name && op.Sent >= l.Grant.OK && b.r.trusted(op):
			named = op.Sent
		case op.F == history.Release && op.Type == history.OK:
			invoke, _ := b.r.Started(i)
			at = max(at, b.r.Ops[invoke].Time)
		}
	}
	return max(at, named)
}

// away asks at each change of a fault whether too few servers were in reach.
func (b brute) away(node string, from, to int64) bool {
	lingers := b.r.aftermath()
	for _, f := range b.r.Faults {
		if f.Begin >= 0 && f.To < trace.Forever {
			lingers = max(lingers, b.fades(f)-f.To)
		}
	}
	for _, s := range b.r.outages(node) { // compared with each instant in TestWithout
		if s.From <= to && (s.To == trace.Forever || from <= s.To+lingers) {
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
		checkAnew(t, func(t *rapid.T) { seen[check(t)]++ })
	}
	if few() {
		t.Errorf("one-sided histories: %v", seen)
	}
	t.Logf("%v", seen)
}

// checkAnew is rapid.Check for a test that calls it again and again. Where a seed was given,
// each call gets another one, and the same in every run of the test.
func checkAnew(t *testing.T, prop func(*rapid.T)) {
	t.Helper()
	rapid.Check(t, prop)
	seed := flag.Lookup("rapid.seed").Value
	n, err := strconv.ParseUint(seed.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		return
	}
	if err := seed.Set(strconv.FormatUint(n+1, 10)); err != nil {
		t.Fatal(err)
	}
}
