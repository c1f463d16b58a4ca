package hunt

import (
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/runner"
)

// A client that is stopped while it waits, and is granted a lock that it cannot have, is another bug than a holder that
// outlives its lease; else the one would be dismissed with the other.
func TestWhomAFaultStruck(t *testing.T) {
	setup := history.Setup{Servers: []string{"etcd-1"}, Clients: []string{"client-1", "client-2"}}
	fault := func(target string) history.Op {
		return history.Op{F: history.Fault, Fault: &history.FaultNote{Kind: "pause", Target: target}}
	}
	ops := []history.Op{fault("client-1"), {F: history.Acquire, Node: "client-1"}, fault("client-1"), fault("client-2"), fault("etcd-1"), {F: history.Write, Node: "client-1"}}
	steps := []story.Step{{Kind: story.StepFault, Op: 0}, {Kind: story.StepGrant, Who: "client-1", Node: "client-1", Op: 1}, {Kind: story.StepFault, Op: 2},
		{Kind: story.StepZombie, Who: "client-1", Node: "resource", Op: 5}}
	for at, want := range map[int]Whom{0: Waiter, 2: Holder, 3: "", 4: Server} {
		if got := whom(setup, ops, steps, at); got != want {
			t.Errorf("the fault of %d is %q, want %q", at, got, want)
		}
	}
}

// One bug shows beside many faults. Stories that take other turns, and faults of which neither is among
// the other's, are told apart.
func TestSameCause(t *testing.T) {
	// A cause as files have it: its property, and a word for each turn and fault.
	cause := func(property string, words ...string) Cause {
		c := Cause{Property: property}
		for _, w := range words {
			if kind := story.Kind(w); slices.Contains(turns, kind) {
				c.Turns = append(c.Turns, kind)
			} else {
				c.Struck = append(c.Struck, Struck{Fault: w})
			}
		}
		c.Name = c.name()
		return c
	}
	old := cause("honest-claims", "cut-link", "lease-end", "pause")
	old.Traits = Traits{}
	held := cause("honest-claims", "lease-end")
	held.Struck = []Struck{{"pause", Holder}}
	held.Name = held.name()
	for _, c := range []struct {
		a, b Cause
		want bool
	}{
		{cause("honest-claims", "lease-end", "pause"), cause("honest-claims", "lease-end", "pause"), true},
		{cause("honest-claims"), cause("honest-claims", "pause"), true},
		{cause("honest-claims", "lease-end", "pause"), cause("honest-claims", "cut-link", "lease-end", "pause"), true},
		{cause("honest-claims", "cut-link", "lease-end"), cause("honest-claims", "lease-end", "pause"), false},
		{cause("honest-claims", "lease-end", "pause"), held, false},
		{cause("honest-claims", "pause"), cause("honest-claims", "pause", "zombie"), false},
		{cause("fencing-monotonic", "loss", "told"), cause("fencing-monotonic"), true},
		{cause("mutual-exclusion", "loss", "told", "zombie", "pause"), cause("mutual-exclusion", "pause", "zombie"), true},
		{cause("honest-claims", "pause"), cause("false-loss", "pause"), false},
		{old, cause("honest-claims", "cut-link", "lease-end", "pause"), true}, // of an older dlmtest, by its name alone
		{old, cause("honest-claims", "lease-end", "pause"), false},
		{old, cause("honest-claims"), false},
	} {
		if c.a.same(c.b) != c.want || c.b.same(c.a) != c.want {
			t.Errorf("%q and %q: %v, want %v", c.a.Name, c.b.Name, c.a.same(c.b), c.want)
		}
	}
}

// A client that acts after the deadline that it was told does what every lease allows. One that acts before it does not, nor one that was
// told of a grant whose lease was over, nor one that was told no deadline.
func TestAfterTheDeadline(t *testing.T) {
	step := func(kind story.Kind, who string, left ...time.Duration) story.Step {
		s := story.Step{Kind: kind, Who: who, Node: who}
		if kind == story.StepZombie { // its write arrives
			s.Node = "resource"
		}
		if len(left) > 0 {
			s.Left = &left[0]
		}
		return s
	}
	for name, test := range map[string]struct {
		steps []story.Step
		want  bool
	}{
		"after it":                  {[]story.Step{step(story.StepGrant, "a", 500), step(story.StepEnd, "a", 0), step(story.StepZombie, "a", -20)}, true},
		"before it":                 {[]story.Step{step(story.StepGrant, "a", 500), step(story.StepZombie, "a", 20)}, false},
		"granted too late":          {[]story.Step{step(story.StepGrant, "a", -5), step(story.StepZombie, "a", -20)}, false},
		"granted too late, at last": {[]story.Step{step(story.StepGrant, "a", 500), step(story.StepGrant, "a", -5), step(story.StepZombie, "a", -20)}, false},
		"no deadline":               {[]story.Step{step(story.StepGrant, "a"), step(story.StepZombie, "a")}, false},
		"the grant is not told":     {[]story.Step{step(story.StepGrant, "b", 500), step(story.StepZombie, "a", -20)}, false},
		"one of two":                {[]story.Step{step(story.StepGrant, "a", 9), step(story.StepZombie, "a", -2), step(story.StepGrant, "b", 9), step(story.StepZombie, "b", 2)}, false},
		"nobody is late":            {[]story.Step{step(story.StepGrant, "a", 500)}, false},
	} {
		if got := after(test.steps); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	told := [][]story.Step{{step(story.StepGrant, "a", 500), step(story.StepZombie, "a", -20)}, {step(story.StepGrant, "b", 500), step(story.StepZombie, "b", 20)}}
	if at, allowed := worst(2, func(n int) bool { return after(told[n]) }); at != 1 || allowed {
		t.Errorf("a violation that is not allowed hides behind one that is: %d, %v", at, allowed)
	}
	if at, allowed := worst(mostTold+1, func(int) bool { return after(told[0]) }); at != 0 || allowed {
		t.Errorf("of more violations than are told all are allowed: %d, %v", at, allowed)
	}
	e := Evidence{Property: "mutual-exclusion", Owed: checker.Unleased, Compared: true, Allowed: true}
	if decision, why := Decide(e); decision != Allowed || why == "" {
		t.Errorf("%s %s", decision, why)
	}
}

// Of a lock that renews by itself it is the client's own doing if it was told of its loss, or was stopped, before it acts.
func TestUnheeded(t *testing.T) {
	ops := []history.Op{{Fault: &history.FaultNote{Kind: "pause", Target: "a"}}, {Fault: &history.FaultNote{Kind: "partition", Target: "a"}}}
	zombie := story.Step{Kind: story.StepZombie, Who: "a", Op: -1}
	for name, test := range map[string]struct {
		steps []story.Step
		want  bool
	}{
		"told":                 {[]story.Step{{Kind: story.StepTold, Who: "a", Op: -1}, zombie}, true},
		"told too late":        {[]story.Step{zombie, {Kind: story.StepTold, Who: "a", Op: -1}}, false},
		"told of another hold": {[]story.Step{{Kind: story.StepTold, Who: "a", Op: -1}, {Kind: story.StepGrant, Who: "a", Op: -1}, zombie}, false},
		"another told":         {[]story.Step{{Kind: story.StepTold, Who: "b", Op: -1}, zombie}, false},
		"paused":               {[]story.Step{{Kind: story.StepFault, Who: "fault", Op: 0}, zombie}, true},
		"cut off":              {[]story.Step{{Kind: story.StepFault, Who: "fault", Op: 1}, zombie}, false},
	} {
		if got := unheeded(ops, test.steps); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// In the history of a real run a holder is paused between its read and its write, and its write arrives at the resource.
func TestCauseOfARealRun(t *testing.T) {
	t.Chdir("../../reports/story") // where the histories of reports are beside
	setup, ops := sample.Recorded(t, "gc-pause-etcd")
	result := checker.Judge(setup, ops)
	c, v, allowed := causeOf(setup, ops, *result.Property("mutual-exclusion"), true)
	if !allowed || v == nil || !slices.Contains(c.Struck, Struck{"pause", Holder}) {
		t.Errorf("%s, allowed: %v", c.Name, allowed)
	}
	// A lock that renews by itself owes more: who is stopped can be told of nothing, and who runs must be.
	setup.Promise.Renews = true
	if _, _, allowed = causeOf(setup, ops, *result.Property("mutual-exclusion"), true); !allowed {
		t.Error("who was stopped was to be told")
	}
	for i := range ops {
		if f := ops[i].Fault; f != nil {
			broken := *f
			broken.Kind, ops[i].Fault = "reset", &broken
		}
	}
	if _, _, allowed = causeOf(setup, ops, *result.Property("mutual-exclusion"), true); allowed {
		t.Error("a lock that renews by itself may lose a lease and tell nobody")
	}
}

// A broken connection ends a session and its lock: who was told so, and acts, does what no lock can prevent; who was not told owes it to the lock.
func TestToldOfALostSession(t *testing.T) {
	fault := func(at int64, phase history.Phase) history.Op {
		return history.Op{Time: at, Type: history.Note, F: history.Fault, Node: "client-1", Fault: &history.FaultNote{ID: 1, Kind: "reset", Target: "client-1", Phase: phase}}
	}
	acquires := func(at int64, node string, process int, token int64) []history.Op {
		return []history.Op{
			{Time: at, Type: history.Invoke, F: history.Acquire, Node: node, Process: process, Key: "k"},
			{Time: at + 1e6, Type: history.OK, F: history.Acquire, Node: node, Process: process, Key: "k", Owner: node + "/1", Token: token, Sent: at},
		}
	}
	for told, want := range map[bool]checker.Debtor{true: checker.Unleased, false: checker.Service} {
		ops := append(acquires(1e9, "client-1", 1, 1), fault(1.1e9, history.Begin), fault(1.2e9, history.Observed), fault(1.3e9, history.Heal))
		if told {
			ops = append(ops, history.Op{Time: 1.3e9, Type: history.Note, F: history.Lost, Node: "client-1", Key: "k", Owner: "client-1/1"})
		}
		ops = append(ops, acquires(1.4e9, "client-2", 2, 2)...)
		ops = append(ops, history.Op{Time: 2e9, Type: history.Invoke, F: history.Write, Node: "client-1", Process: 1, Key: "k", Owner: "client-1/1", Token: 1, Value: "w"},
			history.Op{Time: 2.05e9, Type: history.Note, F: history.Apply, Node: "resource", Key: "k", Owner: "client-1/1", Token: 1, Value: "w",
				Unfenced: &history.Copy{Accepted: true}, Fenced: &history.Copy{Accepted: true, Token: 1}},
			history.Op{Time: 2.1e9, Type: history.OK, F: history.Write, Node: "client-1", Process: 1, Key: "k", Owner: "client-1/1", Token: 1, Value: "w"})
		for i := range ops {
			ops[i].Index = i
		}
		setup := history.Setup{Promise: history.Promise{Backend: "postgres", Session: true, Token: true}, Lease: time.Second,
			Keys: []string{"k"}, Clients: []string{"client-1", "client-2"}, Servers: []string{"postgres-1"}}
		out := &runner.Outcome{Setup: setup, Ops: ops, Result: checker.Judge(setup, ops)}
		p := out.Result.Property("mutual-exclusion")
		if p.Verdict != checker.Violated {
			t.Fatal(p.Verdict, p.Reason)
		}
		if c := candidateOf(out, *p); c.Owed != want || c.Allowed != told {
			t.Errorf("told %v: owed %v, allowed %v", told, c.Owed, c.Allowed)
		}
	}
}

// A late holder's write that comes before the next one's passes a fence that sees tokens of writes alone; of one that sees those of reads it
// is a finding.
func TestALateWriteBeforeTheNext(t *testing.T) {
	t.Chdir("../../reports/story")
	setup, ops := sample.Recorded(t, "gc-pause-read-redis")
	for fenceOn, want := range map[string]bool{history.OnWrite: true, history.OnRead: false} {
		out := &runner.Outcome{Setup: setup, Ops: ops, Result: checker.Judge(setup, ops)}
		p := out.Result.Property("no-lost-update/fenced")
		if p.Verdict != checker.Violated {
			t.Fatal(p.Verdict, p.Reason)
		}
		out.Setup.FenceOn = fenceOn
		if c := candidateOf(out, *p); c.Allowed != want {
			t.Errorf("--fence-on %s: %s, allowed: %v", fenceOn, c.cause.Name, c.Allowed)
		}
	}
}
