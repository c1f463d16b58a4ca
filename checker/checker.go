package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// Checker judges one property.
type Checker struct {
	Name  string
	About string // one sentence: when the property is violated

	promised func(history.Setup) (bool, string) // and why not
	check    func(*run) outcome
}

// outcome is what a checker says: the verdict and its reason when nothing was
// found, and what was found, with the reason for that.
type outcome struct {
	verdict Verdict
	reason  string
	found   found
	summary string
}

// Checkers is the table of all properties, in the order of a report.
var Checkers = []Checker{
	{"mutual-exclusion", "Two clients believe to hold a key, and the one whose grant is older acts on it after the newer grant.", always, mutualExclusion},
	{"lease-exclusion", "Two clients hold valid leases on a key at once: the service broke its own promise.", leased, leaseExclusion},
	{"fencing-monotonic", "A later grant carries a token that is not greater, reused or missing.", tokened, fencingMonotonic},
	{"fenced-writes", "The fenced copy accepts a write of a superseded grant after one of a later grant, or refuses the valid holder.", tokened, fencedWrites},
	{"no-lost-update/unfenced", "An acknowledged update of the copy without fencing is lost or overwritten unseen.", always, noLostUpdateUnfenced},
	{"no-lost-update/fenced", "An acknowledged update of the fenced copy is lost or overwritten unseen.", tokened, noLostUpdateFenced},
	{"release-by-owner", "A release frees the grant of somebody else.", always, releaseByOwner},
	{"honest-claims", "An extend or release reports success although the client held the lock at no instant of it.", always, honestClaims},
	{"validity-bound", "A client claims its grant for longer than lease, less elapsed time, less drift.", leased, validityBound},
	{"deadlock-freedom", "A key that nobody holds is not granted within two leases and 3 s although all is healed.", always, deadlockFreedom},
	{"availability", "A fault stops all grants of a key for longer than a lease and the bound that the lock states.", always, availability},
}

func always(history.Setup) (bool, string) { return true, "" }

func leased(s history.Setup) (bool, string) {
	return s.Promise.Leased, "The lock gives no lease."
}

func tokened(s history.Setup) (bool, string) {
	return s.Promise.Token, "The lock gives no fencing token."
}

// Judge judges a history that history.Validate accepts. It is a pure function:
// the same history always gets the same result, and no cluster is needed.
func Judge(setup history.Setup, ops []history.Op) Result {
	var r *run
	broken := guard(func() { r = newRun(setup, ops) })
	result := Result{}
	for _, c := range Checkers {
		result.Properties = append(result.Properties, judgeOne(c, setup, r, broken))
	}
	if broken == "" {
		broken = guard(func() { conclude(r, &result) })
	}
	if broken != "" {
		result.Doubts = append(result.Doubts, "the judge failed, which is a bug of dlmtest: "+broken)
	}
	result.conclude(setup)
	if broken != "" && result.Verdict == Holds {
		result.Verdict = Unknown
	}
	return result
}

// conclude merges the properties into the verdict and the two answers.
func (result *Result) conclude(setup history.Setup) {
	result.Verdict = NA
	for _, p := range result.Properties {
		result.Verdict = Merge(result.Verdict, p.Verdict)
	}
	if result.Verdict == NA {
		result.Verdict = Unknown
	}
	result.Service, result.Data = answerService(setup, result), answerData(setup, result)
}

func judgeOne(c Checker, setup history.Setup, r *run, broken string) Property {
	p := Property{Name: c.Name}
	if promised, why := c.promised(setup); !promised {
		p.Verdict, p.Reason = NA, why
		return p
	}
	if broken == "" {
		broken = guard(func() { p = c.check(r).property(c.Name) })
	}
	if broken != "" {
		return Property{Name: c.Name, Verdict: Unknown, Reason: "the checker failed, which is a bug of dlmtest: " + broken}
	}
	return p
}

// guard runs f and returns the text of its panic, "" if there was none.
func guard(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}
