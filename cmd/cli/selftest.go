package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// parts of the self-test, in order.
var parts = []string{"controls", "sound", "lies"}

// trial is one run of the self-test, and what it must show.
type trial struct {
	part, scenario, backend string
	lie                     bool
	want                    string
	met                     func(checker.Result) bool
}

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
	for _, name := range locks.Intact() {
		all = append(all, trial{"sound", "baseline", name, false, "every property holds", func(r checker.Result) bool { return r.Verdict == checker.Holds }})
	}
	for _, k := range history.FaultKinds {
		for _, l := range k.Lies {
			all = append(all, trial{"lies", l[0], l[1], true, "inconclusive, the fault unseen", func(r checker.Result) bool {
				return r.Verdict == checker.Unknown && r.Counts.FaultsSeen == 0
			}})
		}
	}
	return all
}

// selfFlags are the flags of `dlmtest selftest`.
type selfFlags struct {
	parts           []string
	out, runtime    string
	count, parallel int
	json            bool
}

func newSelftest() *cobra.Command {
	var f selfFlags
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Show that broken locks are caught, correct ones pass, and ineffective faults are noticed",
		Long: `Run dlmtest against itself, in three parts:
  controls  locks that are broken on purpose: each is caught by the property it breaks
  sound     the reference locks without a fault: every property holds
  lies      faults that are silently disabled: every run is inconclusive

A run that saw too little, or that the machine disturbed, is repeated up to twice. If it stays
so, the trial is inconclusive (exit code 2) and not a wrong verdict (exit code 1).`,
		Example: "  dlmtest selftest\n  dlmtest selftest --part controls,sound\n  dlmtest selftest --part controls --count 20",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			errs := []error{atLeastOne("count", f.count), parallelWithin(f.parallel)}
			for _, p := range f.parts {
				errs = append(errs, oneOf("part", p, parts...))
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			return f.selftest(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringSliceVar(&f.parts, "part", parts, "parts to run")
	cmd.Flags().IntVar(&f.count, "count", 1, "runs of each trial, each with a seed of its own")
	cmd.Flags().IntVar(&f.parallel, "parallel", 4, "runs at a time; timing-sensitive ones execute alone")
	cmd.Flags().StringVar(&f.out, "out", "runs/selftest", "folder for the runs")
	cmd.Flags().StringVar(&f.runtime, "runtime", "auto", "docker, local, or auto")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON lines instead of text")
	_ = cmd.RegisterFlagCompletionFunc("part", completeList(parts))
	return cmd
}

// selftest does all parts, side by side as far as they bear it, and sums them up.
func (f selfFlags) selftest(ctx context.Context, w io.Writer) error {
	begun := time.Now()
	all, err := f.play(ctx, w)
	if err != nil {
		return err
	}
	whole := tallied{Part: "all"}
	for _, part := range parts {
		sum := tallied{Part: part}
		for _, t := range all {
			if t.part == part {
				sum.add(t.state())
				sum.RunSeconds += t.took.Seconds()
			}
		}
		if slices.Contains(f.parts, part) {
			whole.and(sum)
			f.print(w, sum, sum.line())
		}
	}
	whole.Seconds = time.Since(begun).Seconds()
	f.print(w, whole, whole.line())
	return whole.err()
}

// print writes an event as JSON, or as text.
func (f selfFlags) print(w io.Writer, event any, text string) {
	if f.json {
		_ = json.NewEncoder(w).Encode(event) // nobody reads it
		return
	}
	fmt.Fprintln(w, text)
}
