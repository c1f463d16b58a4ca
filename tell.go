package dlmtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// watcher logs each run as it ends.
type watcher struct{ t testing.TB }

// Planned implements matrix.Watcher.
func (watcher) Planned(string, pages.Index, int) {}

// Begins implements matrix.Watcher.
func (w watcher) Begins(string, uint64) runner.Progress { return quiet{} }

// Ended implements matrix.Watcher.
func (w watcher) Ended(s matrix.State, cell pages.Cell, r pages.CellRun) {
	again := ""
	if s.Again {
		again = "; the machine disturbed it, so it is repeated once"
	}
	w.t.Log(visible.Text(fmt.Sprintf("%s, seed %d: %s, %s%s", cell.Name(), r.Seed, r.Says(), r.Took.Round(100*time.Millisecond), again)))
}

// quiet is told what a run does, and keeps it to itself.
type quiet struct{}

func (quiet) Phase(string)                {}
func (quiet) Line(string)                 {}
func (quiet) Live(runner.Counts, float64) {}

// tell fails the test with what is not as expected.
func (a *attempt) tell(dir string, r gate.Report) {
	a.Helper()
	told := stories{}
	for _, c := range r.Cells {
		for _, said := range sayings(dir, c, told) {
			if said.bad {
				a.Error(visible.Text(said.text))
			} else {
				a.Log(visible.Text(said.text))
			}
		}
		if c.State == gate.Broken {
			continue // all was said
		}
		for _, note := range c.Notes {
			a.Log(visible.Text(c.Name + ": " + note))
		}
	}
	if r.Stopped != "" {
		a.Error(visible.Text("inconclusive: " + r.Stopped + " " + strings.Join(r.Missing(), "; ")))
	}
	if r.State != gate.Pass && !a.Failed() { // whatever it was that did not pass
		a.Error(visible.Text(fmt.Sprintf("%s: %s", r.State, r.Summary())))
	}
	a.Log(r.Summary())
	if a.Failed() {
		a.Logf("all runs: %s", filepath.Join(dir, "index.html"))
	}
}

// saying is what is to be said of one property, or of several alike.
type saying struct {
	bad  bool
	text string
}

// sayings are those of a cell. What failed stands alone.
func sayings(dir string, c gate.CellReport, told stories) (all []saying) {
	alike := map[string][]string{}
	var order []gate.Judgement
	for _, j := range c.Properties {
		switch {
		case j.State == gate.Skipped || j.State == gate.Stopped:
		case j.State == gate.Fail:
			all = append(all, saying{true, failed(dir, c, j, told)})
		case j.State == gate.Pass && j.Want == gate.Holds:
		default:
			key := string(j.State) + j.Why
			if alike[key] == nil {
				order = append(order, j)
			}
			alike[key] = append(alike[key], j.Property)
		}
	}
	for _, j := range order {
		names := strings.Join(alike[string(j.State)+j.Why], ", ")
		switch j.State {
		case gate.Pass:
			all = append(all, saying{false, fmt.Sprintf("%s: %s: %s", c.Name, names, j.Why)})
		case gate.Broken:
			all = append(all, saying{true, fmt.Sprintf("%s: no verdict about the lock: %s\n%s", c.Name, j.Why,
				strings.TrimRight(indent(strings.Join(errorsOf(c), "\n")), "\n"))})
		default:
			all = append(all, saying{true, fmt.Sprintf("%s: inconclusive, which is not green: %s: %s%s", c.Name, names, j.Why, where(dir, c))})
		}
	}
	return all
}

// failed is one property that is not as expected, with its story.
func failed(dir string, c gate.CellReport, j gate.Judgement, told stories) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s\n", c.Name, j.Property, j.Why)
	run := evidence(c, j.Property)
	if run == nil {
		return b.String()
	}
	folder := filepath.Join(dir, filepath.FromSlash(run.Dir))
	if out, err := runner.Open(folder); err == nil {
		b.WriteString(indent(told.tell(out, j.Property)))
	}
	fmt.Fprintf(&b, "    report: %s\n    again:  DLMTEST_SEED=%d", filepath.Join(folder, "report.html"), run.Seed)
	return b.String()
}

// evidence is the first run that violated a property, else the first that was judged.
func evidence(c gate.CellReport, property string) *pages.CellRun {
	var judged *pages.CellRun
	for i, r := range c.Runs {
		if r.Dir == "" {
			continue
		}
		if judged == nil {
			judged = &c.Runs[i]
		}
		if slices.ContainsFunc(r.Properties, func(p pages.Decided) bool { return p.Name == property && p.Verdict == checker.Violated }) {
			return &c.Runs[i]
		}
	}
	return judged
}

// stories are those that were told, each with the property that it was told of: one
// course of events breaks several properties, and is told once.
type stories map[string]string

// tell is how the first violation of a property came about, to its end.
func (told stories) tell(out *runner.Outcome, property string) string {
	p := out.Result.Property(property)
	if p == nil || len(p.Violations) == 0 {
		return ""
	}
	v := firmest(p.Violations)
	var steps strings.Builder
	for _, s := range story.Of(out.Setup, out.Ops, v) {
		fmt.Fprintf(&steps, "\n  %7.3fs  %s: %s", s.At.Seconds(), s.Who, s.What)
	}
	course := out.Dir + steps.String()
	if before := told[course]; before != "" {
		return v.Message + "\n  It came about as told of " + before + "."
	}
	told[course] = property
	return v.Message + steps.String()
}

// firmest is the first that is certain and undisturbed, else the first.
func firmest(all []checker.Violation) checker.Violation {
	i := slices.IndexFunc(all, func(v checker.Violation) bool { return !v.Possible && !v.Disturbed })
	return all[max(i, 0)]
}

// where leads to the first run of a cell that has a folder.
func where(dir string, c gate.CellReport) string {
	if r := evidence(c, ""); r != nil {
		return "\n    report: " + filepath.Join(dir, filepath.FromSlash(gate.ReportOf(*r)))
	}
	return ""
}

// errorsOf are the errors of a cell's runs.
func errorsOf(c gate.CellReport) (all []string) {
	for _, r := range c.Runs {
		if r.Error != "" && !slices.Contains(all, r.Error) {
			all = append(all, r.Error)
		}
	}
	return all
}

func indent(text string) string {
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}
