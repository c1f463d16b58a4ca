package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

const (
	// drainSilence is how long a node may send nothing before its records are given up: as
	// long as they come, they are waited for. Somebody who interrupts does not wait so long.
	drainSilence            = 10 * time.Second
	drainSilenceInterrupted = 2 * time.Second
	drainShown              = 2 * time.Second // from then on it is shown what is waited for
	drainLimit              = 2 * time.Minute // for all: a node that notes its own stalls is never silent
)

// drained is a node whose records were waited for.
type drained struct {
	node    *node
	ended   bool
	missing int // of its records, by its own count
	passed  []agent.Passed
}

// drain has every node end its records and waits until all have come, so that nothing is
// taken down that still holds some: a busy machine may be seconds behind. What has not
// ended stands in no End note of the history, and the judge doubts it.
func (s *stage) drain(ctx context.Context, interrupted bool, say Progress) {
	silence := drainSilence
	if interrupted {
		silence = drainSilenceInterrupted
	}
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	waits := map[string]bool{}
	done := make(chan drained, len(s.nodes()))
	for _, n := range s.nodes() {
		waits[n.Name()] = true
		patience := silence
		if slices.Contains(s.servers, n) {
			patience = drainSilence // it answers at once, and without its end no stall is known
		}
		go func() { done <- n.drain(ctx, patience) }()
	}
	missing := map[string]int{}
	shown := time.NewTicker(drainShown)
	defer shown.Stop()
	for len(waits) > 0 {
		select {
		case d := <-done:
			delete(waits, d.node.Name())
			s.passed = append(s.passed, d.passed...)
			if d.ended {
				missing[d.node.Name()] = d.missing
			}
			s.open = s.open || !d.ended || d.missing != 0
		case <-shown.C:
			names := make([]string, 0, len(waits))
			for name := range waits {
				names = append(names, name)
			}
			slices.Sort(names)
			say.Line(fmt.Sprintf("waiting for what was recorded by %s: %d operations so far", strings.Join(names, ", "), s.rec.live().Operations))
		}
	}
	s.rec.end(missing)
}

// drain asks a node to end its records. The answer comes behind them.
func (a *node) drain(ctx context.Context, silence time.Duration) drained {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for last := a.came.Load(); wait(ctx, silence) == nil; {
			if now := a.came.Load(); now != last {
				last = now
				continue
			}
			cancel()
		}
	}()
	m, err := a.ask(ctx, agent.Command{Do: agent.End})
	if err != nil || m.End == nil || m.End.Open {
		return drained{node: a}
	}
	return drained{node: a, ended: true, missing: m.End.Ops - int(a.ops.Load()), passed: m.End.Passed}
}

// end notes the end of each source that has told it, and how many records it has made:
// those that are there, and those that are missing.
func (r *recorder) end(missing map[string]int) {
	r.mu.Lock()
	notes := endNotes(r.ops, missing)
	r.mu.Unlock()
	for _, note := range notes {
		r.note(note)
	}
}

// endNotes are the End notes of sources of which ops have come, and so many not.
func endNotes(ops []history.Op, missing map[string]int) (notes []history.Op) {
	here, last, latest := map[string]int{}, map[string]int64{}, int64(0)
	for i := range ops {
		op := &ops[i]
		here[op.Node]++
		last[op.Node] = max(last[op.Node], op.Time)
		latest = max(latest, op.Time)
	}
	names := make([]string, 0, len(missing))
	for name := range missing {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := last[name]
		if here[name] == 0 {
			at = latest
		}
		notes = append(notes, history.Op{Time: at, Node: name, Type: history.Note, F: history.End, Length: int64(max(here[name]+missing[name], 0))})
	}
	return notes
}
