package trace

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// What names no grant is told to the process that it names, and what names neither to
// the whole node.
func TestWhoIsTold(t *testing.T) {
	for _, c := range []struct {
		owner   string
		process int
		want    string
	}{{"a", 0, "a"}, {"a", 2, "a"}, {"", 0, "abc"}, {"", 1, "ac"}, {"", 2, "b"}, {"", 9, ""}, {"z", 0, ""}, {"gone", 0, ""}} {
		r := &Trace{ByOwner: map[string]*Grant{}, sessions: map[session][]*Grant{}}
		for _, g := range []*Grant{{Owner: "a", Process: 1, End: Forever}, {Owner: "gone", Process: 1, End: 5}, {Owner: "b", Process: 2, End: Forever}, {Owner: "c", Process: 1, End: Forever}} {
			r.ByOwner[g.Owner], g.Node = g, "n"
			r.hold(g)
		}
		told := ""
		r.told(&history.Op{Node: "n", Owner: c.owner, Process: c.process}, func(g *Grant) { told += g.Owner })
		if told != c.want {
			t.Errorf("%q of process %d: %q, want %q", c.owner, c.process, told, c.want)
		}
	}
}

// One late reading of a clock says nothing, two in line or one at the end do.
func TestSettledClocks(t *testing.T) {
	for _, c := range []struct {
		offsets  []int64
		missing  bool
		offset   int64
		constant bool
	}{
		{nil, false, 0, false}, {[]int64{5}, false, 5, true}, {[]int64{5}, true, 5, false},
		{[]int64{5, 5 + ClockNoise, 5}, false, 5, true}, {[]int64{5, 5 + ClockNoise + 1, 5}, false, 5, true},
		{[]int64{5, 6 + ClockNoise, 6 + ClockNoise, 5}, false, 5, false}, {[]int64{5, 6, 6 + ClockNoise}, false, 5, false},
		{[]int64{5, 5 + ClockNoise}, false, 5, true}, {[]int64{6 + ClockNoise, 5, 5}, false, 5, true},
		{[]int64{5, 5 + ClockNoise, 5 + ClockNoise, 5}, false, 5, true},
		{[]int64{5, 6 + ClockNoise, 5 + ClockNoise, 5}, false, 5, true},
		{[]int64{5, 6 + ClockNoise, 5, 6 + ClockNoise, 5}, false, 5, true},
	} {
		k := &Clock{offsets: c.offsets, Missing: c.missing}
		if k.settle(); k.Offset != c.offset || k.Constant != c.constant || !k.settled {
			t.Errorf("%v, missing %v: %+v", c.offsets, c.missing, k)
		}
	}
	r := &Trace{clocks: map[string]*Clock{}}
	r.stamp(&history.Op{Node: "a"})                           // says nothing of a clock
	r.stamp(&history.Op{Node: "b", Mono: 107, Time: 100})     // 7 ahead
	r.stamp(&history.Op{Node: "c", Mono: 107, Time: 100})     //
	r.stamp(&history.Op{Node: "c", Deadline: 200, Time: 100}) // a deadline without the own time
	for node, want := range map[string]bool{"a": false, "b": true, "c": false} {
		if at, ok := r.Raw(node, 207); ok != want || ok && at != 200 {
			t.Errorf("%s: %d, %v", node, at, ok)
		}
	}
	if _, ok := r.Raw("b", 0); ok {
		t.Error("no deadline was converted")
	}
}

// The shares of a grant are all of its time, cut where its mode changes.
func TestSharesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Grant{Mode: rapid.SampledFrom([]history.Mode{history.Shared, history.Exclusive}).Draw(t, "mode"), Permits: 1}
		mode, at := map[int64]history.Mode{}, int64(0)
		for range rapid.IntRange(0, 4).Draw(t, "turns") {
			at += int64(rapid.IntRange(0, 4).Draw(t, "later"))
			g.turn(at, rapid.SampledFrom([]history.Mode{history.Shared, history.Exclusive}).Draw(t, "turns"))
		}
		for at := range int64(20) {
			mode[at] = g.Mode
			for _, t := range g.Turns {
				if t.At <= at {
					mode[at] = t.Mode
				}
			}
		}
		from := int64(rapid.IntRange(0, 12).Draw(t, "from"))
		until := from + int64(rapid.IntRange(0, 7).Draw(t, "length"))
		now := from
		for _, s := range g.Shares(nil, from, until) {
			if s.From != now || s.To <= s.From || s.Grant != g || s.Permits != 1 {
				t.Fatalf("%+v at %d of [%d, %d]", s, now, from, until)
			}
			for ; now < s.To; now++ {
				if s.Exclusive != (mode[now] == history.Exclusive) {
					t.Fatalf("%+v of %+v at %d", s, g.Turns, now)
				}
			}
		}
		if now != until {
			t.Fatalf("[%d, %d] ends at %d", from, until, now)
		}
	})
}

// A clock is read as something is asked, and as it is answered; a note is no reading.
func TestClockIsReadTwice(t *testing.T) {
	r := New(history.Setup{}, []history.Op{
		{Time: 1, Mono: 11, Node: "a", Process: 1, Type: history.Invoke, F: history.Acquire, Key: "k"},
		{Time: 2, Mono: 12, Node: "a", Process: 1, Type: history.OK, F: history.Acquire, Key: "k", Owner: "o"},
		{Time: 3, Mono: 13, Node: "a", Type: history.Note, F: history.Lost, Owner: "o"},
	})
	if got := r.clocks["a"].offsets; !slices.Equal(got, []int64{10, 10}) {
		t.Errorf("readings %v", got)
	}
}
