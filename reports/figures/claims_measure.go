package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// claimJudge compares claims with one run. What it has found once it keeps.
type claimJudge struct {
	*Measurement
	free *window
	lost []checker.Loss
	read bool
}

// claimMeasures are the ways to hold a claim against a run that are no property, by the names
// that claims.yaml uses. Each says not measured unless the run tried what is claimed.
var claimMeasures = map[string]claimMeasure{
	"no-order":               (*claimJudge).noOrder,
	"exclusion":              (*claimJudge).exclusion,
	"survives-minority":      (*claimJudge).survivesMinority,
	"stops-without-majority": (*claimJudge).stopsWithoutMajority,
	"failover-loses":         (*claimJudge).failoverLoses,
	"released-within":        (*claimJudge).releasedWithin,
	"clock-independent":      (*claimJudge).clockIndependent,
	"clock-dependent":        (*claimJudge).clockDependent,
	"told":                   (*claimJudge).told,
	"untold":                 (*claimJudge).untold,
	"no-token":               (*claimJudge).noToken,
	"fencing-saves":          (*claimJudge).fencingSaves,
	"validity-kept":          (*claimJudge).validityKept,
}

// latencyMeasures are those of how long something takes, which a starved machine makes worthless.
var latencyMeasures = map[string]claimMeasure{
	"acquire-latency": (*claimJudge).acquireLatency,
	"release-latency": (*claimJudge).releaseLatency,
}

type claimMeasure func(*claimJudge, Claimed) (Agrees, string)

// measureOf is the way to hold a claim against a run: a measure, or a property that says the same.
func measureOf(name string) claimMeasure {
	if _, known := checker.Find(name); known {
		return func(j *claimJudge, _ Claimed) (Agrees, string) { return judged(j.property(name), true, "") }
	}
	if timed := latencyMeasures[name]; timed != nil {
		return timed
	}
	return claimMeasures[name]
}

// property is the judgement of one property; unknown where it is not there.
func (j *claimJudge) property(name string) checker.Property {
	i := slices.IndexFunc(j.result.Properties, func(p checker.Property) bool { return p.Name == name })
	if i < 0 {
		return checker.Property{Name: name, Reason: "It was not judged."}
	}
	return j.result.Properties[i]
}

// certain says whether a violation of a property depends on nothing unknown and on no stall.
func certain(p checker.Property) bool {
	return slices.ContainsFunc(p.Violations, func(v checker.Violation) bool { return !v.Possible && !v.Disturbed })
}

// judged is a claim that says what a property says, where the run had tried it.
func judged(p checker.Property, tried bool, otherwise string) (Agrees, string) {
	switch {
	case p.Verdict == checker.Violated && certain(p):
		return Contradicted, p.Name + " is violated. " + p.Reason
	case p.Verdict == checker.Holds && tried:
		return Confirmed, p.Reason
	case p.Verdict == checker.Holds:
		return NotMeasured, otherwise
	}
	return NotMeasured, cmp.Or(p.Reason, otherwise)
}

// noOrder is confirmed by one that was overtaken. That nobody was proves nothing.
func (j *claimJudge) noOrder(Claimed) (Agrees, string) {
	if j.Fairness == nil || j.Fairness.Waits == 0 {
		return NotMeasured, "Nobody else was granted a key while a client waited for it and no fault was in force."
	}
	text := fmt.Sprintf("In %d of %s that met no fault a client that had asked clearly later was granted "+
		"the key first.", j.Fairness.Overtaken, say.Count(j.Fairness.Waits, "wait"))
	if j.Fairness.Overtaken == 0 {
		return NotMeasured, text + " That may be luck."
	}
	return Confirmed, text
}

func (j *claimJudge) exclusion(Claimed) (Agrees, string) {
	return judged(j.property("mutual-exclusion"), j.result.Counts.Contended > 0 && j.struckHolder(),
		"No fault stopped, killed or cut off a client while it held the lock, which is when two could come to hold it.")
}

// cutOff says that a partition leaves its victim no majority of the servers.
func (j *claimJudge) cutOff(f *trace.Fault) bool {
	n := 0
	for _, server := range j.Setup.Servers {
		if slices.Contains(f.Cut, server) {
			n++
		}
	}
	return n > 0 && 2*n >= len(j.Setup.Servers)
}

// struckHolder says that a fault was seen to take a client away while it held a key.
func (j *claimJudge) struckHolder() bool {
	return slices.ContainsFunc(j.Faults, func(f *trace.Fault) bool {
		if !takes(f) || f.Begin < 0 || f.Seen < 0 || f.Missed || f.Kind == "partition" && !j.cutOff(f) {
			return false
		}
		at := j.Ops[f.Begin].Time
		return slices.ContainsFunc(j.Trace.Grants, func(g *trace.Grant) bool {
			return g.Node == f.Target && g.OK <= at && at <= g.Until
		})
	})
}

func (j *claimJudge) noToken(Claimed) (Agrees, string) {
	if len(j.Trace.Grants) == 0 {
		return NotMeasured, "Nobody was granted the lock."
	}
	n := 0
	for _, g := range j.Trace.Grants {
		if g.Token != 0 {
			n++
		}
	}
	text := fmt.Sprintf("%d of %s carried a token.", n, say.Count(len(j.Trace.Grants), "grant"))
	if n > 0 {
		return Contradicted, text
	}
	return Confirmed, text
}

func (j *claimJudge) fencingSaves(Claimed) (Agrees, string) {
	c := j.result.Counts
	verdict, text := judged(j.property("no-lost-update/fenced"), c.StaleWrites > 0, "No late write of a holder that had lost the lock reached the resource.")
	if verdict == Confirmed && c.StaleRefused < c.StaleWrites {
		verdict = NotMeasured // one that came before the next holder had written is let in, and may do no harm
	}
	if c.StaleWrites > 0 {
		text += fmt.Sprintf(" %d of %s on a superseded grant %s refused.",
			c.StaleRefused, say.Count(c.StaleWrites, "write"), say.Verb(c.StaleRefused, "was", "were"))
	}
	return verdict, text
}

func (j *claimJudge) validityKept(Claimed) (Agrees, string) {
	v := j.Validity
	if v == nil {
		return NotMeasured, j.Missing["validity"]
	}
	if v.Broken > 0 {
		if j.property("lease-exclusion").Verdict != checker.Violated {
			return NotMeasured, fmt.Sprintf("Another client was granted the key within %s, but lease-exclusion does not "+
				"say for certain that this broke them.", say.Count(v.Broken, "claim"))
		}
		return Contradicted, fmt.Sprintf("%d of %s did not hold: another client was granted the key up to %s before the claim was over.",
			v.Broken, say.Count(v.Claims, "claim"), say.Length(time.Duration(v.BrokenLongest)))
	}
	if j.property("lease-exclusion").Verdict != checker.Holds {
		return NotMeasured, j.property("lease-exclusion").Reason
	}
	if v.Whole == 0 {
		return NotMeasured, fmt.Sprintf("None of %s was held to its end, so nothing was asked of them.", say.Count(v.Claims, "claim"))
	}
	return Confirmed, fmt.Sprintf("Nobody else was granted a key that a client still claimed, in %s, %s of them held "+
		"to the end.", say.Count(v.Claims, "claim"), say.Thousands(v.Whole))
}

// clockMoved names the servers whose clock was seen to be wrong, "" if there was none.
func (j *claimJudge) clockMoved() string {
	var moved []string
	for _, f := range j.Faults {
		if f.Kind == "clock" && f.Seen >= 0 && !f.Missed && slices.Contains(j.Setup.Servers, f.Target) {
			moved = append(moved, f.Target)
		}
	}
	if len(moved) == 0 {
		return ""
	}
	slices.Sort(moved)
	return fmt.Sprintf("The clock of %s was wrong. ", say.Names(slices.Compact(moved)))
}

const noClock = "No clock of a server was moved."

func (j *claimJudge) clockIndependent(Claimed) (Agrees, string) {
	moved := j.clockMoved()
	if moved == "" {
		return NotMeasured, noClock
	}
	p := j.property("lease-exclusion")
	if p.Verdict == checker.NA {
		p = j.property("mutual-exclusion")
	}
	verdict, text := judged(p, true, "")
	if verdict == Contradicted {
		if doubt := j.notBy(p, clockFault); doubt != "" {
			return NotMeasured, moved + doubt
		}
	}
	return verdict, moved + text
}

func clockFault(f *trace.Fault) bool { return f.Kind == "clock" }

// notBy says why what first broke a property cannot be put down to the faults of some
// kinds on servers, or "": none of them came before it, or others had hit servers, too.
func (j *claimJudge) notBy(p checker.Property, ours func(*trace.Fault) bool) string {
	at, mine, others := int64(math.MaxInt64), false, []string(nil)
	for _, v := range p.Violations {
		if !v.Possible && !v.Disturbed {
			at = min(at, v.At)
		}
	}
	for _, f := range j.Faults {
		switch {
		case f.Begin < 0 || j.Ops[f.Begin].Time > at || !slices.Contains(j.Setup.Servers, f.Target):
		case ours(f):
			mine = true
		default:
			others = append(others, f.Kind)
		}
	}
	if !mine {
		return p.Name + " broke before that."
	}
	if slices.Sort(others); len(others) > 0 {
		return fmt.Sprintf("%s broke, but servers had been hit by %s, too: what of it all broke it is not known.", p.Name, say.Names(slices.Compact(others)))
	}
	return ""
}

// clockDependent is confirmed by one that broke. That nothing broke proves nothing.
func (j *claimJudge) clockDependent(Claimed) (Agrees, string) {
	moved := j.clockMoved()
	if moved == "" {
		return NotMeasured, noClock
	}
	p := j.property("lease-exclusion")
	if p.Verdict == checker.Violated && certain(p) {
		if doubt := j.notBy(p, clockFault); doubt != "" {
			return NotMeasured, moved + doubt
		}
		return Confirmed, moved + p.Reason
	}
	return NotMeasured, moved + "Nothing broke by it in this run, which proves nothing: " + strings.TrimSuffix(p.Reason, ".") + "."
}
