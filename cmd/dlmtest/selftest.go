package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// trial is one run of the self-test, and what it must show.
type trial struct {
	part, scenario, backend string
	lie                     bool
	want                    string
	met                     func(checker.Result) bool
}

// lies has a scenario and a backend for each kind of fault.
var lies = [][2]string{{"gc-pause", "redis"}, {"stall-worker", "redis"}, {"orphan", "redis"},
	{"partition-minority", "redlock"}, {"clock-jump", "redlock"}, {"token-amnesia", "redis"}, {"disk-stall", "etcd"}}

// trials lists the self-test: what is broken on purpose is caught, what is sound
// is green, and a fault that does nothing is never believed.
func trials() []trial {
	var all []trial
	for _, name := range locks.Controls() {
		flaw := locks.Table[name].Broken
		all = append(all, trial{"controls", flaw.Scenario, name, false, flaw.Property + " violated", func(r checker.Result) bool {
			p := r.Property(flaw.Property)
			return p != nil && p.Verdict == checker.Violated
		}})
	}
	for _, name := range sound() {
		all = append(all, trial{"sound", "baseline", name, false, "every property holds", func(r checker.Result) bool { return r.Verdict == checker.Holds }})
	}
	for _, l := range lies {
		all = append(all, trial{"lies", l[0], l[1], true, "inconclusive", func(r checker.Result) bool { return r.Verdict == checker.Unknown }})
	}
	return all
}

// sound lists the locks that are meant to be sound.
func sound() []string {
	return slices.DeleteFunc(locks.Names(), func(name string) bool { return locks.Table[name].Broken != nil })
}

func newSelftest() *cobra.Command {
	var out, where string
	var parts []string
	known := []string{"controls", "sound", "lies"}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Show that broken locks are caught, sound ones are green, and faults that do nothing are not believed",
		Long: `Run dlmtest against itself, in three parts:
  controls  locks that are broken on purpose: each is caught by the property it breaks
  sound     the reference locks without a fault: every property holds
  lies      faults that are silently disabled: every run is inconclusive`,
		Example: "  dlmtest selftest\n  dlmtest selftest --part lies",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, p := range parts {
				if err := oneOf("part", p, known...); err != nil {
					return err
				}
			}
			return selftest(cmd.Context(), cmd.OutOrStdout(), parts, out, where)
		},
	}
	cmd.Flags().StringSliceVar(&parts, "part", known, "parts to run")
	cmd.Flags().StringVar(&out, "out", "runs/selftest", "folder for the runs")
	cmd.Flags().StringVar(&where, "runtime", "auto", "docker, local, or auto")
	return cmd
}

func selftest(ctx context.Context, w io.Writer, parts []string, out, where string) error {
	failed := 0
	all := slices.DeleteFunc(trials(), func(t trial) bool { return !slices.Contains(parts, t.part) })
	for i, t := range all {
		begun := time.Now()
		result, dir, err := t.run(ctx, out, where)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		verdict := "ok"
		switch {
		case err != nil:
			verdict, failed = "FAIL: "+err.Error(), failed+1
		case !t.met(result):
			verdict, failed = fmt.Sprintf("FAIL: %s; see %s", summary(result), dir), failed+1
		}
		fmt.Fprintf(w, "%2d/%d %-8s %-18s × %-24s wants %-28s %5.1f s  %s\n", i+1, len(all), t.part, t.scenario, t.backend, t.want, time.Since(begun).Seconds(), verdict)
	}
	fmt.Fprintf(w, "%d passed, %d failed\n", len(all)-failed, failed)
	if failed > 0 {
		return verdictError{verdict: checker.Violated}
	}
	return nil
}

// run runs a trial, and once more if the machine disturbed it: that is no verdict.
func (t trial) run(ctx context.Context, out, where string) (checker.Result, string, error) {
	scenario, err := scenarios.Load(t.scenario)
	if err != nil {
		return checker.Result{}, "", err
	}
	fenceOn := "write"
	if strings.HasPrefix(t.want, "fenced-writes") {
		fenceOn = "read" // then the wrong client registers its token before the right one writes, every time
	}
	o := runner.Options{Scenario: *scenario, Backend: t.backend, Seed: newSeed(), Out: out, Resource: "store", Fencing: "at-least",
		FenceOn: fenceOn, SelfFence: "none", Self: self(), Version: version, Runtime: where, Lie: t.lie}
	var done *runner.Outcome
	for range 2 {
		done, err = runner.Run(ctx, o, quiet{})
		if done == nil {
			return checker.Result{}, "", err
		}
		if err != nil || t.met(done.Result) || !strings.Contains(strings.Join(done.Result.Doubts, " "), "isturbed") {
			break
		}
	}
	return done.Result, done.Dir, err
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

// quiet shows nothing: a line for each run is enough.
type quiet struct{}

func (quiet) Phase(string)                {}
func (quiet) Line(string)                 {}
func (quiet) Live(runner.Counts, float64) {}
