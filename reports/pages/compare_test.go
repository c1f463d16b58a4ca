package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// comparison compares reports.
func comparison(align Align, all ...sample.Report) *Comparison {
	c := NewComparison(align)
	for i, r := range all {
		c.Add(r.Run, r.Setup, r.Ops, r.Result, fmt.Sprintf("run-%d/report.html", i+1))
	}
	return c
}

func page2(t *testing.T, c *Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestComparison(t *testing.T) {
	c := comparison(AtFault, sample.GCPause(false, 40), sample.GCPause(true, 40), sample.Quiet(60))
	page := page2(t, c)
	if dir := os.Getenv("REPORTS_OUT"); dir != "" { // to be looked at
		if err := os.WriteFile(filepath.Join(dir, "compare.html"), page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text := string(page)
	for _, want := range []string{
		"Did the service keep its promise? Yes, in all 3.", "Was the data saved, without a fence? No (redlock; redis), yes (etcd).", "Was the data saved, with a fence? No (redlock), yes (redis; etcd).",
		"These runs differ in more than the lock", "scenario: gc-pause (redlock), gc-pause (redis), partition-leader (etcd)",
		`href="run-1/report.html"`, `id="run-1-violation-`, `href="#run-1-violation-`, "pause of client-", "partition of etcd-2",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q", want)
		}
	}
	if n := strings.Count(text, "<svg "); n != 6 { // near and whole
		t.Errorf("%d charts, want 6", n)
	}
	// Where runs differ comes first, and what all share is said once.
	if c.Properties[0].Differs != true || c.Properties[len(c.Properties)-1].Differs {
		t.Errorf("%+v", c.Properties)
	}
	if i := slices.IndexFunc(c.Setup, func(s ComparedSetting) bool { return s.Name == "lease" }); c.Setup[i].Differs || c.Setup[i].Values[0] != "2 s" {
		t.Errorf("%+v", c.Setup[i])
	}
	for _, bad := range []string{`https?://`, `["'(]//\w`, `@import`, `url\(`, `<link`, `<iframe`, `<img`, `\bsrc=`, `fetch\(`, `XMLHttpRequest`, `import\(`} {
		if m := regexp.MustCompile(bad).Find(page); m != nil {
			t.Errorf("the page holds %q, which may lead out of it", m)
		}
	}
	sample.OnlyItsScript(t, page)
}

// Each run's zero is its first fault, or where it had none or that was asked for, its begin.
func TestAlign(t *testing.T) {
	calm := sample.Quiet(20)
	calm.Ops = slices.DeleteFunc(slices.Clone(calm.Ops), func(op history.Op) bool { return op.F == history.Fault })
	for _, c := range []struct {
		align Align
		r     sample.Report
		fault bool
	}{{AtFault, sample.GCPause(true, 20), true}, {AtStart, sample.GCPause(true, 20), false}, {AtFault, calm, false}} {
		want := time.Duration(0)
		if c.fault {
			i := slices.IndexFunc(c.r.Ops, func(op history.Op) bool { return op.F == history.Fault })
			want = time.Duration(c.r.Ops[i].Time - c.r.Ops[0].Time)
		}
		one := comparison(c.align, c.r).Runs[0]
		if one.Zero != want || (one.ZeroAt == "its begin") == c.fault {
			t.Errorf("align %s: zero %v (%s), want %v", c.align, one.Zero, one.ZeroAt, want)
		}
		for _, v := range one.Violations {
			i := slices.IndexFunc(c.r.Result.Properties, func(p checker.Property) bool { return p.Name == v.Property })
			if at := time.Duration(c.r.Result.Properties[i].Violations[0].At-c.r.Ops[0].Time) - want; v.At != at {
				t.Errorf("align %s: %s at %v, want %v", c.align, v.Property, v.At, at)
			}
		}
	}
}

func TestNamesTellRunsApart(t *testing.T) {
	a, b := sample.GCPause(true, 14), sample.GCPause(true, 14)
	b.Run.Seed = 99
	other := sample.GCPause(true, 14)
	other.Run.Seed, other.Run.Scenario, other.Run.Lease = 7, "clock-jump", time.Second
	for _, c := range []struct {
		all  []sample.Report
		want string
	}{
		{[]sample.Report{a, sample.Quiet(5)}, "[redis etcd]"},
		{[]sample.Report{a, b}, "[redis, seed 4711 redis, seed 99]"},
		{[]sample.Report{a, a, a}, "[redis redis, run 2 redis, run 3]"},
		// What differs and is not needed is not said: a title of five runs had five lines.
		{[]sample.Report{a, b, other}, "[redis, seed 4711 redis, seed 99 redis, seed 7]"},
	} {
		var got []string
		for _, r := range comparison(AtFault, c.all...).Runs {
			got = append(got, r.Name)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

// What may differ between locks is no reason for doubt; what a user chose is.
func TestUnlike(t *testing.T) {
	a, b := sample.GCPause(true, 14), sample.GCPause(false, 14)
	if u := comparison(AtFault, a, b).Unlike; len(u) != 0 {
		t.Errorf("%q", u)
	}
	b.Setup.Lease, b.Run.Lease = 5*time.Second, 5*time.Second
	b.Run.Seed, b.Setup.Clients = 3, b.Setup.Clients[:4]
	b.Run.Options = map[string]string{"fencing": "strict", "fence-on": "write", "self-fence": "none", "renew": "off", "clients": "5"}
	want := "[lease: 2 s (redis), 5 s (redlock) clients: 5 (redis), 4 (redlock) seed: 4711 (redis), 3 (redlock) fencing: at-least (redis), strict (redlock)]"
	if u := comparison(AtFault, a, b).Unlike; fmt.Sprint(u) != want {
		t.Errorf("%q\nwant %s", u, want)
	}
}

// Times of another machine say little of a lock.
func TestUnlikeMachines(t *testing.T) {
	a, b := sample.GCPause(true, 14), sample.GCPause(true, 14)
	a.Run.Machine = "Linux 6.1, amd64, 2 CPUs"
	b.Run.Machine = "Linux 6.1, amd64, 64 CPUs"
	if u := fmt.Sprint(comparison(AtFault, a, b).Unlike); !strings.Contains(u, "machine: Linux 6.1, amd64, 2 CPUs (redis), Linux 6.1, amd64, 64 CPUs") {
		t.Errorf("%s", u)
	}
	if u := comparison(AtFault, a, a).Unlike; len(u) != 0 {
		t.Errorf("one machine: %v", u)
	}
}

// A comparison of long histories stays small, and says what it does not draw.
func TestComparisonIsBounded(t *testing.T) {
	r := sample.GCPause(true, 11_500)
	for i := range 40 {
		name := fmt.Sprintf("extra-%d", i)
		r.Setup.Clients = append(r.Setup.Clients, name)
	}
	page := page2(t, comparison(AtFault, r, r, r))
	t.Logf("3 runs of %d lines: %d bytes", len(r.Ops), len(page))
	if len(page) > 2_000_000 {
		t.Errorf("%d bytes, want at most 2,000,000", len(page))
	}
	for _, want := range []string{"12 of 45 nodes are drawn", "too many grants to tell apart"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// Many violations and faults are counted, not drawn over each other without end.
func TestComparisonOfManyFaults(t *testing.T) {
	r := sample.GCPause(true, 40)
	start := r.Ops[0].Time
	var notes []history.Op
	for i := range 1000 {
		for n, phase := range []history.Phase{history.Begin, history.Heal} {
			notes = append(notes, history.Op{Time: start + int64(i*2+n)*int64(time.Millisecond), Node: "client-1", Type: history.Note, F: history.Fault,
				Fault: &history.FaultNote{ID: 100 + i, Kind: "pause", Target: "client-1", Phase: phase}})
		}
	}
	r.Ops = slices.Concat(r.Ops, notes)
	history.Sort(r.Ops)
	v := r.Result.Properties[0].Violations[0]
	for i := range 5000 {
		v.Number, v.At = i+10, start+int64(i)*int64(time.Millisecond)
		r.Result.Properties[0].Violations = append(r.Result.Properties[0].Violations, v)
	}
	c := comparison(AtFault, r)
	page := page2(t, c)
	if one := c.Runs[0]; one.Found != 5002 || len(one.Violations) != mostCompared || !bytes.Contains(page, []byte("and 4982 more")) {
		t.Errorf("found %d, listed %d", one.Found, len(one.Violations))
	}
	if len(page) > 500_000 || !bytes.Contains(page, []byte("120 of 1001 faults are drawn")) {
		t.Errorf("%d bytes", len(page))
	}
}

func TestComparisonOfNothing(t *testing.T) {
	for _, all := range [][]sample.Report{nil, {{}}, {{}, {}}, {sample.Quiet(0)}, {sample.GCPause(true, 14), {}}} {
		c := comparison(AtFault, all...)
		page2(t, c)
		var b bytes.Buffer
		if err := c.Markdown(&b); err != nil {
			t.Error(err)
		}
	}
}

func TestComparisonJSON(t *testing.T) {
	var b bytes.Buffer
	if err := comparison(AtFault, sample.GCPause(true, 40), sample.Quiet(40)).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Format int `json:"dlmtest_comparison"`
		Runs   []struct {
			Name    string
			Verdict checker.Verdict
			Figures struct {
				P50 int64 `json:"acquire_p50"`
			}
		}
		Properties []struct{ Verdicts []string }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != ComparisonFormat || len(got.Runs) != 2 || got.Runs[0].Verdict != checker.Violated || got.Runs[0].Figures.P50 == 0 || len(got.Properties[0].Verdicts) != 2 {
		t.Errorf("%s", b.Bytes())
	}
}

// Names, keys, messages and proofs from outside never become elements of the page.
func TestComparisonEscapes(t *testing.T) {
	p, a, b := sample.GCPause(true, 14), sample.GCPause(true, 14), sample.Quiet(14)
	sample.Fill(&p, "0plain")
	plain := sample.Shape(t, page2(t, comparison(AtFault, p, b)))
	sample.Fill(&a, sample.Hostile)
	page := page2(t, comparison(AtFault, a, b))
	if got := sample.Shape(t, page); got != plain {
		t.Errorf("hostile text changed the elements of the page:\n%s\nwant\n%s", got, plain)
	}
	c := NewComparison(AtFault)
	c.Add(a.Run, a.Setup, a.Ops, a.Result, "javascript:alert(1)")
	if bytes.Contains(page2(t, c), []byte(`href="javascript:`)) {
		t.Error("a link became a script")
	}
}

// The height of a column is the share of its time, whatever the spans.
func TestSharesAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		p := &runPlotter{axis: timeline.Span{From: 0, To: int64(columns) * 100}}
		var spans []timeline.Span
		held := make([]bool, columns*100)
		at := int64(-500)
		for at < p.axis.To+500 {
			s := timeline.Span{From: at + rng.Int64N(300), To: 0}
			s.To = s.From + 1 + rng.Int64N(400)
			spans, at = append(spans, s), s.To
			for i := max(s.From, 0); i < min(s.To, p.axis.To); i++ {
				held[i] = true
			}
		}
		var want runPlotter
		share := make([]float64, columns)
		for i, h := range held {
			if h {
				share[i/100] += 0.01
			}
		}
		for i := range share {
			share[i] = min(share[i], 1)
		}
		want.columns("valid", share, 10, 1000)
		p.shares("valid", spans, 10, 1000)
		if len(p.Paths) != 1 || p.Paths[0].D != want.Paths[0].D {
			t.Fatalf("%v\nwant\n%v", p.Paths, want.Paths)
		}
	}
}
