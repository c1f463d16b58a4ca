// Package cli is the command line of dlmtest: its commands, their flags, what they
// print and their exit codes. A program of its own can be all of it, too.
package cli

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

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

// version is dlmtest's own, as it was linked.
var version = "development"

// usageError is a mistake on the command line or in a scenario file.
type usageError struct{ error }

// verdictError carries a verdict to the exit code, with what else went wrong.
type verdictError struct {
	verdict checker.Verdict
	other   error // of dlmtest itself; nil: nothing
}

func (e verdictError) Error() string { return "verdict: " + e.verdict.String() }

// Main runs the command line of this process as dlmtest of version v and returns the exit code.
func Main(v string) (code int) {
	version = v
	ctx, interruption := interrupts()
	root := newRoot()
	root.PersistentPreRun = interruption.begin
	speakOnly(root)
	defer flush()
	defer func() {
		if r := recover(); r != nil { // its words may be somebody else's
			fmt.Fprintf(stderr, "dlmtest: a mistake in dlmtest itself: %v\n%s", r, debug.Stack())
			code = exitFailed
		}
	}()
	return interruption.done(toTheEnd(exitWith(meant(root.ExecuteContextC(ctx)))))
}

// exitWith says what went wrong, and returns the exit code.
func exitWith(err error) int {
	if err == nil {
		return exitHolds
	}
	var v verdictError
	if errors.As(err, &v) {
		if v.other == nil {
			return exitOf(v.verdict)
		}
		fmt.Fprintln(stderr, "dlmtest: "+cutShort(v.other.Error()))
		if v.verdict == checker.Violated {
			return exitViolated // it always wins
		}
		return exitFailed
	}
	fmt.Fprintln(stderr, "dlmtest: "+cutShort(err.Error()))
	var u usageError
	if errors.As(err, &u) || errors.Is(err, runner.ErrUsage) {
		return exitUsage
	}
	return exitFailed
}

// mostOfAnError is how much of an error is printed. An error of ours that is longer repeats a word of somebody's file.
const mostOfAnError = 16 << 10

// cutShort leaves out the middle of what is too long to be read: what failed stands first, and what to do last.
func cutShort(text string) string {
	left := len(text) - mostOfAnError
	if left <= 0 {
		return text
	}
	half := mostOfAnError / 2
	return fmt.Sprintf("%s … (%d bytes are left out) … %s", strings.ToValidUTF8(text[:half], ""), left, strings.ToValidUTF8(text[half+left:], ""))
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

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "dlmtest",
		Short: "Does a distributed lock still exclude when things break, and if not, does fencing save the data?",
		Long: `dlmtest starts a real cluster, drives concurrent lock clients against it, breaks
things on purpose, and judges the recorded history.

Exit codes: 0 every property holds, 1 a property is violated, 2 inconclusive,
3 dlmtest or its infrastructure failed, 64 wrong usage. A command that is interrupted
before it has a verdict exits 3, as does an interrupted matrix.`,
		Example: `  dlmtest run --scenario gc-pause --backend redlock
  dlmtest list
  dlmtest check runs/latest
  dlmtest explain runs/latest`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	addGroups(root)
	root.AddCommand(insideCommands()...)
	completionOf(root)
	return root
}

// completionOf makes an unknown shell an error; cobra shows its help and succeeds.
func completionOf(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // there is none
	}
	var shells []string
	for _, c := range cmd.Commands() {
		shells = append(shells, c.Name())
	}
	cmd.Args, cmd.RunE = cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return among(fmt.Sprintf("unknown shell %q", args[0]), args[0], shells...)
	}
}
