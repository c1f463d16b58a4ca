package remedies

import (
	"os"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// judged is what is advised after a history of the checkers.
func judged(t *testing.T, name string) string {
	t.Helper()
	file, err := os.Open("../../checker/testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	setup, ops, err := history.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return Explain(setup, ops, checker.Judge(setup, ops)).Prevented
}

// Advice fits the cause, and what lies near it keeps its own.
func TestAdviceFitsTheCause(t *testing.T) {
	for name, says := range map[string]string{
		"mutual-exclusion/violated-write":                 "Nobody was struck and no two leases overlapped",
		"honest-claims/violated-late":                     "promised by an ok to a renewal",
		"mutual-exclusion/violated-told":                  "client-1 had been told that the lock was lost",
		"mutual-exclusion/violated-deaf-twice":            "client-1 had been told that the lock was lost",
		"mutual-exclusion/violated-given-back":            "client-1 had given the lock back",
		"mutual-exclusion/violated-stranger":              "client-9 acted on the lock by a name that was never granted it",
		"mutual-exclusion/violated-effect-stranger":       "client-9 acted on the lock by a name that was never granted it",
		"rw-exclusion/violated":                           "No server was struck, so the lock let a second client in",
		"rw-exclusion/violated-stranger":                  "client-9 acted on the lock by a name",
		"rw-exclusion/violated-told":                      "client-1 had been told that the lock was lost",
		"fenced-writes/violated-accepted":                 "And for fenced-writes: A resource that keeps the highest token",
		"no-lost-update/unfenced/violated-forked":         "Nothing in the lock: no late writer replaced what is missing",
		"no-lost-update/unfenced/violated-vanished":       "Nothing in the lock: no late writer replaced what is missing",
		"no-lost-update/unfenced/violated-unread":         "Nothing in the lock: no late writer replaced what is missing",
		"no-lost-update/unfenced/violated":                "Nobody was struck and no two leases overlapped",
		"deadlock-freedom/violated-never":                 "client-3 gave the key back and was told ok",
		"deadlock-freedom/violated-silent":                "Nobody held the key, and no answer was lost",
		"deadlock-freedom/violated-half-arrived":          "An attempt that fails must take back",
		"deadlock-freedom/violated-unknown-row":           "An attempt that fails must take back",
		"deadlock-freedom/violated-dead-pending-as-asked": "client-1 died, and what it had left",
		"availability/violated-partition":                 "Nothing in the lock: server-1 to server-5 did not run or could not be reached",
		"availability/violated-stalled-once":              "A limit on each request, after which the client asks another server: server-1 was away",
		"availability/violated-paused-asking-as-asked":    "A lease shorter than the pause",
		"lease-exclusion/violated-minority-cut":           "server-1 to server-3 were away",
		"wait-limit/violated-killed-late":                 "gave the key back",
	} {
		if said := judged(t, name); !strings.Contains(said, says) {
			t.Errorf("%s: %q, want %q", name, said, says)
		}
	}
}

// A lease that the service ended before its deadline would be ended when it is longer, too; where its own deadline ended it first, that is another story.
func TestRemedyOfALeaseEndedEarly(t *testing.T) {
	setup := history.Setup{Promise: history.Promise{Backend: "x", Leased: true}, Lease: 100, Keys: []string{"k"}, Clients: []string{"a", "b"}, Servers: []string{"s"}}
	for _, c := range []struct {
		told, next int64
		says       string
	}{
		{40, 60, "The service said that the lock of a was lost, and gave it to another"},
		{40, 160, "a had been told"},
		{0, 160, "Nobody was struck"},
	} {
		op := func(at int64, node string, typ history.Type, f history.F, owner string) history.Op {
			return history.Op{Time: at, Mono: at, Sent: at - 1, Node: node, Process: int(node[0]), Type: typ, F: f, Key: "k", Owner: owner}
		}
		ops := []history.Op{op(10, "a", history.Invoke, history.Acquire, ""), op(12, "a", history.OK, history.Acquire, "x")}
		ops[1].Deadline = 111
		if c.told > 0 {
			ops = append(ops, op(c.told, "a", history.Note, history.Lost, "x"))
		}
		ops = append(ops, op(c.next-2, "b", history.Invoke, history.Acquire, ""), op(c.next, "b", history.OK, history.Acquire, "y"), op(c.next+10, "a", history.Invoke, history.Write, "x"))
		n := len(ops)
		ops[n-1].Value, ops[n-2].Deadline = "v", c.next+99
		r := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: "lease-exclusion", Verdict: checker.Holds},
			{Name: "mutual-exclusion", Verdict: checker.Violated, Violations: []checker.Violation{{Key: "k", At: c.next + 10, Operations: []int{1, n - 2, n - 1}}}}}}
		setup.Promise.Token = true
		if said := Explain(setup, ops, r).Prevented; !strings.HasPrefix(said, c.says) {
			t.Errorf("told at %d, the next grant at %d: %q, want %q", c.told, c.next, said, c.says)
		}
	}
}

// A client that dies after others began to wait in vain has not kept the key from them, nor has one that had given it back.
func TestRemedyAfterADeath(t *testing.T) {
	setup := history.Setup{Promise: history.Promise{Backend: "x", Leased: true}, Lease: 1e9, Keys: []string{"k"}, Clients: []string{"a", "b"}, Servers: []string{"s"}}
	for _, c := range []struct {
		died     int64
		released bool
		says     string
	}{
		{3e9, false, "a died, and what it had left"},
		{3e9, true, "a gave the key back and was told ok"},
		{6e9, true, "a gave the key back and was told ok"},
	} {
		op := func(at int64, node string, typ history.Type, f history.F, owner string) history.Op {
			return history.Op{Time: at, Sent: at - 1, Node: node, Process: int(node[0]), Type: typ, F: f, Key: "k", Owner: owner}
		}
		ops := []history.Op{op(1e9, "a", history.Invoke, history.Acquire, ""), op(1e9+2, "a", history.OK, history.Acquire, "x")}
		if c.released {
			ops = append(ops, op(2e9, "a", history.Invoke, history.Release, "x"), op(2e9+1, "a", history.OK, history.Release, "x"))
		}
		ops = append(ops, op(5e9, "b", history.Invoke, history.Acquire, ""))
		wait := len(ops) - 1
		ops = append(ops, history.Op{Time: c.died, Node: "a", Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: "kill", Target: "a", Phase: history.Begin}},
			op(20e9, "b", history.Note, history.Stop, ""))
		if c.died < 5e9 {
			ops[wait], ops[wait+1] = ops[wait+1], ops[wait]
			wait++
		}
		r := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: "deadlock-freedom", Verdict: checker.Violated,
			Violations: []checker.Violation{{Key: "k", At: 10e9, Operations: []int{wait}}}}}}
		if said := Explain(setup, ops, r).Prevented; !strings.HasPrefix(said, c.says) {
			t.Errorf("died at %d, released %v: %q, want %q", c.died, c.released, said, c.says)
		}
	}
}
