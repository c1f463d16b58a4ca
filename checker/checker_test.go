package checker

import (
	"fmt"
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
		result := Judge(setup, ops)
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
