package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/corpus"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// corpusFlags are the flags of `dlmtest corpus`.
type corpusFlags struct {
	out, runtime, record string
	count                int
	json, markdown       bool
}

func newCorpus() *cobra.Command {
	var f corpusFlags
	cmd := &cobra.Command{
		Use:   "corpus [NAME… | all]",
		Short: "Reproduce published bugs of real lock libraries, and show that the fixed versions are free of them",
		Long: `Without a name: list the known bugs, each with the version that has it.
With names, or all: run each bug in the affected version, where its property must be violated
in every run, and in the control, a version without the bug, where it must hold. Libraries are built from their modules
with the go command of this machine, once; servers of other versions too.

Exit codes: 0 every bug was found and no control was violated, 1 otherwise, 3 dlmtest or its
infrastructure failed, 64 wrong usage.`,
		Example: `  dlmtest corpus
  dlmtest corpus redsync-extend-deletes --count 5
  dlmtest corpus all --record docs/corpus.json
  dlmtest corpus --markdown --record docs/corpus.json > docs/corpus.md`,
		ValidArgs: append(corpus.Names(), "all"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(atLeastOne("count", f.count), oneOf("runtime", f.runtime, "auto", "docker", "local")); err != nil {
				return err
			}
			chosen, err := corpus.Choose(args)
			if err != nil {
				return usageError{err}
			}
			switch {
			case f.markdown && len(args) > 0:
				return usageError{errors.New("--markdown writes the page of a record and runs nothing: leave the names out")}
			case f.markdown:
				return f.page(cmd.OutOrStdout())
			case len(args) == 0:
				return f.list(cmd.OutOrStdout())
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), chosen)
		},
	}
	cmd.Flags().IntVar(&f.count, "count", 1, "runs of each version, each with a seed of its own")
	cmd.Flags().StringVar(&f.out, "out", "runs/corpus", "folder for the runs")
	cmd.Flags().StringVar(&f.runtime, "runtime", "auto", "docker, local, or auto")
	cmd.Flags().StringVar(&f.record, "record", "", "file that keeps what was found, newest of each bug")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.markdown, "markdown", false, "print the record as a page of Markdown, and run nothing")
	return cmd
}

func (f corpusFlags) page(w io.Writer) error {
	r, err := corpus.Read(cmp.Or(f.record, "docs/corpus.json"))
	if err != nil {
		return err
	}
	return corpus.Markdown(w, r)
}

func (f corpusFlags) list(w io.Writer) error {
	if f.json {
		return printJSON(w, corpus.Entries)
	}
	t := table.NewWriter()
	t.AppendHeader(table.Row{"bug", "affected", "control", "scenario", "breaks"})
	for _, e := range corpus.Entries {
		t.AppendRow(table.Row{e.Name, e.Affected, cmp.Or(e.Control.String(), "–"), e.Scenario, e.Property})
	}
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// run plays all entries, one run at a time: what they show is a matter of who is first.
func (f corpusFlags) run(ctx context.Context, w, progress io.Writer, chosen []corpus.Entry) error {
	if f.record != "" {
		if _, err := corpus.Read(f.record); err != nil { // better now than after an hour of runs
			return err
		}
	}
	var all []corpus.Track
	missed := 0
	for _, e := range chosen {
		t, err := f.track(ctx, progress, e)
		if err != nil {
			return err
		}
		if all = append(all, t); !t.Met() {
			missed++
		}
		if err := f.keep(t); err != nil {
			return err
		}
		if !f.json {
			fmt.Fprintf(w, "%-32s affected: %d of %d found, at %.1f s; control: %d of %d held\n", e.Name,
				t.Affected.Found, t.Affected.Runs, t.Affected.Detection, t.Control.Held, t.Control.Runs)
		}
	}
	if f.json {
		if err := printJSON(w, all); err != nil {
			return err
		}
	}
	if missed > 0 {
		return verdictError{verdict: checker.Violated,
			other: fmt.Errorf("%d of %d known bugs were not found in every run, or their control was red", missed, len(chosen))}
	}
	return nil
}

func (f corpusFlags) keep(t corpus.Track) error {
	if f.record == "" {
		return nil
	}
	r, err := corpus.Read(f.record)
	if err != nil {
		return err
	}
	r.Put(t)
	return output{path: f.record}.write(nil, r.Write)
}

// track runs both versions of an entry.
func (f corpusFlags) track(ctx context.Context, progress io.Writer, e corpus.Entry) (t corpus.Track, err error) {
	t = corpus.Track{Entry: e.Name, Date: time.Now().UTC().Format(time.DateOnly)}
	for _, side := range []struct {
		what string
		pin  corpus.Pin
		to   *corpus.Side
	}{{"affected", e.Affected, &t.Affected}, {"control", e.Control, &t.Control}} {
		if side.pin == (corpus.Pin{}) {
			continue
		}
		var shown []corpus.Shown
		warm := f.warm()
		for n := range f.count {
			s, where, err := f.play(ctx, e, side.pin, warm)
			if err != nil {
				return t, errors.Join(err, warm.Close(context.WithoutCancel(ctx)))
			}
			t.Runtime = cmp.Or(where, t.Runtime)
			shown = append(shown, s)
			fmt.Fprintf(progress, "%s, %s %s, run %d of %d: %s\n", e.Name, side.what, side.pin, n+1, f.count, found(e, s))
		}
		*side.to = corpus.Sum(shown)
		if err := warm.Close(context.WithoutCancel(ctx)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// warm keeps the cluster of a version for its next run; nil: there is none.
func (f corpusFlags) warm() *runner.Warm {
	if f.count == 1 {
		return nil
	}
	return &runner.Warm{Most: 1}
}

func found(e corpus.Entry, s corpus.Shown) string {
	switch {
	case s.Error != "":
		return s.Error
	case s.Verdict == checker.Violated:
		return fmt.Sprintf("%s violated after %.1f s; %s", e.Property, s.Detection, s.Dir)
	}
	return fmt.Sprintf("%s %s; %s", e.Property, s.Verdict, s.Dir)
}

// disturbedRuns is how often a run is repeated that the machine has disturbed.
const disturbedRuns = 2

// play runs a pin once. A run that was disturbed is no verdict, and is repeated.
func (f corpusFlags) play(ctx context.Context, e corpus.Entry, pin corpus.Pin, warm *runner.Warm) (s corpus.Shown, where string, err error) {
	o, err := f.options(e, pin)
	if err != nil {
		return s, "", err
	}
	for range 1 + disturbedRuns {
		o.Seed, o.Warm = newSeed(), warm
		out, err := runner.Run(ctx, o, quiet{})
		if ctx.Err() != nil {
			return s, where, errors.New("interrupted")
		}
		if errors.Is(err, runner.ErrShared) {
			warm = nil
			continue
		}
		if err != nil {
			return corpus.Shown{Error: err.Error()}, where, nil
		}
		where = out.Run.Options["runtime"]
		s = corpus.Look(e, out.Result, out.Ops)
		if s.Dir = out.Dir; s.Verdict == checker.Violated || !matrix.Disturbed(out.Result) && s.Verdict != checker.Unknown {
			break
		}
	}
	return s, where, nil
}

func (f corpusFlags) options(e corpus.Entry, pin corpus.Pin) (o runner.Options, err error) {
	file, err := scenarios.Load(cmp.Or(pin.Scenario, e.Scenario))
	if err != nil {
		return o, err
	}
	backend, err := pin.On()
	return runner.Options{Scenario: *file, Backend: backend, Out: f.out, Self: self(), Version: version,
		Settings: settings.Settings{Library: pin.Library, Etcd: pin.Etcd, SelfFence: e.SelfFence, Strict: e.Strict, Oracle: "off", Runtime: f.runtime}}, err
}
