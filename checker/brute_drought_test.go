package checker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definition of a drought, asked of every millisecond of a fault.

// owedAt says whether, at t, somebody who could be served waited for the key, and
// nobody whom the fault has not hit held it.
func (b brute) owedAt(k *keyLog, in *incident, held []trace.Span, t int64) bool {
	at := func(spans []trace.Span) bool {
		return slices.ContainsFunc(spans, func(s trace.Span) bool { return s.From <= t && t < s.To })
	}
	mute := func(node string) bool { // its links hold or take what is sent
		return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
			holds := slices.Contains([]string{"reset", "blackhole", "hold-request", "hold-answer"}, f.Kind) && len(f.Cut) == 0
			return holds && f.Begin >= 0 && f.ID == in.id && f.Target == node && f.From <= t && t < f.To
		})
	}
	waits := slices.ContainsFunc(k.Waits, func(w trace.Wait) bool {
		op := &b.r.Ops[w.Invoke]
		asks := op.F == history.Acquire || op.F == history.Try
		return asks && w.From <= t && t < b.until(w) && !mute(op.Node) && !at(b.r.outages(op.Node))
	})
	return waits && !at(held)
}

// held are the times of more than a quarter of a lease for which somebody sound held
// the key and nobody was certainly granted it after.
func (b brute) held(k *keyLog, in *incident) (held []trace.Span) {
	for _, g := range k.Grants {
		from, to := g.OK, min(g.End, b.r.End)
		lasts := g.OK + 100*ms // its lease, from the last answer that gave it one
		for _, o := range b.r.Ops {
			if o.Owner == g.Owner && (o.F == history.Extend && o.Type == history.OK || o.F == history.Resumed) {
				lasts = max(lasts, o.Time+100*ms)
			}
		}
		if p := b.r.Setup.Promise; p.Leased && !p.Session && !p.Renews {
			to = min(to, lasts)
		}
		for _, h := range k.Grants {
			if trace.Surely(g, h) && !b.r.Setup.Kind.Shares() {
				to = min(to, h.OK)
			}
		}
		if to-from <= 25*ms {
			continue
		}
		for t := from; t < to; t += ms {
			if !b.keeps(in, g, t) {
				held = append(held, trace.Span{From: t, To: min(t+ms, to)})
			}
		}
	}
	return held
}

// keeps says whether, at t, one of the faults keeps what g holds, and not its holder. A
// holder that was answered a renewal later than that was served, unless its work stood.
func (b brute) keeps(in *incident, g *trace.Grant, t int64) bool {
	return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
		if f.Begin < 0 || f.ID != in.id || f.Target != g.Node || t < f.From || t >= f.To || f.Kind == "clock" {
			return false
		}
		if f.Kind == "latency" && f.Slow > 0 && 4*f.Slow <= int64(b.r.Setup.Lease) { // it is served
			return false
		}
		stands := slices.Contains([]string{"pause", "stall-worker", "kill", "crash", "disk-stall"}, f.Kind)
		return stands || !slices.ContainsFunc(b.r.Ops, func(o history.Op) bool {
			return o.F == history.Extend && o.Type == history.OK && o.Owner == g.Owner && o.Time > t
		})
	})
}

// drought is the first of the longest times of a fault without a grant in which
// somebody waited, with pauses of a quarter of a lease at most.
func (b brute) drought(k *keyLog, in *incident) (from, to int64) {
	held := trace.Union(b.held(k, in))
	if in.room {
		held = b.fullIn(k, in, held)
	}
	begun, last := int64(-1), int64(-1) // of the stretch that is open
	end := func() {
		marks := []int64{begun}
		for _, g := range k.Grants {
			if begun < g.OK && g.OK < last {
				marks = append(marks, g.OK)
			}
		}
		for i, mark := range append(marks, last)[1:] {
			if mark-marks[i] > to-from {
				from, to = marks[i], mark
			}
		}
		begun = -1
	}
	for t := in.from; t < min(in.to, b.r.End); t += ms {
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
		checkAnew(t, func(t *rapid.T) {
			setup, ops := rough(t)
			for i := range ops { // some only try
				if ops[i].F == history.Acquire && ops[i].Process == 1 && len(ops)%2 == 0 {
					ops[i].F = history.Try
				}
			}
			slow := rapid.Int64Range(0, 3).Draw(t, "a quarter of a lease") * int64(setup.Lease) / 8 // some faults are slow links
			for i := range ops {
				if f := ops[i].Fault; f != nil && f.Kind == "reset" && slow > 0 {
					f.Kind, ops[i].Length = "latency", slow
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
		r.Faults = append(r.Faults, &trace.Fault{Begin: -1, From: 0, To: trace.Forever, Target: "nobody"})
		slices.Reverse(r.Faults)
		want := 0
		for _, g := range r.Grants {
			if slices.ContainsFunc(r.Faults, func(f *trace.Fault) bool { return f.Begin >= 0 && f.From < g.OK && g.OK < f.To && f.Target != g.Node }) {
				want++
			}
		}
		if got := r.grantsDuringFault(); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
