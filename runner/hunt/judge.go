package hunt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/runner/gate"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Repeats is how often a violation is looked for again, and how often at the reference lock;
// it must come again in Again of them.
const (
	Repeats = 3
	Again   = 2
)

// Evidence is what the runs of one trial have shown of one property.
type Evidence struct {
	Property  string
	Owed      checker.Debtor
	Found     stats.Rate // in repeats, each in a fresh cluster
	Reference stats.Rate // of the backend's own lock under the same trial
	// Compared: there is a reference lock beside the one under test, and it can run the trial.
	Compared bool
	// Excuse is a fault of the trial that takes from the service what it has promised; "": none does.
	Excuse string
	// Allowed: a client acted after the deadline that its lock had told it, and nothing else is wrong.
	Allowed bool
	// Elsewhere is what other trials have shown of the same cause, which this one shows too seldom; nil: it is judged alone.
	Elsewhere *Elsewhere
}

// Decision is what evidence says.
type Decision string

// The decisions.
const (
	Open     Decision = "open"     // more runs decide
	Worse    Decision = "finding"  // this lock does worse than it should
	Shared   Decision = "shared"   // the reference lock shows it under the same trial, too
	Passing  Decision = "passing"  // it did not come again often enough
	Excused  Decision = "excused"  // nobody owes it under these faults
	Allowed  Decision = "allowed"  // every lease allows it
	Accepted Decision = "accepted" // the file of --known accepts it
	Late     Decision = "late"     // the time was over before it was looked into
)

// Decide says what is known. What every leased lock shows is no finding: a zombie writes
// whatever the lock does. So a violation counts where the reference lock of the same servers,
// under the same trial, shows it never; or where the service itself owes the property and no
// fault of the trial is an excuse.
func Decide(e Evidence) (Decision, string) {
	if e.Elsewhere != nil {
		return decideSeldom(e)
	}
	owed := e.owed()
	missed := e.Found.Of - e.Found.Seen
	switch {
	case e.Allowed && !owed:
		return Allowed, "its client acted after the deadline or the loss that it had been told, which every lock allows"
	case !e.Compared && !owed && e.Excuse != "" && e.Owed == checker.Service:
		return Excused, "no reference lock to compare with, and its " + e.Excuse + " is an excuse"
	case !e.Compared && !owed:
		return Excused, "no reference lock to compare with, and the service alone does not owe it"
	case e.Compared && !owed && e.Reference.Seen > 0:
		return Shared, fmt.Sprintf("the reference lock shows it too, in %d of %d runs", e.Reference.Seen,
			e.Reference.Of)
	case missed > Repeats-Again:
		return Passing, fmt.Sprintf("it came again in %d of %d runs", e.Found.Seen, e.Found.Of)
	case e.Found.Seen < Again, e.Compared && !owed && e.Reference.Of < Repeats:
		return Open, ""
	case !owed:
		return Worse, fmt.Sprintf("the reference lock shows it in none of %s under the same trial",
			nouns.Count(e.Reference.Of, "run"))
	}
	return Worse, "the service itself owes it, and no fault of the trial is an excuse"
}

// owed says that the service owes the property, and no fault is an excuse: it is a finding whatever the reference lock shows.
func (e Evidence) owed() bool { return e.Owed == checker.Service && e.Excuse == "" }

// excuse names a fault of a trial that may take from a service what it has promised: one after
// which a server may end leases early, or that has a client's clocks run at a wrong rate. The wall clock of a client
// excuses nothing: no lease has to go by it.
func excuse(t scenarios.Scenario, clients []string) string {
	for _, f := range t.Faults {
		client := slices.Contains(onClients, f.Target) || slices.Contains(clients, f.Target)
		if kind := history.FaultOf(f.Fault); kind.EndsLeases && (!client || f.Clock.Drift != 0) {
			return f.Fault + " of " + f.Target
		}
	}
	return ""
}

// firmly are the violations of a property, those that are certain and that no stall touches before the others.
func firmly(p checker.Property) []checker.Violation {
	all := slices.Clone(p.Violations)
	slices.SortStableFunc(all, func(a, b checker.Violation) int {
		loose := func(v checker.Violation) int {
			if v.Possible || v.Disturbed {
				return 1
			}
			return 0
		}
		return loose(a) - loose(b)
	})
	return all
}

// Accepting reads what a gate's file accepts of a lock: by property, the kinds of faults of
// the scenarios in which it is a known weakness. A finding is accepted where its own faults
// are all among those of one such scenario.
type Accepting map[string][]acceptance

type acceptance struct {
	faults []string
	why    string
}

// Known is what a gate accepts of the lock with a label.
func Known(c *gate.Config, label string) (Accepting, error) {
	all := Accepting{}
	for _, cell := range c.Cells {
		if history.LockName(cell.Backend, cell.Library) != label {
			continue
		}
		s, err := scenarios.Load(cell.Scenario)
		if err != nil {
			return nil, err
		}
		for property, e := range cell.Expect {
			if e.Is != gate.Holds {
				all[property] = append(all[property], acceptance{kindsOf(*s),
					strings.TrimSpace(cell.Label() + ": " + string(e.Is) + " " + e.Reason)})
			}
		}
	}
	return all, nil
}

// accepts says why a violation is accepted, or "".
func (a Accepting) accepts(property string, t scenarios.Scenario) string {
	for _, x := range a[property] {
		if !slices.ContainsFunc(kindsOf(t), func(kind string) bool { return !slices.Contains(x.faults, kind) }) {
			return x.why
		}
	}
	return ""
}

// kindsOf are the kinds of faults of a scenario, its random ones too.
func kindsOf(s scenarios.Scenario) (kinds []string) {
	for _, f := range slices.Concat(s.Faults, s.Random.Mix) {
		kinds = append(kinds, f.Fault)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
