package cli

import (
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// state is what a trial of the self-test has come to, the worst of its runs.
type state string

const (
	trialPassed  state = "passed"
	trialUnclear state = "inconclusive" // too little was seen, or the run was disturbed, each time
	trialFailed  state = "error"        // dlmtest itself failed
	trialWrong   state = "wrong"        // the verdict is not what it must be
)

// stateOf judges one run.
func (t *trial) stateOf(out *runner.Outcome, err error) state {
	switch {
	case err != nil:
		return trialFailed
	case t.met(out.Result):
		return trialPassed
	case t.unseen(out.Result):
		return trialUnclear
	}
	return trialWrong
}

// unseen says that a run did not decide what it was to, for a reason that another run may
// not have. A broken lock may have shown something else; a sound one shows nothing at all. A
// lie that was believed is wrong, whatever else is doubted.
func (t *trial) unseen(r checker.Result) bool {
	open := r.Verdict == checker.Unknown && (t.part != "lies" || r.Counts.FaultsSeen == 0) || r.Verdict == checker.Violated && t.part == "controls"
	return open && (r.TooLittle || matrix.Disturbed(r))
}

// tallied counts the trials of a part, or of all.
type tallied struct {
	Part         string  `json:"part"` // or all
	Passed       int     `json:"passed"`
	Wrong        int     `json:"wrong"`
	Inconclusive int     `json:"inconclusive"`
	Errors       int     `json:"errors"`
	RunSeconds   float64 `json:"run_seconds"` // of all runs, of which several go on at once
	Seconds      float64 `json:"seconds,omitempty"`
}

func (y *tallied) add(s state) {
	switch s {
	case trialPassed:
		y.Passed++
	case trialWrong:
		y.Wrong++
	case trialUnclear:
		y.Inconclusive++
	case trialFailed:
		y.Errors++
	}
}

func (y *tallied) and(z tallied) {
	y.Passed += z.Passed
	y.Wrong += z.Wrong
	y.Inconclusive += z.Inconclusive
	y.Errors += z.Errors
	y.RunSeconds += z.RunSeconds
}

func (y tallied) line() string {
	text := fmt.Sprintf("%s: %d trials passed, %d wrong", y.Part, y.Passed, y.Wrong)
	if y.Inconclusive > 0 {
		text += fmt.Sprintf(", %d inconclusive", y.Inconclusive)
	}
	if y.Errors > 0 {
		text += fmt.Sprintf(", %d ended by an error of dlmtest", y.Errors)
	}
	text += fmt.Sprintf(", %.0f s of runs", y.RunSeconds)
	if y.Seconds > 0 {
		text += fmt.Sprintf(" in %.0f s", y.Seconds)
	}
	return text
}

// err carries the worst to the exit code: a wrong verdict, then an error, then no verdict.
func (y tallied) err() error {
	switch {
	case y.Wrong > 0:
		return verdictError{verdict: checker.Violated}
	case y.Errors > 0:
		return errors.New("a trial of the self-test ended by an error of dlmtest; its line says which")
	case y.Inconclusive > 0:
		return verdictError{verdict: checker.Unknown}
	}
	return nil
}
