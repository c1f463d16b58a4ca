package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

func TestRealistic(t *testing.T) {
	for _, c := range []struct {
		unknown, zombies int
		want             map[string]Verdict
	}{
		{0, 0, map[string]Verdict{"mutual-exclusion": Holds, "lease-exclusion": Holds, "fencing-monotonic": Holds, "fenced-writes": NA, "no-lost-update/fenced": Holds, "deadlock-freedom": Holds, "validity-bound": Holds}},
		{10, 0, map[string]Verdict{"mutual-exclusion": Holds, "lease-exclusion": Holds, "deadlock-freedom": Holds}},
		{5, 7, map[string]Verdict{"mutual-exclusion": Violated, "lease-exclusion": Holds, "fencing-monotonic": Holds, "fenced-writes": Holds, "no-lost-update/unfenced": Violated, "no-lost-update/fenced": Holds, "honest-claims": Holds}},
	} {
		setup, ops := realistic(20000, 10, 3, c.unknown, c.zombies, 1)
		if err := history.Validate(setup, ops); err != nil {
			t.Fatal(err)
		}
		result := judgeAll(setup, ops)
		for name, want := range c.want {
			p := result.Property(name)
			if p.Verdict != want {
				t.Errorf("%d%% unknown, %d zombies: %s is %s, want %s: %s", c.unknown, c.zombies, name, p.Verdict, want, p.Reason)
			}
			if n := len(p.Violations); name == "mutual-exclusion" && n != c.zombies {
				t.Errorf("%d violations of %s, want %d", n, name, c.zombies)
			}
		}
		if t.Failed() || testing.Verbose() {
			for _, p := range result.Properties {
				t.Logf("%-24s %-8s %s", p.Name, p.Verdict, p.Reason)
				for i, v := range p.Violations {
					if i < 2 {
						t.Logf("    %s", v.Message)
					}
				}
			}
			t.Logf("%+v %+v", result.Answers, result.Sentences)
			t.Logf("%+v first %d doubts %v", result.Counts, result.FirstViolation, result.Doubts)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		for _, c := range []struct {
			name             string
			unknown, zombies int
		}{{"valid", 0, 0}, {"unknown", 10, 0}, {"zombies", 3, n / 1000}} {
			setup, ops := realistic(n, 20, 1, c.unknown, c.zombies, 7)
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Judge(setup, ops)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ops)), "ns/operation")
			})
		}
	}
}

// What a lock does not promise is asked of nobody, and it says why.
func TestPromised(t *testing.T) {
	leased := func(v history.Validity) history.Setup {
		return history.Setup{Promise: history.Promise{Leased: true, Validity: v}}
	}
	for _, c := range []struct {
		property string
		setup    history.Setup
		want     string // why not
	}{
		{"lease-exclusion", leased(history.Told), ""}, {"lease-exclusion", leased(history.Reckoned), ""},
		{"lease-exclusion", leased(history.Untold), ""}, {"lease-exclusion", history.Setup{}, "no lease"},
		{"validity-bound", leased(history.Told), ""}, {"validity-bound", leased(history.Reckoned), "does not tell its user"}, {"validity-bound", history.Setup{}, "no lease"},
		{"fencing-monotonic", history.Setup{}, "no fencing token"}, {"fencing-monotonic", history.Setup{Promise: history.Promise{Token: true}}, ""},
		{"fairness", history.Setup{}, "in any order"}, {"fairness", history.Setup{Promise: history.Promise{Order: true}}, ""},
	} {
		row, _ := Find(c.property)
		if promised, why := row.promised(c.setup); promised != (c.want == "") || !promised && !strings.Contains(why, c.want) {
			t.Errorf("%s of %+v: %v: %s", c.property, c.setup.Promise, promised, why)
		}
	}
}

// What fails as it tells of a property that holds is a failure of the judge, which calls nothing green then.
func TestTellingThatFails(t *testing.T) {
	rows := Checkers
	defer func() { Checkers = rows }()
	Checkers = append(slices.Clip(rows), Checker{
		Name:   "fails",
		check:  func(*run) outcome { return outcome{verdict: Holds} },
		passed: func(*run) string { panic("a slip") },
	})
	b := newBuilder()
	turns(b)
	b.final(4 * sec)
	if result := judgeAll(b.done()); result.Verdict != Unknown || !result.JudgeFailed || len(result.Doubts) == 0 {
		t.Errorf("%s, failed %v, doubts %q", result.Verdict, result.JudgeFailed, result.Doubts)
	}
}

// A property whose lock nobody takes is not applicable, and says why; nothing is told beside what holds in a part of a history.
func TestNothingIsToldOfAPart(t *testing.T) {
	b := newBuilder()
	turns(b)
	b.final(4 * sec)
	setup, ops := b.done()
	setup.Use.Lockless = true
	if p := judgeAll(setup, ops).Property("mutual-exclusion"); p.Verdict != NA || p.Reason != "No client takes the lock." {
		t.Errorf("without a lock: %s: %s", p.Verdict, p.Reason)
	}
	setup.Use.Lockless, setup.Shows = false, "mutual-exclusion"
	if p := judgeAll(setup, ops).Property("mutual-exclusion"); p.Verdict != Holds || p.Tested != "" {
		t.Errorf("of a part: %s, told %q", p.Verdict, p.Tested)
	}
}

// What stands in every result is asked of each kind of lock and each use.
func TestAlways(t *testing.T) {
	ofUse := 0
	for _, c := range Checkers {
		always := !c.OfUse()
		for _, kind := range []history.Kind{history.Mutex, history.Tried, history.Reentrant, history.ReadWrite, history.Semaphore, history.Leader,
			history.Watchdog, history.Herd, history.Alone} {
			always = always && c.asked(history.Setup{Kind: kind})
		}
		if c.Always() != always {
			t.Errorf("%s: always %v, want %v", c.Name, c.Always(), always)
		}
		if c.OfUse() {
			ofUse++
		}
	}
	if ofUse == 0 || ofUse == len(Checkers) {
		t.Errorf("%d properties of a use, of %d", ofUse, len(Checkers))
	}
}
