// Package remedies puts a judgement into plain language: what broke, whether fencing saved the data, and
// what would have prevented it.
package remedies

import (
	"fmt"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Question is asked above the remedy of a violated run, wherever it stands.
const Question = "What would have prevented it?"

// Prose is the judgement in plain language.
type Prose struct {
	Broke     string `json:"broke"`     // what broke
	Fencing   string `json:"fencing"`   // whether fencing saved the data
	Prevented string `json:"prevented"` // what would have prevented it, or what a green means
}

// Explain puts a judgement into plain language. It adds no verdict of its own.
func Explain(setup history.Setup, ops []history.Op, r checker.Result) Prose {
	return Of(timeline.New(setup, ops), r)
}

// Of is Explain of a history whose timeline has been made already.
func Of(t *timeline.View, r checker.Result) Prose {
	if len(r.Properties) == 0 {
		return Prose{"Not known: the run was not judged.", "Not known: the run was not judged.",
			"Nothing about the lock. The timeline shows what was recorded."}
	}
	e := newClues(t, r)
	return Prose{Broke: broke(r), Fencing: fencing(t.Setup, r, e.verdicts), Prevented: prevented(e)}
}

func broke(r checker.Result) string {
	name, v, ok := story.First(r)
	switch {
	case ok:
		text := say.Sentence(v.Message)
		if v.Possible {
			text += " This depends on an operation whose outcome is unknown."
		}
		if n := reports.CountViolated(r) - 1; n > 0 {
			return fmt.Sprintf("%s That breaks %s; %d more of the %d properties %s violated, too.", text, name, n, len(r.Properties), say.Verb(n, "is", "are"))
		}
		return fmt.Sprintf("%s That breaks %s.", text, name)
	case r.Verdict == checker.Holds:
		return fmt.Sprintf("Nothing broke in %s and %s.", say.Count(r.Counts.Grants, "grant"), say.Count(r.Counts.FaultsSeen, "fault"))
	case r.Verdict == checker.Violated:
		return "A property is violated; the table says which."
	}
	return "Nothing was seen to break, but this run cannot say that nothing would: why stands beside the unknown properties."
}

func fencing(setup history.Setup, r checker.Result, verdicts map[string]checker.Verdict) string {
	stale, refused := r.Counts.StaleWrites, r.Counts.StaleRefused
	seen := fmt.Sprintf("%s came late, on a grant that somebody else's had replaced", say.Count(stale, "write"))
	switch {
	case stale == 0:
		return "No write came late in this run, so fencing was not put to the test."
	case !setup.Promise.Token:
		return seen + ". This lock gives no token, so the fenced copy had nothing to tell a late write by."
	case verdicts["no-lost-update/fenced"] == checker.Violated:
		return fmt.Sprintf("%s; the fenced copy refused %d and still lost an update.", seen, refused)
	case refused == stale && verdicts["no-lost-update/fenced"] == checker.Holds:
		return seen + ". The fenced copy refused every one, and its data is whole."
	case refused == stale:
		return seen + ". The fenced copy refused every one."
	}
	return fmt.Sprintf("%s; the fenced copy refused %d.", seen, refused)
}

// gravest is the violated property whose remedy comes first, "" if there is none: what lets two
// clients act at once, then what became of the data, the copy with a fence first, then what the
// service owes, and each in the order of a report.
func gravest(verdicts map[string]checker.Verdict, of func(checker.Checker) bool) (name string) {
	order := []func(checker.Checker) bool{
		func(c checker.Checker) bool { return c.Owed == checker.Unleased },
		func(c checker.Checker) bool { return c.Owed == checker.Data && c.Fenced },
		func(c checker.Checker) bool { return c.Owed == checker.Data },
		func(c checker.Checker) bool { return c.Owed == checker.Service },
		func(c checker.Checker) bool { return true },
	}
	for _, group := range order {
		for _, c := range checker.Checkers {
			if verdicts[c.Name] == checker.Violated && group(c) && of(c) {
				return c.Name
			}
		}
	}
	return ""
}

func remedyOf(property string) string {
	c, _ := checker.Find(property)
	return c.Remedy
}
