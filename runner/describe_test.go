package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/scenarios"
)

// TestCheckOfAnOldFolder: a run.json from before the log of plans, configurations and
// digests makes a whole report, and so does none at all.
func TestCheckOfAnOldFolder(t *testing.T) {
	const old = `{"dlmtest_run":1,"id":"old","scenario":"baseline","backend":"redis","library":"reference","title":"","about":"","command":["dlmtest","run"],` +
		`"seed":7,"started":"2024-01-02T03:04:05Z","took":5,"lease":2000000000,"versions":[{"node":"redis-1","server":"redis","version":"7.0.15"}],` +
		`"options":{"fencing":"at-least"},"nodes":[{"name":"redis-1","role":"server"}],"logs":["logs/redis-1.log"]}`
	for name, text := range map[string]string{"old": old, "none": ""} {
		dir := saveSession(t, HistoryFile)
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, runFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		page := content(t, dir, reportFile)
		for _, want := range []string{"How to repeat it", "Claims against measurements", `id="figure-latencies"`, `href="history.jsonl"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
	}
}

// TestResultsHaveFigures: what docs/figures.md promises to scripts is in results.json,
// and the digest in run.json is that of the history.
func TestResultsHaveFigures(t *testing.T) {
	dir := saveSession(t, HistoryFile)
	if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
		t.Fatal(err)
	}
	var results struct {
		Verdict string
		Figures struct {
			Latencies []map[string]any
			Grants    struct {
				Count int `json:"count"`
			}
			Missing map[string]string
		}
	}
	if err := json.Unmarshal([]byte(content(t, dir, resultsFile)), &results); err != nil {
		t.Fatal(err)
	}
	if results.Verdict == "" || results.Figures.Grants.Count != 2 || len(results.Figures.Latencies) != 2 || results.Figures.Latencies[0]["p99_ns"] != 1e6 {
		t.Errorf("%+v", results)
	}
	var run reports.Run
	if err := json.Unmarshal([]byte(content(t, dir, runFile)), &run); err != nil {
		t.Fatal(err)
	}
	text := content(t, dir, HistoryFile)
	sum := sha256.Sum256([]byte(text))
	if run.History == nil || run.History.SHA256 != hex.EncodeToString(sum[:]) || run.History.Bytes != int64(len(text)) {
		t.Errorf("the history in run.json: %+v", run.History)
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDiscreet: a report is shown around, so no secret of a user's compose file is in it.
func TestDiscreet(t *testing.T) {
	for _, c := range []struct{ words, want []string }{
		{[]string{"redis-server", "--requirepass", "hunter2", "--save", ""}, []string{"redis-server", "--requirepass", "…", "--save", ""}},
		{[]string{"POSTGRES_PASSWORD=hunter2", "PGDATA=/data"}, []string{"POSTGRES_PASSWORD=…", "PGDATA=/data"}},
		{[]string{"sh", "-c", "exec redis-server --requirepass hunter2 --masterauth x"}, []string{"sh", "-c", "exec redis-server --requirepass … --masterauth x"}},
		{[]string{"--auth-token=hunter2", "AWS_SECRET_ACCESS_KEY=hunter2", "api_key: hunter2"}, []string{"--auth-token=…", "AWS_SECRET_ACCESS_KEY=…", "api_key: …"}},
		{[]string{"LOCKSERVICE_BEARER=hunter2", "STRIPE_KEY=hunter2", "AWS_ACCESS_KEY_ID=hunter2", "postgres://u:hunter2@h/db"}, []string{"LOCKSERVICE_BEARER=…", "STRIPE_KEY=…", "AWS_ACCESS_KEY_ID=…", "postgres://u:***@h/db"}},
		{[]string{"maxSessionTimeout=60000", "--initial-cluster", "a=http://a:2380"}, []string{"maxSessionTimeout=60000", "--initial-cluster", "a=http://a:2380"}},
	} {
		if got := discreet(c.words); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
	n := &node{channel: &channel{Node: &clusters.Node{Spec: clusters.NodeSpec{Name: "etcd-1", Env: []string{"HOSTNAME=etcd-1", "PATH=/bin", "ETCD_UNSAFE_NO_FSYNC=false"}}}}}
	if got := environment(n); !slices.Equal(got, []string{"ETCD_UNSAFE_NO_FSYNC=false"}) {
		t.Errorf("environment %q", got)
	}
}

// TestPlansAreNumbered as the nemesis numbers its faults, so that a log can name the
// plan of each.
func TestPlansAreNumbered(t *testing.T) {
	p, err := planned(t, "redis", "store",
		scenarios.Fault{Fault: "pause", Target: "holder", On: "acquired", Count: 3, For: scenarios.Span{Min: scenarios.Duration{Fixed: time.Second}, Max: scenarios.Duration{Fixed: time.Second}}},
		scenarios.Fault{Fault: "pause", Target: "holder", On: "before-write", For: scenarios.Span{Min: scenarios.Duration{Fixed: time.Second}, Max: scenarios.Duration{Leases: 2}, Until: "write-accepted"}})
	if err != nil {
		t.Fatal(err)
	}
	if all := p.written(); len(all) != 2 || all[0].ID != 1 || all[1].ID != 4 || all[1].Until != "write-accepted" || all[1].Max != 2*p.lease {
		t.Errorf("%+v", all)
	}
}

// TestEveryBackendHasClaims: what is on record of a backend is of one that there is, and
// every sound one has some.
func TestEveryBackendHasClaims(t *testing.T) {
	claimed, err := figures.ClaimedBackends()
	if err != nil {
		t.Fatal(err)
	}
	for name, lock := range locks.Table {
		if has := slices.Contains(claimed, name); has == (lock.Broken != nil) {
			t.Errorf("%s: claims: %v, broken on purpose: %v", name, has, lock.Broken != nil)
		}
	}
	for _, name := range claimed {
		if _, ok := locks.Table[name]; !ok {
			t.Errorf("claims about %q, which is no backend", name)
		}
	}
}
