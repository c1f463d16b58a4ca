package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/runner"
)

// What decided nothing is neither passed nor wrong, in text, JSON and exit code.
func TestSelftestTellsUnclearFromWrong(t *testing.T) {
	sound := &trial{part: "sound", met: func(r checker.Result) bool { return r.Verdict == checker.Holds }}
	control := &trial{part: "controls", met: func(r checker.Result) bool { return false }}
	lie := &trial{part: "lies", met: func(r checker.Result) bool { return r.Verdict == checker.Unknown && r.Counts.FaultsSeen == 0 }}
	open := []checker.Property{{Verdict: checker.Unknown}}
	disturbed := []checker.Property{{Verdict: checker.Unknown, Disturbed: true}}
	for name, c := range map[string]struct {
		trial *trial
		r     checker.Result
		err   error
		want  state
		code  int
	}{
		"green":                            {sound, checker.Result{Verdict: checker.Holds}, nil, trialPassed, exitHolds},
		"red":                              {sound, checker.Result{Verdict: checker.Violated, TooLittle: true}, nil, trialWrong, exitViolated},
		"too little":                       {sound, checker.Result{Verdict: checker.Unknown, TooLittle: true}, nil, trialUnclear, exitInconclusive},
		"disturbed":                        {sound, checker.Result{Verdict: checker.Unknown, Properties: disturbed}, nil, trialUnclear, exitInconclusive},
		"records missing":                  {sound, checker.Result{Verdict: checker.Unknown, Incomplete: true, Properties: open}, nil, trialUnclear, exitInconclusive},
		"the host's clock moved":           {sound, checker.Result{Verdict: checker.Unknown, ClockMoved: true, Properties: open}, nil, trialUnclear, exitInconclusive},
		"a control, and the clock moved":   {control, checker.Result{Verdict: checker.Unknown, ClockMoved: true, Properties: open}, nil, trialUnclear, exitInconclusive},
		"red, and the clock moved":         {sound, checker.Result{Verdict: checker.Violated, ClockMoved: true, Properties: open}, nil, trialWrong, exitViolated},
		"a lie":                            {lie, checker.Result{Verdict: checker.Unknown, TooLittle: true}, nil, trialPassed, exitHolds},
		"a lie that was believed":          {lie, checker.Result{Verdict: checker.Unknown, TooLittle: true, Counts: checker.Counts{FaultsSeen: 1}}, nil, trialWrong, exitViolated},
		"unknown for no such reason":       {sound, checker.Result{Verdict: checker.Unknown}, nil, trialWrong, exitViolated},
		"a control that is green":          {control, checker.Result{Verdict: checker.Holds, TooLittle: true}, nil, trialWrong, exitViolated},
		"a control that saw too little":    {control, checker.Result{Verdict: checker.Violated, TooLittle: true}, nil, trialUnclear, exitInconclusive},
		"a control that is red in another": {control, checker.Result{Verdict: checker.Violated}, nil, trialWrong, exitViolated},
		"dlmtest failed":                   {sound, checker.Result{}, errors.New("no room"), trialFailed, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			out := &runner.Outcome{Result: c.r}
			tt := &tested{trial: *c.trial, runs: 1}
			tt.note(out, c.err)
			var sum tallied
			sum.add(tt.state())
			if got := tt.state(); got != c.want || exitWith(sum.err()) != c.code {
				t.Errorf("%s, exit %d; want %s, %d", got, exitWith(sum.err()), c.want, c.code)
			}
			if word := map[state]string{trialWrong: "WRONG", trialUnclear: "INCONCLUSIVE", trialFailed: "ERROR"}[c.want]; !strings.Contains(tt.line(), word) {
				t.Errorf("%q", tt.line())
			}
		})
	}
}
