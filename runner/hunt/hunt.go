// Package hunt searches for what nobody has described: it draws short trials from a seed,
// learns from what each has shown, and keeps what this lock does worse than it should.
package hunt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
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
	First     bool // end with the first finding, as it was seen
	Seed      uint64
	Known     Accepting
	Dir       string
	Command   []string
	Watch     Watcher
	Run       func(context.Context, runner.Options, runner.Progress) (*runner.Outcome, error) // runner.Run
	Applies   Applies                                                                         // runner.Applies
}

// Applies says why options make no sense together, or "".
type Applies func(context.Context, runner.Options) (string, error)

// Watcher is told what goes on.
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
	Error    string   `json:"error,omitempty"`
}

// Hunt is one that goes on. It is used by one goroutine.
type Hunt struct {
	Spec
	Report *Report
	pool   Pool
	begun  time.Time
	before float64 // seconds of earlier sessions
	trials *os.File
	broken int // trials in a row that reached no judgement
	last   error
	took   time.Duration // of the last run
}

// searching is the part of the time that a hunt with findings searches on; the rest makes them small.
const searching = 0.7

// New begins a hunt in its folder, or goes on with the one that is there.
func New(spec Spec) (*Hunt, error) {
	h := &Hunt{Spec: spec}
	if err := os.MkdirAll(filepath.Join(spec.Dir, runsDir), 0o755); err != nil {
		return nil, err
	}
	if err := h.resume(); err != nil {
		return nil, err
	}
	var err error
	h.trials, err = os.OpenFile(filepath.Join(spec.Dir, trialsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	return h, err
}

// Files of a hunt's folder, beside its reports.
const (
	trialsFile  = "trials.jsonl"
	runsDir     = "runs"
	findingsDir = "findings"
)

// resume reads what an earlier session has left; without one it begins anew.
func (h *Hunt) resume() error {
	r, err := Read(h.Dir)
	if errors.Is(err, os.ErrNotExist) {
		h.Report = &Report{Format: Format, Lock: h.Options.Label(), Settings: brief(h.Options),
			Version: h.Options.Version, Command: h.Command, Seed: h.Seed,
			Started: time.Now().UTC().Truncate(time.Second), Next: 1, Findings: []*Finding{}, Left: []*Dismissed{}, coverage: map[Cover]Cover{}}
		return nil
	}
	if err != nil {
		return err
	}
	if r.Lock != h.Options.Label() {
		return fmt.Errorf("%w: %s is a hunt of %s, not of %s", runner.ErrUsage, h.Dir, r.Lock, h.Options.Label())
	}
	r.Stopped, r.Little = "", ""
	h.Report, h.before, h.Seed = r, r.Seconds, r.Seed
	return h.refill()
}

// refill puts the trials of earlier sessions into the pool.
func (h *Hunt) refill() error {
	f, err := os.Open(filepath.Join(h.Dir, trialsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := json.NewDecoder(f)
	for lines.More() {
		var t Tried
		if err := lines.Decode(&t); err != nil {
			return nil // the last line, of one that was killed
		}
		h.Report.Next = max(h.Report.Next, t.Number+1)
		if s, err := scenarios.Parse(trialsFile, []byte(t.Scenario)); err == nil && t.Error == "" {
			h.pool.Add(*s, t.Seen)
		}
	}
	return nil
}

// brief are the settings that are not at their default, by their flags.
func brief(o runner.Options) map[string]any {
	all := map[string]any{}
	for flag, text := range o.Settings.Brief().InWords() {
		if text != "" && text != "0" && text != "false" {
			all[flag] = text
		}
	}
	return all
}

// Go hunts until the time is over, ctx ends, or no trial can be run. What it has learnt is
// saved as it goes. An error is dlmtest's own.
func (h *Hunt) Go(ctx context.Context) error {
	defer h.trials.Close()
	h.begun = time.Now()
	err := h.learn(ctx)
	known := len(h.Report.Findings)
	first := func() bool { return h.First && len(h.Report.Findings) > known }
	for err == nil && ctx.Err() == nil && time.Since(h.begun) < h.limit() && h.Report.Stopped == "" && !first() {
		err = h.trial(ctx)
	}
	if err == nil && !first() {
		err = h.shrinkAll(ctx)
	}
	if ctx.Err() != nil {
		h.Report.Stopped = "it was interrupted"
		err = nil
	}
	h.Report.Little = h.little()
	return errors.Join(err, h.save())
}

// limit is when the search ends.
func (h *Hunt) limit() time.Duration {
	if slices.ContainsFunc(h.Report.Findings, func(f *Finding) bool { return !f.Shrunk }) {
		return time.Duration(float64(h.For) * searching)
	}
	return h.For
}

func (h *Hunt) save() error {
	h.Report.Seconds = h.before + time.Since(h.begun).Seconds()
	h.Report.Features = h.pool.Features()
	return h.Report.Save(h.Dir)
}

// learn runs the trial without a real fault that shows the messages on links.
func (h *Hunt) learn(ctx context.Context) error {
	t := h.Space.Learn()
	if why := h.Space.trouble(t); why != "" {
		h.Watch.Says("no messages are learnt: " + why)
		return nil
	}
	out, err := h.run(ctx, h.Options, t, h.Seed)
	for ; out == nil && ctx.Err() == nil && len(h.Space.Leases) > 1; out, err = h.run(ctx, h.Options, t, h.Seed) {
		h.Watch.Says(fmt.Sprintf("no run with a lease of %v, which a lock may say when it is opened only: %v", h.Space.Leases[0], err))
		h.Space.Leases = h.Space.Leases[1:]
		t = h.Space.Learn()
	}
	if out == nil {
		return h.failed(ctx, err)
	}
	h.Space = h.Space.Learnt(out.Passed, out.Setup.Servers)
	h.Report.Messages = h.Space.Messages
	h.Watch.Says("learnt: " + h.Space.String())
	return os.RemoveAll(out.Dir)
}

// run makes one run of a scenario.
func (h *Hunt) run(ctx context.Context, o runner.Options, t scenarios.Scenario, seed uint64) (*runner.Outcome, error) {
	o.Scenario, o.Seed, o.Out, o.Part, o.Oracle = t, seed, filepath.Join(h.Dir, runsDir), true, "off"
	begun := time.Now()
	out, err := h.Run(ctx, o, quiet{})
	h.took = time.Since(begun)
	h.Report.Runs++
	if out != nil && ctx.Err() != nil {
		return nil, ctx.Err() // cut short: it says too little
	}
	if out != nil && slices.ContainsFunc(out.Ops, func(op history.Op) bool { return op.F == history.Adapter }) {
		return nil, errors.Join(errAdapter, err, os.RemoveAll(out.Dir))
	}
	return out, err
}

var errAdapter = errors.New("the adapter broke the lock client protocol, or ended; dlmtest conform shows what it does wrong")

// mostBroken is how many trials in a row may fail: then each would.
const mostBroken = 3

// failed counts a trial that reached no judgement, and stops a hunt in which each does.
func (h *Hunt) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	h.Report.Failed++
	h.last = err
	if h.broken++; h.broken >= mostBroken || h.Report.Trials == 0 && h.broken > 1 {
		h.Report.Stopped = fmt.Sprintf("%d trials in a row reached no judgement; the last: %v", h.broken, err)
	}
	if errors.Is(err, runner.ErrUsage) && h.Report.Trials == 0 {
		return err
	}
	return nil
}

// trial runs the next trial, files what it shows, and looks into what it violates.
func (h *Hunt) trial(ctx context.Context) error {
	number := h.Report.Next
	seed := h.Seed + uint64(number)
	t := h.pool.Next(seed, number, h.Space)
	out, err := h.run(ctx, h.Options, t, seed)
	if ctx.Err() != nil {
		return nil // it is tried again by a session that goes on
	}
	h.Report.Next++
	tried := Tried{Number: number, Seed: seed, Scenario: string(t.YAML()), Seconds: round(h.took)}
	if out == nil {
		tried.Error = fmt.Sprint(err)
		return errors.Join(h.keep(tried), h.failed(ctx, err), h.save())
	}
	h.broken = 0
	h.Report.Trials++
	h.Report.cover(t, out.Ops)
	tried.Seen = See(out.Setup, out.Ops, out.Result)
	tried.Fresh = h.pool.Add(t, tried.Seen)
	for _, p := range out.Result.Properties {
		if p.Verdict == checker.Violated {
			tried.Violated = append(tried.Violated, p.Name)
		}
	}
	h.Watch.Tried(tried, h.Report)
	if err := h.keep(tried); err != nil {
		return err
	}
	if err := h.candidates(ctx, number, t, seed, out); err != nil {
		return err
	}
	return h.save()
}

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

// Least are the trials below which finding nothing says nothing.
const Least = 10

// little says why too little was tried, or "".
func (h *Hunt) little() string {
	r := h.Report
	seen := 0
	for _, c := range r.coverage {
		seen += c.Seen
	}
	switch {
	case len(r.Findings) > 0:
		return ""
	case r.Trials < Least:
		return fmt.Sprintf("%d trials were judged, which is too few to say anything; give it more time with --for",
			r.Trials)
	case r.Failed > r.Trials:
		return fmt.Sprintf("%d of %d trials reached no judgement; the last: %v", r.Failed, r.Failed+r.Trials, h.last)
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
