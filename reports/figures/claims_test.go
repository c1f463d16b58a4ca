package figures

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// TestClaimsOfRealRuns: each outcome comes out of histories that real servers made.
func TestClaimsOfRealRuns(t *testing.T) {
	var b bytes.Buffer
	seen := map[Agrees]bool{}
	for _, name := range sample.RealRuns {
		setup, ops := sample.Recorded(t, name)
		fmt.Fprintf(&b, "%s\n", name)
		for _, c := range Measure(setup, ops, checker.Judge(setup, ops)).Claims {
			seen[c.Verdict] = true
			fmt.Fprintf(&b, "  %s, %s: %s\n    %s\n", c.Measure, c.Verdict, c.Says, c.Measured)
		}
	}
	sample.Same(t, "claims.txt", b.Bytes())
	for _, want := range []Agrees{Confirmed, Contradicted, NotMeasured} {
		if !seen[want] {
			t.Errorf("no claim is %s", want)
		}
	}
}

// claimOf judges a history and returns what came of one measure.
func claimOf(setup history.Setup, ops []history.Op, r checker.Result, measure string) Claim {
	for _, c := range Measure(setup, ops, r).Claims {
		if c.Measure == measure {
			return c
		}
	}
	return Claim{}
}

// TestClaimsTurn: the same real histories with one thing changed come out otherwise.
func TestClaimsTurn(t *testing.T) {
	for _, c := range []struct {
		what, run, measure string
		change             func(*history.Setup, []history.Op) []history.Op
		want               Agrees
	}{
		{"a jump that was seen", "clock-jump-redlock", "clock-dependent", nil, Confirmed},
		{"a jump that was not seen", "clock-jump-redlock", "clock-dependent", missed, NotMeasured},
		{"a claim of validity that broke", "clock-jump-redlock", "validity-kept", nil, Contradicted},
		{"a death and a lease", "orphan-etcd", "released-within", nil, Confirmed},
		{"a death that was not seen", "orphan-etcd", "released-within", missed, NotMeasured},
		{"the next grant much later", "orphan-etcd", "released-within", later(15e8), Contradicted},
		{"a minority away", "partition-minority-etcd", "survives-minority", nil, Confirmed},
		{"a minority away, not seen", "partition-minority-etcd", "survives-minority", missed, NotMeasured},
		{"a minority away, of two servers", "partition-minority-etcd", "survives-minority", func(s *history.Setup, ops []history.Op) []history.Op {
			s.Servers = s.Servers[1:]
			return ops
		}, NotMeasured},
		{"a majority away", "partition-majority-redlock", "stops-without-majority", fiveServers, Confirmed},
		{"a majority away, of servers that nobody names", "partition-majority-redlock", "stops-without-majority", nil, NotMeasured},
		{"a majority away, and nobody asked", "partition-majority-redlock", "stops-without-majority", func(s *history.Setup, ops []history.Op) []history.Op {
			return shortFault(s, fiveServers(s, ops))
		}, NotMeasured},
		{"the one server away, and grants", "partition-minority-etcd", "stops-without-majority", func(s *history.Setup, ops []history.Op) []history.Op {
			s.Servers = []string{"etcd-3"}
			return ops
		}, Contradicted},
		{"no majority away", "partition-minority-etcd", "stops-without-majority", nil, NotMeasured},
		{"a majority away for less than a lease", "partition-majority-redlock", "stops-without-majority", func(s *history.Setup, ops []history.Op) []history.Op {
			s.Lease = 10 * time.Second
			return fiveServers(s, ops)
		}, NotMeasured},
		{"less away than a minority may be", "partition-minority-etcd", "survives-minority", func(s *history.Setup, ops []history.Op) []history.Op {
			s.Servers = append(s.Servers, "etcd-4", "etcd-5")
			return ops
		}, NotMeasured},
		{"a jump, and a server that died before", "clock-jump-redlock", "clock-dependent", died(true), NotMeasured},
		{"a jump, and a server that died later", "clock-jump-redlock", "clock-dependent", died(false), Confirmed},
		{"claims that nobody held to their end", "partition-majority-redlock", "validity-kept", nil, NotMeasured},
		{"a claim that was held to its end", "gc-pause-etcd", "validity-kept", func(s *history.Setup, ops []history.Op) []history.Op {
			s.Promise.Backend = "redlock" // of which that is said
			return ops
		}, Confirmed},
		{"two holders by a pause", "gc-pause-etcd", "exclusion", nil, Contradicted},
		{"a holder stopped, and nobody else", "gc-pause-postgres", "exclusion", nil, Confirmed},
		{"a holder killed", "orphan-etcd", "exclusion", nil, Confirmed},
		{"a server cut off, and no holder", "partition-minority-etcd", "exclusion", nil, NotMeasured},
		{"told of the loss", "gc-pause-etcd", "told", nil, Confirmed},
		{"not told of the loss", "gc-pause-etcd", "told", untold, Contradicted},
		{"a late write refused", "gc-pause-etcd", "fencing-saves", nil, Confirmed},
		{"a late write after a read", "gc-pause-read-redis", "fencing-saves", nil, Contradicted},
		{"no token at all", "clock-jump-redlock", "no-token", nil, Confirmed},
		{"a token all the same", "clock-jump-redlock", "no-token", tokened, Contradicted},
		{"nobody died", "gc-pause-etcd", "released-within", nil, NotMeasured},
		{"no clock moved", "gc-pause-etcd", "clock-independent", nil, NotMeasured},
	} {
		setup, ops := sample.Recorded(t, c.run)
		if c.change != nil {
			ops = c.change(&setup, ops)
		}
		history.Sort(ops)
		got := claimOf(setup, ops, checker.Judge(setup, ops), c.measure)
		if got.Verdict != c.want || got.Measured == "" {
			t.Errorf("%s: %s is %q, want %q: %s", c.what, c.measure, got.Verdict, c.want, got.Measured)
		}
	}
}

// TestFencingSaves: one late write that was let in, and the copy did not refuse them all.
func TestFencingSaves(t *testing.T) {
	setup, ops := sample.Recorded(t, "gc-pause-etcd")
	r := checker.Judge(setup, ops)
	r.Counts.StaleWrites++
	if c := claimOf(setup, ops, r, "fencing-saves"); c.Verdict != NotMeasured || !strings.Contains(c.Measured, "1 of 2 writes") {
		t.Errorf("%s: %s", c.Verdict, c.Measured)
	}
}

// died adds the death of a server, at the begin of the history or at its end.
func died(first bool) func(*history.Setup, []history.Op) []history.Op {
	return func(_ *history.Setup, ops []history.Op) []history.Op {
		at := ops[len(ops)-1].Time
		if first {
			at = ops[0].Time
		}
		for _, phase := range []history.Phase{history.Begin, history.Observed, history.Heal} {
			at++
			ops = append(ops, history.Op{Time: at, Node: "redlock-1", Type: history.Note, F: history.Fault,
				Fault: &history.FaultNote{ID: 77, Kind: "kill", Target: "redlock-1", Phase: phase, Proof: "a new process"}})
		}
		return ops
	}
}

// fiveServers names the servers of a history that is older than their names.
func fiveServers(s *history.Setup, ops []history.Op) []history.Op {
	s.Servers = []string{"redlock-1", "redlock-2", "redlock-3", "redlock-4", "redlock-5"}
	return ops
}

// missed has no victim show anything of its fault.
func missed(_ *history.Setup, ops []history.Op) []history.Op {
	for i := range ops {
		if f := ops[i].Fault; f != nil && f.Phase == history.Observed {
			f.Phase = history.Missed
		}
	}
	return ops
}

// later moves everything after the first death by so much.
func later(by int64) func(*history.Setup, []history.Op) []history.Op {
	return func(_ *history.Setup, ops []history.Op) []history.Op {
		died := int64(0)
		for i := range ops {
			op := &ops[i]
			if f := op.Fault; f != nil && f.Phase == history.Begin && died == 0 {
				died = op.Time
			}
			if died > 0 && op.Time > died+1e9 && op.Fault == nil {
				op.Time += by
				if op.Mono != 0 {
					op.Mono += by
				}
				if op.Sent > died+1e9 {
					op.Sent += by
				}
				if op.Deadline != 0 {
					op.Deadline += by
				}
			}
		}
		return ops
	}
}

// shortFault ends the fault before anybody asked for a key.
func shortFault(_ *history.Setup, ops []history.Op) []history.Op {
	for i := range ops {
		if f := ops[i].Fault; f != nil && (f.Phase == history.Heal || f.Phase == history.Observed) {
			ops[i].Time = ops[0].Time + int64(len(ops)+i)
			if f.Phase == history.Heal {
				ops[i].Time += int64(len(ops))
			}
		}
		if f := ops[i].Fault; f != nil && f.Phase == history.Begin {
			ops[i].Time = ops[0].Time + int64(i)
		}
	}
	return ops
}

func untold(_ *history.Setup, ops []history.Op) (left []history.Op) {
	var lost string
	for _, op := range ops {
		if op.F == history.Lost {
			lost = op.Owner
		}
	}
	for _, op := range ops {
		if op.F == history.Lost || op.F == history.Release && op.Owner == lost {
			continue
		}
		left = append(left, op)
	}
	return left
}

func tokened(_ *history.Setup, ops []history.Op) []history.Op {
	for i := range ops {
		if ops[i].Type == history.OK && ops[i].F == history.Acquire {
			ops[i].Token = 7
			break
		}
	}
	return ops
}

// TestLatencyClaims: too few, quick enough, too slow, and a machine that was starved.
func TestLatencyClaims(t *testing.T) {
	lone := func(n int, took int64) (history.Setup, []history.Op) {
		var ops []history.Op
		at := int64(1e9)
		for i := range n {
			owner := fmt.Sprint("o", i)
			for _, step := range []struct {
				typ   history.Type
				f     history.F
				owner string
				after int64
			}{{history.Invoke, history.Acquire, "", 1e6}, {history.OK, history.Acquire, owner, took}, {history.Invoke, history.Release, owner, 1e6}, {history.OK, history.Release, owner, 1e6}} {
				at += step.after
				ops = append(ops, history.Op{Time: at, Process: 1, Node: "client-1", Type: step.typ, F: step.f, Key: "k", Owner: step.owner})
			}
		}
		history.Sort(ops)
		return history.Setup{Lease: 2 * time.Second, Keys: []string{"k"}, Promise: history.Promise{Backend: "redis", Leased: true}}, ops
	}
	quiet := checker.Result{}
	vacuous := checker.Result{Vacuous: 1, Doubts: []string{"Too little was seen: 0 acquires while another client held the key, the scenario needs 1."}}
	starved := checker.Result{Counts: checker.Counts{MaxStall: 300e6}}
	moved := checker.Result{Doubts: []string{"The host's clock moved by 12 ms."}}
	for _, c := range []struct {
		what string
		n    int
		took int64
		res  checker.Result
		want Agrees
		says string
	}{
		{"too few", enoughForP50 - 1, 5e5, quiet, NotMeasured, "Too few: 19 acquires of a free lock"},
		{"quick", enoughForP50, 5e5, quiet, Confirmed, "p50 of 20 acquires of a free lock was 500 µs"},
		{"slow", enoughForP50, 4e6, quiet, Contradicted, "was 4 ms"},
		{"slow and vacuous", enoughForP50, 4e6, vacuous, Contradicted, "was 4 ms"},
		{"slow and starved", enoughForP50, 4e6, starved, NotMeasured, "not scheduled for 300 ms"},
		{"quick in doubt", enoughForP50, 5e5, moved, NotMeasured, "clock moved"},
	} {
		setup, ops := lone(c.n, c.took)
		if got := claimOf(setup, ops, c.res, "acquire-latency"); got.Verdict != c.want || !strings.Contains(got.Measured, c.says) {
			t.Errorf("%s: %s, %q", c.what, got.Verdict, got.Measured)
		}
	}
	setup, ops := lone(enoughForP99, 2e6)
	for _, c := range Measure(setup, ops, quiet).Claims {
		if c.Claimed.Quantile == 99 && c.Verdict != Confirmed {
			t.Errorf("p99 of %d acquires of 2 ms: %s, %s", enoughForP99, c.Verdict, c.Measured)
		}
	}
}

// TestVacuityIsKnown: the judge's own words for it are those that claims look for.
func TestVacuityIsKnown(t *testing.T) {
	setup, ops := sample.Recorded(t, "gc-pause-etcd")
	setup.Expect.Contention = 1 << 20
	r := checker.Judge(setup, ops)
	m := Of(timeline.New(setup, ops), r)
	if m.doubtOf(Claimed{Measure: "told"}) == "" || m.doubtOf(Claimed{Measure: "acquire-latency"}) != "" {
		t.Errorf("doubts of a vacuous run: %q", r.Doubts)
	}
	if c := claimOf(setup, ops, r, "told"); c.Verdict != NotMeasured {
		t.Errorf("a vacuous run confirms: %s", c.Measured)
	}
}

func TestClaimsAreStrict(t *testing.T) {
	const sources = "sources:\n  a: {kind: book, title: B}\nbackends:\n  redis:\n    - "
	for text, want := range map[string]string{
		`{says: x, by: [a], measure: fairness}`:                                           "",
		`{says: x, by: [b], measure: fairness}`:                                           `no source "b"`,
		`{says: x, by: [a], measure: ordr}`:                                               `no measure "ordr"`,
		`{says: x, by: [], measure: fairness}`:                                            "says and by are needed",
		`{says: x, by: [a], measure: acquire-latency}`:                                    "a latency needs quantile and below",
		`{says: x, by: [a], measure: acquire-latency, quantile: 50, belw: 1ms}`:           "belw",
		`{says: x, by: [a], measure: released-within, within: soon}`:                      "soon",
		`{says: x, by: [a], measure: acquire-latency, quantile: 50, below: 1ms, by: [a]}`: "by",
	} {
		_, err := readClaims([]byte(sources + text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
