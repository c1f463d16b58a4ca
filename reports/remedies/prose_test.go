package remedies

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// No violated property leaves its reader without a remedy.
func TestEveryPropertyHasARemedy(t *testing.T) {
	for _, c := range checker.Checkers {
		r := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: c.Name, Verdict: checker.Violated}}}
		for _, fenceOn := range []string{"write", "read"} {
			said := Explain(history.Setup{Promise: history.Promise{Token: true}, FenceOn: fenceOn}, nil, r).Prevented
			if said == "" || said != c.Remedy && (c.Name != "no-lost-update/fenced" || fenceOn == "write") {
				t.Errorf("%s, fence on %s: %q", c.Name, fenceOn, said)
			}
		}
	}
}

// TestExplain: what is said in plain words is no more than what was judged.
func TestExplain(t *testing.T) {
	leased := history.Promise{Leased: true, Token: true}
	property := func(name string, v checker.Verdict) checker.Property {
		p := checker.Property{Name: name, Verdict: v}
		if v == checker.Violated {
			p.Violations = []checker.Violation{{Message: name + " broke"}}
		}
		return p
	}
	for _, c := range []struct {
		what       string
		properties []checker.Property
		promise    history.Promise
		says, not  []string
	}{
		{"refused, and whole", []checker.Property{property("mutual-exclusion", checker.Violated), property("lease-exclusion", checker.Holds), property("no-lost-update/fenced", checker.Holds)},
			leased, []string{"its data is whole", "Nothing in the service"}, nil},
		{"refused, and the end is missing", []checker.Property{property("mutual-exclusion", checker.Violated), property("lease-exclusion", checker.Unknown), property("no-lost-update/fenced", checker.Unknown)},
			leased, []string{"refused every one"}, []string{"its data is whole", "Nothing in the service"}},
		{"two leases at once", []checker.Property{property("mutual-exclusion", checker.Violated), property("lease-exclusion", checker.Violated)},
			leased, []string{"no care of the clients", "1 more of the 2 properties is violated, too"}, []string{"Nothing in the service"}},
		{"nothing known", []checker.Property{property("mutual-exclusion", checker.Unknown)}, leased, []string{"cannot say that nothing would"}, []string{"Nothing broke in"}},
		{"not judged", nil, leased, []string{"was not judged"}, []string{"came late", "to break"}},
		{"green", []checker.Property{property("mutual-exclusion", checker.Holds)}, leased, []string{"Nothing broke in", "One green run"}, nil},
		{"charged twice in spite of a fence", []checker.Property{property("mutual-exclusion", checker.Violated), property("lease-exclusion", checker.Holds), property("charged-once/fenced", checker.Violated)},
			leased, []string{"idempotency key"}, []string{"Nothing in the service"}},
		{"an ok to a late release beside a lost update", []checker.Property{property("mutual-exclusion", checker.Violated), property("lease-exclusion", checker.Holds), property("honest-claims", checker.Violated)},
			leased, []string{"And for honest-claims: Compare the owner"}, []string{"kept its promise"}},
		{"charged twice, and an ok to a late release", []checker.Property{property("mutual-exclusion", checker.Violated), property("lease-exclusion", checker.Holds), property("honest-claims", checker.Violated), property("charged-once/fenced", checker.Violated)},
			leased, []string{"idempotency key", "And for honest-claims"}, []string{"must check tokens"}},
		{"no token", []checker.Property{property("mutual-exclusion", checker.Violated)}, history.Promise{Leased: true}, []string{"gives no token", "rising token"}, []string{"refused"}},
	} {
		r := checker.Result{Properties: c.properties, Counts: checker.Counts{StaleWrites: 1, StaleRefused: 1}}
		for _, p := range c.properties {
			r.Verdict = checker.Merge(r.Verdict, p.Verdict)
		}
		if c.what == "green" {
			r.Verdict = checker.Holds // unknown is the zero value
		}
		p := Explain(history.Setup{Promise: c.promise, FenceOn: "write"}, nil, r)
		text := strings.Join([]string{p.Broke, p.Fencing, p.Prevented}, " ")
		for _, s := range c.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s: want %q in %q", c.what, s, text)
			}
		}
		for _, s := range c.not {
			if strings.Contains(text, s) {
				t.Errorf("%s: %q is more than was judged: %q", c.what, s, text)
			}
		}
	}
}
