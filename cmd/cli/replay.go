package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

const replayLong = `Run a saved run again, with the scenario, backend, seed, options and random faults that its
run.json records, even if this version of dlmtest would draw other faults. Then compare:

  reproduced      the same properties are violated, and no other
  not reproduced  none of them is violated
  other           some of them are not, or others are
  undecided       some were not seen violated, and the run is inconclusive

A live system is random: a fault that is triggered by a checkpoint strikes at the same place, but
which client wins a race may differ. --count N shows how often the violation comes again. A run
that the machine disturbed is repeated once, and both are listed. Differences from the first run,
such as the version of a server, are listed. The exit code is that of run: the worst of the new runs.` + trustLong

// replayFlags are the flags of `dlmtest replay`.
type replayFlags struct {
	count        int
	out, runtime string
	json         bool
	givenFlags
}

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "Run a saved run again, faults and all, and compare what it shows",
		Long:  replayLong,
		Example: `  dlmtest replay runs/latest
  dlmtest replay runs/latest --count 20
  dlmtest replay runs/latest --runtime local --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(atLeastOne("count", f.count), oneOf("runtime", f.runtime, "recorded", "docker", "local")); err != nil {
				return err
			}
			saved, err := f.replayable(args[0])
			if err != nil {
				return err
			}
			tellTrusted(cmd.ErrOrStderr(), saved.Trusted, saved.Options)
			return f.replay(cmd.Context(), cmd.OutOrStdout(), saved)
		},
	}
	cmd.Flags().IntVar(&f.count, "count", 1, "how often to run it")
	cmd.Flags().StringVar(&f.runtime, "runtime", "recorded", "where nodes run: recorded (as the first time), docker or local")
	cmd.Flags().StringVar(&f.out, "out", "runs", "folder for the new runs' folders")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON lines instead of text")
	f.register(cmd)
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete([]string{"recorded", "docker", "local"}))
	return cmd
}

// replayable reads a saved run. A matrix has many.
func (f givenFlags) replayable(dir string) (*runner.Saved, error) {
	if matrix.Is(dir) {
		return nil, usageError{fmt.Errorf("%s is the folder of a matrix; name one of its runs, which %s lists", dir, filepath.Join(dir, matrix.PageFile))}
	}
	given, err := f.given()
	if err != nil {
		return nil, err
	}
	return runner.Replayable(filepath.Clean(dir), given)
}

// replay runs a saved run again, as often as asked for.
func (f replayFlags) replay(ctx context.Context, w io.Writer, saved *runner.Saved) error {
	o := saved.Options
	o.Out, o.Self, o.Version, o.Command = f.out, self(), version, saved.Run.Command
	o.Part = true // "latest" stays at what is replayed
	if f.runtime != "recorded" {
		o.Runtime = f.runtime
	}
	if !f.json {
		fmt.Fprintf(w, "%s × %s, lease %v, seed %d; then: %s\n", o.Scenario.Name, o.Label(), o.Scenario.Lease, o.Seed, summary(saved.Result))
	}
	t := &tally{saved: saved, w: w, json: f.json, asked: f.count, again: map[string]int{}}
	for n := 1; n <= f.count && ctx.Err() == nil; n++ {
		if !f.json {
			fmt.Fprintf(stderr, "replay %d of %d\n", n, f.count)
		}
		t.once(ctx, n, o)
	}
	return t.end()
}

// tally counts what replays have shown.
type tally struct {
	saved    *runner.Saved
	w        io.Writer
	json     bool
	asked    int // runs
	matches  []runner.Match
	outcomes []reports.Outcome
	again    map[string]int // runs that violate a property
	errs     []error
}

// once runs it once more, and twice if the machine disturbs it.
func (t *tally) once(ctx context.Context, n int, o runner.Options) {
	for attempt := 1; ; attempt++ {
		var show progress = silent{}
		if t.asked == 1 {
			show = newProgress(t.json)
		}
		begun := time.Now()
		out, err := runner.Run(ctx, o, show)
		show.Done()
		disturbed := err == nil && ctx.Err() == nil && attempt == 1 && matrix.Disturbed(out.Result)
		t.note(n, out, err, time.Since(begun), disturbed)
		if !disturbed {
			return
		}
	}
}

// silent shows nothing: of many runs a line for each is enough.
type silent struct{ quiet }

func (silent) Done() {}

// note counts a run, unless it is to be repeated.
func (t *tally) note(n int, out *runner.Outcome, err error, took time.Duration, again bool) {
	if out == nil {
		t.errs = append(t.errs, err)
		t.say(n, runner.Match{}, nil, err, took, again)
		return
	}
	m := runner.Compare(t.saved.Result, out.Result)
	if differ := otherVersions(t.saved.Run, out.Run); n == 1 && len(differ) > 0 {
		fmt.Fprintln(stderr, "not as the first time: "+strings.Join(differ, ", "))
	}
	t.say(n, m, out, err, took, again)
	if again && out.Result.Verdict != checker.Violated { // a violation always counts
		return
	}
	t.outcomes = append(t.outcomes, reports.OutcomeOf(out.Result.Verdict))
	if err != nil {
		t.errs = append(t.errs, err)
	}
	if again || out.Run.Interrupted != "" {
		return
	}
	t.matches = append(t.matches, m)
	for _, p := range out.Result.Properties {
		if p.Verdict == checker.Violated {
			t.again[p.Name]++
		}
	}
}

// say tells of one run.
func (t *tally) say(n int, m runner.Match, out *runner.Outcome, err error, took time.Duration, again bool) {
	if t.json {
		e := map[string]any{"event": "replay", "number": n, "disturbed": again, "took": took}
		if out != nil {
			e["match"], e["dir"], e["result"] = m, out.Dir, out.Result
		}
		if err != nil {
			e["error"] = err.Error()
		}
		event(t.w, e)
		return
	}
	text := fmt.Sprintf("%d  %.1f s", n, took.Seconds())
	if out != nil {
		text = fmt.Sprintf("%d  %s  %.1f s  %s", n, m, took.Seconds(), out.Dir)
	}
	if again {
		text += "\n      disturbed; it is repeated"
	}
	if err != nil {
		text += "\n      dlmtest failed: " + strings.ReplaceAll(err.Error(), "\n", "\n      ")
	}
	fmt.Fprintln(t.w, text)
}

// end says how often it came again, and gives the exit code.
func (t *tally) end() error {
	rate := stats.Rate{Of: len(t.matches)}
	for _, m := range t.matches {
		if m.Kind == runner.Reproduced {
			rate.Seen++
		}
	}
	if t.json {
		event(t.w, map[string]any{"event": "summary", "reproduced": rate, "interval": stats.Wilson(rate.Seen, rate.Of), "violated": t.again, "asked": t.asked})
	} else if rate.Of > 0 {
		fmt.Fprintf(t.w, "reproduced: %s\n", rate)
		for _, p := range t.saved.Result.Properties {
			if n := t.again[p.Name]; n > 0 || p.Verdict == checker.Violated {
				fmt.Fprintf(t.w, "  %-24s then %s, now violated in %d of %d\n", p.Name, p.Verdict, n, rate.Of)
			}
		}
	}
	return t.code()
}

// code is the worst of the runs, as run has it.
func (t *tally) code() error {
	err := errors.Join(t.errs...)
	has := func(o reports.Outcome) bool { return slices.Contains(t.outcomes, o) }
	switch {
	case has(reports.Violates):
		return verdictError{checker.Violated, err}
	case err != nil:
		if errors.Is(err, context.Canceled) && len(t.matches) == 0 {
			return errors.New("interrupted before anything could be judged; nothing is left running")
		}
		return err
	case has(reports.Unclear) || len(t.outcomes) < t.asked: // those that were interrupted show nothing
		return verdictError{checker.Unknown, nil}
	}
	return verdictError{checker.Holds, nil}
}

// otherVersions says which servers are not what they were, each once.
func otherVersions(then, now reports.Run) (all []string) {
	was := map[string]string{}
	for _, v := range then.Versions {
		was[v.Node] = v.Version
	}
	for _, v := range now.Versions {
		text := fmt.Sprintf("%s %s, then %s", v.Server, v.Version, was[v.Node])
		if was[v.Node] != v.Version && was[v.Node] != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
