package checker

import (
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// servicePromises are the properties that the lock service itself owes, however
// its clients behave.
var servicePromises = []string{
	"lease-exclusion", "fencing-monotonic", "release-by-owner", "honest-claims", "deadlock-freedom", "validity-bound",
	"false-loss", "recovery", "fairness", "reentrancy", "honest-refusal", "wait-limit", "lock-info", "starvation", "herd", "free-lock", "loss-noticed",
}

// answerService answers whether the service kept its promise: the worst of what
// it owes. A lock without a lease owes mutual exclusion, as no grant ends by itself.
func answerService(setup history.Setup, result *Result) Answer {
	names := servicePromises
	if !setup.Promise.Leased {
		names = append([]string{"mutual-exclusion", "rw-exclusion", "permits"}, names...)
	}
	worst := Property{Verdict: NA}
	for _, name := range names {
		if p := result.Property(name); p != nil && Merge(worst.Verdict, p.Verdict) != worst.Verdict {
			worst = *p
		}
	}
	a := Answer{Verdict: worst.Verdict}
	switch worst.Verdict {
	case Holds:
		a.Sentence = fmt.Sprintf("Yes: the service kept its promise in %s.", nouns.Count(result.Counts.Grants, "grant"))
	case Violated:
		a.Sentence = fmt.Sprintf("No: %s (%s).", lower(worst.Reason), worst.Name)
	case Unknown:
		a.Sentence = fmt.Sprintf("Not decided: %s (%s).", lower(worst.Reason), worst.Name)
	default:
		a.Sentence = "Not asked: the lock promises nothing that was judged."
	}
	return a
}

// answerData answers whether the data was saved: by fencing where the lock gives
// tokens, else at all.
func answerData(setup history.Setup, result *Result) Answer {
	if a, told := answerShared(setup, result); told {
		return a
	}
	plain := result.Property("no-lost-update/unfenced")
	p := plain
	if setup.Promise.Token {
		p = result.Property("no-lost-update/fenced")
	}
	if p == nil || plain == nil {
		return Answer{Verdict: Unknown, Sentence: "Not decided: nothing was judged."}
	}
	a := Answer{Verdict: p.Verdict}
	switch {
	case p.Verdict == Unknown:
		a.Sentence = fmt.Sprintf("Not decided: %s.", lower(p.Reason))
	case p.Verdict == Violated && setup.Promise.Token:
		a.Sentence = fmt.Sprintf("No: %s, in spite of fencing.", lower(p.Reason))
	case p.Verdict == Violated:
		a.Sentence = fmt.Sprintf("No: %s, and this lock gives no token that could have stopped it.", lower(p.Reason))
	case plain.Verdict == Violated:
		a.Sentence = fmt.Sprintf("Yes: fencing saved it: %s, but %s.", lower(p.Reason), lower(plain.Reason))
	default:
		a.Sentence = fmt.Sprintf("Yes: %s.", lower(p.Reason))
	}
	return a
}

// Property returns the judgement of one property, nil if it was not judged.
func (r *Result) Property(name string) *Property {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// lower makes a reason part of a longer sentence.
func lower(reason string) string {
	reason = strings.TrimSuffix(reason, ".")
	if reason == "" {
		return reason
	}
	return strings.ToLower(reason[:1]) + reason[1:]
}
