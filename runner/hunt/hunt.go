// Package hunt searches for what nobody has described: it draws short trials from a seed,
// learns from what each has shown, and keeps what this lock does worse than it should.
package hunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Spec is what a hunt is asked for.
type Spec struct {
	Options   runner.Options  // of every run, without a scenario
	Reference *runner.Options // of the backend's own lock; nil: the one under test is it, or there is none
	Space     Space
	For       time.Duration
	First     bool // end with the first finding that the reference lock does not show, as it was seen
	Seed      uint64
	Parallel  int          // runs at a time; 0 and 1: one by one
	Shard     matrix.Shard // the part of the trials to run; the zero value: all
	Known     Accepting
	Dir       string
	Command   []string
	Watch     Watcher
	Run       func(context.Context, runner.Options, runner.Progress) (*runner.Outcome, error) // runner.Run
	Applies   Applies                                                                         // runner.Applies
}

// Applies says why options make no sense together, or "".
type Applies func(context.Context, runner.Options) (string, error)

// Watcher is told what goes on, by one goroutine at a time.
type Watcher interface {
	// Tried is told of each trial that has ended.
	Tried(t Tried, r *Report)
	// Says is one line on what is done beside trials.
	Says(line string)
}

// Tried is one trial as trials.jsonl keeps it.
type Tried struct {
	Number   int      `json:"number"`
	Seed     uint64   `json:"seed"`
	Scenario string   `json:"scenario"`
	Seen     Seen     `json:"seen"`
	Fresh    int      `json:"fresh"` // features that nobody had seen before
	Violated []string `json:"violated,omitempty"`
	Seconds  float64  `json:"seconds"`
	Shared   bool     `json:"shared,omitempty"` // its cluster had served a trial before
	Error    string   `json:"error,omitempty"`
}

// Hunt is one that goes on.
type Hunt struct {
	Spec
	Report *Report
	begun  time.Time
	before float64       // seconds of earlier sessions
	in     *os.Root      // its folder
	trials *os.File      // in it
	slots  chan struct{} // one for each run at a time
	less   int           // how many of them the machine does not bear
	single sync.RWMutex  // held for writing by a run that nothing may go on beside
	enough context.CancelFunc
	warm   *runner.Warm // the clusters that trials share, and first runs of the reference lock

	mu        sync.Mutex // of what follows, and of Report
	pool      Pool
	taken     map[int]bool // numbers of trials
	folders   int          // of runs, so far
	suspects  []*suspect
	seldom    []*seldom
	looking   map[string]looked // causes that are looked into, by name
	shrinking int               // findings that are made small now
	known     int               // findings of earlier sessions
	broken    int               // trials in a row that reached no judgement
	lately    int               // trials since it was last asked how many the machine disturbs
	crowd     int               // of these, it disturbed
	last      error
	failures  string        // the folder of the last run that failed
	took      time.Duration // of the last run
	err       error         // dlmtest's own, which ends the hunt
	talk      sync.Mutex    // of Watch
}

// searching is the part of the time after which one worker alone makes findings small.
const searching = 0.7

// Go hunts until the time is over, ctx ends, or no trial can be run. What it has learnt is
// saved as it goes. An error is dlmtest's own.
func (h *Hunt) Go(ctx context.Context) error {
	defer func() { _ = errors.Join(h.trials.Close(), h.in.Close()) }() // each line was written at once
	defer scratch.Hold(h.Dir)()
	h.begun = time.Now()
	h.slots = make(chan struct{}, max(h.Parallel, 1))
	h.warm = &runner.Warm{Most: 2 * max(h.Parallel, 1)} // of this lock, and of the reference lock
	h.known = len(h.Report.Findings)
	h.err = h.learn(ctx)
	working, enough := context.WithCancel(ctx)
	defer enough()
	h.enough = enough
	var workers sync.WaitGroup
	for range max(h.Parallel, 1) {
		workers.Go(func() {
			for do := h.next(working); do != nil; do = h.next(working) {
				h.fail(do(working))
			}
		})
	}
	workers.Wait()
	closed := errors.Join(h.warm.Close(context.WithoutCancel(ctx)), h.forgetSeldom())
	if ctx.Err() != nil {
		h.Report.Stopped = "it was interrupted"
	}
	h.Report.Little = h.Report.little(fmt.Sprint(h.last))
	err := h.save() // of a disk that was full before it tells the same
	if err == nil || !errors.Is(h.err, syscall.ENOSPC) && !errors.Is(h.err, runner.ErrNoRoom) {
		err = errors.Join(h.err, err)
	}
	return runner.NoRoom(errors.Join(err, closed), "go on with --resume "+h.Dir+"; what was learnt before is kept")
}

// fail keeps the first error, which ends the hunt.
func (h *Hunt) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
}

// overtime is for how long, at least, what was violated is looked into once the time is over. A long hunt takes half as long again.
const overtime = 2 * time.Minute

// next is what a worker does next; nil: nothing is left. What was violated is looked into before
// anything else is tried, and for a while even when the time is over.
func (h *Hunt) next(ctx context.Context) func(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || h.Report.Stopped != "" || h.First && h.foundOwn() {
		h.enough() // what others try now is of no use
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	spent := time.Since(h.begun)
	if spent >= h.For+max(h.For/2, overtime) {
		h.leave()
	}
	if s := h.suspect(); s != nil {
		return func(ctx context.Context) error { return h.examine(ctx, s) }
	}
	late := spent >= time.Duration(float64(h.For)*searching)
	if late || h.shrinking < h.Parallel/2 {
		if f := h.large(); f != nil {
			h.shrinking++
			return func(ctx context.Context) error { return h.makeSmall(ctx, f) }
		}
	}
	if spent >= h.For {
		return nil
	}
	number := h.number()
	h.taken[number] = true
	seed := h.Seed + uint64(number)
	use, n := h.Space.plainly(number, h.Shard)
	var t scenarios.Scenario
	if use >= 0 {
		t = h.Space.plainUse(use)
	} else {
		t = h.pool.Next(seed, h.place(n), h.Space)
	}
	t.Name = fmt.Sprintf("trial-%d", number)
	return func(ctx context.Context) error { return h.trial(ctx, number, seed, t) }
}

// leave files what nobody has begun to look into, as the time is over, as not decided.
func (h *Hunt) leave() {
	for _, s := range h.suspects {
		for _, c := range s.all {
			if !h.settled(c, s.trial) {
				h.says(fmt.Sprintf("not decided, %s: %s", c.Property, h.dismiss(c, Late, "the time was over before it was looked into")))
			}
		}
	}
	h.suspects = nil
}

// foundOwn says that this session has found what the reference lock does not show: what the servers do wrong under any lock is no end.
func (h *Hunt) foundOwn() bool {
	return slices.ContainsFunc(h.Report.Findings[h.known:], func(f *Finding) bool { return f.ReferenceFound == 0 })
}

// place is that of the n-th trial of this shard that is no plain use; hunts of other seeds begin elsewhere.
func (h *Hunt) place(n int) place {
	at := placed(n, h.Shard)
	at.turn += int(h.Seed % uint64(len(rota)))
	return at
}

// number is that of the next trial: of those of this shard, the first that was not tried.
func (h *Hunt) number() int {
	first, step := 1, 1
	if h.Shard.Count > 0 {
		first, step = h.Shard.Index, h.Shard.Count
	}
	for n := first; ; n += step {
		if !h.taken[n] {
			return n
		}
	}
}

// large is a finding that is to be made small.
func (h *Hunt) large() *Finding {
	i := slices.IndexFunc(h.Report.Findings, func(f *Finding) bool { return !f.Shrunk && !f.begun })
	if i < 0 {
		return nil
	}
	h.Report.Findings[i].begun = true
	return h.Report.Findings[i]
}

// locked does what changes the report, or the pool.
func (h *Hunt) locked(do func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return do()
}

// says tells a line.
func (h *Hunt) says(line string) {
	h.talk.Lock()
	defer h.talk.Unlock()
	h.Watch.Says(line)
}

// spent are the seconds of all sessions.
func (h *Hunt) spent() float64 { return h.before + time.Since(h.begun).Seconds() }

// save writes the report; nobody may change it meanwhile.
func (h *Hunt) save() error {
	h.Report.Seconds, h.Report.Features = h.spent(), h.pool.Features()
	h.Report.Next = h.number()
	return h.Report.Save(h.in)
}

// Least are the trials below which finding nothing says nothing.
const Least = 10
