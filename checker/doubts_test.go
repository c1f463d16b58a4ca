package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// A clock of the host that moves too far, in either direction, lets nothing hold.
func TestHostClockAtItsLimits(t *testing.T) {
	for moved, want := range map[int64]Verdict{0: Holds, hostClockLimit: Holds, -hostClockLimit: Holds, hostClockLimit + 1: Unknown, -hostClockLimit - 1: Unknown} {
		b := newBuilder()
		turns(b)
		b.op(2*sec, "runner", history.Note, history.HostClock, "").Length = moved
		got := Judge(b.done())
		if p := got.Property("mutual-exclusion"); p.Verdict != want || (want == Holds) != (len(got.Doubts) == 0) {
			t.Errorf("by %d: %s, %v", moved, p.Verdict, got.Doubts)
		}
	}
}

// What the recorder doubts takes the certainty from what holds, and from nothing else.
func TestRecorderDoubts(t *testing.T) {
	b := newBuilder()
	zombie := b.grantOf(0, 10*ms, "client-1", 1)
	b.read(20*ms, zombie)
	b.grantOf(500*ms, 2*sec, "client-2", 2)
	b.write(4*sec, zombie)
	b.final(5 * sec)
	setup, ops := b.done()
	before := Judge(setup, ops)
	result := Judge(setup, ops)
	Doubt(setup, &result, []string{"Lines were lost."})
	if len(result.Doubts) != len(before.Doubts)+1 || result.Doubts[len(before.Doubts)] != "Lines were lost." {
		t.Errorf("%q", result.Doubts)
	}
	held := 0
	for i, p := range result.Properties {
		was := before.Properties[i]
		if was.Verdict != Holds && (p.Verdict != was.Verdict || p.Reason != was.Reason) {
			t.Errorf("%s was %s and is %s", p.Name, was.Verdict, p.Verdict)
		}
		if was.Verdict == Holds {
			held++
			if p.Verdict != Unknown || !p.WouldHold || !strings.HasPrefix(p.Reason, "Would hold, but: Lines were lost.") {
				t.Errorf("%s is %s: %s", p.Name, p.Verdict, p.Reason)
			}
		}
	}
	if held == 0 || before.Answers.Promise == No || result.Answers.Promise != NotKnown {
		t.Errorf("%d held; the service: %+v, then %+v", held, before.Answers, result.Answers)
	}
}

// A fault that began, be it before all else, and was not seen at its victim is doubted.
func TestUnobservedFaults(t *testing.T) {
	for _, c := range []struct {
		fault trace.Fault
		want  string
	}{
		{trace.Fault{Begin: 0}, "never observed"}, {trace.Fault{Begin: 3}, "never observed"}, {trace.Fault{Begin: -1}, ""},
		{trace.Fault{Begin: 3, Observed: true}, ""}, {trace.Fault{Begin: 3, Observed: true, Missed: true}, "not found"}, {trace.Fault{Begin: -1, Missed: true}, "not found"},
		{trace.Fault{Begin: 3, Skipped: true}, ""}, {trace.Fault{Begin: 3, Skipped: true, Missed: true}, ""},
	} {
		got := (&run{Trace: &trace.Trace{Faults: []*trace.Fault{&c.fault}}}).unobserved()
		if (len(got) > 0) != (c.want != "") || len(got) > 0 && !strings.Contains(got[0].text, c.want) {
			t.Errorf("%+v: %v", c.fault, got)
		}
	}
}

// A lock without a lease kept its word if somebody waited for a lease, and no less.
func TestKeptWaitingAtItsLimits(t *testing.T) {
	for long, want := range map[int64]bool{sec - 1: false, sec: true, sec + 1: true} {
		b := newBuilder()
		b.setup.Promise.Leased = false
		b.grantOf(0, 10*ms, "client-1", 1)
		b.fault(50*ms, 9*sec, 1, "pause", "client-1")
		b.refused(sec, sec+long)
		if got := newRun(b.done()).keptWaiting(); got != want {
			t.Errorf("for %d: %v", long, got)
		}
	}
}

// Only what counts as a violation may be the first one.
func TestFirstViolation(t *testing.T) {
	r := &run{Trace: &trace.Trace{Grants: []*trace.Grant{{OK: 10}}}}
	result := &Result{Properties: []Property{
		{Verdict: Violated, Violations: []Violation{{At: 11, Possible: true}, {At: 12, Disturbed: true}, {At: 40}, {At: 50}}},
		{Verdict: Unknown, Violations: []Violation{{At: 13}}},
		{Verdict: Violated, Violations: []Violation{{At: 30}}},
	}}
	if got := r.firstViolation(result); got != 20 {
		t.Errorf("%d", got)
	}
	if got := (&run{Trace: &trace.Trace{}}).firstViolation(result); got != 0 {
		t.Errorf("with no grant: %d", got)
	}
	if got := r.firstViolation(&Result{}); got != 0 {
		t.Errorf("of none: %d", got)
	}
}

// What the scenario must have seen is compared count by count.
func TestVacuousAtItsLimits(t *testing.T) {
	r := &run{Trace: &trace.Trace{Setup: history.Setup{Promise: history.Promise{Leased: true}, Expect: history.Expect{Contention: 1, StaleWrites: 2, Faults: 3, GrantsDuringFault: 4}}}}
	r.counts = Counts{Contended: 1, StaleWrites: 1, Abstained: 1, FaultsSeen: 3, GrantsDuringFault: 4}
	if got := r.vacuous(); len(got) > 0 {
		t.Errorf("%v", got)
	}
	r.counts = Counts{Contended: 0, StaleWrites: 1, FaultsSeen: 2, GrantsDuringFault: 3}
	if got := r.vacuous(); len(got) != 4 || !strings.HasPrefix(got[1].text, "Too little was seen: 1 write, or abstentions, on a superseded grant, the scenario needs 2.") {
		t.Errorf("%s", fmt.Sprint(got))
	}
}

// A fault that waited for a message on a link that nobody understands any more makes the
// run inconclusive, and the doubt says why; one drawn at random, too.
func TestFaultsOnUnparsedLinks(t *testing.T) {
	for phase, want := range map[history.Phase]string{history.Missed: "not found: client-1: the link is deaf", history.Skipped: "could not be seen: client-1: the link is deaf"} {
		for _, deaf := range []bool{true, false} {
			b := newBuilder()
			b.grantOf(0, 10*ms, "client-1", 1)
			if deaf {
				b.op(20*ms, "client-1", history.Note, history.Unparsed, "").Error = "the link is deaf."
			}
			b.op(30*ms, "runner", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 1, Kind: "cut-link", Target: "client-1", Phase: phase}
			b.op(40*ms, "runner", history.Note, history.Fault, "").Fault = &history.FaultNote{ID: 2, Kind: "pause", Target: "client-1", Phase: history.Skipped}
			b.final(sec)
			text := fmt.Sprint(Judge(b.done()).Doubts)
			if strings.Contains(text, want) != deaf || strings.Contains(text, "Fault 2") {
				t.Errorf("%s, deaf %v: %s", phase, deaf, text)
			}
		}
	}
}
