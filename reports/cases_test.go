package reports

import (
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// report is one whole input of this package.
type report struct {
	run   Run
	setup history.Setup
	ops   []history.Op
	res   checker.Result
}

// gcPause is the scenario of the name, on a lock with tokens or without.
func gcPause(tokens bool, grants int) report {
	s := sample{clients: 5, grants: grants, tokens: tokens, pause: 7, backend: "redlock"}
	if tokens {
		s.backend = "redis"
	}
	setup, ops := s.run()
	r := report{run: sampleRun(s.backend, "gc-pause", setup, ops), setup: setup, ops: ops}
	r.res = judgedPause(setup, ops, tokens)
	return r
}

// quiet is a run in which everything holds although a server was cut off.
func quiet(grants int) report {
	s := sample{clients: 5, grants: grants, tokens: true, cut: "etcd-2", backend: "etcd", think: 20 * time.Millisecond}
	setup, ops := s.run()
	r := report{run: sampleRun("etcd", "partition-leader", setup, ops), setup: setup, ops: ops}
	r.res = checker.Result{
		Verdict: checker.Holds,
		Service: checker.Answer{Verdict: checker.Holds, Sentence: "No two valid leases overlapped in " + fmt.Sprint(grants) + " grants."},
		Data:    checker.Answer{Verdict: checker.Holds, Sentence: "No acknowledged update was lost in either copy."},
		Counts:  checker.Counts{Operations: len(ops) / 2, Grants: grants, Writes: grants, Contended: grants - 2, Faults: 1, FaultsSeen: 1},
	}
	for _, name := range []string{"mutual-exclusion", "lease-exclusion", "fencing-monotonic", "no-lost-update/unfenced", "no-lost-update/fenced", "release-by-owner", "honest-claims", "deadlock-freedom", "availability"} {
		r.res.Properties = append(r.res.Properties, checker.Property{Name: name, Verdict: checker.Holds, Reason: "nothing against it in " + fmt.Sprint(grants) + " grants"})
	}
	r.res.Properties = append(r.res.Properties, checker.Property{Name: "fairness", Verdict: checker.NA, Reason: "this lock does not promise an order"})
	return r
}

// judgedPause is what a judge would say; written by hand from the trace.
func judgedPause(setup history.Setup, ops []history.Op, tokens bool) checker.Result {
	t := newTrace(setup, ops)
	var late *write
	for _, w := range t.writes {
		if t.stale(w) {
			late = w
			break
		}
	}
	g := t.byOwner[late.owner]
	h := t.next(g)
	at := func(i int) string { return seconds(ops[i].Time - ops[0].Time) }
	overlap := checker.Violation{
		Message:    fmt.Sprintf("%s wrote at %s although %s had held %q since %s", g.node, at(late.invoke), h.node, g.key, at(h.ok)),
		Operations: []int{g.ok, h.ok, late.invoke}, Key: g.key, At: ops[late.invoke].Time, Oracle: "confirmed",
	}
	lost := checker.Violation{
		Message:    fmt.Sprintf("%s of %s was overwritten by %s, which was made from %s", ops[h.writes[0].invoke].Value, h.node, ops[late.invoke].Value, ops[late.invoke].Unfenced.Base),
		Operations: []int{h.writes[0].invoke, h.writes[0].apply, late.invoke, late.apply}, Key: g.key, At: ops[late.apply].Time,
	}
	fenced := checker.Property{Name: "no-lost-update/fenced", Verdict: checker.Violated, Reason: "1 acknowledged update was lost: no token, so the copy could not tell a late write", Violations: []checker.Violation{lost}}
	writes := checker.Property{Name: "fenced-writes", Verdict: checker.NA, Reason: "this lock gives no token"}
	data := checker.Answer{Verdict: checker.Violated, Sentence: "1 acknowledged update was lost in both copies: this lock gives no token, so the fenced copy had nothing to check."}
	refused := 0
	if tokens {
		fenced = checker.Property{Name: "no-lost-update/fenced", Verdict: checker.Holds, Reason: "all acknowledged updates are in the chain of values"}
		writes = checker.Property{Name: "fenced-writes", Verdict: checker.Holds, Reason: "1 of 1 writes on a superseded grant was refused"}
		data = checker.Answer{Verdict: checker.Holds, Sentence: "The fenced copy refused the 1 stale write; the unfenced copy lost 1 update."}
		refused = 1
	}
	return checker.Result{
		Verdict: checker.Violated,
		Service: checker.Answer{Verdict: checker.Holds, Sentence: "No two valid leases overlapped: each grant came after the last one's lease had ended."},
		Data:    data,
		Properties: []checker.Property{
			{Name: "mutual-exclusion", Verdict: checker.Violated, Reason: "1 certain overlap in which the stale holder acted", Violations: []checker.Violation{overlap}},
			{Name: "lease-exclusion", Verdict: checker.Holds, Reason: "no two validity intervals overlap"},
			writes,
			{Name: "no-lost-update/unfenced", Verdict: checker.Violated, Reason: "1 acknowledged update was lost", Violations: []checker.Violation{lost}},
			fenced,
			{Name: "release-by-owner", Verdict: checker.Holds, Reason: "no release freed somebody else's grant"},
			{Name: "recovery", Verdict: checker.Unknown, Reason: "no holder died"},
			{Name: "fairness", Verdict: checker.NA, Reason: "this lock does not promise an order"},
		},
		Counts:         checker.Counts{Operations: len(ops) / 2, Grants: len(t.grants), Writes: len(t.writes), StaleWrites: 1, StaleRefused: refused, Contended: len(t.grants) - 1, Faults: 1, FaultsSeen: 1, MaxStall: 4_200_000},
		FirstViolation: ops[late.invoke].Time - ops[t.grants[0].ok].Time,
	}
}

// sampleRun is the outside of a run.
func sampleRun(backend, scenario string, setup history.Setup, ops []history.Op) Run {
	r := Run{
		Format: Format, ID: "20261121-073701-" + scenario + "-" + backend, Scenario: scenario, Backend: backend, Library: "reference",
		Title:   map[string]string{"gc-pause": "The holder stops for longer than its lease", "partition-leader": "The leader is cut off from its peers"}[scenario],
		About:   "A fault chosen by what clients do: it strikes between the holder's read and its write, and ends when another client's write was accepted.",
		Command: []string{"dlmtest", "run", "--scenario", scenario, "--backend", backend, "--seed", "4711"},
		Seed:    4711, Started: time.Date(2026, 11, 21, 7, 37, 1, 0, time.UTC), Took: time.Duration(ops[len(ops)-1].Time - ops[0].Time), Lease: sampleLease,
		Options:  map[string]string{"fencing": "at-least", "fence-on": "write", "self-fence": "none", "renew": "off", "clients": "5"},
		Resolved: "name: " + scenario + "\nlease: 2s\nclients: 5\nfaults:\n  - pause:\n      of: holder\n      at: before-write\n      until: other-write-accepted\n",
		Logs:     []string{},
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
		r.Nodes = append(r.Nodes, NodeInfo{Name: c, Role: Client, Addr: fmt.Sprintf("10.77.0.%d", 20+len(r.Nodes))})
	}
	for i := range count {
		name := fmt.Sprintf("%s-%d", server, i+1)
		r.Nodes = append(r.Nodes, NodeInfo{Name: name, Role: Server, Addr: fmt.Sprintf("10.77.0.%d", 2+i)})
		r.Versions = append(r.Versions, NodeVersion{name, server, version, "dlmtest/" + server + ":bookworm"})
		r.Logs = append(r.Logs, "logs/"+name+".log")
	}
	r.Nodes = append(r.Nodes, NodeInfo{Name: "resource", Role: Resource, Addr: "10.77.0.40"})
	return r
}
