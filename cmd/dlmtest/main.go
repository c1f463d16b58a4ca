// Command dlmtest runs a distributed lock against real faults and judges whether
// it still excludes, and if not, whether fencing saved the data.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
)

// Exit codes. A verdict says something about the lock, an error that dlmtest failed.
const (
	exitHolds        = 0
	exitViolated     = 1
	exitInconclusive = 2
	exitFailed       = 3
	exitUsage        = 64
)

// version is set at link time.
var version = "development"

// usageError is a mistake on the command line or in a scenario file.
type usageError struct{ error }

// verdictError carries a verdict to the exit code, with what else went wrong.
type verdictError struct {
	verdict checker.Verdict
	other   error // of dlmtest itself; nil: nothing
}

func (e verdictError) Error() string { return "verdict: " + e.verdict.String() }

func main() { os.Exit(Main()) }

// Main runs the command line and returns the exit code.
func Main() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	interrupts(stop)
	root := newRoot()
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitHolds
	}
	var v verdictError
	if errors.As(err, &v) {
		if v.other == nil {
			return exitOf(v.verdict)
		}
		fmt.Fprintln(os.Stderr, "dlmtest: "+v.other.Error())
		if v.verdict == checker.Violated {
			return exitViolated // it always wins
		}
		return exitFailed
	}
	fmt.Fprintln(os.Stderr, "dlmtest: "+err.Error())
	var u usageError
	if errors.As(err, &u) || errors.Is(err, runner.ErrUsage) || isCobraUsage(err) {
		return exitUsage
	}
	return exitFailed
}

func exitOf(v checker.Verdict) int {
	switch v {
	case checker.Holds, checker.NA:
		return exitHolds
	case checker.Violated:
		return exitViolated
	}
	return exitInconclusive
}

// interrupts makes the first Ctrl-C heal, tear down and judge what there is, and
// the second end at once; the janitor then cleans up.
func interrupts(stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "\ninterrupted: healing, tearing down and judging what there is; once more to stop at once")
		stop()
		<-signals
		fmt.Fprintln(os.Stderr, "stopped; what is left is removed in the background")
		os.Exit(exitFailed)
	}()
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "dlmtest",
		Short: "Does a distributed lock still exclude when things break, and if not, does fencing save the data?",
		Long: `dlmtest starts a real cluster, drives concurrent lock clients against it, breaks
things on purpose, and judges the recorded history.

Exit codes: 0 every property holds, 1 a property is violated, 2 inconclusive,
3 dlmtest or its infrastructure failed, 64 wrong usage.`,
		Example: `  dlmtest run --scenario gc-pause --backend redlock
  dlmtest list
  dlmtest check runs/latest`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(), newCheck(), newConform(), newDoctor(), newList(), newImages(), newSelftest())
	root.AddCommand(insideCommands()...)
	return root
}
