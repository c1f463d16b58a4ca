package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// What may be held together is drawn as no overlap, and what may not is.
func TestSharedHoldsAreNoOverlap(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    history.Kind
		modes   [2]history.Mode
		permits [2]int32
		twice   int
	}{
		{"two readers", history.ReadWrite, [2]history.Mode{history.Shared, history.Shared}, [2]int32{}, 0},
		{"reader and writer", history.ReadWrite, [2]history.Mode{history.Shared, history.Exclusive}, [2]int32{}, 1},
		{"two of two permits", history.Semaphore, [2]history.Mode{}, [2]int32{1, 1}, 0},
		{"three of two permits", history.Semaphore, [2]history.Mode{}, [2]int32{1, 2}, 1},
		{"a mutex", history.Mutex, [2]history.Mode{}, [2]int32{}, 1},
	} {
		setup := history.Setup{Lease: 1e9, Keys: []string{"k"}, Clients: []string{"client-1", "client-2"}, Kind: c.kind}
		if c.kind == history.Semaphore {
			setup.Permits = 2
		}
		var ops []history.Op
		for i := range 2 {
			op := history.Op{Time: int64(1 + i), Node: setup.Clients[i], Process: i + 1, Type: history.Invoke, F: history.Acquire, Key: "k", Mode: c.modes[i], Permits: c.permits[i]}
			ops = append(ops, op)
			op.Time, op.Type, op.Owner = int64(11+i), history.OK, fmt.Sprintf("o%d", i)
			ops = append(ops, op)
			op.Time, op.Type, op.F = int64(21+i), history.Invoke, history.Release
			ops = append(ops, op)
		}
		history.Sort(ops)
		tr := timeline.New(setup, ops)
		if got := timeline.NewTracks(tr).Twice; len(got) != c.twice {
			t.Errorf("%s: %d overlaps, want %d", c.name, len(got), c.twice)
		}
		if says := New(tr).as(tr.Grants[0]); (says == "") != (c.kind == history.Mutex) || c.kind == history.ReadWrite && !strings.Contains(says, "reader") {
			t.Errorf("%s: %q", c.name, says)
		}
	}
}

// A reentrant lock is held until its last release, and taking it again is no new grant.
func TestHoldsWithinHolds(t *testing.T) {
	step := func(at int64, typ history.Type, f history.F, depth int32) history.Op {
		return history.Op{Time: at, Node: "c", Process: 1, Type: typ, F: f, Key: "k", Owner: "o", Depth: depth}
	}
	ops := []history.Op{
		step(1, history.Invoke, history.Acquire, 0), step(2, history.OK, history.Acquire, 1),
		step(3, history.Invoke, history.Acquire, 0), step(4, history.OK, history.Acquire, 2),
		step(5, history.Invoke, history.Release, 0), step(6, history.OK, history.Release, 1),
		step(7, history.Invoke, history.Release, 0), step(8, history.OK, history.Release, 0),
	}
	history.Sort(ops)
	tr := timeline.New(history.Setup{Lease: 1e9, Keys: []string{"k"}, Clients: []string{"c"}, Kind: history.Reentrant}, ops)
	if len(tr.Grants) != 1 || timeline.Belief(tr.Grants[0]) != (timeline.Span{From: 2, To: 7}) {
		t.Errorf("%d grants, the first from %+v", len(tr.Grants), timeline.Belief(tr.Grants[0]))
	}
}

// A write on a read-write lock is late by the grant that lasts beside it, not by an older one that is over, nor by a reader's from before
// its client became the writer.
func TestReplacedBy(t *testing.T) {
	op := func(at int64, node string, typ history.Type, f history.F, mode history.Mode, owner string) history.Op {
		return history.Op{Time: at, Sent: at - 1, Node: node, Process: len(node), Type: typ, F: f, Key: "k", Owner: owner, Mode: mode}
	}
	const r, w = history.Shared, history.Exclusive
	setup := history.Setup{Lease: 1e9, Keys: []string{"k"}, Clients: []string{"a", "bb", "ccc"}, Kind: history.ReadWrite, Promise: history.Promise{Shared: true}}
	held := func(g history.Mode) []history.Op {
		ops := []history.Op{op(1, "a", history.Invoke, history.Acquire, g, ""), op(2, "a", history.OK, history.Acquire, g, "x"),
			op(10, "bb", history.Invoke, history.Acquire, r, ""), op(12, "bb", history.OK, history.Acquire, r, "y"),
			op(20, "bb", history.Invoke, history.Release, r, "y"), op(21, "bb", history.OK, history.Release, r, "y")}
		if g == r {
			return append(ops, op(30, "a", history.Invoke, history.Change, w, "x"), op(31, "a", history.OK, history.Change, w, "x"),
				op(90, "a", history.Invoke, history.Release, w, "x"))
		}
		return append(ops, op(40, "ccc", history.Invoke, history.Acquire, r, ""), op(42, "ccc", history.OK, history.Acquire, r, "z"),
			op(90, "a", history.Invoke, history.Release, w, "x"))
	}
	for mode, want := range map[history.Mode]string{w: "ccc", r: ""} {
		v := timeline.New(setup, held(mode))
		s := &telling{Teller: New(v)}
		got := ""
		if h := s.replaced(v.Grants[0], 50); h != nil {
			got = h.Node
		}
		if got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}
