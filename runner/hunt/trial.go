package hunt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// learn runs the trial without a real fault that shows the messages on links.
func (h *Hunt) learn(ctx context.Context) error {
	t := h.Space.Learn()
	if why := h.Space.trouble(t); why != "" {
		h.says("no messages are learnt: " + why)
		return nil
	}
	out, err := h.run(ctx, h.shared(), t, h.Seed, false)
	again := func() bool {
		return out == nil && ctx.Err() == nil && len(h.Space.Leases) > 1 && time.Since(h.begun) < h.For
	}
	for ; again(); out, err = h.run(ctx, h.shared(), t, h.Seed, false) {
		h.says(fmt.Sprintf("no run with a lease of %v, which a lock may say when it is opened only: %v", h.Space.Leases[0], err))
		h.Space.Leases = h.Space.Leases[1:]
		t = h.Space.Learn()
	}
	if out == nil {
		return h.failed(ctx, err)
	}
	if len(h.Options.Adapter) > 0 {
		h.Space = h.Space.Promised(out.Setup.Promise)
	}
	h.Space = h.Space.Learnt(out.Passed, out.Setup.Servers, out.Result.Counts.Grants)
	h.Report.Messages = h.Space.Messages
	h.says("learnt: " + h.Space.String())
	return h.forget(out.Dir)
}

// shared are the options of a trial, which may have the cluster of another one, and lingers where a key is stuck. What it shows
// counts for nothing until it has come again in a cluster of its own.
func (h *Hunt) shared() runner.Options {
	o := h.Options
	o.Warm, o.Linger = h.warm, true
	return o
}

// run makes one run of a scenario in a folder of its own. An adapter that broke its protocol is an error.
func (h *Hunt) run(ctx context.Context, o runner.Options, t scenarios.Scenario, seed uint64, alone bool) (*runner.Outcome, error) {
	o.Scenario, o.Seed, o.Out, o.Part, o.Oracle = t, seed, h.folder(), true, "off"
	out, err := h.within(ctx, o, quiet{}, alone)
	switch {
	case ctx.Err() != nil: // cut short: it says too little
		return nil, errors.Join(ctx.Err(), h.remove(o.Out))
	case out != nil && slices.ContainsFunc(out.Ops, func(op history.Op) bool { return op.F == history.Adapter }):
		err = errors.Join(errAdapter, err)
		out = nil
	}
	if out == nil {
		return nil, errors.Join(err, h.keepLast(o.Out))
	}
	return out, err
}

// within makes a run once there is room for it. A run that is alone waits until no other goes
// on, and none begins beside it.
func (h *Hunt) within(ctx context.Context, o runner.Options, p runner.Progress, alone bool) (*runner.Outcome, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if alone {
		h.single.Lock()
		defer h.single.Unlock()
	} else {
		h.single.RLock()
		defer h.single.RUnlock()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	begun := time.Now()
	out, err := h.Run(ctx, o, p)
	h.ran(time.Since(begun))
	return out, err
}

// fewer has one run less go on at a time, and says why.
func (h *Hunt) fewer(why string) {
	h.mu.Lock()
	left := h.Parallel - h.less - 1
	if left > 0 {
		h.less++
	}
	h.mu.Unlock()
	if left == 0 {
		return
	}
	go func() { h.slots <- struct{}{} }() // once a run has ended
	h.says(fmt.Sprintf("%s: %s at a time from now on", why, nouns.Count(left, "run")))
}

// The machine does not bear as many runs at a time as there are, if it disturbs more than so many trials in a row of so many.
const (
	crowdOf   = 12
	mostCrowd = 4
)

// crowded counts a trial, and says that there are too many at a time. h.mu is held.
func (h *Hunt) crowded(disturbed bool) bool {
	if h.lately++; disturbed {
		h.crowd++
	}
	if h.lately < crowdOf {
		return false
	}
	much := h.crowd > mostCrowd
	h.lately, h.crowd = 0, 0
	return much
}

var errAdapter = errors.New("the adapter broke the lock client protocol, or ended; dlmtest conform shows what it does wrong")

// ran counts a run.
func (h *Hunt) ran(took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.took = took
	h.Report.Runs++
}

// mostBroken is how many trials in a row may fail: then each would.
const mostBroken = 3

// failed counts a trial that reached no judgement, and stops a hunt in which each does.
func (h *Hunt) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	h.Report.Failed++
	h.last = err
	if errors.Is(err, runner.ErrNoRoom) {
		return err // each would fail, and room can be made
	}
	if h.broken++; h.broken >= mostBroken || h.Report.Trials == 0 && h.broken > 1 {
		h.Report.Stopped = fmt.Sprintf("%d trials in a row reached no judgement; the last, whose folder is %s: %v",
			h.broken, h.failures, err)
	}
	if errors.Is(err, runner.ErrUsage) && h.Report.Trials == 0 {
		return err
	}
	return nil
}

// trial runs a trial, files what it shows, and notes what it violates, to look into it.
func (h *Hunt) trial(ctx context.Context, number int, seed uint64, t scenarios.Scenario) error {
	begun := time.Now()
	out, err := h.run(ctx, h.shared(), t, seed, false)
	if out == nil && h.Parallel > 1 && ctx.Err() == nil && !errors.Is(err, runner.ErrUsage) && !errors.Is(err, errAdapter) {
		if out, err = h.run(ctx, h.Options, t, seed, true); out != nil {
			h.fewer("a trial came to a judgement only with nothing beside it")
		}
	}
	tried := Tried{Number: number, Seed: seed, Scenario: string(t.YAML()), Seconds: round(time.Since(begun))}
	if ctx.Err() != nil {
		return nil // it is tried again by a session that goes on
	}
	if out == nil {
		return h.locked(func() error {
			tried.Error = fmt.Sprint(err)
			return errors.Join(h.keep(tried), h.failed(ctx, err), h.save())
		})
	}
	tried.Shared = out.Run.Shared > 0
	tried.Seen = See(out.Setup, out.Ops, out.Result)
	for _, p := range out.Result.Properties {
		if p.Verdict == checker.Violated {
			tried.Violated = append(tried.Violated, p.Name)
		}
	}
	all := h.candidates(t, out)
	err = errors.Join(h.keepHistory(number, out, all), h.forget(out.Dir)) // what is a finding is shown by a run of its own
	crowded := false
	err = errors.Join(err, h.locked(func() error {
		h.broken = 0
		h.Report.Trials++
		if !usable(out) {
			h.Report.Disturbed++
		}
		crowded = h.crowded(!usable(out))
		if out.Run.Shared > 0 {
			h.Report.Shared++
		}
		h.Report.cover(t, out.Ops)
		tried.Fresh = h.pool.Add(number, t, tried.Seen)
		h.talk.Lock()
		h.Watch.Tried(tried, h.Report)
		h.talk.Unlock()
		if len(all) > 0 {
			h.suspects = append(h.suspects, &suspect{number: number, seed: seed, trial: lingered(t, out.Lingered), met: outcomes(t, out.Ops), all: all})
		}
		return errors.Join(h.keep(tried), h.save())
	}))
	if crowded {
		h.fewer("the machine disturbs many trials")
	}
	return err
}

// keep adds a line to trials.jsonl.
func (h *Hunt) keep(t Tried) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = h.trials.Write(append(line, '\n'))
	return err
}

func round(d time.Duration) float64 {
	return float64(d.Round(100*time.Millisecond)) / float64(time.Second)
}

// little says why too little was tried, or "".
func (r *Report) little(last string) string {
	seen := 0
	for _, c := range r.coverage {
		seen += c.Seen
	}
	switch {
	case len(r.Findings) > 0:
		return ""
	case r.Failed > r.Trials:
		return fmt.Sprintf("%d of %d trials reached no judgement; the last: %s", r.Failed, r.Failed+r.Trials, last)
	case r.Stopped != "":
		return "it ended before its time"
	case r.Trials < Least:
		return fmt.Sprintf("%d trials were judged, which is too few to say anything; give it more time with --for",
			r.Trials)
	case r.Disturbed*2 > r.Trials:
		return fmt.Sprintf("%d of %d trials were disturbed by a busy machine; let fewer run at a time with --parallel", r.Disturbed, r.Trials)
	case len(r.Undecided()) > 0:
		return fmt.Sprintf("violations of %s were not looked into, as the time was over; give it more with --for, or let fewer run at a time with --parallel",
			strings.Join(r.Undecided(), ", "))
	case seen == 0:
		return "no fault was seen at a victim; dlmtest doctor says what this machine lacks"
	}
	return ""
}

// usable says whether a run decides anything about a property that it does not violate.
func usable(out *runner.Outcome) bool { return out != nil && !matrix.Disturbed(out.Result) }

// quiet shows nothing of a run.
type quiet struct{}

func (quiet) Phase(string)                {}
func (quiet) Line(string)                 {}
func (quiet) Live(runner.Counts, float64) {}
