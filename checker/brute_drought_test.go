package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definition of a drought, asked of every millisecond of a fault.

// owedAt says whether, at t, somebody who could be served waited for the key, and
// nobody whom the fault has not hit held it.
func (b brute) owedAt(k *keyLog, in *incident, held []span, t int64) bool {
	at := func(spans []span) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= t && t < s.to })
	}
	waits := slices.ContainsFunc(k.waits, func(w wait) bool {
		op := &b.r.ops[w.invoke]
		return op.F == history.Acquire && w.from <= t && t < b.until(w) && !at(b.r.outages(op.Node))
	})
	return waits && !at(held)
}

// held are the times of more than a quarter of a lease for which somebody sound held
// the key and nobody was certainly granted it after.
func (b brute) held(k *keyLog, in *incident) (held []span) {
	last := int64(-1)
	for _, g := range k.grants {
		from, to := max(g.ok, last), min(g.end, b.r.end)
		for _, h := range k.grants {
			if surely(g, h) {
				to = min(to, h.ok)
			}
		}
		if to-from > 25*ms && !slices.Contains(in.victims, g.node) {
			held, last = append(held, span{from: from, to: to}), to
		}
	}
	return held
}

// drought is the first of the longest times of a fault without a grant in which
// somebody waited, with pauses of a quarter of a lease at most.
func (b brute) drought(k *keyLog, in *incident) (from, to int64) {
	held := b.held(k, in)
	begun, last := int64(-1), int64(-1) // of the stretch that is open
	end := func() {
		marks := []int64{begun}
		for _, g := range k.grants {
			if begun < g.ok && g.ok < last {
				marks = append(marks, g.ok)
			}
		}
		for i, mark := range append(marks, last)[1:] {
			if mark-marks[i] > to-from {
				from, to = marks[i], mark
			}
		}
		begun = -1
	}
	for t := in.from; t < min(in.to, b.r.end); t += ms {
		switch owed := b.owedAt(k, in, held, t); {
		case owed && begun >= 0 && t-last > 25*ms:
			end()
			begun, last = t, t+ms
		case owed && begun < 0:
			begun, last = t, t+ms
		case owed:
			last = t + ms
		}
	}
	if begun >= 0 {
		end()
	}
	return from, to
}

func TestDroughtAgrees(t *testing.T) {
	seen := 0
	for range 4 {
		rapid.Check(t, func(t *rapid.T) {
			setup, ops := rough(t)
			for i := range ops { // some only try
				if ops[i].F == history.Acquire && ops[i].Process == 1 && len(ops)%2 == 0 {
					ops[i].F = history.Try
				}
			}
			r := newRun(setup, ops)
			for _, k := range r.keys {
				for _, in := range r.incidents() {
					from, to := brute{r}.drought(k, in)
					if d := r.drought(k, in); d.from != from || d.to != to {
						t.Fatalf("in [%d, %d]: [%d, %d], want [%d, %d]", in.from/ms, in.to/ms, d.from/ms, d.to/ms, from/ms, to/ms)
					}
					seen += int(min(to-from, 1))
				}
			}
		})
	}
	if seen < 20 {
		t.Errorf("%d droughts", seen)
	}
}

// TestGrantsDuringFaultAgrees looks at every fault for each grant, in any order of notes.
func TestGrantsDuringFaultAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRun(rough(t))
		r.faults = append(r.faults, &fault{begin: -1, from: 0, to: forever, target: "nobody"})
		slices.Reverse(r.faults)
		want := 0
		for _, g := range r.grants {
			if slices.ContainsFunc(r.faults, func(f *fault) bool { return f.begin >= 0 && f.from < g.ok && g.ok < f.to && f.target != g.node }) {
				want++
			}
		}
		if got := r.grantsDuringFault(); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
