package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/shrink"
	"github.com/dlmtest/dlmtest/scenarios"
)

const shrinkLong = `Find the smallest scenario in which a property is still violated as in a saved run: leave out
faults (by delta debugging), then clients, keys and time, each on the live system.

A live system is random. A candidate counts as still violating if one of up to --tries runs
shows the violation; with --reliable, only if all of them do. At the end the smallest scenario
is run --prove times. If it does not show the violation every time, the next larger one is
taken, as long as there is time.

The file is ready to be committed: its heading says where it comes from and how to run it. It is
written after each step, so that Ctrl-C keeps the smallest scenario so far. RUNS/…_shrink/ has
all candidates and their runs.

Exit codes: 0 saved and proven; 2 the violation was not seen again, or not in every run of the
proof, or there was no time for it; 3 dlmtest failed; 64 wrong usage.` + trustLong

// shrinkFlags are the flags of `dlmtest shrink`.
type shrinkFlags struct {
	property, file, out, runtime string
	budget                       time.Duration
	tries, prove                 int
	reliable, json               bool
	givenFlags
}

func newShrink() *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use:   "shrink DIR",
		Short: "Find the smallest scenario that still violates, and save it as a regression",
		Long:  shrinkLong,
		Example: `  dlmtest shrink runs/latest
  dlmtest shrink runs/latest --property lease-exclusion --reliable --tries 3 --prove 10 --budget 30m
  dlmtest shrink runs/latest -o scenarios/regressions/my-lock.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.prepare(args[0])
			if err != nil {
				return err
			}
			tellTrusted(cmd.ErrOrStderr(), s.saved.Trusted, s.saved.Options)
			return s.shrink(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.property, "property", "", "property that must stay violated (default: the first violated one)")
	flags.DurationVar(&f.budget, "budget", 10*time.Minute, "time for it all; the time of the proof is kept back")
	flags.IntVar(&f.tries, "tries", 2, "runs of a candidate until it shows the violation")
	flags.BoolVar(&f.reliable, "reliable", false, "a candidate counts only when all its tries show the violation: a larger scenario, and a steadier regression")
	flags.IntVar(&f.prove, "prove", 3, "runs of the smallest one, each of which must show the violation")
	flags.StringVarP(&f.file, "output", "o", "", "`file` to save the scenario in (default: in the folder of the candidates)")
	flags.StringVar(&f.runtime, "runtime", "recorded", "where nodes run: recorded (as the first time), docker or local")
	flags.StringVar(&f.out, "out", "runs", "folder for the folder of the candidates")
	flags.BoolVar(&f.json, "json", false, "print JSON lines instead of text")
	f.register(cmd)
	_ = cmd.RegisterFlagCompletionFunc("property", complete(scenarios.Properties))
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete([]string{"recorded", "docker", "local"}))
	return cmd
}

// shrinking is one run of the command.
type shrinking struct {
	shrinkFlags
	w          io.Writer
	saved      *runner.Saved
	start      scenarios.Scenario
	regression shrink.Regression
	live       *shrink.Live
}

// prepare checks all that can be told before anything is run.
func (f shrinkFlags) prepare(dir string) (*shrinking, error) {
	err := errors.Join(atLeastOne("tries", f.tries), atLeastOne("prove", f.prove), oneOf("runtime", f.runtime, "recorded", "docker", "local"))
	if f.budget <= 0 {
		err = errors.Join(err, usageError{fmt.Errorf("--budget %v: want a time, such as 10m", f.budget)})
	}
	if err != nil {
		return nil, err
	}
	s := &shrinking{shrinkFlags: f, w: stdout}
	if s.saved, err = f.replayable(dir); err != nil {
		return nil, err
	}
	property, err := chooseViolated(s.saved.Result, f.property, dir)
	if err != nil {
		return nil, err
	}
	o := s.saved.Options
	o.Self, o.Version = self(), version
	if f.runtime != "recorded" {
		o.Runtime = f.runtime
	}
	s.start = o.Scenario
	s.start.Fsync = cmp.Or(o.Fsync, s.start.Fsync)
	name, err := f.name(shrink.NameOf(o.Scenario.Name, property.Name))
	s.regression = shrink.Regression{Name: name, Options: o, Property: property.Name, From: s.saved.Run, Before: shrink.Size(s.start)}
	if len(property.Violations) > 0 {
		s.regression.Message = property.Violations[0].Message
	}
	return s, err
}

// chooseViolated finds the property that is to stay violated.
func chooseViolated(r checker.Result, name, dir string) (*checker.Property, error) {
	var all []string
	for i, p := range r.Properties {
		if p.Verdict == checker.Violated && (name == "" || name == p.Name) {
			return &r.Properties[i], nil
		}
		if p.Verdict == checker.Violated {
			all = append(all, p.Name)
		}
	}
	switch {
	case len(all) == 0:
		return nil, usageError{fmt.Errorf("%s: no property is violated, so there is nothing to shrink", dir)}
	case !slices.Contains(scenarios.Properties, name):
		return nil, usageError{unknown("property", name, near.Nearest(name, scenarios.Properties), "dlmtest list properties")}
	}
	return nil, usageError{fmt.Errorf("--property %s is not violated in %s; violated: %s", name, dir, strings.Join(all, ", "))}
}

var namesOfFiles = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// name is what the scenario is called: as its file, which must not be there yet.
func (f shrinkFlags) name(name string) (string, error) {
	if f.file == "" {
		return name, nil
	}
	base, yaml := strings.CutSuffix(filepath.Base(f.file), ".yaml")
	if !yaml || !namesOfFiles.MatchString(base) {
		return "", usageError{fmt.Errorf("--output %s: want lower-case words joined by dashes, ending in .yaml, such as %s.yaml", f.file, name)}
	}
	if _, err := os.Lstat(f.file); err == nil {
		return "", usageError{fmt.Errorf("--output %s is there already; choose another, or remove it", f.file)}
	}
	return base, os.MkdirAll(filepath.Dir(f.file), 0o755)
}

// shrink does it: first as it was, then smaller and smaller, then the proof.
func (s *shrinking) shrink(ctx context.Context) error {
	begun := time.Now()
	dir, err := runner.NewFolder(s.out, "shrink", begun)
	if err != nil {
		return fmt.Errorf("the folder of the candidates: %w; choose another with --out DIR", err)
	}
	if s.file == "" {
		s.file = filepath.Join(dir, s.regression.Name+".yaml")
	}
	o := s.regression.Options
	o.Oracle = "off" // a search asks whether the violation is there, not what Porcupine says of it
	s.live = &shrink.Live{Options: o, Property: s.regression.Property, Tries: s.tries, Reliable: s.reliable, Prove: s.prove, Dir: dir,
		Deadline: begun.Add(s.budget), See: s, Run: runner.Run, Keep: func(c shrink.Candidate) error { return s.save(c, "it was shrunk no further yet") }}
	s.say("%s of %s × %s: %s\nwithin %v; candidates in %s\n", s.regression.Property, s.start.Name,
		s.regression.Options.Label(), s.regression.Before, s.budget, dir)
	yes, err := s.live.Violates(ctx)(s.start)
	switch {
	case err != nil:
		return s.stopped(err)
	case !yes:
		s.say("not seen again in %s: there is nothing to go by; try --tries %d\n", nouns.Count(s.tries, "run"), 5*s.tries)
		return verdictError{verdict: checker.Unknown}
	}
	_, why := shrink.Smallest(s.start, s.live.Violates(ctx))
	if ctx.Err() != nil || why != nil && !errors.Is(why, shrink.ErrBudget) {
		return s.end(shrink.Candidate{}, why, nil, begun)
	}
	best, err := s.live.Proven(ctx, s.finish)
	return s.end(best, why, err, begun)
}

// stopped is the error of a search that ended before anything was found.
func (s *shrinking) stopped(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted before the violation was seen once; nothing is left running, and no scenario was saved")
	case errors.Is(err, shrink.ErrBudget):
		s.say("%v before the violation was seen once; give it more with --budget\n", err)
		return verdictError{verdict: checker.Unknown}
	}
	return err
}

// save writes a candidate as the regression, with why it is none yet.
func (s *shrinking) save(c shrink.Candidate, note string) error {
	r := s.regression
	r.Note, r.Rate = note, stats.Rate{}
	return r.Save(s.file, r.Scenario(c.Scenario))
}

// finish makes the file of a candidate and reads it back: what is proven is the file.
func (s *shrinking) finish(c scenarios.Scenario) (*scenarios.Scenario, error) {
	r := s.regression
	r.Note = "the proof has not ended."
	if err := r.Save(s.file, r.Scenario(c)); err != nil {
		return nil, err
	}
	file, err := scenarios.Load(s.file)
	if err != nil {
		return nil, err
	}
	o := runner.Options{Scenario: *file}
	_, err = o.Settle(s.file, runner.Given{Settings: r.Options.Settings})
	return &o.Scenario, err
}

// end writes the file as it stays, and says what was found. why ended the search and
// unproven the proof early, or nil.
func (s *shrinking) end(best shrink.Candidate, why, unproven error, begun time.Time) error {
	kept := s.live.Kept[len(s.live.Kept)-1]
	r := s.regression
	r.Rate, r.Proven = best.Rate, best.Rate.Seen == s.prove
	if best.Number > 0 {
		kept = best
	}
	var notes []string
	if why != nil {
		notes = append(notes, reason(why)+", so less may do")
	}
	if unproven != nil {
		notes = append(notes, "in the proof "+reason(unproven))
	}
	if best.Rate.Seen < best.Rate.Of { // not only interrupted: it stayed out
		notes = append(notes, "with --reliable and more --tries a larger one is kept that shows it every time")
	}
	r.Note = strings.Join(notes, "; ")
	why = errors.Join(why, unproven)
	smallest := r.Scenario(kept.Scenario)
	if err := r.Save(s.file, smallest); err != nil {
		return errors.Join(why, err)
	}
	s.tell(r, smallest, begun)
	switch {
	case why != nil && reason(why) == failed:
		return fmt.Errorf("%w; the smallest so far is in %s", why, s.file)
	case !r.Proven:
		return verdictError{verdict: checker.Unknown}
	}
	return nil
}
