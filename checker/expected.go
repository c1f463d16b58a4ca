package checker

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Expectation is what a scenario says that a lock shows of one property.
type Expectation struct {
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
	// Sometimes says that chance decides: some runs show the verdict, and others hold or do not put the
	// property to the test.
	Sometimes bool `json:"sometimes,omitempty"`
}

// allows says whether a verdict is as expected.
func (e Expectation) allows(is Verdict) bool {
	return is == e.Verdict || e.Sometimes && is != Violated
}

// Difference is a property that is otherwise than expected.
type Difference struct {
	Property string  `json:"property"`
	Is       Verdict `json:"is"`
	Expected Verdict `json:"expected"`
	Note     string  `json:"note,omitempty"` // of the expectation
}

// String says it in a few words.
func (d Difference) String() string {
	text := fmt.Sprintf("%s is %s, expected %s", d.Property, d.Is, d.Expected)
	if d.Note != "" {
		text += " (" + d.Note + ")"
	}
	return text
}

// Answers says whether the property answers a question of some lock.
func (d Difference) Answers(question Asked) bool {
	c, _ := Find(d.Property)
	return slices.Contains(c.answers(history.Promise{}), question)
}

// Expect holds a result against what a scenario expects of the lock, by property; nil where no
// scenario says it: then only what the kind of the lock excuses is expected to be violated.
func Expect(setup history.Setup, result *Result, expected map[string]Expectation) {
	result.Expected = expected
	result.conclude(setup)
}

// differences lists the properties that are otherwise than the scenario says, and those of which it
// says nothing that are violated without an excuse.
func (result *Result) differences(setup history.Setup) (all []Difference) {
	if setup.Shows != "" {
		return nil
	}
	for _, c := range Checkers {
		is := NA // it was not asked
		if p := result.Property(c.Name); p != nil {
			is = p.Verdict
		}
		e, named := result.Expected[c.Name]
		switch {
		case named && !e.allows(is):
			all = append(all, Difference{c.Name, is, e.Verdict, e.Note})
		case !named && is == Violated && !result.Excuses(setup.Promise, c):
			all = append(all, Difference{Property: c.Name, Is: is, Expected: Holds})
		}
	}
	return all
}

// Excuses says whether the kind of the lock alone explains that a property is violated. A lock with
// leases cannot keep a client that stops from acting on a lease that has ended, and what checks no
// token suffers that; one without lets everybody wait for a holder that stops; one whose idle holder
// the server ends shows both. Something must have happened: a fault, or what the scenario says will come.
func (result *Result) Excuses(p history.Promise, c Checker) bool {
	if !p.Leased && c.Owed == Nobody {
		return true
	}
	if !p.Ends() {
		return false
	}
	if result.Counts.Faults == 0 && !slices.ContainsFunc(Checkers, func(o Checker) bool {
		return o.Owed == Unleased && result.Expected[o.Name].Verdict == Violated
	}) {
		return false
	}
	return c.Owed == Unleased || c.Owed == Data && (!c.Fenced || c.outside)
}

// asExpected says whether the run shows what is expected and nothing else. A run that is doubted does
// not, nor one that leaves open what its scenario does not expect to stay open: both show too little.
// Where everybody waits for a holder that stops nothing comes late, so the fence is not tried.
func (result *Result) asExpected(setup history.Setup) bool {
	result.Differs = result.differences(setup)
	open, listed := 0, 0
	for _, p := range result.Properties {
		if e, named := result.Expected[p.Name]; p.Verdict == Unknown {
			open++
			c, _ := Find(p.Name)
			if named && e.allows(Unknown) || !named && c.Owed == Fence && !setup.Promise.Leased {
				listed++
			}
		}
	}
	judged := result.Verdict != Unknown || open > 0
	return judged && len(result.Differs) == 0 && len(result.Doubts) == 0 && open == listed
}

// Unexpected says whether what answers a question is otherwise than expected.
func (result *Result) Unexpected(p history.Promise, question Asked) bool {
	return slices.ContainsFunc(result.Differs, func(d Difference) bool {
		c, _ := Find(d.Property)
		return slices.Contains(c.answers(p), question)
	})
}
