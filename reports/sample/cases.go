package sample

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Report is one whole input of this package.
type Report struct {
	Run    reports.Run
	Setup  history.Setup
	Ops    []history.Op
	Result checker.Result
}

// GCPause is the scenario of the name, on a lock with tokens or without.
func GCPause(tokens bool, grants int) Report {
	s := Simulation{clients: 5, grants: grants, tokens: tokens, pause: 7, backend: "redlock"}
	if tokens {
		s.backend = "redis"
	}
	setup, ops := s.run()
	r := Report{Run: sampleRun(s.backend, "gc-pause", setup, ops), Setup: setup, Ops: ops}
	r.Result = JudgedPause(setup, ops, tokens)
	return r
}

// Quiet is a run in which everything holds although a server was cut off.
func Quiet(grants int) Report {
	s := Simulation{clients: 5, grants: grants, tokens: true, cut: "etcd-2", backend: "etcd", think: 20 * time.Millisecond}
	setup, ops := s.run()
	r := Report{Run: sampleRun("etcd", "partition-leader", setup, ops), Setup: setup, Ops: ops}
	r.Result = checker.Result{
		Verdict: checker.Holds,
		Counts:  checker.Counts{Operations: len(ops) / 2, Grants: grants, Writes: grants, Contended: grants - 2, Faults: 1, FaultsSeen: 1},
	}
	for _, name := range []string{"mutual-exclusion", "lease-exclusion", "fencing-monotonic", "no-lost-update/unfenced",
		"no-lost-update/fenced", "release-by-owner", "honest-claims", "deadlock-freedom", "availability"} {
		r.Result.Properties = append(r.Result.Properties, checker.Property{Name: name, Verdict: checker.Holds,
			Reason: "nothing against it in " + fmt.Sprint(grants) + " grants"})
	}
	r.Result.Properties = append(r.Result.Properties, checker.Property{Name: "fairness", Verdict: checker.NA, Reason: "this lock does not promise an order"})
	checker.Expect(setup, &r.Result, nil)
	return r
}

// JudgedPause is what a judge would say; written by hand from the trace.
func JudgedPause(setup history.Setup, ops []history.Op, tokens bool) checker.Result {
	t := trace.New(setup, ops)
	var late *trace.Write
	recorded := 0
	for i := range t.Writes {
		w := &t.Writes[i]
		if w.Invoke < 0 {
			continue
		}
		if recorded++; t.Stale(w) && (late == nil || w.Invoke < late.Invoke) {
			late = w
		}
	}
	g := late.Grant
	h := t.Superseder(g)
	next := t.Writes[h.Writes[0]]
	at := func(i int) string { return say.Seconds(ops[i].Time - ops[0].Time) }
	overlap := checker.Violation{
		Message:    fmt.Sprintf("%s wrote at %s although %s had held %q since %s", g.Node, at(late.Invoke), h.Node, g.Key.Name, at(h.Op)),
		Operations: []int{g.Op, h.Op, late.Invoke}, Key: g.Key.Name, At: ops[late.Invoke].Time, Oracle: "confirmed",
	}
	lost := checker.Violation{
		Message: fmt.Sprintf("%s of %s was overwritten by %s, which was made from %s",
			ops[next.Invoke].Value, h.Node, ops[late.Invoke].Value, ops[late.Invoke].Unfenced.Base),
		Operations: []int{next.Invoke, next.Apply, late.Invoke, late.Apply}, Key: g.Key.Name, At: ops[late.Apply].Time,
	}
	fenced := checker.Property{Name: "no-lost-update/fenced", Verdict: checker.Violated,
		Reason: "1 acknowledged update was lost: no token, so the copy could not tell a late write", Violations: []checker.Violation{lost}}
	writes := checker.Property{Name: "fenced-writes", Verdict: checker.NA, Reason: "this lock gives no token"}
	refused := 0
	if tokens {
		fenced = checker.Property{Name: "no-lost-update/fenced", Verdict: checker.Holds, Reason: "all acknowledged updates are in the chain of values"}
		writes = checker.Property{Name: "fenced-writes", Verdict: checker.Holds, Reason: "1 of 1 writes on a superseded grant was refused"}
		refused = 1
	}
	r := checker.Result{
		Properties: []checker.Property{
			{Name: "mutual-exclusion", Verdict: checker.Violated,
				Reason: "1 certain overlap in which the stale holder acted", Violations: []checker.Violation{overlap}},
			{Name: "lease-exclusion", Verdict: checker.Holds, Reason: "no two validity intervals overlap"},
			writes,
			{Name: "no-lost-update/unfenced", Verdict: checker.Violated, Reason: "1 acknowledged update was lost", Violations: []checker.Violation{lost}},
			fenced,
			{Name: "release-by-owner", Verdict: checker.Holds, Reason: "no release freed somebody else's grant"},
			{Name: "recovery", Verdict: checker.NA, Reason: "no holder died"},
			{Name: "deadlock-freedom", Verdict: checker.Holds, Reason: "every key was granted after all was healed"},
			{Name: "availability", Verdict: checker.Holds, Reason: "the longest wait without any grant in 1 fault was 12 ms"},
			{Name: "rw-exclusion", Verdict: checker.Unknown, Reason: "no reader asked"},
			{Name: "fairness", Verdict: checker.NA, Reason: "this lock does not promise an order"},
		},
		Counts: checker.Counts{Operations: len(ops) / 2, Grants: len(t.Grants), Writes: recorded, StaleWrites: 1, StaleRefused: refused,
			Contended: len(t.Grants) - 1, Faults: 1, FaultsSeen: 1, MaxStall: 4_200_000},
		FirstViolation: ops[late.Invoke].Time - ops[t.Grants[0].Op].Time,
	}
	checker.Expect(setup, &r, map[string]checker.Expectation{"rw-exclusion": {Verdict: checker.Unknown}})
	return r
}

// sampleRun is the outside of a run.
func sampleRun(backend, scenario string, setup history.Setup, ops []history.Op) reports.Run {
	r := reports.Run{
		Format: reports.Format, ID: "20261121-073701-" + scenario + "-" + backend, Scenario: scenario, Backend: backend, Library: "reference",
		Title: map[string]string{"gc-pause": "The holder stops for longer than its lease",
			"partition-leader": "The leader is cut off from its peers"}[scenario],
		About:   "A fault chosen by what clients do: it strikes between the holder's read and its write, and ends when another client's write was accepted.",
		Command: []string{"dlmtest", "run", "--scenario", scenario, "--backend", backend, "--seed", "4711"},
		Seed:    4711, Started: time.Date(2026, 11, 21, 7, 37, 1, 0, time.UTC), Took: time.Duration(ops[len(ops)-1].Time - ops[0].Time), Lease: Lease,
		Options: map[string]string{"fencing": "at-least", "fence-on": "write", "self-fence": "none", "renew": "off", "clients": "5"},
		Resolved: "name: " + scenario + "\nlease: 2s\nclients: 5\n" +
			"faults:\n  - pause:\n      of: holder\n      at: before-write\n      until: other-write-accepted\n",
		Logs: []string{},
	}
	count := 5
	if backend == "etcd" {
		count = 3
	} else if backend == "redis" {
		count = 1
	}
	server, version := "redis", "7.0.15"
	if backend == "etcd" {
		server, version = "etcd", "3.6.16"
	}
	for _, c := range setup.Clients {
		r.Nodes = append(r.Nodes, reports.NodeInfo{Name: c, Role: reports.Client, Addr: fmt.Sprintf("10.77.0.%d", 20+len(r.Nodes))})
	}
	for i := range count {
		name := fmt.Sprintf("%s-%d", server, i+1)
		r.Nodes = append(r.Nodes, reports.NodeInfo{Name: name, Role: reports.Server, Addr: fmt.Sprintf("10.77.0.%d", 2+i)})
		r.Versions = append(r.Versions, reports.NodeVersion{Node: name, Server: server, Version: version, Image: "dlmtest/" + server + ":bookworm"})
		r.Logs = append(r.Logs, "logs/"+name+".log")
	}
	r.Nodes = append(r.Nodes, reports.NodeInfo{Name: "resource", Role: reports.Resource, Addr: "10.77.0.40"})
	return r
}
