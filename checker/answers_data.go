package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// answerData answers whether the data was saved: by the copy, and the use, that check tokens,
// or by those that do not. A fence that decided wrongly saved nothing for certain, though it
// may have lost nothing yet; that nobody tried it says nothing of the data.
func answerData(setup history.Setup, result *Result, fenced bool) answer {
	var first, decides *Property
	var by Checker
	for _, c := range Checkers {
		p := result.Property(c.Name)
		switch {
		case p == nil:
			continue
		case c.Owed == Fence && fenced && p.Verdict == Violated:
		case c.Owed != Data || c.Fenced != fenced:
			continue
		}
		if first == nil {
			first = p
		}
		// Of two that say the same, what a use did in the world says more than its table.
		if worse := decides == nil || Merge(decides.Verdict, p.Verdict) != decides.Verdict; worse ||
			p.Verdict == decides.Verdict && c.OfUse() && p.Verdict != NA {
			decides, by = p, c
		}
	}
	if decides == nil {
		return answer{Unknown, "Not decided: nothing was judged."}
	}
	a := answer{Verdict: decides.Verdict}
	switch decides.Verdict {
	case Violated:
		a.sentence = fmt.Sprintf("No: %s%s (%s).", lower(decides.Reason), beside(setup, result, by, first), by.Name)
	case Unknown:
		a.sentence = undecided(*decides)
	case Holds:
		a.sentence = fmt.Sprintf("Yes: %s.", lower(decides.Reason))
	default:
		a.sentence = fmt.Sprintf("Not asked: %s.", lower(first.Reason))
	}
	return a
}

// beside says what a violation of the data shows of the fence; "": nothing.
func beside(setup history.Setup, result *Result, by Checker, first *Property) string {
	switch saved := first.Verdict == Holds; {
	case by.Fenced && by.OfUse() && saved:
		return "; the fence protected the table, not the effect outside of it"
	case by.Fenced:
		return ", in spite of the fence"
	case !setup.Promise.Token && !setup.Use.Lockless && result.Counts.StaleWrites > 0:
		return "; this lock gives no token that could have stopped it"
	}
	return ""
}

// work is what a property says of whether work goes on.
type work int

const (
	notWork work = iota // nothing
	inFault             // whether it goes on while a fault lasts
	healed              // whether it goes on where no fault lasts
)

// answerWork answers whether work went on. Where there were faults it is asked of their time
// first: that a key was granted again when all was healed does not say that work went on.
func answerWork(result *Result) answer {
	worst, during := Property{Verdict: NA}, Property{Verdict: Holds}
	for _, c := range Checkers {
		p := result.Property(c.Name)
		if c.work == notWork || p == nil {
			continue
		}
		if Merge(worst.Verdict, p.Verdict) != worst.Verdict {
			worst = *p
		}
		if c.work == inFault && result.Counts.Faults > 0 {
			during = *p
		}
	}
	switch {
	case worst.Verdict == Violated:
		return answer{Violated, fmt.Sprintf("No: %s (%s).", lower(worst.Reason), worst.Name)}
	case worst.Verdict == Unknown:
		return answer{Unknown, undecided(worst)}
	case worst.Verdict == NA:
		return answer{NA, "Not asked: no judged property answers this."}
	case during.Verdict == NA:
		return answer{NA, fmt.Sprintf("Not asked: %s; afterwards: %s.", lower(during.Reason), lower(worst.Reason))}
	case during.Name != "":
		worst = during
	}
	return answer{Holds, fmt.Sprintf("Yes: %s.", lower(worst.Reason))}
}
