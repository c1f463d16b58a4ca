package checker

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// TestMain makes the test binary its own oracle.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "oracle" {
		os.Exit(OracleMain(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func TestConfirm(t *testing.T) {
	setup, ops := realistic(5000, 20, 1, 5, 3, 3)
	result := Judge(setup, ops)
	Confirm(context.Background(), []string{"/proc/self/exe", "oracle"}, setup, ops, &result)
	violations := result.Property("mutual-exclusion").Violations
	if len(violations) != 3 {
		t.Fatalf("%d violations, want 3", len(violations))
	}
	for _, v := range violations {
		if v.Oracle != Confirmed {
			t.Errorf("%s: oracle says %q", v.Message, v.Oracle)
		}
	}
	if len(result.Doubts) > 0 {
		t.Errorf("doubts: %v", result.Doubts)
	}
}

func TestConfirmContradicts(t *testing.T) {
	setup, ops := realistic(1000, 20, 1, 0, 0, 3)
	r := newRun(setup, ops)
	invented := Violation{Operations: []int{r.grants[3].op, r.grants[4].op}, Message: "invented"}
	result := Result{Properties: []Property{{Name: "mutual-exclusion", Violations: []Violation{invented}}}}
	Confirm(context.Background(), []string{"/proc/self/exe", "oracle"}, setup, ops, &result)
	if got := result.Properties[0].Violations[0].Oracle; got != Contradicted {
		t.Errorf("oracle says %q, want contradicted", got)
	}
	if len(result.Doubts) != 1 || !strings.Contains(result.Doubts[0], "bug of dlmtest") {
		t.Errorf("doubts: %v", result.Doubts)
	}
}

func TestConfirmGivesUp(t *testing.T) {
	setup, ops := realistic(1000, 20, 1, 0, 1, 3)
	for _, c := range []struct {
		self []string
		want string
	}{
		{[]string{"/bin/false"}, "gave up: the oracle ended with exit status 1"},
		{[]string{"/does/not/exist"}, "gave up: "},
		{[]string{"/bin/sh", "-c", "exit 0"}, ""},
	} {
		result := Judge(setup, ops)
		Confirm(context.Background(), c.self, setup, ops, &result)
		if got := result.Property("mutual-exclusion").Violations[0].Oracle; !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: oracle says %q, want %q", c.self, got, c.want)
		}
	}
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
		rapid.Check(t, func(t *rapid.T) {
			holds := plainMutex(t)
			want := consult(holds)
			seen[want]++
			bySweep := Contradicted
			var spans []span
			for i, h := range holds {
				if h.Returned == 0 {
					continue // a pending acquire is dropped
				}
				s := span{h.Returned, h.Called, i}
				if h.Called == 0 {
					s.to = forever
				}
				spans = append(spans, s)
			}
			overlaps(spans, func(_, _ span) { bySweep = Confirmed })
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
