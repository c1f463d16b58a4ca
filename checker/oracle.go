package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// oracleAsked is how many violations of one property are put to Porcupine.
const oracleAsked = 10

// How long all questions about violations may take, with their drawings, and all about
// whole histories. Each has a limit of its own, too.
const (
	confirmTime = 30 * time.Second
	wholeTime   = 2 * time.Minute
)

var errAsked = errors.New("the time for all questions is over")

// What the oracle says in Violation.Oracle and Property.Oracle, beside "gave up: …"
// and "not asked: …".
const (
	Confirmed    = models.Confirmed
	Contradicted = models.Contradicted
)

// Oracle is how Porcupine is asked. The zero value does not ask.
type Oracle struct {
	Self []string // a command that calls OracleMain, such as /proc/self/exe oracle
	Full bool     // ask about whole histories, too
	// Save keeps Porcupine's drawing of a confirmed violation, a page, and returns the
	// name of its file. nil: nothing is drawn.
	Save func(number int, page string) (file string, err error)
}

// Confirm puts the smallest history of each violation to Porcupine, which must
// find it illegal: see Checkers for the models. With Full it is asked about whole
// histories, too, where their legality is the property. It runs in a child process
// with a limit of time and one of memory, for each question, and only within the
// limits of models. What it says is written into result. Where it gives up the
// verdict stands; a contradiction is a bug of dlmtest and becomes a doubt. An error
// is of saving a drawing. A cancel of ctx ends it, and so does the time for all
// questions: what was not asked by then says so.
func Confirm(ctx context.Context, oracle Oracle, setup history.Setup, ops []history.Op, result *Result) error {
	if oracle.Self == nil {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, confirmTime, errAsked)
	defer cancel()
	ask := models.Asker(limited, oracle.Self)
	m := minimizer{setup: setup, ops: ops}
	for p := range result.Properties {
		property := &result.Properties[p]
		asked := 0
		for i := range property.Violations {
			v := &property.Violations[i]
			if asked == oracleAsked || v.Minimal == nil || v.Minimal.Why != "" {
				continue
			}
			if limited.Err() != nil {
				v.Oracle = notAskedSince(limited)
				continue
			}
			var shown question
			v.Oracle, shown = m.confirm(property.Name, v, ask)
			if v.Oracle == Confirmed && oracle.Save != nil {
				if err := oracle.draw(limited, v, shown); err != nil {
					return err
				}
			}
			if q := oracleOf(property.Name); q.of != nil && !v.Possible {
				asked++
			}
			if v.Oracle == Contradicted {
				result.Doubts = append(result.Doubts,
					fmt.Sprintf("A bug of dlmtest: Porcupine contradicts violation %d, %s: %s", v.Number, property.Name, v.Message))
			}
		}
	}
	if oracle.Full {
		limited, cancel := context.WithTimeoutCause(ctx, wholeTime, errAsked)
		defer cancel()
		confirmWhole(limited, setup, ops, result, models.Asker(limited, oracle.Self))
	}
	return nil
}

// notAskedSince says why nothing is asked any more.
func notAskedSince(ctx context.Context) string {
	if cause := context.Cause(ctx); errors.Is(cause, errAsked) {
		return "not asked: " + cause.Error()
	}
	return "not asked: it was interrupted"
}

// draw saves what Porcupine makes of a question. That it draws nothing is no
// reason to stop: the violation stands, and is confirmed.
func (oracle Oracle) draw(ctx context.Context, v *Violation, q question) (err error) {
	page, undrawn := models.Draw(ctx, oracle.Self, q.model, q.options, q.ops)
	if undrawn == nil {
		v.Minimal.Drawing, err = oracle.Save(v.Number, page)
	}
	return err
}

const noLate = "it has no model of a grant of which nobody knows when it was made"

// oracleOf is how a property is put to Porcupine.
func oracleOf(property string) posed {
	c, _ := Find(property)
	return c.oracle
}

// putting puts a history of one key to Porcupine.
type putting func(model string, o models.Options, ops []models.Op) string

// confirm asks about the smallest history of a violation, and returns the question
// that was answered.
func (m *minimizer) confirm(property string, v *Violation, ask putting) (string, question) {
	none := question{}
	q := oracleOf(property)
	switch {
	case q.of == nil:
		return "not asked: " + q.why, none
	case q.shares != "" && m.setup.Kind.Shares():
		return "not asked: " + q.shares, none
	case v.Possible:
		return "not asked: the violation is only possible", none
	case v.late:
		return "not asked: " + noLate, none
	case v.Minimal.Unfinished != "":
		return "not asked: its history is not the smallest", none
	case q.holds && !m.names(v, history.Acquire, history.Try):
		return "not asked: it has no model of a write without a grant", none
	case property == "honest-claims" && m.namesOther(v):
		return "not asked: it has no model of what is asked for", none
	case property == "honest-claims" && !m.namesAnswer(v):
		return "not asked: it has no model of silence", none
	case property == "honest-claims" && m.claimsUngranted(v):
		return "not asked: it has no model of a claim without a grant", none
	case property == "honest-claims" && (m.names(v, history.Holder) || m.namesRefusal(v)):
		return "not asked: it has no model of what the servers say", none
	case property == "honest-claims" && m.namesUpgrade(v):
		return "not asked: it has no model of a reader that becomes the writer", none
	case q.entry && !m.namesLog(v):
		return "not asked: it has no model of a log from which an entry is missing", none
	}
	setup, ops := m.part(v, v.Minimal.Operations)
	said, last := "", none
	if broken := guard(func() { said, last = newRun(setup, ops).put(v.Key, q, ask) }); broken != "" {
		return "gave up: " + broken, none
	}
	switch said {
	case models.Illegal:
		return Confirmed, last
	case models.Legal:
		return Contradicted, last
	}
	return said, last
}

// claimsUngranted says whether a violation names a claim and no grant of its owner.
func (m *minimizer) claimsUngranted(v *Violation) bool {
	granted := map[string]bool{}
	for _, i := range v.Operations {
		if op := &m.ops[i]; op.Type == history.OK && (op.F == history.Acquire || op.F == history.Try) {
			granted[op.Owner] = true
		}
	}
	return slices.ContainsFunc(v.Operations, func(i int) bool {
		op := &m.ops[i]
		return op.Type == history.Invoke && (op.F == history.Extend || op.F == history.Change || op.F == history.Release) && !granted[op.Owner]
	})
}

// namesAnswer says whether a violation names something that a holder was told of its hold after its grant.
func (m *minimizer) namesAnswer(v *Violation) bool {
	return slices.ContainsFunc(v.Operations, func(i int) bool {
		op := &m.ops[i]
		return op.F == history.Resumed || op.Type == history.OK && (op.F == history.Extend || op.F == history.Change || op.F == history.Release)
	})
}

// names says whether a violation names an operation or a note of one of some kinds.
func (m *minimizer) names(v *Violation, kinds ...history.F) bool {
	return slices.ContainsFunc(v.Operations, func(i int) bool { return slices.Contains(kinds, m.ops[i].F) })
}

// namesUpgrade says whether a violation names a change of mode of another than whose claim, which comes last, is false.
func (m *minimizer) namesUpgrade(v *Violation) bool {
	claim := m.ops[slices.Max(v.Operations)].Owner
	return slices.ContainsFunc(v.Operations, func(i int) bool { return m.ops[i].F == history.Change && m.ops[i].Owner != claim })
}

// namesLog says whether a violation names an entry of the resource's log, other than the
// one that shows that the log goes on.
func (m *minimizer) namesLog(v *Violation) bool {
	for _, i := range v.Operations {
		if m.ops[i].F == history.Apply && m.ops[i].Time <= v.At {
			return true
		}
	}
	return false
}

// put asks all questions about a key: illegal if it is by any of them. It returns
// the last one that it asked.
func (r *run) put(key string, q posed, ask putting) (said string, last question) {
	k := r.logOf(r.ByKey[key])
	if k == nil {
		return "gave up: nothing happened on the key", last
	}
	asked := q.of(r, k)
	if len(asked) == 0 {
		return "gave up: its times cannot be converted", last
	}
	for _, last = range asked {
		if said = ask(last.model, last.options, last.ops); said != models.Legal {
			break
		}
	}
	return said, last
}

// confirmWhole asks about the whole history of every key, for the properties that
// are decided and that Porcupine has a model of.
func confirmWhole(ctx context.Context, setup history.Setup, ops []history.Op, result *Result, ask putting) {
	var r *run
	for p := range result.Properties {
		property := &result.Properties[p]
		q := oracleOf(property.Name)
		switch {
		case property.Verdict == NA:
			continue
		case q.shares != "" && setup.Kind.Shares():
			property.Oracle = "not asked: " + q.shares
			continue
		case !q.whole:
			property.Oracle = "not asked: it has no model of the whole"
			continue
		case property.Verdict == Unknown:
			property.Oracle = "not asked: there is no verdict to confirm"
			continue
		case ctx.Err() != nil:
			property.Oracle = notAskedSince(ctx)
			continue
		}
		if slices.ContainsFunc(property.Violations, func(v Violation) bool { return v.late }) {
			property.Oracle = "not asked: " + noLate
			continue
		}
		if r == nil {
			r = newRun(setup, ops)
		}
		if m := (minimizer{setup: setup, ops: ops}); q.holds &&
			property.Verdict == Violated && slices.ContainsFunc(property.Violations,
			func(v Violation) bool { return !m.names(&v, history.Acquire, history.Try) }) {
			property.Oracle = "not asked: it has no model of a write without a grant"
			continue
		}
		property.Oracle = r.whole(q, property.Verdict, ask)
		if property.Oracle == Contradicted {
			result.Doubts = append(result.Doubts, fmt.Sprintf("A bug of dlmtest: Porcupine contradicts the verdict of %s", property.Name))
		}
	}
}

// whole merges what is said of each key: one illegal key makes the history illegal.
// Of what holds only the first question is asked: the others are stricter.
func (r *run) whole(q posed, verdict Verdict, ask putting) string {
	asked := q
	if verdict == Holds {
		asked.of = func(r *run, k *keyLog) []question { all := q.of(r, k); return all[:min(1, len(all))] }
	}
	said := models.Legal
	for _, k := range r.keys {
		if one, _ := r.put(k.Name, asked, ask); one != models.Legal && said != models.Illegal {
			said = one
		}
	}
	switch said {
	case map[Verdict]string{Holds: models.Legal, Violated: models.Illegal}[verdict]:
		return Confirmed
	case models.Legal, models.Illegal:
		return Contradicted
	}
	return said
}
