package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// Reply is a verdict as the answer to a question. Of several, no beats unknown beats yes beats n/a.
type Reply Verdict

// The replies. Unknown is the zero value.
const (
	NotKnown = Reply(Unknown)
	Yes      = Reply(Holds)
	No       = Reply(Violated)
	NotAsked = Reply(NA)
)

var replyNames = [...]string{NotKnown: "unknown", Yes: "yes", No: "no", NotAsked: "n/a"}

// String is the reply in a word: yes, no, unknown or n/a.
func (r Reply) String() string { return replyNames[r] }

// MarshalText writes the reply's word.
func (r Reply) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a word that MarshalText wrote.
func (r *Reply) UnmarshalText(text []byte) error {
	for i, name := range replyNames {
		if name == string(text) {
			*r = Reply(i)
			return nil
		}
	}
	return fmt.Errorf("answer %q: want yes, no, unknown or n/a", text)
}

// Answers are what a user wants to know of a run. Which properties answer which question
// stands in their rows.
type Answers struct {
	Promise    Reply `json:"promise"`       // did the service keep its promise?
	Unfenced   Reply `json:"data_unfenced"` // was the data saved where nothing checks a token?
	Fenced     Reply `json:"data_fenced"`   // was it where the resource checks tokens? n/a: the lock gives none
	WentOn     Reply `json:"went_on"`       // did work go on?
	AsExpected bool  `json:"as_expected"`   // see Result.asExpected
}

// With merges the answers of two runs into those of a cell that has both.
func (a Answers) With(b Answers) Answers {
	worse := func(a, b Reply) Reply { return Reply(Merge(Verdict(a), Verdict(b))) }
	return Answers{worse(a.Promise, b.Promise), worse(a.Unfenced, b.Unfenced), worse(a.Fenced, b.Fenced),
		worse(a.WentOn, b.WentOn), a.AsExpected && b.AsExpected}
}

// Doubted are the answers of a run that is not believed: nothing is green, what is red stays.
func (a Answers) Doubted() Answers {
	none := Answers{AsExpected: true}
	doubted := a.With(none)
	doubted.AsExpected = false
	return doubted
}

// Violations are the answers of a run that was repeated: what it has violated stays, and is
// otherwise than expected where the scenario says so; all else its repeat answers.
func (a Answers) Violations(differs []Difference) Answers {
	all := Skipped()
	for _, r := range []struct{ from, to *Reply }{{&a.Promise, &all.Promise}, {&a.Unfenced, &all.Unfenced},
		{&a.Fenced, &all.Fenced}, {&a.WentOn, &all.WentOn}} {
		if *r.from == No {
			*r.to = No
		}
	}
	all.AsExpected = !slices.ContainsFunc(differs, func(d Difference) bool { return d.Is == Violated })
	return all
}

// Skipped are the answers where nothing is run, since it makes no sense.
func Skipped() Answers { return Answers{NotAsked, NotAsked, NotAsked, NotAsked, true} }

// Sentences are the answers with their reasons, one sentence each.
type Sentences struct {
	Promise  string `json:"promise"`
	Unfenced string `json:"data_unfenced"`
	Fenced   string `json:"data_fenced"`
	WentOn   string `json:"went_on"`
}

// answer is a reply with its reason.
type answer struct {
	Verdict
	sentence string
}

// answer fills in the answers of a result.
func (result *Result) answer(setup history.Setup) {
	if setup.Shows != "" {
		result.Answers, result.Sentences = Skipped(), Sentences{notAsked, notAsked, notAsked, notAsked}
		return
	}
	promise, unfenced, fenced := answerService(setup, result), answerData(setup, result, false), answerData(setup, result, true)
	work := answerWork(result)
	result.Answers = Answers{Reply(promise.Verdict), Reply(unfenced.Verdict), Reply(fenced.Verdict), Reply(work.Verdict), result.asExpected(setup)}
	result.Sentences = Sentences{result.said(promise), result.said(unfenced), result.said(fenced), result.said(work)}
}

// Asked is one of the questions that a property answers.
type Asked int

// The questions.
const (
	OfNone Asked = iota // it answers none: what is left to the client of a lock with leases
	OfPromise
	OfUnfenced
	OfFenced
	OfWork
)

// answers says which question the property answers of a lock. One that says whether work
// goes on may be a promise as well.
func (c Checker) answers(p history.Promise) (all []Asked) {
	switch {
	case c.Owed == Service, c.Owed == Unleased && !p.Ends():
		all = append(all, OfPromise)
	case c.Owed == Data && c.Fenced, c.Owed == Fence:
		all = append(all, OfFenced)
	case c.Owed == Data:
		all = append(all, OfUnfenced)
	}
	if c.work != notWork {
		all = append(all, OfWork)
	}
	return all
}

// answerService answers whether the service kept its promise: the worst of what
// it owes. A lock whose grants never end by themselves owes mutual exclusion, too.
func answerService(setup history.Setup, result *Result) answer {
	worst := Property{Verdict: NA}
	for _, c := range Checkers {
		if c.Owed != Service && (c.Owed != Unleased || setup.Promise.Ends()) {
			continue
		}
		if p := result.Property(c.Name); p != nil && Merge(worst.Verdict, p.Verdict) != worst.Verdict {
			worst = *p
		}
	}
	if p := result.clashed(setup.Promise); worst.Verdict == Holds && p != nil {
		return answer{Unknown, fmt.Sprintf("Not decided: %s, and there was no fault that explains it (%s).", lower(p.Reason), p.Name)}
	}
	switch worst.Verdict {
	case Holds:
		return answer{Holds, fmt.Sprintf("Yes: the service kept its promise in %s.", nouns.Count(result.Counts.Grants, "grant"))}
	case Violated:
		return answer{Violated, fmt.Sprintf("No: %s (%s).", lower(worst.Reason), worst.Name)}
	case Unknown:
		return answer{Unknown, undecided(worst)}
	}
	return answer{NA, "Not asked: the lock promises nothing that was judged."}
}

// clashed is a violated property that a service without leases owes, where nothing that was done to a client, or
// that the scenario says will come, explains it: it may be the service's doing. Nil: there is none.
func (result *Result) clashed(promise history.Promise) *Property {
	for _, c := range Checkers {
		if p := result.Property(c.Name); c.Owed == Unleased && p != nil && p.Verdict == Violated && !result.Excuses(promise, c) {
			return p
		}
	}
	return nil
}

// undecided says why an answer is open.
func undecided(p Property) string {
	return fmt.Sprintf("Not decided: %s (%s).", lower(p.Reason), p.Name)
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
