package remedies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
)

// What is advised follows from what real runs have shown: of locks that are broken on purpose, of
// library versions with known bugs, and of the well-known uses. Of each run that part is kept on which its
// first violations rest, with every fault.
func TestRemedies(t *testing.T) {
	runs, err := filepath.Glob("testdata/remedies/*.jsonl")
	if err != nil || len(runs) < 32 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var b bytes.Buffer
	for _, path := range runs {
		setup, ops, r := shown(t, path)
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		fmt.Fprintf(&b, "%s: %s\n  %s\n", name, strings.Join(r.Found(), ", "), Explain(setup, ops, r).Prevented)
	}
	sample.Same(t, "remedies.txt", b.Bytes())
}

// shown is what is kept of a run: a part of its history, and of its results.
func shown(t *testing.T, path string) (setup history.Setup, ops []history.Op, r checker.Result) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if setup, ops, err = history.Decode(bytes.NewReader(text)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	results, err := os.ReadFile(strings.TrimSuffix(path, "l"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(results, &r); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return setup, ops, r
}

// Causes that no kept run has: what was struck, of how many, decides what is advised.
func TestRemediesByWhatWasStruck(t *testing.T) {
	setup := history.Setup{
		Promise: history.Promise{Backend: "etcd", Leased: true, Token: true}, Lease: 100, Keys: []string{"k"},
		Clients: []string{"client-1"}, Servers: []string{"s-1", "s-2", "s-3"},
	}
	fault := func(kind, target string) []history.Op {
		note := func(at int64, phase history.Phase) history.Op {
			return history.Op{Time: at, Node: target, Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: kind, Target: target, Phase: phase}}
		}
		return []history.Op{note(20, history.Begin), note(40, history.Heal)}
	}
	for _, c := range []struct {
		property string
		faults   [][]history.Op
		says     string
	}{
		{"availability", [][]history.Op{fault("pause", "s-1"), fault("kill", "s-2")}, "s-1 and s-2 did not run or could not be reached, and fewer than a majority"},
		{"availability", [][]history.Op{fault("pause", "s-1")}, "A limit on each request, after which the client asks another server: s-1"},
		{"availability", [][]history.Op{fault("pause", "client-1")}, "A lease shorter than the pause"},
		{"availability", nil, "A lease shorter than the pause"}, // the property's own row
		{"mutual-exclusion", [][]history.Op{fault("pause", "s-1")}, "No holder was struck, and s-1 was"},
		{"mutual-exclusion", [][]history.Op{fault("pause", "s-1"), fault("pause", "client-1")}, "Checking the token of every write"},
		{"mutual-exclusion", [][]history.Op{fault("partition", "s-1")}, "Checking the token of every write"},
		{"mutual-exclusion", nil, "let a second client in by itself"},
		{"lease-exclusion", [][]history.Op{fault("kill", "s-1")}, "s-1 died and came back"},
		{"lease-exclusion", [][]history.Op{fault("pause", "s-1")}, "is not known from here"},
		{"lease-exclusion", [][]history.Op{fault("clock", "s-1")}, "The clock of s-1 was moved"},
		{"lease-exclusion", [][]history.Op{fault("clock", "client-1")}, "let a second client in by itself"},
	} {
		ops := []history.Op{
			{Time: 10, Node: "client-1", Process: 1, Type: history.Invoke, F: history.Acquire, Key: "k"},
			{Time: 15, Sent: 11, Node: "client-1", Process: 1, Type: history.OK, F: history.Acquire, Key: "k", Owner: "a", Token: 1},
		}
		for _, f := range c.faults {
			ops = append(ops, f...)
		}
		ops = append(ops, history.Op{Time: 60, Node: "client-1", Process: 2, Type: history.Invoke, F: history.Acquire, Key: "k"})
		r := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: c.property, Verdict: checker.Violated,
			Violations: []checker.Violation{{Key: "k", At: 50, Operations: []int{0, 1}}}}}}
		if said := Explain(setup, ops, r).Prevented; !strings.Contains(said, c.says) {
			t.Errorf("%s after %d faults: %q, want %q", c.property, len(c.faults), said, c.says)
		}
	}
}

// Who is given its old hold again, by its old token, needs no counter on disk: its lock does not tell grants apart.
func TestRemedyOfAHoldTakenAgain(t *testing.T) {
	setup := history.Setup{Promise: history.Promise{Backend: "etcd", Leased: true, Token: true}, Lease: 100, Keys: []string{"k"}, Clients: []string{"client-1"}, Servers: []string{"s-1"}}
	for released, says := range map[history.Type]string{history.Info: "client-1 asked for the lock again", history.OK: "s-1 was struck"} {
		op := func(at int64, typ history.Type, f history.F, owner string) history.Op {
			return history.Op{Time: at, Sent: at - 1, Node: "client-1", Process: 1, Type: typ, F: f, Key: "k", Owner: owner, Token: 7}
		}
		note := &history.FaultNote{ID: 1, Kind: "partition", Target: "s-1", Phase: history.Begin}
		ops := []history.Op{op(10, history.Invoke, history.Acquire, ""), op(15, history.OK, history.Acquire, "a"),
			{Time: 18, Node: "s-1", Type: history.Note, F: history.Fault, Fault: note},
			op(20, history.Invoke, history.Release, "a"), op(25, released, history.Release, "a"),
			op(30, history.Invoke, history.Acquire, ""), op(35, history.OK, history.Acquire, "b")}
		r := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: "fencing-monotonic", Verdict: checker.Violated,
			Violations: []checker.Violation{{Key: "k", At: 35, Operations: []int{1, 6}}}}}}
		if said := Explain(setup, ops, r).Prevented; !strings.HasPrefix(said, says) {
			t.Errorf("a release that ended with %s: %q, want %q", released, said, says)
		}
	}
}

// Where nobody was struck and no two leases overlapped, it is no flaw of the lock that a holder worked on after its
// lease: two clients that wait for each other's key do.
func TestRemedyOfWorkPastTheLease(t *testing.T) {
	setup := history.Setup{Promise: history.Promise{Backend: "redis", Leased: true, Token: true}, Lease: 100, Keys: []string{"k"}, Clients: []string{"client-1"}, Servers: []string{"s-1"}}
	ops := []history.Op{
		{Time: 10, Node: "client-1", Process: 1, Type: history.Invoke, F: history.Acquire, Key: "k"},
		{Time: 15, Sent: 11, Node: "client-1", Process: 1, Type: history.OK, F: history.Acquire, Key: "k", Owner: "a", Token: 1},
	}
	for leases, says := range map[checker.Verdict]string{checker.Holds: endedAtWork, checker.Violated: letsTwoIn, checker.Unknown: letsTwoIn} {
		r := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: "lease-exclusion", Verdict: leases},
			{Name: "mutual-exclusion", Verdict: checker.Violated, Violations: []checker.Violation{{Key: "k", At: 150, Operations: []int{0, 1}}}}}}
		if said := Explain(setup, ops, r).Prevented; said != says {
			t.Errorf("lease-exclusion %v: %q, want %q", leases, said, says)
		}
	}
}
