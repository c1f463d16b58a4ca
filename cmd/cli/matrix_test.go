package cli

import (
	"errors"
	"testing"

	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// A matrix that a signal ended is no verdict, whatever its runs had shown: the exit code of a verdict would have a
// Kubernetes Job take the shard for done. One that ran to its end, and a merge with gaps, keep the codes of verdicts.
func TestExitCodeOfAnInterruptedMatrix(t *testing.T) {
	failed := errors.New("the index cannot be written")
	for _, c := range []struct {
		worst              reports.Outcome
		err                error
		ran, stopped, part int
	}{
		{reports.Good, nil, exitHolds, exitFailed, exitInconclusive},
		{reports.Violates, nil, exitViolated, exitFailed, exitViolated},
		{reports.Unclear, nil, exitInconclusive, exitFailed, exitInconclusive},
		{reports.Failed, nil, exitFailed, exitFailed, exitFailed},
		{reports.NotRun, nil, exitInconclusive, exitFailed, exitInconclusive},
		{reports.Violates, failed, exitViolated, exitFailed, exitViolated},
	} {
		x := pages.Index{Cells: []pages.Cell{{Verdict: reports.Good}, {Verdict: c.worst}}}
		if code := exitWith(endOfMatrix(x, c.err)); code != c.ran {
			t.Errorf("%s, %v: exit code %d, want %d", c.worst, c.err, code, c.ran)
		}
		x.Stopped = "This matrix was interrupted before its end."
		if code := exitWith(endOfMatrix(x, c.err)); code != c.stopped {
			t.Errorf("%s, %v, interrupted: exit code %d, want %d", c.worst, c.err, code, c.stopped)
		}
		if code := exitWith(matrixError(x, c.err)); code != c.part {
			t.Errorf("%s, %v, merged of an interrupted part: exit code %d, want %d", c.worst, c.err, code, c.part)
		}
	}
}
