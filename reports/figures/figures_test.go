package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/sample"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// TestFiguresOfRealRuns holds names, units and values of results.json still.
func TestFiguresOfRealRuns(t *testing.T) {
	for _, name := range sample.RealRuns {
		setup, ops := sample.Recorded(t, name)
		f := Measure(setup, ops, checker.Judge(setup, ops))
		f.Claims = nil // see TestClaimsOfRealRuns
		b, err := json.MarshalIndent(f, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		sample.Same(t, "figures-"+name+".json", append(b, '\n'))
	}
}

// TestFiguresSay holds the sentences still, by which who sees no drawing knows what it
// shows, and that every figure with data has one, a drawing or a table, and a label.
func TestFiguresSay(t *testing.T) {
	var b bytes.Buffer
	for _, name := range sample.RealRuns {
		setup, ops := sample.Recorded(t, name)
		fmt.Fprintf(&b, "%s\n", name)
		for _, f := range Of(timeline.New(setup, ops), checker.Judge(setup, ops)).Shown() {
			fmt.Fprintf(&b, "  %s: %s%s\n", f.Title, f.Says, f.Missing)
			if f.Missing == "" && (f.Says == "" || len(f.Panels) == 0 || f.Rows == nil && f.Note == "") {
				t.Errorf("%s, %s: no sentence, no drawing or nothing in its place for who cannot see it", name, f.Title)
			}
			for _, p := range f.Panels {
				if !strings.Contains(string(p.SVG), `role="img" aria-label="`+template.HTMLEscapeString(p.Label)) {
					t.Errorf("%s, %s: a drawing has no label", name, f.Title)
				}
			}
		}
	}
	sample.Same(t, "figures-say.txt", b.Bytes())
}

// TestQuantilesAgainstSort compares histograms with sorted values: a histogram of
// three digits is right to a thousandth.
func TestQuantilesAgainstSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		n := 1 + random.IntN(3000)
		w, all := newWindow(3), make([]int64, n)
		for i := range all {
			all[i] = int64(math.Exp(random.Float64() * 18)) // 1 µs to 66 s
			w.record(all[i])
		}
		slices.Sort(all)
		for _, q := range []float64{50, 90, 99, 99.9, 100} {
			rank := max(int(q/100*float64(n)+0.5), 1)
			if got, want := w.at(q), all[rank-1]; math.Abs(float64(got-want)) > math.Max(float64(want)/1000, 1) {
				t.Fatalf("round %d: p%v of %d values is %d, sorted %d", round, q, n, got, want)
			}
		}
		if w.most != all[n-1] {
			t.Fatalf("the longest is %d, want %d", w.most, all[n-1])
		}
	}
}

// TestLatencyAgainstSort takes the time of every operation by hand, of whole windows too.
func TestLatencyAgainstSort(t *testing.T) {
	r := sample.GCPause(true, 400)
	tr := &Measurement{View: timeline.New(r.Setup, r.Ops)}
	byClass := map[string][]int64{}
	begun := map[int]int64{}
	for _, op := range r.Ops {
		switch {
		case op.Type == history.Invoke:
			begun[op.Process] = op.Time
		case op.Type != history.Note:
			name := string(op.F)
			if op.Type != history.OK {
				name += "-refused"
			}
			byClass[name] = append(byClass[name], max((op.Time-begun[op.Process])/1000, 1))
		}
	}
	l := tr.measure()
	for _, q := range l.table {
		all := byClass[q.Operation]
		slices.Sort(all)
		if q.Count != len(all) || q.Max != micros(all[len(all)-1]) {
			t.Errorf("%s: %d operations up to %v, want %d up to %v", q.Operation, q.Count, q.Max, len(all), micros(all[len(all)-1]))
		}
		delete(byClass, q.Operation)
	}
	if len(byClass) > 0 {
		t.Errorf("left out: %v", byClass)
	}
	for i, c := range classes {
		if !c.windowed || l.whole[i].TotalCount() == 0 {
			continue
		}
		n := int64(0)
		for _, w := range l.coarse(i).windows {
			if w != nil {
				n += w.TotalCount()
			}
		}
		if n != l.whole[i].TotalCount() {
			t.Errorf("%s: the windows have %d operations, the run %d", c.name, n, l.whole[i].TotalCount())
		}
	}
}

// TestOvertakenAgainstPairs compares the walk with all pairs of waits.
func TestOvertakenAgainstPairs(t *testing.T) {
	for seed := range uint64(60) {
		setup, ops := crowd(seed)
		m := Of(timeline.New(setup, ops), checker.Result{})
		waits, overtaken := 0, 0
		for _, w := range m.waiting["k"] {
			met, late := false, false
			for _, o := range m.waiting["k"] {
				if w.granted && o.granted && o.invoke != w.invoke && w.from <= o.to && o.to < w.to {
					met = true
					late = late || o.from > w.from+m.Fairness.Clearly
				}
			}
			if met {
				waits++
			}
			if late {
				overtaken++
			}
		}
		if m.Fairness.Waits != waits || m.Fairness.Overtaken != overtaken {
			t.Fatalf("seed %d: %d of %d overtaken, by pairs %d of %d", seed, m.Fairness.Overtaken, m.Fairness.Waits, overtaken, waits)
		}
	}
}

// TestFreeAcquiresAgainstPairs does the same for the acquires that met nobody.
func TestFreeAcquiresAgainstPairs(t *testing.T) {
	some := int64(0)
	for seed := range uint64(60) {
		setup, ops := crowd(seed)
		j := &claimJudge{Measurement: Of(timeline.New(setup, ops), checker.Result{})}
		want := int64(0)
		for _, w := range j.waiting["k"] {
			free := w.granted
			for _, o := range j.waiting["k"] {
				free = free && (o.invoke == w.invoke || o.to < w.from || o.from >= w.to)
			}
			for _, g := range j.GrantsOf("k") {
				free = free && (g.Invoke == w.invoke || j.freed(g) < w.from || g.OK >= w.to)
			}
			if free {
				want++
			}
		}
		if got := j.freeAcquires().TotalCount(); got != want {
			t.Fatalf("seed %d: %d acquires of a free lock, by pairs %d", seed, got, want)
		}
		some += want
	}
	if some == 0 {
		t.Error("no history had any")
	}
}

// crowd is a history of one key with random times, in which clients may be granted
// it in any order. It need not be one of a lock that works.
func crowd(seed uint64) (history.Setup, []history.Op) {
	random := rand.New(rand.NewPCG(seed, 9))
	var ops []history.Op
	add := func(at int64, process int, typ history.Type, f history.F, owner string) {
		ops = append(ops, history.Op{Time: at, Process: process, Node: fmt.Sprintf("client-%d", process), Type: typ, F: f, Key: "k", Owner: owner})
	}
	for process := range 4 {
		at := int64(0)
		for n := range 12 {
			at += random.Int64N(1_500_000_000)
			owner := fmt.Sprintf("%d/%d", process, n)
			add(at, process, history.Invoke, history.Acquire, "")
			at += 1 + random.Int64N(400_000_000)
			if random.IntN(5) == 0 {
				add(at, process, history.Fail, history.Acquire, "")
				continue
			}
			add(at, process, history.OK, history.Acquire, owner)
			at += 1 + random.Int64N(100_000_000)
			add(at, process, history.Invoke, history.Release, owner)
			at += 1 + random.Int64N(10_000_000)
			add(at, process, history.OK, history.Release, owner)
		}
	}
	history.Sort(ops)
	return history.Setup{Lease: 2e9, Keys: []string{"k"}, Promise: history.Promise{Backend: "redis", Leased: true}}, ops
}

// TestAFigureThatFails leaves a sentence in its place, and the others stand.
func TestAFigureThatFails(t *testing.T) {
	defer func(old []plate) { plates = old }(plates)
	plates = slices.Clone(plates)
	plates[2].draw = func(*Measurement, *Figure) { panic("a bar too many") }
	plates[4].measure = func(*Measurement) string { panic("no such token") }
	plates[5].draw = func(m *Measurement, f *Figure) { // a point that no axis has
		c := chart.New(100)
		c.Line(plotter.XYs{{X: 0, Y: 0}, {X: math.Inf(1), Y: 1}}, "p50")
		f.add("broken", c)
	}
	r := sample.GCPause(true, 40)
	missing := map[string]string{}
	for _, f := range Of(timeline.New(r.Setup, r.Ops), r.Result).Shown() {
		if missing[f.ID] = f.Missing; f.Missing == "" && len(f.Panels) == 0 {
			t.Errorf("%s is neither drawn nor said to be missing", f.ID)
		}
	}
	for id, want := range map[string]string{"grants": "This figure could not be drawn, which is a bug of dlmtest: a bar too many",
		"tokens": "This figure could not be measured, which is a bug of dlmtest: no such token", "recoveries": "This figure could not be drawn",
		"latencies": "", "validity": ""} {
		if got := missing[id]; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// TestFiguresWithoutData are left out with a reason, never drawn empty.
func TestFiguresWithoutData(t *testing.T) {
	wait := history.Op{Time: 5, Process: 1, Node: "c", Type: history.Invoke, F: history.Acquire, Key: "k"}
	refused := history.Op{Index: 1, Time: 9, Process: 1, Node: "c", Type: history.Fail, F: history.Acquire, Key: "k"}
	for name, ops := range map[string][]history.Op{"nothing": nil, "pending": {wait}, "refused": {wait, refused}} {
		for _, f := range Of(timeline.New(history.Setup{Keys: []string{"k"}}, ops), checker.Result{}).Shown() {
			if f.Missing == "" == (len(f.Panels) == 0 && len(f.Rows) == 0) {
				t.Errorf("%s, %s: missing %q with %d drawings and %d rows", name, f.Title, f.Missing, len(f.Panels), len(f.Rows))
			}
			if strings.Contains(f.Missing, "bug") {
				t.Errorf("%s, %s: %s", name, f.Title, f.Missing)
			}
		}
	}
}

// TestChartsFollowThePage: no colour of a chart is its own, and no node's name is more
// than text.
func TestChartsFollowThePage(t *testing.T) {
	r := sample.GCPause(true, 60)
	for i := range r.Ops {
		if r.Ops[i].Node == "client-2" {
			r.Ops[i].Node = `<b>&"#D13702`
		}
		r.Ops[i].Key = `<script>` + r.Ops[i].Key
	}
	r.Setup.Clients = nil
	for _, f := range Of(timeline.New(r.Setup, r.Ops), r.Result).Shown() {
		for _, p := range f.Panels {
			s := string(p.SVG)
			if m := regexp.MustCompile(`(fill|stroke):#|<b>|<script|font-family|Inf|NaN`).FindString(s); m != "" {
				t.Errorf("%s: %q", f.Title, m)
			}
			if len(s) > 400_000 {
				t.Errorf("%s: %d bytes", f.Title, len(s))
			}
		}
	}
}

// TestFiguresStaySmall: what a drawing weighs must not grow with the history.
func TestFiguresStaySmall(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 operations")
	}
	r := sample.GCPause(true, 11_500)
	size := 0
	for _, f := range Of(timeline.New(r.Setup, r.Ops), r.Result).Shown() {
		for _, p := range f.Panels {
			size += len(p.SVG)
		}
	}
	if size > 1_500_000 {
		t.Errorf("the drawings of %d lines of history have %d bytes", len(r.Ops), size)
	}
}

func BenchmarkMeasure(b *testing.B) {
	r := sample.GCPause(true, 11_500)
	for b.Loop() {
		Measure(r.Setup, r.Ops, r.Result)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(r.Ops)), "ns/line")
}

func TestLatencyShowsTheRefused(t *testing.T) {
	setup, ops := sample.Recorded(t, "gc-pause-postgres")
	l := (&Measurement{View: timeline.New(setup, ops)}).measure()
	var got []string
	for _, q := range l.table {
		got = append(got, fmt.Sprintf("%s %d %s", q.Name, q.Count, say.Length(q.Max)))
	}
	if text := strings.Join(got, ", "); !strings.Contains(text, "acquire, not granted 4 8.03 s") {
		t.Errorf("the four acquires of 8 s that were refused are missing: %s", text)
	}
	refused := 0
	for p := range slices.Chunk(l.points, 4) {
		if p[3] == 0 {
			refused++
		}
	}
	if refused != 4 {
		t.Errorf("the chart has %d refused acquires, want 4", refused)
	}
}
