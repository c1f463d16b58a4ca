package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/reports"
)

// wasKilled is why a run has no end of its own.
const wasKilled = "The run was killed before its end."

// saveRun writes run.json.
func saveRun(in *os.Root, run reports.Run) error {
	return Write(in, runFile, func(w io.Writer) error { return writeJSON(w, run) })
}

// neverUp notes why a run had no cluster. Of one that was refused nothing is left:
// nothing has happened that anybody could look at.
func neverUp(in *os.Root, run reports.Run, why error, hide *strings.Replacer) error {
	var refused *Refused
	if errors.As(why, &refused) || errors.Is(why, ErrUsage) {
		return os.RemoveAll(in.Name())
	}
	first, _, _ := strings.Cut(why.Error(), "\n")
	if hide != nil { // it may quote a node
		first = hide.Replace(first)
	}
	run.State, run.Interrupted = reports.Ended, "dlmtest failed before the load: "+first
	return saveRun(in, run)
}

// StillGoing says whether a living process works in the folder of a run or of a matrix.
func StillGoing(in *os.Root) bool {
	f, err := in.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	return scratch.Held(f)
}

// settled is what run.json says once its run is over: one that still calls itself
// running was killed.
func settled(run reports.Run) reports.Run {
	if run.State == reports.Running {
		run.State, run.Interrupted = reports.Killed, wasKilled
	}
	return run
}

// glance judges what a killed run has left, and writes nothing.
func glance(in *os.Root, run reports.Run) (checker.Result, error) {
	h, err := readHistory(in)
	if err == nil {
		err = history.Validate(h.setup, h.ops)
	}
	if err != nil {
		return checker.Result{}, fmt.Errorf("what the killed run has left: %w", err)
	}
	result := checker.Judge(h.setup, h.ops)
	checker.Doubt(h.setup, &result, append(append(h.doubts, run.Doubts...), run.Interrupted))
	return result, nil
}
