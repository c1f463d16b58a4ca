package pages

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
)

// bigIndex is a matrix of 40 × 8 cells with five runs each.
func bigIndex() Index {
	rng := rand.New(rand.NewPCG(1, 2))
	x := Index{Format: IndexFormat, ID: "big", Version: "v1", Ended: true, Count: 5, Parallel: 2, Started: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Took: 3 * time.Hour,
		Command:  []string{"dlmtest", "run", "--scenario", "all", "--backend", "all", "--count", "5"},
		Backends: []string{"redis", "redis-replicated", "redlock", "zookeeper", "etcd", "postgres", "postgres-advisory", "http"}}
	for i := range 40 {
		s := fmt.Sprintf("partition-leader-%d", i+1)
		x.Scenarios = append(x.Scenarios, s)
		for _, b := range x.Backends {
			c := Cell{Scenario: s, Backend: b}
			if rng.IntN(8) == 0 {
				c.Verdict, c.Reason = reports.NoSense, "no server of "+b+" leads"
				x.Cells = append(x.Cells, c)
				continue
			}
			odds := rng.IntN(3)
			for seed := range uint64(x.Count) {
				r := CellRun{Seed: seed + 1, Dir: fmt.Sprintf("%s_%s_%d", s, b, seed), Verdict: reports.Good, Properties: []Decided{{Name: "mutual-exclusion", Verdict: checker.Holds}}}
				switch n := rng.IntN(10); {
				case odds == 0 && n < 6:
					r.Verdict, r.FirstViolation = reports.Violates, time.Duration(2000+rng.IntN(900))*time.Millisecond
					r.Properties = []Decided{{Name: "mutual-exclusion", Verdict: checker.Violated}, {Name: "no-lost-update/unfenced", Verdict: checker.Violated}, {Name: "lease-exclusion", Verdict: checker.Violated}, {Name: "fencing-monotonic", Verdict: checker.Violated}}
					if n == 0 {
						r.Differs = []checker.Difference{{Property: "lease-exclusion", Is: checker.Violated, Expected: checker.Holds, Note: "the lease is kept by a quorum"}}
					}
				case odds == 1 && n == 0:
					r.Verdict, r.Doubts, r.Properties = reports.Unclear, []string{"The fault was not seen."}, []Decided{{Name: "mutual-exclusion", Verdict: checker.Unknown}}
				}
				r.answered()
				c.Runs = append(c.Runs, r)
			}
			c.Settle()
			x.Cells = append(x.Cells, c)
		}
	}
	return x
}

// Every cell of a big matrix is there once, and the page stays small.
func TestBigIndex(t *testing.T) {
	x := bigIndex()
	page := rendered(t, IndexHTML, x)
	if dir := os.Getenv("REPORTS_OUT"); dir != "" { // to be looked at
		if err := os.WriteFile(filepath.Join(dir, "big-index.html"), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	body := page[bytes.Index(page, []byte("<tbody>")):]
	rows := regexp.MustCompile(`<tr><th scope="row">partition-leader-\d+</th>`).FindAll(body, -1)
	cells := regexp.MustCompile(`<td class="(holds|violated|unknown|n/a)( odd| calm)?"`).FindAll(body, -1)
	if len(rows) != 40 || len(cells) != 320 || len(page) > 500_000 {
		t.Errorf("%d rows, %d cells, %d bytes; want 40, 320 and less than 500,000", len(rows), len(cells), len(page))
	}
	// What is not as expected comes before the table, and is marked in it.
	at, table := bytes.Index(page, []byte("<h2>Not as expected")), bytes.Index(page, []byte(`id="matrix"`))
	if at < 0 || at > table || !bytes.Contains(body, []byte(` odd"`)) {
		t.Errorf("what is not as expected is at %d, the table at %d", at, table)
	}
}
