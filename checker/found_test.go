package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// Of each kind only so many violations are told, and all are counted, so that many of
// one kind hide none of another.
func TestFoundIsListedUpToALimit(t *testing.T) {
	r := &run{Trace: &trace.Trace{Ops: []history.Op{{Time: 1, Node: "a"}, {Time: 9, Node: "b"}}}, stalls: []trace.Stall{{Node: "b", From: 8, To: 9}}}
	var f found
	for i := range listed + 2 {
		f.add(r, Violation{Possible: true, Operations: []int{0}, At: int64(-i)}, "possible")
		f.add(r, Violation{Operations: []int{1, 0, -1, 1}}, "disturbed")
		f.add(r, Violation{Operations: []int{0}}, "certain")
	}
	if f.certain != 2*listed+4 || f.possible != listed+2 || f.disturbed != listed+2 || len(f.list) != 3*listed || f.unlisted != 6 {
		t.Errorf("%d certain, %d possible, %d disturbed, %d listed, %d not", f.certain, f.possible, f.disturbed, len(f.list), f.unlisted)
	}
	if got := fmt.Sprint(f.list[1].Operations, f.list[1].Disturbed); got != "[0 1] true" {
		t.Errorf("evidence %s", got)
	}
	p := outcome{verdict: Holds, found: f, summary: "It is so."}.property("x")
	if p.Verdict != Violated || p.Reason != "It is so." || p.Unlisted != 6 || p.Violations[0].At != 1-listed {
		t.Errorf("%s: %s, %d, the first at %d", p.Verdict, p.Reason, p.Unlisted, p.Violations[0].At)
	}
}

// TestDisturbedAgrees looks at every stall.
func TestDisturbedAgrees(t *testing.T) {
	for range 5 {
		checkAnew(t, disturbed1)
	}
}

func disturbed1(t *rapid.T) {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	r := &run{Trace: &trace.Trace{}}
	for range number("stalls", 4) {
		from := number("from", 12)
		r.Trace.Stalls = append(r.Trace.Stalls, trace.Stall{Node: fmt.Sprint("n", number("stalled", 2)), From: from, To: from + 1 + number("length", 6)})
	}
	r.Setup.Clients = []string{"n0", "n1"} // n2 is a server, which takes part in everything
	r.pickStalls()
	var at []int64
	for range number("operations", 3) {
		at = append(at, number("at", 16))
	}
	slices.Sort(at)
	var ops []int
	for i, at := range at {
		r.Ops, ops = append(r.Ops, history.Op{Time: at, Node: fmt.Sprint("n", number("node", 1))}), append(ops, i)
	}
	want := len(ops) > 0 && slices.ContainsFunc(r.Trace.Stalls, func(s trace.Stall) bool {
		part := s.Node == "n2" || slices.ContainsFunc(r.Ops, func(op history.Op) bool { return op.Node == s.Node })
		return part && s.From <= at[len(at)-1] && s.To >= at[0]
	})
	if r.disturbed(ops) != want {
		t.Fatalf("%v of %+v: not %v", at, r.Trace.Stalls, want)
	}
}
