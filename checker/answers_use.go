package checker

import (
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// answerUse answers whether the data was saved where the lock guards a well-known use:
// the worse of what became of the data and of the use itself.
func answerUse(setup history.Setup, result *Result, data Answer) Answer {
	var plain, safe *Property
	for _, c := range Uses[setup.Use.Name] {
		p := result.Property(c.Name)
		switch {
		case p == nil || c.Name == "no-deadlock":
		case strings.HasSuffix(c.Name, "/fenced") && p.Verdict != NA:
			safe = p
		default:
			if plain == nil {
				plain = p
			}
		}
	}
	if plain == nil {
		return data
	}
	if safe == nil {
		safe = plain
	}
	a := Answer{Verdict: Merge(data.Verdict, safe.Verdict)}
	switch {
	case safe.Verdict == Violated && data.Verdict == Holds && safe != plain:
		a.Sentence = fmt.Sprintf("No: fencing saved the table and not the use: %s (%s).", lower(safe.Reason), safe.Name)
	case safe.Verdict == Violated:
		a.Sentence = fmt.Sprintf("No: %s (%s).", lower(safe.Reason), safe.Name)
	case data.Verdict == Violated:
		return data
	case safe.Verdict == Unknown:
		a.Sentence = fmt.Sprintf("Not decided: %s (%s).", lower(safe.Reason), safe.Name)
	case data.Verdict == Unknown:
		return data
	case safe != plain && plain.Verdict == Violated:
		a.Sentence = fmt.Sprintf("Yes: fencing saved it: %s, but without: %s.", lower(safe.Reason), lower(plain.Reason))
	default:
		a.Sentence = fmt.Sprintf("Yes: %s.", lower(safe.Reason))
	}
	return a
}
