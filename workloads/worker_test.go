package workloads

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// recordsIn names the file in which recordUntilKilled counts.
const recordsIn = "WORKLOADS_TEST_COUNTS"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		_ = agent.Main("client-1", os.Stdin, os.Stdout) // it ends with the test
		return
	}
	if file := os.Getenv(recordsIn); file != "" {
		_ = recordUntilKilled(file) // too few are counted then
		return
	}
	locks.Table["memory"] = locks.Lock{Open: locks.OpenMemory, Promise: locks.MemoryPromise}
	m.Run()
}

// worker is a worker under test, with its agent's end of its stdio.
type worker struct {
	t     *testing.T
	spec  Spec
	in    *io.PipeWriter
	lines chan agent.Line
	ended chan error
	ops   []history.Op
}

// startWorker starts a worker on the in-memory lock and a store on loopback.
func startWorker(t *testing.T, addr string, spec Spec) *worker {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &worker{t: t, in: inW, lines: make(chan agent.Line, 10000), ended: make(chan error, 1)}
	spec.Mode, spec.Backend = cmpMode(spec.Mode), "memory"
	if spec.Keys == nil {
		spec.Keys = []string{t.Name()}
	}
	spec.Node, spec.Lock.Client = fmt.Sprintf("client-%d", spec.Number), fmt.Sprintf("client-%d", spec.Number)
	spec.Resource = ResourceSpec{Addr: addr}
	if spec.Lock.Lease == 0 {
		spec.Lock.Lease = 300 * time.Millisecond
	}
	spec.Wait = 2 * time.Second
	w.spec = spec
	go func() { w.ended <- Worker(t.Context(), inR, outW); _ = outW.Close() }()
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(outR); lines.Scan(); {
			var l agent.Line
			if json.Unmarshal(lines.Bytes(), &l) == nil {
				w.lines <- l
			}
		}
	}()
	w.tell(Told{Spec: &w.spec})
	return w
}

func cmpMode(m Mode) Mode {
	if m == "" {
		return Guarded
	}
	return m
}

func (w *worker) order(o agent.Order) {
	w.t.Helper()
	line, _ := json.Marshal(o)
	if _, err := w.in.Write(append(line, '\n')); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worker) tell(t Told) {
	w.t.Helper()
	raw, _ := json.Marshal(t)
	w.order(agent.Order{Say: raw})
}

// until collects operations until a line matches.
func (w *worker) until(match func(agent.Line) bool) agent.Line {
	w.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case l, ok := <-w.lines:
			if !ok {
				w.t.Fatal("the worker has ended")
			}
			if l.Op != nil {
				var op history.Op
				if err := json.Unmarshal(l.Op, &op); err != nil {
					w.t.Fatal(err)
				}
				w.ops = append(w.ops, op)
			}
			if match(l) {
				return l
			}
		case <-timeout:
			w.t.Fatal("nothing came")
		}
	}
}

func (w *worker) said(match func(Said) bool) {
	w.t.Helper()
	w.until(func(l agent.Line) bool {
		var s Said
		return l.Say != nil && json.Unmarshal(l.Say, &s) == nil && match(s)
	})
}

func (w *worker) ready() { w.t.Helper(); w.said(func(s Said) bool { return s.Ready }) }

// stop lets the worker finish and collects the rest.
func (w *worker) stop() {
	w.t.Helper()
	w.tell(Told{Stop: true})
	w.said(func(s Said) bool { return s.Done })
	if err := <-w.ended; err != nil {
		w.t.Error(err)
	}
}

// store serves the guarded resource and collects its log.
func store(t *testing.T) (addr string, log func() []history.Op) {
	t.Helper()
	var mu sync.Mutex
	var ops []history.Op
	s, err := resource.NewStore(resource.Rules{}, func(op history.Op) { mu.Lock(); ops = append(ops, op); mu.Unlock() })
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- resource.ServeListener(ctx, l, s) }()
	t.Cleanup(func() { cancel(); <-done })
	return l.Addr().String(), func() []history.Op { mu.Lock(); defer mu.Unlock(); return slices.Clone(ops) }
}

func fired(checkpoint string) func(agent.Line) bool {
	return func(l agent.Line) bool { return l.Checkpoint != nil && l.Checkpoint.Checkpoint == checkpoint }
}

// Three workers record a history that keeps its own rules and in which a sound
// lock holds.
func TestGuardedWriteRecordsAHistoryThatHolds(t *testing.T) {
	addr, log := store(t)
	var workers []*worker
	for n := range 3 {
		w := startWorker(t, addr, Spec{Number: n, Work: time.Millisecond, Renew: n == 0})
		w.ready()
		workers = append(workers, w)
	}
	for _, w := range workers {
		w.tell(Told{Begin: true})
	}
	time.Sleep(300 * time.Millisecond)
	var ops []history.Op
	for _, w := range workers {
		w.stop()
		ops = append(ops, w.ops...)
	}
	ops = append(ops, log()...)
	setup := history.Setup{Promise: locks.MemoryPromise, Lease: 300 * time.Millisecond, Keys: []string{t.Name()}}
	history.Sort(ops)
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	result := checker.Judge(setup, ops)
	for _, name := range []string{"mutual-exclusion", "lease-exclusion", "fencing-monotonic", "validity-bound"} {
		if p := result.Property(name); p.Verdict != checker.Holds {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if result.Counts.Grants < 10 || result.Counts.Contended == 0 {
		t.Errorf("too little happened: %+v", result.Counts)
	}
}

// A worker stops at an armed checkpoint until it is let through, and nowhere else.
func TestCheckpoint(t *testing.T) {
	addr, _ := store(t)
	w := startWorker(t, addr, Spec{})
	w.ready()
	w.order(agent.Order{Armed: &[]string{AtBeforeWrite}})
	w.tell(Told{Begin: true})
	at := w.until(fired(AtBeforeWrite)).Checkpoint
	seen := len(w.ops)
	if last := w.ops[seen-1]; last.F == history.Write {
		t.Errorf("it has written before the checkpoint: %+v", last)
	}
	select {
	case l := <-w.lines:
		if l.Op != nil {
			var op history.Op
			if json.Unmarshal(l.Op, &op) == nil && op.F != history.Holder {
				t.Errorf("it went on without leave: %+v", op)
			}
		}
	case <-time.After(50 * time.Millisecond):
	}
	w.order(agent.Order{Armed: &[]string{}})
	w.order(agent.Order{Go: at.ID})
	w.until(func(l agent.Line) bool {
		return len(w.ops) > 0 && w.ops[len(w.ops)-1].F == history.Write && w.ops[len(w.ops)-1].Type == history.OK
	})
	w.stop()
}

// A client that waits and is asked to end says at once that it has lived until then.
func TestStopIsNotedWhileAClientWaits(t *testing.T) {
	addr, _ := store(t)
	holder := startWorker(t, addr, Spec{Lock: locks.Config{Lease: 10 * time.Second}})
	holder.ready()
	holder.order(agent.Order{Armed: &[]string{AtAcquired}})
	holder.tell(Told{Begin: true})
	at := holder.until(fired(AtAcquired)).Checkpoint

	w := startWorker(t, addr, Spec{Number: 1, Lock: locks.Config{Lease: 10 * time.Second}})
	w.ready()
	w.tell(Told{Begin: true})
	latest := func(f history.F) func(agent.Line) bool {
		return func(l agent.Line) bool { return l.Op != nil && w.ops[len(w.ops)-1].F == f }
	}
	w.until(latest(history.Acquire))
	w.tell(Told{Stop: true})
	w.until(latest(history.Stop))
	stop, asked := w.ops[len(w.ops)-1], w.ops[len(w.ops)-2]
	if stop.Type != history.Note || stop.Node != "client-1" || asked.Type != history.Invoke || stop.Time < asked.Time {
		t.Errorf("%+v after %+v", stop, asked)
	}
	holder.order(agent.Order{Armed: &[]string{}})
	holder.order(agent.Order{Go: at.ID})
	w.said(func(s Said) bool { return s.Done })
	holder.stop()
}

// Held at the checkpoint for longer than its lease, a client that checks its deadline abstains.
func TestCheckDeadlineAbstains(t *testing.T) {
	addr, _ := store(t)
	w := startWorker(t, addr, Spec{Settings: settings.Settings{SelfFence: FenceDeadline}, Lock: locks.Config{Lease: 100 * time.Millisecond}})
	w.ready()
	w.order(agent.Order{Armed: &[]string{AtBeforeWrite}})
	w.tell(Told{Begin: true})
	at := w.until(fired(AtBeforeWrite)).Checkpoint
	time.Sleep(150 * time.Millisecond)
	w.order(agent.Order{Armed: &[]string{}})
	w.order(agent.Order{Go: at.ID})
	w.until(func(l agent.Line) bool { return len(w.ops) > 0 && w.ops[len(w.ops)-1].F == history.Abstain })
	w.stop()
}

// With renewal a grant outlives its lease, and each renewal is recorded by a process of its own.
func TestRenewal(t *testing.T) {
	addr, _ := store(t)
	w := startWorker(t, addr, Spec{Renew: true, Work: 400 * time.Millisecond, Lock: locks.Config{Lease: 150 * time.Millisecond}})
	w.ready()
	w.tell(Told{Begin: true})
	w.until(func(agent.Line) bool {
		return len(w.ops) > 0 && w.ops[len(w.ops)-1].F == history.Release && w.ops[len(w.ops)-1].Type == history.OK
	})
	extends := 0
	for _, op := range w.ops {
		if op.F == history.Extend && op.Type == history.OK {
			extends++
			if op.Process == w.ops[0].Process || op.Deadline <= op.Mono {
				t.Errorf("renewal %+v", op)
			}
		}
	}
	if extends < 2 {
		t.Errorf("%d renewals in work longer than the lease", extends)
	}
	w.stop()
}

func TestFinallyAcquiresEveryKey(t *testing.T) {
	addr, _ := store(t)
	w := startWorker(t, addr, Spec{Mode: Finally, Number: 9})
	w.said(func(s Said) bool { return s.Done })
	var fs []history.F
	for _, op := range w.ops {
		fs = append(fs, op.F)
	}
	want := []history.F{history.Final, history.Acquire, history.Acquire, history.Release, history.Release}
	if !slices.Equal(fs, want) {
		t.Errorf("recorded %v, want %v", fs, want)
	}
}

func TestUnknownBackendIsFatal(t *testing.T) {
	addr, _ := store(t)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { _ = Worker(t.Context(), inR, outW); _ = outW.Close() }()
	spec, _ := json.Marshal(Told{Spec: &Spec{Mode: Guarded, Backend: "no-such", Resource: ResourceSpec{Addr: addr}}})
	line, _ := json.Marshal(agent.Order{Say: spec})
	go func() { _, _ = inW.Write(append(line, '\n')) }()
	text, _ := io.ReadAll(outR)
	if !strings.Contains(string(text), `"fatal":"worker: unknown backend`) {
		t.Errorf("said %s", text)
	}
}

// An error is info unless proven to have had no effect.
func TestOutcome(t *testing.T) {
	tests := []struct {
		err  error
		want history.Type
	}{
		{nil, history.OK},
		{locks.ErrNotGranted, history.Fail},
		{fmt.Errorf("redis: %w", locks.ErrNotHeld), history.Fail},
		{resource.ErrNoEffect, history.Fail},
		{context.DeadlineExceeded, history.Info},
		{io.ErrUnexpectedEOF, history.Info},
		{errors.New("whatever"), history.Info},
	}
	for _, test := range tests {
		if got := outcome(test.err); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}

// After an unknown outcome the process id is retired.
func TestProcessIsRetiredAfterInfo(t *testing.T) {
	l := &link{out: io.Discard, armed: map[string]bool{}}
	r := newRecorder(l, Spec{Number: 2})
	p := r.process()
	before := p.id
	_ = p.call(history.Op{F: history.Write}, func(*history.Op) error { return io.ErrUnexpectedEOF })
	if p.id == before || before != 2*perClient {
		t.Errorf("process %d, then %d", before, p.id)
	}
	_ = p.call(history.Op{F: history.Write}, func(*history.Op) error { return locks.ErrNotHeld })
	if p.id != before+1 {
		t.Errorf("a certain failure retired the process")
	}
}
