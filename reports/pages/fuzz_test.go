package pages

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
)

// FuzzFigures: whatever a history holds, also one that breaks every rule, the page is
// written, and nothing in it is a bug of ours.
func FuzzFigures(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint16(40+20*seed), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, sorted bool) {
		setup, ops := nonsense(seed, int(n)%2000, sorted)
		var b bytes.Buffer
		if err := HTML(&b, reports.Run{}, setup, ops, checker.Result{}); err != nil {
			t.Fatal(err)
		}
		for id, why := range figures.Measure(setup, ops, checker.Result{}).Missing {
			if strings.Contains(why, "bug of dlmtest") && sorted {
				t.Errorf("%s: %s", id, why)
			}
		}
		if sorted && bytes.Contains(b.Bytes(), []byte("bug of dlmtest")) {
			t.Error("a figure of a history in order could not be drawn")
		}
	})
}

// nonsense is a history of random operations.
func nonsense(seed uint64, n int, sorted bool) (history.Setup, []history.Op) {
	random := rand.New(rand.NewPCG(seed, 3))
	pick := func(all ...string) string { return all[random.IntN(len(all))] }
	number := func() int64 {
		switch random.IntN(6) {
		case 0:
			return 0
		case 1:
			return random.Int64N(1 << 60)
		}
		return random.Int64N(10_000_000_000)
	}
	setup := history.Setup{Lease: 2e9, Keys: []string{"a"}, Promise: history.Promise{Backend: pick("redlock", "etcd", "postgres", "x"), Leased: seed%2 == 0, Token: seed%3 == 0},
		Servers: []string{"s-1", "s-2", "s-3"}}
	var ops []history.Op
	for range n {
		op := history.Op{Time: random.Int64N(10_000_000_000), Node: pick("c-1", "c-2", "s-1", "s-2", ""), Process: random.IntN(5), Key: pick("a", "b", ""),
			Type:  history.Type(pick("invoke", "ok", "fail", "info", "note")),
			F:     history.F(pick("acquire", "try", "extend", "release", "read", "write", "apply", "lost", "holder", "fault", "clock", "final", "held")),
			Owner: pick("o1", "o2", "o3", "o4", ""), Value: pick("v1", "v2", "")}
		op.Mono, op.Real, op.Sent, op.Lease, op.Deadline, op.Token = number(), number(), number(), number(), number(), number()
		if op.F == history.Fault && random.IntN(8) > 0 {
			op.Fault = &history.FaultNote{ID: random.IntN(4), Kind: pick("pause", "kill", "partition", "clock", ""), Target: pick("c-1", "s-1", "s-2", ""),
				Phase: history.Phase(pick("begin", "observed", "missed", "heal", "failed", "skipped")), Proof: pick("seen", "")}
		}
		ops = append(ops, op)
	}
	if sorted {
		history.Sort(ops)
	}
	return setup, ops
}
