package checker

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// hostClockLimit is how far the host's clock may move against MONOTONIC_RAW
// before a run is inconclusive.
const hostClockLimit = 5e6 // 5 ms

// doubt is a reason not to believe that a property holds.
type doubt struct {
	text    string
	affects func(Checker) bool // nil: all
}

// conclude turns what would be "holds" into unknown where the run did not put
// the property to the test, and adds what is known of the run as a whole.
func conclude(r *run, result *Result) {
	result.Counts, result.Early = r.counts, r.early()
	vacuous, incomplete, unobserved := r.vacuous(), r.incomplete(), r.unobserved()
	result.TooLittle, result.Incomplete = r.tooLittle || len(vacuous)+len(unobserved) > 0, len(incomplete) > 0
	doubts := slices.Concat(vacuous, incomplete, unobserved)
	for _, i := range r.Jumps {
		if n := r.Ops[i].Length; n > hostClockLimit || n < -hostClockLimit {
			result.ClockMoved = true
			doubts = append(doubts, doubt{text: fmt.Sprintf("The host's clock moved by %s at %s.", length(n), r.seconds(r.Ops[i].Time))})
		}
	}
	result.Vacuous = len(vacuous)
	for _, d := range doubts {
		result.Doubts = append(result.Doubts, d.text)
		for i := range result.Properties {
			d.dim(&result.Properties[i])
		}
	}
	for _, p := range result.Properties {
		if p.Disturbed {
			result.Doubts = append(result.Doubts, fmt.Sprintf("%s: %s", p.Name, p.Reason))
		}
	}
	r.blame(result)
	result.FirstViolation = r.firstViolation(result)
}

// blame takes back every judgement of a lock whose adapter broke the protocol: what
// such a client says that it held is nothing that the lock has said.
func (r *run) blame(result *Result) {
	for _, i := range r.Blamed {
		op := &r.Ops[i]
		result.Doubts = append(result.Doubts, fmt.Sprintf("%s: %s. Nothing is said about the lock.", op.Node, strings.TrimSuffix(op.Error, ".")))
		for k := range result.Properties {
			if p := &result.Properties[k]; p.Verdict != NA {
				*p = Property{Name: p.Name, Verdict: Unknown,
					Reason: fmt.Sprintf("The adapter of %s broke the lock client protocol; nothing is said about the lock.", op.Node)}
			}
		}
	}
}

// dim applies a doubt to a property that would hold.
func (d doubt) dim(p *Property) {
	if p.Verdict != Holds {
		return
	}
	if c, known := Find(p.Name); d.affects == nil || known && d.affects(c) {
		p.Verdict, p.WouldHold, p.Tested = Unknown, true, ""
		p.Reason = fmt.Sprintf("Would hold, but: %s (%s)", d.text, strings.TrimSuffix(p.Reason, "."))
	}
}

// vacuous compares the counts with what the scenario must have seen.
func (r *run) vacuous() []doubt {
	want, got := r.Setup.Expect, r.counts
	if r.keptWaiting() {
		// Nothing was granted over the holder's head: that is the answer, not a lack of one.
		want.StaleWrites, want.GrantsDuringFault = 0, 0
	}
	var doubts []doubt
	for _, e := range []struct {
		what, more string // more follows the noun
		got, want  int
		affects    func(Checker) bool
	}{
		{"acquire", " while another client held the key", got.Contended, want.Contention, nil},
		{"write", ", or abstentions, on a superseded grant", got.StaleWrites + got.Abstained, want.StaleWrites,
			func(c Checker) bool { return c.needs.staleWrite }},
		{"fault", " observed at the victim", got.FaultsSeen, want.Faults, nil},
		{"grant", " of others during a fault", got.GrantsDuringFault, want.GrantsDuringFault, func(c Checker) bool { return c.needs.grantInFault }},
	} {
		if e.got < e.want {
			doubts = append(doubts, doubt{fmt.Sprintf("Too little was seen: %s%s, the scenario needs %d.",
				nouns.Count(e.got, e.what), e.more, e.want), e.affects})
		}
	}
	return doubts
}

// keptWaiting says that a lock without a lease did what it promises under a
// fault: for at least Setup.Lease somebody waited for a key and nobody got it.
func (r *run) keptWaiting() bool {
	if r.Setup.Promise.Leased {
		return false
	}
	for _, in := range r.incidents() {
		for _, k := range r.keysIn(in.from, min(in.to, r.End)) {
			if d := r.drought(k, in); d.to-d.from >= int64(r.Setup.Lease) {
				return true
			}
		}
	}
	return false
}

// Doubt adds what the recorder itself doubts, such as lines that were lost: no
// property holds in such a run.
func Doubt(setup history.Setup, result *Result, texts []string) {
	for _, text := range texts {
		result.Doubts = append(result.Doubts, text)
		for i := range result.Properties {
			doubt{text: text}.dim(&result.Properties[i])
		}
	}
	result.conclude(setup)
}

// unobserved lists the faults that were not seen at their victim.
func (r *run) unobserved() []doubt {
	var doubts []doubt
	for _, f := range r.Faults {
		switch {
		case f.Skipped:
		case f.Missed:
			doubts = append(doubts, doubt{text: fmt.Sprintf("Fault %d (%s on %s) was looked for at its victim and "+
				"not found%s.", f.ID, f.Kind, f.Target, r.deaf(f.Kind, f.Target))})
		case !f.Observed && f.Begin >= 0:
			doubts = append(doubts, doubt{text: fmt.Sprintf("Fault %d (%s on %s) was never observed at its victim.", f.ID, f.Kind, f.Target)})
		}
	}
	for _, i := range r.Skips { // who draws at random draws such faults, too, and that is no loss; unless nobody could see
		if f := r.Ops[i].Fault; r.deaf(f.Kind, f.Target) != "" {
			doubts = append(doubts, doubt{text: fmt.Sprintf("Fault %d (%s on %s) waited for a message that could "+
				"not be seen%s.", f.ID, f.Kind, f.Target, r.deaf(f.Kind, f.Target))})
		}
	}
	return doubts
}

// deaf says why a fault may have waited in vain for its message: a link is not understood
// any more, the victim's if that is known.
func (r *run) deaf(kind, target string) string {
	if !history.FaultOf(kind).Message || len(r.Unparsed) == 0 {
		return ""
	}
	node := target
	if _, ok := r.Unparsed[node]; !ok {
		node = slices.Sorted(maps.Keys(r.Unparsed))[0]
	}
	return fmt.Sprintf(": %s: %s", node, strings.TrimSuffix(r.Ops[r.Unparsed[node]].Error, "."))
}

// firstViolation is the time from the first grant to the first violation that counts.
func (r *run) firstViolation(result *Result) int64 {
	first := int64(math.MaxInt64)
	for _, p := range result.Properties {
		for _, v := range p.Violations {
			if p.Verdict == Violated && !v.Possible && !v.Disturbed {
				first = min(first, v.At)
			}
		}
	}
	if first == math.MaxInt64 || len(r.Grants) == 0 {
		return 0
	}
	return first - r.Grants[0].OK
}
