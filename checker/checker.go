package checker

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// Checker judges one property.
type Checker struct {
	Name  string
	About string // one sentence: when the property is violated

	promised func(history.Setup) (bool, string) // and why not
	check    func(*run) outcome
	// kinds are those of lock that it is asked of, and that its name stands in a result of; none: all.
	kinds []history.Kind
}

// Always says whether the property stands in the result of every history.
func (c Checker) Always() bool {
	return len(c.kinds) == 0 && slices.ContainsFunc(Checkers, func(x Checker) bool { return x.Name == c.Name })
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
	{"mutual-exclusion", "Two clients believe to hold a key, and the one whose grant is older acts on it after the newer grant.", alone, mutualExclusion, nil},
	{"rw-exclusion", "A writer and another client believe to hold a key, and both act on it after both were granted it.", always, rwExclusion, only(history.ReadWrite)},
	{"permits", "More permits of a key are believed to be held than it has, and each of their holders acts after all were granted.", always, permits, only(history.Semaphore)},
	{"lease-exclusion", "Clients hold valid leases on a key at once that the lock must not give together: the service broke its own promise.", dated, leaseExclusion, nil},
	{"reentrancy", "A holder that takes its lock again is refused, is told the wrong count or token, or loses the lock before its last release.", always, reentrancy, only(history.Reentrant)},
	{"fencing-monotonic", "A later grant carries a token that is not greater, reused or missing.", both(tokened, alone), fencingMonotonic, nil},
	{"fenced-writes", "The fenced copy accepts a write of a superseded grant after one of a later grant, or refuses the valid holder.", both(tokened, alone), fencedWrites, nil},
	{"no-lost-update/unfenced", "An acknowledged update of the copy without fencing is lost or overwritten unseen.", written, noLostUpdateUnfenced, nil},
	{"no-lost-update/fenced", "An acknowledged update of the fenced copy is lost or overwritten unseen.", both(tokened, written), noLostUpdateFenced, nil},
	{"same-reads", "A reader looks twice while it believes to hold a key, and sees what another has written between.", always, sameReads, only(history.ReadWrite)},
	{"one-leader", "A leader's write is accepted after one of the next leader: two act at once.", always, oneLeader, only(history.Leader)},
	{"release-by-owner", "A release frees the grant of somebody else.", alone, releaseByOwner, nil},
	{"honest-claims", "An extend or release reports success although the client held the lock at no instant of it.", both(replies, alone), honestClaims, nil},
	{"false-loss", "A client is told of a loss before its deadline, although its links are up, its renewals are answered and nobody else is granted the key.", both(leased, alone), falseLoss, nil},
	{"loss-noticed", "A holder whose renewals fail is not told before the deadline of the last one that was answered.", dated, lossNoticed, only(history.Watchdog)},
	{"validity-bound", "A client claims its grant for longer than lease, less elapsed time, less drift.", told, validityBound, nil},
	{"deadlock-freedom", "A key that nobody holds is not granted within two leases and 3 s although all is healed.", always, deadlockFreedom, nil},
	{"availability", "A fault stops all grants of a key for longer than a lease and the bound that the lock states.", always, availability, nil},
	{"recovery", "After the death of a holder the next grant comes before its lease ends, or later than a lease and the bound that the lock states.", alone, recovery, nil},
	{"honest-refusal", "A client is told that another holds a key although nobody can have held it.", always, honestRefusal, only(history.Tried)},
	{"wait-limit", "An acquire comes back later than its wait limit and the bound that the lock states.", always, waitLimit, only(history.Tried)},
	{"lock-info", "A look at the server names somebody who had given the key back, or nobody while somebody held it.", always, lockInfo, []history.Kind{history.Tried, history.Leader, history.Watchdog, history.Herd}},
	{"fairness", "A client that waits is overtaken by one that came after it.", both(ordered, alone), fairness, nil},
	{"starvation", "A writer waits while readers that asked after it are let in.", ordered, starvation, only(history.ReadWrite)},
	{"free-lock", "A key that nobody holds, and that nobody else asks for, is not granted within three quarters of a lease.", tellsFree, freeLock, only(history.Alone)},
	{"herd", "A release wakes more than one waiter.", always, herd, only(history.Herd)},
}

// replies: somebody answers an extend or a release, so there are claims.
func replies(s history.Setup) (bool, string) {
	return !s.Promise.Mute || s.Promise.Extends, "The lock answers nothing to a release, and has no extend."
}

func always(history.Setup) (bool, string) { return true, "" }

func leased(s history.Setup) (bool, string) {
	return s.Promise.Leased, "The lock gives no lease."
}

// dated: until when a lease lasts is told, or can be reckoned for certain.
func dated(s history.Setup) (bool, string) {
	if s.Promise.Validity == history.Untold {
		return false, "The lock does not tell until when a grant is valid, and it cannot be reckoned."
	}
	return leased(s)
}

func told(s history.Setup) (bool, string) {
	switch s.Promise.Validity {
	case history.Told:
	case history.Unproven:
		return false, "It is not known when the requests were sent from which the leases count."
	default:
		return false, "The lock does not tell its user until when a grant is valid."
	}
	return leased(s)
}

func tokened(s history.Setup) (bool, string) {
	return s.Promise.Token, "The lock gives no fencing token."
}

func ordered(s history.Setup) (bool, string) {
	return s.Promise.Order, "The lock serves its waiters in any order."
}

// Judge judges a history that history.Validate accepts. It is a pure function:
// the same history always gets the same result, and no cluster is needed.
func Judge(setup history.Setup, ops []history.Op) Result {
	var r *run
	broken := guard(func() { r = newRun(setup, ops) })
	result := Result{}
	for _, c := range checkersOf(setup) {
		result.Properties = append(result.Properties, judgeOne(c, setup, r, broken))
	}
	if broken == "" {
		broken = guard(func() { conclude(r, &result) })
	}
	if broken != "" {
		result.Doubts = append(result.Doubts, "the judge failed, which is a bug of dlmtest: "+broken)
	}
	result.conclude(setup)
	result.number()
	if broken != "" {
		result.Verdict = Merge(result.Verdict, Unknown)
	}
	return result
}

// number numbers the violations of all properties, in the order of a report.
func (result *Result) number() {
	n := 0
	for p := range result.Properties {
		for i := range result.Properties[p].Violations {
			n++
			result.Properties[p].Violations[i].Number = n
		}
	}
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
	if setup.Shows != "" {
		result.Service, result.Data = Answer{NA, notAsked}, Answer{NA, notAsked}
		return
	}
	result.Service, result.Data = answerService(setup, result), answerUse(setup, result, answerData(setup, result))
}

// notAsked is said where the rest of a history is missing: see history.Setup.Shows.
const notAsked = "Not asked of this part of a history."

func judgeOne(c Checker, setup history.Setup, r *run, broken string) Property {
	p := Property{Name: c.Name}
	if setup.Shows != "" && setup.Shows != c.Name {
		p.Verdict, p.Reason = NA, notAsked
		return p
	}
	if setup.Use.Lockless && !lockless(c.Name) {
		p.Verdict, p.Reason = NA, "No client takes the lock."
		return p
	}
	if promised, why := c.promised(setup); !promised {
		p.Verdict, p.Reason = NA, why
		return p
	}
	if broken == "" {
		broken = guard(func() { p = c.on(r).property(c.Name) })
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
