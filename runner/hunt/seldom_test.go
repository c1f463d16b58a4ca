package hunt

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/runner"
)

// What several trials have shown counts with the reference lock beside all of it, and not before.
func TestDecideSeldom(t *testing.T) {
	others := func(trials int, found, reference stats.Rate) *Elsewhere { return &Elsewhere{trials, found, reference} }
	for name, c := range map[string]struct {
		e    Evidence
		want Decision
	}{
		"three of nine, in two trials": {Evidence{Compared: true, Found: rate(2, 6), Reference: rate(0, 6), Elsewhere: others(1, rate(1, 3), rate(0, 3))}, Worse},
		"two of nine":                  {Evidence{Compared: true, Found: rate(1, 6), Reference: rate(0, 6), Elsewhere: others(1, rate(1, 3), rate(0, 3))}, Open},
		"two, and no more runs":        {Evidence{Compared: true, Found: rate(1, mostSeldom), Reference: rate(0, 9), Elsewhere: others(1, rate(1, 3), rate(0, 3))}, Passing},
		"the reference ran less often": {Evidence{Compared: true, Found: rate(2, 6), Reference: rate(0, 4), Elsewhere: others(1, rate(1, 3), rate(0, 1))}, Open},
		"the reference not here":       {Evidence{Compared: true, Found: rate(2, 3), Reference: rate(0, 1), Elsewhere: others(2, rate(1, 6), rate(0, 9))}, Open},
		"the reference shows it":       {Evidence{Compared: true, Owed: checker.Service, Found: rate(3, 6), Reference: rate(1, 6), Elsewhere: others(1, rate(1, 3), rate(0, 3))}, Shared},
		"no reference":                 {Evidence{Owed: checker.Service, Found: rate(3, 6), Elsewhere: others(1, rate(1, 3), rate(0, 3))}, Passing},
	} {
		got, why := Decide(c.e)
		if got != c.want || (why == "") != (got == Open) {
			t.Errorf("%s: %s (%q), want %s", name, got, why, c.want)
		}
	}
}

// Sightings of one cause are enough where they are of several trials and at least one is of a fresh cluster.
func TestEnoughSightings(t *testing.T) {
	one := func(number int, first bool, seen int) *sighted {
		return &sighted{suspect: &suspect{number: number}, first: first,
			c: &candidate{Evidence: Evidence{Compared: true, Found: rate(seen, 3), Reference: rate(0, 1)}}}
	}
	for name, c := range map[string]struct {
		cases []*sighted
		want  bool
	}{
		"two trials, one of them again":  {[]*sighted{one(1, true, 1), one(2, true, 0)}, true},
		"one trial, and its longer one":  {[]*sighted{one(1, true, 1), one(1, false, 1)}, false},
		"warm clusters alone":            {[]*sighted{one(1, true, 0), one(2, true, 0), one(3, true, 0)}, false},
		"two sightings":                  {[]*sighted{one(1, true, 0), one(2, false, 1)}, false},
		"not sure when they were tried":  {[]*sighted{one(1, false, 1), one(2, false, 1)}, false},
		"in fresh clusters of two alone": {[]*sighted{one(1, false, 1), one(2, false, 1), one(3, false, 1)}, true},
	} {
		if got, _ := (&seldom{cases: c.cases}).enough(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if got, _ := (&seldom{cases: c.cases, over: true}).enough(); got {
			t.Errorf("%s: the reference lock shows it, too", name)
		}
	}
}

// A lock that fails in every third run, whatever the trial is, is found though no trial shows it twice in three; what the reference
// lock shows as seldom is not.
func TestSeldomInSeveralTrials(t *testing.T) {
	for _, both := range []bool{false, true} {
		runs, w := map[string]int{}, &world{}
		w.shows = func(o runner.Options) []string {
			lock := o.Label()
			if runs[lock]++; runs[lock]%4 == 3 && (both || o.Backend != "redis") {
				return []string{"release-by-owner"}
			}
			return nil
		}
		h := hunting(t, w, t.TempDir(), 150)
		if err := h.Go(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := h.Report.Findings
		if both {
			if len(all) > 0 && strings.HasPrefix(all[0].Why, "seen in") {
				t.Errorf("what both show is found: %+v", all[0])
			}
			continue
		}
		if len(all) != 1 || !strings.HasPrefix(all[0].Why, "seen in ") || all[0].Found > all[0].Of || all[0].ReferenceFound > 0 || all[0].ReferenceOf < Repeats || all[0].Run == "" {
			t.Errorf("%+v, said %q", all, h.Watch.(*listener).said)
		}
		if left, err := h.Dir, h.forgetSeldom(); err != nil {
			t.Error(left, err)
		}
	}
}
