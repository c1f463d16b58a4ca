package reports

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
	"github.com/dlmtest/dlmtest/history/trace"
)

// comparison compares reports.
func comparison(align Align, all ...report) *Comparison {
	c := NewComparison(align)
	for i, r := range all {
		c.Add(r.run, r.setup, r.ops, r.res, fmt.Sprintf("run-%d/report.html", i+1))
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
	c := comparison(AtFault, gcPause(false, 40), gcPause(true, 40), quiet(60))
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
	onlyItsScript(t, page)
}

// Each run's zero is its first fault, or where it had none or that was asked for, its begin.
func TestAlign(t *testing.T) {
	calm := quiet(20)
	calm.ops = slices.DeleteFunc(slices.Clone(calm.ops), func(op history.Op) bool { return op.F == history.Fault })
	for _, c := range []struct {
		align Align
		r     report
		fault bool
	}{{AtFault, gcPause(true, 20), true}, {AtStart, gcPause(true, 20), false}, {AtFault, calm, false}} {
		want := time.Duration(0)
		if c.fault {
			i := slices.IndexFunc(c.r.ops, func(op history.Op) bool { return op.F == history.Fault })
			want = time.Duration(c.r.ops[i].Time - c.r.ops[0].Time)
		}
		one := comparison(c.align, c.r).Runs[0]
		if one.Zero != want || (one.ZeroAt == "its begin") == c.fault {
			t.Errorf("align %s: zero %v (%s), want %v", c.align, one.Zero, one.ZeroAt, want)
		}
		for _, v := range one.Violations {
			i := slices.IndexFunc(c.r.res.Properties, func(p checker.Property) bool { return p.Name == v.Property })
			if at := time.Duration(c.r.res.Properties[i].Violations[0].At-c.r.ops[0].Time) - want; v.At != at {
				t.Errorf("align %s: %s at %v, want %v", c.align, v.Property, v.At, at)
			}
		}
	}
}

func TestNamesTellRunsApart(t *testing.T) {
	a, b := gcPause(true, 14), gcPause(true, 14)
	b.run.Seed = 99
	for _, c := range []struct {
		all  []report
		want string
	}{
		{[]report{a, quiet(5)}, "[redis etcd]"},
		{[]report{a, b}, "[redis, seed 4711 redis, seed 99]"},
		{[]report{a, a, a}, "[redis redis, run 2 redis, run 3]"},
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
	a, b := gcPause(true, 14), gcPause(false, 14)
	if u := comparison(AtFault, a, b).Unlike; len(u) != 0 {
		t.Errorf("%q", u)
	}
	b.setup.Lease, b.run.Lease = 5*time.Second, 5*time.Second
	b.run.Seed, b.setup.Clients = 3, b.setup.Clients[:4]
	b.run.Options = map[string]string{"fencing": "strict", "fence-on": "write", "self-fence": "none", "renew": "off", "clients": "5"}
	want := "[lease: 2 s (redis), 5 s (redlock) clients: 5 (redis), 4 (redlock) seed: 4711 (redis), 3 (redlock) fencing: at-least (redis), strict (redlock)]"
	if u := comparison(AtFault, a, b).Unlike; fmt.Sprint(u) != want {
		t.Errorf("%q\nwant %s", u, want)
	}
}

// Times of another machine say little of a lock.
func TestUnlikeMachines(t *testing.T) {
	a, b := gcPause(true, 14), gcPause(true, 14)
	a.run.Machine = "Linux 6.1, amd64, 2 CPUs"
	b.run.Machine = "Linux 6.1, amd64, 64 CPUs"
	if u := fmt.Sprint(comparison(AtFault, a, b).Unlike); !strings.Contains(u, "machine: Linux 6.1, amd64, 2 CPUs (redis), Linux 6.1, amd64, 64 CPUs") {
		t.Errorf("%s", u)
	}
	if u := comparison(AtFault, a, a).Unlike; len(u) != 0 {
		t.Errorf("one machine: %v", u)
	}
}

// The time that nobody held a key although somebody waited, against counting instant by instant.
func TestGapsAgainstCounting(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var edges []edge
		const end = 40
		holds, waits := make([]int, end), make([]int, end)
		for range rng.IntN(8) {
			from := rng.IntN(end - 1)
			to := from + 1 + rng.IntN(end-from-1)
			h := rng.IntN(2)
			edges = append(edges, edge{int64(from), h, 1 - h}, edge{int64(to), -h, h - 1})
			for i := from; i < to; i++ {
				holds[i] += h
				waits[i] += 1 - h
			}
		}
		slices.SortStableFunc(edges, func(a, b edge) int { return int(a.at - b.at) })
		free := gaps(edges)
		for i := range end {
			want := waits[i] > 0 && holds[i] == 0
			if got := slices.ContainsFunc(free, func(s span) bool { return s.from <= int64(i) && int64(i) < s.to }); got != want {
				t.Fatalf("seed %d, at %d: free %v, want %v: %v", seed, i, got, want, free)
			}
		}
	}
}

// The figures of a history that can be worked out by hand.
func TestKeyFigures(t *testing.T) {
	ms := int64(time.Millisecond)
	setup := history.Setup{Promise: history.Promise{Leased: true}, Lease: time.Second, Keys: []string{"k"}, Clients: []string{"a", "b"}}
	op := func(at int64, node string, process int, ty history.Type, f history.F, owner string) history.Op {
		o := history.Op{Time: at * ms, Node: node, Process: process, Type: ty, F: f, Key: "k", Owner: owner}
		if ty == history.OK {
			o.Sent, o.Deadline = o.Time, o.Time+int64(time.Second)
		}
		return o
	}
	ops := []history.Op{
		op(0, "a", 1, history.Invoke, history.Acquire, ""), op(10, "a", 1, history.OK, history.Acquire, "a/1"),
		op(20, "b", 2, history.Invoke, history.Acquire, ""),
		{Time: 100 * ms, Node: "a", Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: "pause", Target: "a", Phase: history.Begin}},
		op(900, "b", 2, history.OK, history.Acquire, "b/1"),
		{Time: 950 * ms, Node: "a", Type: history.Note, F: history.Fault, Fault: &history.FaultNote{ID: 1, Kind: "pause", Target: "a", Phase: history.Heal}},
		op(1000, "a", 1, history.Invoke, history.Release, "a/1"), op(1010, "a", 1, history.OK, history.Release, "a/1"),
		op(1100, "b", 2, history.Invoke, history.Release, "b/1"), op(1110, "b", 2, history.OK, history.Release, "b/1"),
		op(1200, "a", 1, history.Invoke, history.Acquire, ""), op(1700, "a", 1, history.OK, history.Acquire, "a/2"),
		op(2000, "b", 2, history.Invoke, history.Try, ""), op(2000, "b", 2, history.Fail, history.Try, ""),
		{Time: 2000 * ms, Type: history.Note, F: history.Final},
		op(2100, "final", 9, history.Invoke, history.Acquire, ""), op(9000, "final", 9, history.OK, history.Acquire, "z/1"),
	}
	for i := range ops {
		ops[i].Index = i
	}
	tr := newView(setup, ops)
	k := keyFigures(tr, newTracks(tr), checker.Result{})
	got := fmt.Sprint(k.Acquires, k.NotGranted, k.AcquireMax.Round(time.Millisecond), k.GrantsPerSecond, k.LongestFree, k.LongestFreeAt, k.Recovery, k.Recovered, k.Twice)
	if want := "3 1 880ms 1.5 500ms 1.2s 800ms 1 100ms"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A comparison and the run's own page say the same of recovery, also where a fault
// struck every client, as one that cuts servers off does.
func TestComparedRecovery(t *testing.T) {
	most := map[string]time.Duration{}
	for _, name := range realRuns {
		setup, ops := recorded(t, name)
		r := checker.Judge(setup, ops)
		tr := newView(setup, ops)
		for _, one := range Measure(setup, ops, r).Recoveries {
			most[name] = max(most[name], time.Duration(one.Waited))
		}
		if k := keyFigures(tr, newTracks(tr), r); k.Recovery != most[name] {
			t.Errorf("%s: compared %s, on its page %s", name, k.Recovery, most[name])
		}
	}
	if most["partition-majority-redlock"] < 4*time.Second {
		t.Errorf("after a majority was away: %s", most["partition-majority-redlock"])
	}
}

// A comparison of long histories stays small, and says what it does not draw.
func TestComparisonIsBounded(t *testing.T) {
	r := gcPause(true, 11_500)
	for i := range 40 {
		name := fmt.Sprintf("extra-%d", i)
		r.setup.Clients = append(r.setup.Clients, name)
	}
	page := page2(t, comparison(AtFault, r, r, r))
	t.Logf("3 runs of %d lines: %d bytes", len(r.ops), len(page))
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
	r := gcPause(true, 40)
	start := r.ops[0].Time
	var notes []history.Op
	for i := range 1000 {
		for n, phase := range []history.Phase{history.Begin, history.Heal} {
			notes = append(notes, history.Op{Time: start + int64(i*2+n)*int64(time.Millisecond), Node: "client-1", Type: history.Note, F: history.Fault,
				Fault: &history.FaultNote{ID: 100 + i, Kind: "pause", Target: "client-1", Phase: phase}})
		}
	}
	r.ops = slices.Concat(r.ops, notes)
	history.Sort(r.ops)
	v := r.res.Properties[0].Violations[0]
	for i := range 5000 {
		v.Number, v.At = i+10, start+int64(i)*int64(time.Millisecond)
		r.res.Properties[0].Violations = append(r.res.Properties[0].Violations, v)
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
	for _, all := range [][]report{nil, {{}}, {{}, {}}, {quiet(0)}, {gcPause(true, 14), {}}} {
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
	if err := comparison(AtFault, gcPause(true, 40), quiet(40)).JSON(&b); err != nil {
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
	p, a, b := gcPause(true, 14), gcPause(true, 14), quiet(14)
	fill(&p, "0plain")
	plain := shape(t, page2(t, comparison(AtFault, p, b)))
	fill(&a, hostile)
	page := page2(t, comparison(AtFault, a, b))
	if got := shape(t, page); got != plain {
		t.Errorf("hostile text changed the elements of the page:\n%s\nwant\n%s", got, plain)
	}
	c := NewComparison(AtFault)
	c.Add(a.run, a.setup, a.ops, a.res, "javascript:alert(1)")
	if bytes.Contains(page2(t, c), []byte(`href="javascript:`)) {
		t.Error("a link became a script")
	}
}

const hostile = `</text></svg></script><script>alert(1)</script><img src=x onerror=alert(2)>"'& | @everyone **b** [x](javascript:alert(3)) https://evil.example` + "\x00\x1b[31m\u2028\uffff\r\n# head\n|a|b|\n<details>`${1}\\|"

// fill puts a text wherever text comes from outside.
func fill(r *report, text string) {
	r.run.Scenario, r.run.Backend, r.run.Library, r.run.ID, r.run.Title, r.run.About = text, text, text, text, text, text
	r.run.Command = append(r.run.Command, text)
	r.run.Options[text] = text
	r.run.Options["fencing"] = text
	delete(r.run.Options, "clients")
	for i := range r.ops {
		if r.ops[i].Key != "" {
			r.ops[i].Key = text
		}
		if r.ops[i].Node == "client-5" {
			r.ops[i].Node = text
		}
		if r.ops[i].Value != "" {
			r.ops[i].Value += text
		}
		if r.ops[i].Fault != nil {
			r.ops[i].Fault.Proof, r.ops[i].Fault.Kind = text, text
		}
	}
	r.setup.Clients[4] = text
	r.setup.Keys[0] = text
	for i := range r.res.Properties {
		p := &r.res.Properties[i]
		p.Reason = text
		for n := range p.Violations {
			p.Violations[n].Message, p.Violations[n].Key = text, text
		}
	}
	r.res.Sentences = checker.Sentences{Promise: text, Unfenced: text, Fenced: text, WentOn: text}
}

// The height of a column is the share of its time, whatever the spans.
func TestSharesAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		p := &runPlotter{axis: span{0, int64(columns) * 100}}
		var spans []span
		held := make([]bool, columns*100)
		at := int64(-500)
		for at < p.axis.to+500 {
			s := span{at + rng.Int64N(300), 0}
			s.to = s.from + 1 + rng.Int64N(400)
			spans, at = append(spans, s), s.to
			for i := max(s.from, 0); i < min(s.to, p.axis.to); i++ {
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

// Who believed to hold a key at once, against asking of every pair.
func TestTwiceAgainstPairs(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		tr := &view{Trace: &trace.Trace{ByKey: map[string]*trace.Key{}, ByOwner: map[string]*trace.Grant{}}}
		for i := range 2 {
			k := &trace.Key{Name: fmt.Sprint("k", i), Index: i}
			tr.Keys, tr.ByKey[k.Name] = append(tr.Keys, k), k
		}
		at := int64(0)
		for i := range 30 {
			at += rng.Int64N(20)
			client := rng.IntN(4)
			g := &trace.Grant{Key: tr.Keys[rng.IntN(2)], Node: fmt.Sprint("c", client), Process: client, Op: i, EndOp: -1, OK: at, Until: at + rng.Int64N(60), Mode: history.Exclusive}
			tr.Ops = append(tr.Ops, history.Op{Time: at, Type: history.OK, F: history.Acquire, Process: client})
			tr.Grants, g.Key.Grants = append(tr.Grants, g), append(g.Key.Grants, g)
		}
		var want []string
		for i, g := range tr.Grants {
			for _, h := range tr.Grants[:i] {
				if from, to := max(g.OK, h.OK), min(g.Until, h.Until); g.Key == h.Key && g.Node != h.Node && from < to {
					want = append(want, fmt.Sprint(from, to, g.Key.Name, h.Node, g.Node))
				}
			}
		}
		var got []string
		for _, x := range newTracks(tr).twice {
			got = append(got, fmt.Sprint(x.from, x.to, x.key, x.a, x.b))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n%q\nwant\n%q", seed, got, want)
		}
	}
}
