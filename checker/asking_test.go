package checker

import (
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// What is asked for a key is filed by who asks. Of the acquires of one that had begun by a time, one says all: that which lasts to its end.
func TestWhoAsks(t *testing.T) {
	b := newBuilder()
	for _, w := range []struct {
		node     string
		from, to int64
	}{{"client-1", 0, 1000}, {"client-2", 100, 4000}, {"client-1", 500, 2000}, {"client-1", 800, 3000}, {"client-1", 850, 2500}} {
		b.process[w.node] = 0 // each in another thread
		b.refuse(w.from*ms, w.to*ms, w.node, history.Acquire, 0)
	}
	r := newRun(b.done())
	a := r.asked(r.named("k"))
	if len(a.by) != 2 || a.by[0].node != "client-1" || a.by[1].node != "client-2" {
		t.Fatalf("%+v", a.by)
	}
	for _, c := range []struct {
		from, to int64
		want     []trace.Span
	}{
		{900, 1500, spansOf(500*ms, 2000*ms)},
		{900, 2900, spansOf(800*ms, 3000*ms)},
		{1500, 9000, spansOf(800*ms, 3000*ms)},
		{400, 600, spansOf(0, 1000*ms)},
		{400, 900, spansOf(0, 1000*ms)},
		{400, 1100, spansOf(0, 1000*ms, 500*ms, 2000*ms)},
		{3000, 9000, nil},
	} {
		var got []trace.Span
		for _, w := range a.by[0].meeting(origin+c.from*ms, origin+c.to*ms) {
			got = append(got, trace.Span{From: w.From, To: w.To})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// Spans that meet a time are found by their owners, each once and in order, whenever they began.
func TestMeetings(t *testing.T) {
	var m meetings
	for _, s := range []trace.Span{{From: 5, To: 9, Owner: 0}, {From: 1, To: 9, Owner: 1}, {From: 6, To: 7, Owner: 0}, {From: 1, To: 4, Owner: 2}} {
		m.add(s.From, s.To, s.Owner)
	}
	for _, c := range []struct {
		from, to int64
		want     []int
	}{{6, 8, []int{0, 1}}, {4, 6, []int{0, 1}}, {4, 5, []int{1}}, {3, 5, []int{1, 2}}, {0, 1, nil}, {9, 10, nil}} {
		if got := m.in(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// What a client left waiting is listed in the order in which it asked, whatever the key; what was answered is not.
func TestLeftWaiting(t *testing.T) {
	b := newBuilder()
	b.setup.Keys = []string{"k", "l"}
	var want []int
	for i, key := range []string{"k", "l", "k"} {
		b.process["client-1"] = 0 // each in another thread
		b.refuse(int64(10*i)*ms, int64(10*i+5)*ms, "client-1", history.Acquire, 0)
		b.op(int64(10*i+6)*ms, "client-1", history.Invoke, history.Acquire, key)
		want = append(want, 3*i+2)
	}
	if got := newRun(b.done()).leftWaiting("client-1"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
