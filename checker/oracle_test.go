package checker

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/raced"
)

// TestMain makes the test binary its own oracle, and one with little memory.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "oracle" {
		os.Exit(OracleMain(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == "little memory" {
		oracleMemory = 150 << 20
		os.Exit(OracleMain(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

var child = Oracle{Self: []string{"/proc/self/exe", "oracle"}}

// here asks Porcupine in this process.
func here(model string, o models.Options, ops []models.Op) string {
	return models.Consult(model, o, ops, 10*time.Second)
}

func TestConfirm(t *testing.T) {
	setup, ops := realistic(5000, 20, 1, 5, 3, 3)
	result := Judge(setup, ops)
	minimize(t, setup, ops, &result)
	full := child
	full.Full = true
	drawn := 0
	full.Save = func(_ int, page string) (string, error) {
		if !strings.HasPrefix(page, "<!doctype html") || strings.Contains(page, "src=\"http") || strings.Contains(page, "href=\"http") {
			t.Error("the drawing is no page, or wants a network")
		}
		drawn++
		return "drawing", nil
	}
	mustConfirm(t, full, setup, ops, &result)
	if n := len(result.Property("mutual-exclusion").Violations); n != 3 {
		t.Fatalf("%d violations, want 3", n)
	}
	for _, p := range result.Properties {
		for _, v := range p.Violations {
			if v.Oracle != Confirmed || v.Minimal.Drawing == "" {
				t.Errorf("%s: oracle says %q", v.Message, v.Oracle)
			}
		}
		if oracleOf(p.Name).whole && p.Oracle != Confirmed && p.Verdict != NA && p.Verdict != Unknown {
			t.Errorf("%s is %v, and the oracle says %q of the whole", p.Name, p.Verdict, p.Oracle)
		}
	}
	if len(result.Doubts) > 0 || drawn == 0 {
		t.Errorf("%d drawings, doubts: %v", drawn, result.Doubts)
	}
}

func mustConfirm(t *testing.T, oracle Oracle, setup history.Setup, ops []history.Op, result *Result) {
	t.Helper()
	if err := Confirm(context.Background(), oracle, setup, ops, result); err != nil {
		t.Fatal(err)
	}
}

// agreed says that Porcupine contradicts nothing, and counts what it confirms.
func agreed(t rapid.TB, setup history.Setup, ops []history.Op, confirmed map[string]int) {
	t.Helper()
	result := Judge(setup, ops)
	minimize(t, setup, ops, &result)
	m := minimizer{setup: setup, ops: ops}
	for _, p := range result.Properties {
		for i := range p.Violations {
			v := &p.Violations[i]
			switch said, _ := m.confirm(p.Name, v, here); {
			case said == Confirmed:
				confirmed[p.Name]++
			case !strings.HasPrefix(said, "not asked"):
				t.Fatalf("%s: %s %v: oracle says %q", p.Name, v.Message, v.Minimal.Operations, said)
			}
		}
	}
	confirmWhole(context.Background(), setup, ops, &result, here)
	for _, p := range result.Properties {
		switch {
		case p.Oracle == Confirmed:
			confirmed["whole "+p.Name]++
		case p.Oracle != "" && !strings.HasPrefix(p.Oracle, "not asked") && p.Oracle != "gave up: its times cannot be converted":
			t.Fatalf("%s: %v, %s: the oracle says %q of the whole", p.Name, p.Verdict, p.Reason, p.Oracle)
		}
	}
}

// Porcupine confirms every golden violation of which it has a model.
func TestConfirmScenes(t *testing.T) {
	confirmed := map[string]int{}
	for property, byName := range scenes {
		for name, scene := range byName {
			t.Run(property+"/"+name, func(t *testing.T) {
				b := newBuilder()
				scene(b)
				setup, ops := b.done()
				agreed(t, setup, ops, confirmed)
			})
		}
	}
	for _, c := range Checkers {
		if q := c.oracle; c.use == "" && (q.of == nil) != (confirmed[c.Name] == 0) || q.whole && confirmed["whole "+c.Name] == 0 {
			t.Errorf("%s: %d confirmed, %d as a whole", c.Name, confirmed[c.Name], confirmed["whole "+c.Name])
		}
	}
}

// And those of histories that mean nothing.
func TestConfirmGarbage(t *testing.T) {
	confirmed := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		setup, ops := garbage(t)
		agreed(t, setup, ops, confirmed)
	})
	t.Logf("%v", confirmed)
}

func TestConfirmContradicts(t *testing.T) {
	setup, ops := realistic(1000, 20, 1, 0, 0, 3)
	r := newRun(setup, ops)
	g, h := r.Grants[3], r.Grants[4]
	invented := Violation{Number: 7, Key: g.Key.Name, Operations: []int{g.Op, h.Op}, Message: "invented",
		Minimal: &Minimal{Operations: []int{g.Invoke, g.Op, g.Release, g.Done, h.Invoke, h.Op}}}
	result := Result{Properties: []Property{{Name: "mutual-exclusion", Violations: []Violation{invented}}}}
	mustConfirm(t, child, setup, ops, &result)
	if got := result.Properties[0].Violations[0].Oracle; got != Contradicted {
		t.Errorf("oracle says %q, want contradicted", got)
	}
	if len(result.Doubts) != 1 || !strings.Contains(result.Doubts[0], "contradicts violation 7") {
		t.Errorf("doubts: %v", result.Doubts)
	}
	result = Result{Properties: []Property{{Name: "fencing-monotonic", Verdict: Violated}}}
	mustConfirm(t, Oracle{Self: child.Self, Full: true}, setup, ops, &result)
	if result.Properties[0].Oracle != Contradicted || len(result.Doubts) != 1 {
		t.Errorf("of the whole: %+v", result)
	}
}

// What cannot be asked, or does not answer, leaves the verdict as it was.
func TestConfirmGivesUp(t *testing.T) {
	setup, ops := realistic(1000, 20, 1, 0, 1, 3)
	for _, c := range []struct {
		self []string
		want string
	}{
		{[]string{"/bin/false"}, "gave up: the oracle ended with exit status 1"},
		{[]string{"/does/not/exist"}, "gave up: "},
		{[]string{"/bin/sh", "-c", "exit 0"}, ""},
		{nil, ""},
	} {
		result := Judge(setup, ops)
		minimize(t, setup, ops, &result)
		mustConfirm(t, Oracle{Self: c.self, Full: true}, setup, ops, &result)
		p := result.Property("mutual-exclusion")
		if got := p.Violations[0].Oracle; !strings.HasPrefix(got, c.want) || !strings.HasPrefix(p.Oracle, c.want) {
			t.Errorf("%v: oracle says %q, of the whole %q, want %q", c.self, got, p.Oracle, c.want)
		}
		if p.Verdict != Violated || result.Verdict != Violated || len(result.Doubts) != 0 {
			t.Errorf("%v: the verdict does not stand: %v, %v", c.self, p.Verdict, result.Doubts)
		}
	}
}

// hard is a history that Porcupine finds illegal only after all of 2^n choices.
func hard(n int) (ops []models.Op) {
	for i := range n {
		ops = append(ops, models.Op{F: models.Acquire, Type: history.Info, Owner: fmt.Sprint("u", i), Call: i, Return: math.MaxInt},
			models.Op{F: models.Release, Type: history.Info, Owner: fmt.Sprint("u", i), Call: n + i, Return: math.MaxInt})
	}
	for i, owner := range []string{"a", "b"} {
		ops = append(ops, models.Op{F: models.Acquire, Type: history.OK, Owner: owner, Call: 2*n + i, Return: 3*n + i})
	}
	return ops
}

// The limits of the child really end it.
func TestOracleIsStopped(t *testing.T) {
	t.Parallel()
	little := []string{"/proc/self/exe", "little memory"}
	large := []models.Op{{F: models.Acquire, Type: history.OK, Owner: strings.Repeat("o", 40<<20), Return: 1}}
	for _, c := range []struct {
		name string
		self []string
		ops  []models.Op
		want string
	}{
		{"memory", little, large, "gave up: the oracle ended with exit status 2: "},
		{"memory of a search", little, hard(24), "gave up: "}, // or its time is over before
		{"time", child.Self, hard(24), "gave up: no answer "},
		{"deaf", []string{"/bin/sh", "-c", "exec sleep 60"}, nil, "gave up: no answer within 5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if raced.Detector && &c.self[0] == &little[0] {
				t.Skip("the race detector alone takes more memory than this oracle may have")
			}
			text := questionText(t, c.ops)
			if said := models.RunChild(context.Background(), c.self, "mutex", text); !strings.HasPrefix(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
		})
	}
}

func questionText(t *testing.T, ops []models.Op) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"options": models.Options{}, "ops": ops})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// hold is one session of a small history, by its times. An acquire without
// Returned may never have happened; a release without Called did not happen, one
// without Done may never have.
type hold struct {
	Owner                         string
	Asked, Returned, Called, Done int64
}

// consult asks Porcupine whether holds are those of a mutex. They must not be.
func consult(holds []hold) string {
	var ops []models.Op
	add := func(f models.F, owner string, call, done int64) {
		op := models.Op{F: f, Type: history.OK, Owner: owner, Call: int(call), Return: int(done)}
		if done == 0 {
			op.Type, op.Return = history.Info, math.MaxInt
		}
		ops = append(ops, op)
	}
	for _, h := range holds {
		add(models.Acquire, h.Owner, h.Asked, h.Returned)
		if h.Called != 0 {
			add(models.Release, h.Owner, h.Called, h.Done)
		}
	}
	return map[string]string{models.Illegal: Confirmed, models.Legal: Contradicted}[here("mutex", models.Options{}, ops)]
}

// plainMutex draws a small history of acquires and releases with owners, of
// which some never return. Every time is drawn once; spread decides how far
// sessions reach into each other, so that valid histories are drawn too.
func plainMutex(t *rapid.T) []hold {
	n := rapid.IntRange(1, 8).Draw(t, "sessions")
	spread := rapid.Int64Range(1, 40).Draw(t, "spread")
	unknown := rapid.IntRange(0, 30).Draw(t, "unknown")
	lost := func(name string) bool { return rapid.IntRange(0, 99).Draw(t, name) < unknown }
	var holds []hold
	for i := range n {
		times := make([]int64, 4)
		for j := range times {
			times[j] = (int64(10*i)+rapid.Int64Range(1, 9+spread).Draw(t, "time"))*1000 + int64(4*i+j)
		}
		slices.Sort(times)
		h := hold{Owner: string(rune('a' + i)), Asked: times[0], Returned: times[1], Called: times[2], Done: times[3]}
		if early := rapid.Int64Range(0, spread).Draw(t, "early"); early*1000 < h.Asked {
			h.Asked -= early * 1000
		}
		switch {
		case lost("acquire"):
			h.Returned, h.Called, h.Done = 0, 0, 0
		case lost("release"):
			h.Done = 0
		case lost("no release"):
			h.Called, h.Done = 0, 0
		}
		holds = append(holds, h)
	}
	return holds
}

// asHistory writes plain holds as a run would have recorded them.
func asHistory(holds []hold) (history.Setup, []history.Op) {
	setup := history.Setup{Keys: []string{"k"}, Lease: 1e9, Strict: true}
	var ops []history.Op
	for i, h := range holds {
		op := func(at int64, typ history.Type, f history.F) {
			o := history.Op{Time: at, Node: h.Owner, Process: i + 1, Type: typ, F: f, Key: "k"}
			if f == history.Release || typ == history.OK {
				o.Owner = h.Owner
			}
			ops = append(ops, o)
		}
		op(h.Asked, history.Invoke, history.Acquire)
		if h.Returned != 0 {
			op(h.Returned, history.OK, history.Acquire)
		}
		if h.Called != 0 {
			op(h.Called, history.Invoke, history.Release)
		}
		if h.Done != 0 {
			op(h.Done, history.OK, history.Release)
		}
	}
	history.Sort(ops)
	return setup, ops
}

// TestAgreesWithPorcupine holds the sweep and the whole judge, read strictly,
// against Porcupine on small random histories.
func TestAgreesWithPorcupine(t *testing.T) {
	seen := map[string]int{}
	for range 20 {
		checkAnew(t, func(t *rapid.T) {
			holds := plainMutex(t)
			want := consult(holds)
			seen[want]++
			bySweep := Contradicted
			var spans []trace.Span
			for i, h := range holds {
				if h.Returned == 0 {
					continue // a pending acquire is dropped
				}
				s := trace.Span{From: h.Returned, To: h.Called, Owner: i}
				if h.Called == 0 {
					s.To = trace.Forever
				}
				spans = append(spans, s)
			}
			overlaps(spans, func(_, _ trace.Span) { bySweep = Confirmed })
			if bySweep != want {
				t.Fatalf("sweep says %s, Porcupine %s: %+v", bySweep, want, holds)
			}
			setup, ops := asHistory(holds)
			if err := history.Validate(setup, ops); err != nil {
				t.Fatal(err)
			}
			result := Judge(setup, ops)
			if got := result.Property("mutual-exclusion"); (got.Verdict == Violated) != (want == Confirmed) {
				t.Fatalf("judge says %s (%s), Porcupine %s: %+v", got.Verdict, got.Reason, want, holds)
			}
		})
	}
	if seen[Confirmed] < 100 || seen[Contradicted] < 100 {
		t.Errorf("one-sided histories: %v", seen)
	}
	t.Logf("%v", seen)
}
