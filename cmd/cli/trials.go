package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// tested is a trial and what its runs have shown so far.
type tested struct {
	trial
	file           *scenarios.Scenario
	runs, passed   int
	ended, repeats int
	took           time.Duration // of all its runs
	unclear, erred int
	failed         []string // what each that did not pass has shown
}

// alone says whether a trial must be alone on the machine. A lie is inconclusive however busy the
// machine is, and a client that is killed has no length that could be missed.
func (t *tested) alone() bool {
	kills := !slices.ContainsFunc(t.file.Faults, func(f scenarios.Fault) bool { return f.Fault != "kill" })
	return t.part != "lies" && !kills && t.file.Alone()
}

// play runs the trials of all parts, each as often as asked for.
func (f selfFlags) play(ctx context.Context, w io.Writer) (all []*tested, err error) {
	var jobs []*tested
	for _, t := range trials() {
		if !slices.Contains(f.parts, t.part) {
			continue
		}
		file, err := scenarios.Load(t.scenario)
		if err != nil {
			return nil, err
		}
		if flaw := locks.Table[t.backend].Broken; flaw != nil && flaw.Lease > 0 {
			file.Lease = scenarios.Duration{Fixed: flaw.Lease}
		}
		all = append(all, &tested{trial: t, file: file, runs: f.count})
		for range f.count {
			jobs = append(jobs, all[len(all)-1])
		}
	}
	var warm *runner.Warm
	if f.count > 1 {
		warm = &runner.Warm{Most: f.parallel}
	}
	var lock sync.Mutex
	work := matrix.Work[*tested]{Parallel: f.parallel, Alone: (*tested).alone}
	work.Do = func(ctx context.Context, t *tested, again bool) bool {
		for attempt := 1; ; attempt++ {
			begun, o := time.Now(), t.options(f)
			if !again {
				o.Warm = warm
			}
			out, err := runner.Run(ctx, o, quiet{})
			lock.Lock()
			t.took += time.Since(begun)
			if (t.stateOf(out, err) == trialUnclear || errors.Is(err, runner.ErrShared)) && ctx.Err() == nil && (!again || attempt < mostAgain) {
				t.repeats++ // that is no verdict
				lock.Unlock()
				if !again {
					return true // once it has no company
				}
				continue
			}
			t.note(out, err)
			if t.ended == t.runs && ctx.Err() == nil {
				f.print(w, t.event(), t.line())
			}
			lock.Unlock()
			return false
		}
	}
	work.Run(ctx, jobs)
	err = warm.Close(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil, errors.Join(errors.New("interrupted"), err)
	}
	return all, err
}

func (t *tested) options(f selfFlags) runner.Options {
	s := settings.Settings{Oracle: "off", Runtime: f.runtime}
	if flaw := locks.Table[t.backend].Broken; flaw != nil {
		s.FenceOn = flaw.FenceOn
	}
	return runner.Options{Scenario: *t.file, Backend: t.backend, Seed: newSeed(), Out: f.out, Settings: s, Self: self(), Version: version, Lie: t.lie}
}

// mostAgain is how often a run that decided nothing is repeated.
const mostAgain = 2

// note counts a run that has ended.
func (t *tested) note(out *runner.Outcome, err error) {
	t.ended++
	switch t.stateOf(out, err) {
	case trialPassed:
		t.passed++
	case trialFailed:
		t.erred++
		t.failed = append(t.failed, "ERROR: "+err.Error())
	case trialUnclear:
		t.unclear++
		t.failed = append(t.failed, fmt.Sprintf("INCONCLUSIVE: %s: %s; see %s", summary(out.Result), strings.Join(out.Result.Doubts, " "), out.Dir))
	case trialWrong:
		t.failed = append(t.failed, fmt.Sprintf("WRONG: %s; see %s%s", summary(out.Result), out.Dir, firstWords(out.Result)))
	}
}

// state is the worst of its runs.
func (t *tested) state() state {
	switch {
	case t.passed+t.erred+t.unclear < t.runs:
		return trialWrong
	case t.erred > 0:
		return trialFailed
	case t.unclear > 0:
		return trialUnclear
	}
	return trialPassed
}

// line is a trial that has ended.
func (t *tested) line() string {
	text := fmt.Sprintf("%-8s %-18s × %-24s wants %-28s %d of %d %6.1f s", t.part, t.scenario, t.backend, t.want, t.passed, t.runs, t.took.Seconds())
	if t.repeats > 0 {
		text += fmt.Sprintf("  (repeated, as they decided nothing: %d)", t.repeats)
	}
	for _, f := range t.failed {
		text += "\n  " + f
	}
	return text
}

// event is the same for programs.
func (t *tested) event() any {
	return struct {
		Part     string   `json:"part"`
		Scenario string   `json:"scenario"`
		Backend  string   `json:"backend"`
		Wants    string   `json:"wants"`
		State    state    `json:"state"`
		Passed   int      `json:"passed"`
		Runs     int      `json:"runs"`
		Repeats  int      `json:"repeats"`
		Seconds  float64  `json:"seconds"`
		Shown    []string `json:"shown,omitempty"` // by those that did not pass
	}{t.part, t.scenario, t.backend, t.want, t.state(), t.passed, t.runs, t.repeats, t.took.Seconds(), t.failed}
}

// summary names the verdict and the properties that are not green.
func summary(r checker.Result) string {
	words := []string{r.Verdict.String()}
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated || p.Verdict == checker.Unknown {
			words = append(words, p.Name+" "+p.Verdict.String())
		}
	}
	return strings.Join(words, ", ")
}

// firstWords tells the first violation of each property that is violated: the folder may be gone when it is asked for.
func firstWords(r checker.Result) string {
	var b strings.Builder
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated && len(p.Violations) > 0 {
			fmt.Fprintf(&b, "\n    %s: %s", p.Name, p.Violations[0].Message)
		}
	}
	return b.String()
}

// quiet shows nothing: a line for each run is enough.
type quiet struct{}

func (quiet) Phase(string)                {}
func (quiet) Line(string)                 {}
func (quiet) Live(runner.Counts, float64) {}
