package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

func TestDecide(t *testing.T) {
	weak := Expectation{Is: Weakness, Reason: "r", Link: "l"}
	must := Expectation{Is: MustDetect}
	two := Expectation{Is: MustDetect, AtLeast: 2}
	holds := Expectation{Is: Holds}
	for _, c := range []struct {
		name    string
		e       Expectation
		named   bool
		t       Tally
		state   State
		certain bool
		says    string
	}{
		{"all hold", holds, true, Tally{Holds: 20}, Pass, true, "failure rate below 16.2 % at 95 %"},
		{"a new violation", holds, true, Tally{Violated: 1, Left: 19}, Fail, true, "violated in 1 of 1 run"},
		{"a rare violation", holds, false, Tally{Violated: 1, Holds: 19}, Fail, true, "FLAKY"},
		{"a violation wins over failures", holds, true, Tally{Violated: 1, Failed: 3, Unknown: 2}, Fail, true, ""},
		{"more to come", holds, true, Tally{Holds: 4, Left: 1}, Undecided, false, "1 of 5"},
		{"not put to the test", holds, true, Tally{Holds: 4, Unknown: 1}, Inconclusive, true, "1 of 5 runs did not put it to the test"},
		{"no time", holds, true, Tally{Holds: 4, NotRun: 1}, Inconclusive, true, "did not take place"},
		{"the infrastructure", holds, true, Tally{Holds: 4, Failed: 1}, Broken, true, "1 of 5 runs failed"},
		{"not promised, but named", holds, true, Tally{NA: 5}, Inconclusive, true, "not promised"},
		{"not promised", holds, false, Tally{NA: 5}, Skipped, true, "not promised"},
		{"nothing at all", holds, false, Tally{}, Skipped, true, ""},

		{"known weakness", weak, true, Tally{Violated: 2, Holds: 3}, Pass, true, "FLAKY: known weakness, violated in 2 of 5"},
		{"known weakness at once", weak, true, Tally{Violated: 1, Left: 4}, Pass, true, "known weakness"},
		{"not yet", weak, true, Tally{Holds: 1, Left: 4}, Undecided, false, ""},
		{"gone", weak, true, Tally{Holds: 5}, Pass, true, "NOT SEEN any more in 5 runs: failure rate below"},
		{"gone, as it is promised no more", weak, true, Tally{NA: 5}, Inconclusive, true, "not promised"},
		{"gone for want of a fault?", weak, true, Tally{Holds: 4, Unknown: 1}, Inconclusive, true, ""},

		{"detected", must, true, Tally{Violated: 5}, Pass, true, "detected in 5 of 5"},
		{"missed once", must, true, Tally{Violated: 3, Holds: 1, Left: 1}, Fail, true, "must be detected in 5 runs"},
		{"detected often enough", two, true, Tally{Violated: 2, Holds: 1, Left: 2}, Pass, true, ""},
		{"can still be detected", two, true, Tally{Holds: 3, Left: 2}, Undecided, false, ""},
		{"too late", two, true, Tally{Holds: 4, Left: 1}, Fail, true, ""},
		{"not put to the test often enough", two, true, Tally{Violated: 1, Unknown: 1, Holds: 3}, Inconclusive, true, ""},
		{"failed", must, true, Tally{Violated: 4, Failed: 1}, Broken, true, ""},
		{"not promised", must, true, Tally{NA: 5}, Fail, true, ""},

		{"not judged", Expectation{Is: NotJudged, Reason: "why"}, true, Tally{Violated: 5}, Skipped, true, "why"},
	} {
		d := Decide(c.e, c.named, c.t)
		if d.State != c.state || d.Certain != c.certain || !strings.Contains(d.Why, c.says) {
			t.Errorf("%s: %+v, want %s, certain %v, %q", c.name, d, c.state, c.certain, c.says)
		}
		if d.Gone != (c.name == "gone") {
			t.Errorf("%s: gone %v", c.name, d.Gone)
		}
	}
}

// shown is a run in which every property has the verdict, but for those given.
func shown(seed uint64, all checker.Verdict, but map[string]checker.Verdict) pages.CellRun {
	r := pages.CellRun{Seed: seed, Verdict: reports.OutcomeOf(all), Dir: "run", Took: 1e9}
	for _, p := range judged(Cell{}, nil) {
		v := all
		if is, ok := but[p]; ok {
			v = is
		}
		r.Properties = append(r.Properties, pages.Decided{Name: p, Verdict: v})
		if v == checker.Violated {
			r.Verdict, r.FirstViolation = reports.Violates, 2e9
			r.Properties[len(r.Properties)-1].Says = "client-2 did what it must not: | <b>."
			r.Remedy, r.Command = "Compare the owner.", []string{"dlmtest", "run", "--seed", fmt.Sprint(seed), "--flag", "a b"}
		}
	}
	return r
}

func (r CellReport) state(property string) State {
	i := slices.IndexFunc(r.Properties, func(j Judgement) bool { return j.Property == property })
	return r.Properties[i].State
}

func TestJudgeCells(t *testing.T) {
	cell := Cell{Scenario: "gc-pause", Backend: "redis", Count: 2, Expect: map[string]Expectation{"recovery": {Is: Holds}}}
	broken := map[string]checker.Verdict{"recovery": checker.Violated}
	disturbed := shown(1, checker.Holds, map[string]checker.Verdict{"recovery": checker.Unknown})
	disturbed.Repeated = true
	also := shown(1, checker.Holds, map[string]checker.Verdict{"recovery": checker.Unknown, "fairness": checker.Violated})
	also.Repeated = true
	failed := pages.CellRun{Seed: 1, Verdict: reports.Failed, Error: "no room"}
	both := shown(1, checker.Holds, broken)
	both.Error = "the network stays"
	doubted, half := shown(1, checker.Holds, nil), shown(1, checker.Holds, nil)
	doubted.Verdict = reports.Unclear
	half.JudgeFailed, half.Doubts = true, []string{"the judge failed, which is a bug of dlmtest: index out of range"}
	for _, c := range []struct {
		name    string
		runs    []pages.CellRun
		cell    State
		states  map[string]State
		decided bool
		note    string
	}{
		{"green", []pages.CellRun{shown(1, checker.Holds, nil), shown(2, checker.Holds, nil)}, Pass, map[string]State{"recovery": Pass, "fairness": Pass}, true, ""},
		{"half way", []pages.CellRun{shown(1, checker.Holds, nil), {Seed: 2, Verdict: reports.Waiting}}, Undecided, nil, false, ""},
		{"red", []pages.CellRun{shown(1, checker.Holds, broken)}, Fail, map[string]State{"recovery": Fail, "fairness": Stopped}, true, ""},
		{"disturbed, then green", []pages.CellRun{disturbed, shown(1, checker.Holds, nil), shown(2, checker.Holds, nil)}, Pass, nil, true, "run 1 (seed 1) was disturbed by the machine and repeated"},
		{"disturbed, then red", []pages.CellRun{disturbed, shown(1, checker.Holds, broken)}, Fail, nil, true, "was disturbed"},
		{"disturbed twice", []pages.CellRun{disturbed, shown(1, checker.Holds, map[string]checker.Verdict{"recovery": checker.Unknown}), shown(2, checker.Holds, nil)}, Inconclusive, map[string]State{"recovery": Inconclusive, "fairness": Pass}, true, "was disturbed"},
		{"what a disturbed run violated stays", []pages.CellRun{also, shown(1, checker.Holds, nil), shown(2, checker.Holds, nil)}, Fail, map[string]State{"fairness": Fail, "recovery": Pass}, true, ""},
		{"failed", []pages.CellRun{failed, shown(2, checker.Holds, nil)}, Broken, nil, true, "failed, which says nothing about the lock: no room"},
		{"a violation beside an error", []pages.CellRun{both, shown(2, checker.Holds, nil)}, Fail, map[string]State{"recovery": Fail, "fairness": Broken}, true, "the network stays"},
		{"unknown as a whole", []pages.CellRun{doubted, shown(2, checker.Holds, nil)}, Inconclusive, nil, true, ""},
		{"a judge that failed", []pages.CellRun{half, shown(2, checker.Holds, nil)}, Inconclusive, nil, true, "may not be believed"},
		{"not run", []pages.CellRun{shown(1, checker.Holds, nil), {Seed: 2, Verdict: reports.NotRun}}, Inconclusive, nil, true, "did not take place"},
		{"nothing promised", []pages.CellRun{shown(1, checker.NA, nil), shown(2, checker.NA, nil)}, Inconclusive, nil, true, ""},
		{"a property that is missing", []pages.CellRun{{Seed: 1, Verdict: reports.Good}, shown(2, checker.Holds, nil)}, Inconclusive, nil, true, ""},
	} {
		r := Judge(cell, c.runs)
		if r.State != c.cell || r.Decided() != c.decided {
			t.Errorf("%s: %s, decided %v; want %s, %v", c.name, r.State, r.Decided(), c.cell, c.decided)
		}
		for property, want := range c.states {
			if got := r.state(property); got != want {
				t.Errorf("%s: %s is %s, want %s", c.name, property, got, want)
			}
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, r.Notes, c.note)
		}
	}
}

func TestControlsLookAtTheirFlawAlone(t *testing.T) {
	cell := Cell{Scenario: "s", Backend: "b", Count: 1, Others: NotJudged, Expect: map[string]Expectation{"release-by-owner": {Is: MustDetect}}}
	both := map[string]checker.Verdict{"release-by-owner": checker.Violated, "mutual-exclusion": checker.Violated}
	if r := Judge(cell, []pages.CellRun{shown(1, checker.Holds, both)}); r.State != Pass || r.state("mutual-exclusion") != Skipped {
		t.Errorf("%+v", r)
	}
	cell.Others = Holds
	if r := Judge(cell, []pages.CellRun{shown(1, checker.Holds, both)}); r.State != Fail {
		t.Errorf("%+v", r)
	}
}

func TestDetection(t *testing.T) {
	r := Judge(Cell{Count: 3}, []pages.CellRun{shown(4, checker.Holds, nil), shown(5, checker.Holds, map[string]checker.Verdict{"fairness": checker.Violated}), shown(6, checker.Holds, nil)})
	j := r.Properties[slices.IndexFunc(r.Properties, func(j Judgement) bool { return j.Property == "fairness" })]
	if j.FirstRun != 2 || !slices.Equal(j.Seeds, []uint64{5}) || j.Detection != 2e9 || !j.Flaky || j.Rate.Low <= 0 || j.Rate.High >= 1 {
		t.Errorf("%+v", j)
	}
}

// Whatever the runs show, a cell that ends early has the state that all its runs would
// have given it, and so has each property of which it is certain.
func TestEndingEarlyChangesNothing(t *testing.T) {
	names := judged(Cell{}, nil)[:4]
	verdicts := []checker.Verdict{checker.Holds, checker.Holds, checker.Violated, checker.Unknown, checker.NA}
	early := 0
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 8).Draw(t, "count")
		cell := Cell{Scenario: "s", Backend: "b", Count: count, Expect: map[string]Expectation{}, Others: rapid.SampledFrom([]Want{Holds, NotJudged}).Draw(t, "others")}
		for _, name := range names {
			switch want := rapid.SampledFrom([]Want{"", Holds, Weakness, MustDetect, NotJudged}).Draw(t, name); want {
			case "":
			case MustDetect:
				cell.Expect[name] = Expectation{Is: want, AtLeast: rapid.IntRange(0, count).Draw(t, "at least")}
			default:
				cell.Expect[name] = Expectation{Is: want, Reason: "r", Link: "l"}
			}
		}
		var all []pages.CellRun
		for i := range count {
			all = append(all, anyRun(t, uint64(i+1), names, verdicts)...)
		}
		full := Judge(cell, all)
		for n := range len(all) + 1 {
			if n > 0 && all[n-1].Repeated { // its repeat is under way
				continue
			}
			so := Judge(cell, all[:n])
			if !so.Decided() {
				continue
			}
			if n < len(all) {
				early++
			}
			if so.State != full.State {
				t.Fatalf("after %d of %d runs %s, after all %s", n, len(all), so.State, full.State)
			}
			for i, j := range so.Properties {
				if j.certain && j.State != full.Properties[i].State {
					t.Fatalf("%s: after %d of %d runs certainly %s, after all %s", j.Property, n, len(all), j.State, full.Properties[i].State)
				}
				if !j.certain && j.State != Stopped {
					t.Fatalf("%s is open and says %s", j.Property, j.State)
				}
			}
			return
		}
		t.Fatal("never decided")
	})
	if early == 0 {
		t.Error("no cell ended early: this showed nothing")
	}
}

// anyRun is a run that may have failed, or been disturbed and repeated.
func anyRun(t *rapid.T, seed uint64, names []string, verdicts []checker.Verdict) (runs []pages.CellRun) {
	but := func() map[string]checker.Verdict {
		m := map[string]checker.Verdict{}
		for _, name := range names {
			m[name] = rapid.SampledFrom(verdicts).Draw(t, "verdict")
		}
		return m
	}
	switch rapid.IntRange(0, 9).Draw(t, "fate") {
	case 0:
		return []pages.CellRun{{Seed: seed, Verdict: reports.Failed, Error: "failed"}}
	case 1:
		return []pages.CellRun{{Seed: seed, Verdict: reports.NotRun}}
	case 2:
		first := shown(seed, checker.Holds, but())
		first.Repeated = true
		return []pages.CellRun{first, shown(seed, checker.Holds, but())}
	}
	return []pages.CellRun{shown(seed, checker.Holds, but())}
}

// A gate is green only if each of its properties was put to the test in every run.
func TestNeverGreenWithoutProof(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 5).Draw(t, "count")
		cell := Cell{Count: count}
		var all []pages.CellRun
		for i := range rapid.IntRange(0, count).Draw(t, "runs") {
			all = append(all, anyRun(t, uint64(i+1), judged(Cell{}, nil), []checker.Verdict{checker.Holds, checker.Holds, checker.Holds, checker.Unknown})...)
		}
		if r := Judge(cell, all); r.State == Pass {
			for _, j := range r.Properties {
				if j.Tally.Holds != count {
					t.Fatalf("green, and %s was seen to hold in %d of %d runs", j.Property, j.Tally.Holds, count)
				}
			}
		}
	})
}

// TestKindsAndUsesAreJudgedWhereTheyAre: a cell owes nothing of a kind or a well-known use of a lock
// that it does not have.
func TestKindsAndUsesAreJudgedWhereTheyAre(t *testing.T) {
	for _, name := range []string{"charged-once/fenced", "permits"} {
		judges := func(c Cell, runs ...pages.CellRun) bool { return slices.Contains(judged(c, runs), name) }
		seen := pages.CellRun{Properties: []pages.Decided{{Name: name, Verdict: checker.Holds}}}
		if judges(Cell{}) || judges(Cell{}, pages.CellRun{}) || !judges(Cell{}, pages.CellRun{}, seen) || !judges(Cell{Expect: map[string]Expectation{name: {Is: Holds}}}) {
			t.Error(name, "is judged where it is not, or not where it is")
		}
	}
	if !slices.Contains(judged(Cell{}, nil), "mutual-exclusion") {
		t.Error("mutual-exclusion is not judged")
	}
}
