package figures

import (
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// takes says whether a fault can take a server away.
func takes(f *trace.Fault) bool {
	return history.FaultOf(f.Kind).Away
}

// serverLosses are the faults that took servers away and were seen to.
func (j *claimJudge) serverLosses() []checker.Loss {
	if !j.read && slices.ContainsFunc(j.Faults, takes) {
		j.lost = slices.DeleteFunc(checker.Losses(j.Setup, j.Ops), func(l checker.Loss) bool { return !l.Seen })
	}
	j.read = true
	return j.lost
}

// grantsWithin counts the grants that were asked for and answered within a time.
func (j *claimJudge) grantsWithin(from, to int64) (n int) {
	for _, g := range j.Trace.Grants {
		if ok := &j.Ops[g.Op]; max(ok.Sent, j.Ops[g.Invoke].Time) >= from && ok.Time <= to {
			n++
		}
	}
	return n
}

// noLoss says why nothing is known of a time without some servers.
func (j *claimJudge) noLoss(share string) string {
	if len(j.Setup.Servers) == 0 {
		return "The history does not name its servers."
	}
	return fmt.Sprintf("No fault that was seen took away a %s of the servers.", share)
}

// survivesMinority asks for grants while as many servers were lost as can be without
// losing the majority: of five that is two, and one proves too little.
func (j *claimJudge) survivesMinority(Claimed) (Agrees, string) {
	n, fewer, grants, lost := 0, 0, 0, []string(nil)
	most := (len(j.Setup.Servers) - 1) / 2
	for _, l := range j.serverLosses() {
		if l.Minority(len(j.Setup.Servers)) && len(l.Lost) < most {
			fewer = max(fewer, len(l.Lost))
		} else if l.Minority(len(j.Setup.Servers)) {
			n++
			grants += j.grantsWithin(l.From, l.To)
			lost = append(lost, l.Lost...)
		}
	}
	if n == 0 && fewer > 0 {
		return NotMeasured, fmt.Sprintf("No fault took away more than %d of %d servers; a minority may be %d.", fewer, len(j.Setup.Servers), most)
	}
	if n == 0 {
		return NotMeasured, j.noLoss("minority")
	}
	slices.Sort(lost)
	what := fmt.Sprintf("%s %s made in %s that took a minority away, of %s.", say.Count(grants, "grant"),
		say.Verb(grants, "was", "were"), say.Count(n, "fault"), say.Names(slices.Compact(lost)))
	p := j.property("availability")
	switch {
	case p.Verdict == checker.Violated && certain(p):
		return Contradicted, what + " " + p.Reason
	case p.Verdict != checker.Holds:
		return NotMeasured, what + " " + p.Reason
	case grants == 0:
		return NotMeasured, what + " The fault was over before anything was owed."
	}
	return Confirmed, what + " " + p.Reason
}

// stopsWithoutMajority asks that nobody be granted anything that was asked for, and
// answered, while no client reached a majority. What was granted before keeps a key for
// a lease, so only who waited for longer shows anything.
func (j *claimJudge) stopsWithoutMajority(Claimed) (Agrees, string) {
	n, grants, asked, longest := 0, 0, 0, int64(0)
	for _, l := range j.serverLosses() {
		if l.Served {
			continue
		}
		n++
		grants += j.grantsWithin(l.From, l.To)
		longest = max(longest, l.To-l.From)
		for _, waits := range j.waiting {
			for _, w := range waits {
				if min(w.to, l.To)-max(w.from, l.From) > int64(j.Setup.Lease) {
					asked++
				}
			}
		}
	}
	if n == 0 {
		return NotMeasured, j.noLoss("majority")
	}
	text := fmt.Sprintf("%s %s made in %s without a majority, of up to %s, in which %s waited for longer than a lease.",
		say.Count(grants, "grant"), say.Verb(grants, "was", "were"),
		say.Count(n, "fault"), say.Length(time.Duration(longest)), say.Count(asked, "acquire"))
	switch {
	case grants > 0:
		return Contradicted, text
	case asked == 0:
		return NotMeasured, "Nobody waited for a key for longer than a lease while the majority was away."
	}
	return Confirmed, text
}

// failoverLoses is confirmed by one loss. That nothing was lost proves nothing.
func (j *claimJudge) failoverLoses(Claimed) (Agrees, string) {
	if len(j.serverLosses()) == 0 {
		return NotMeasured, "No fault took a server away."
	}
	p := j.property("lease-exclusion")
	if p.Verdict == checker.Violated && certain(p) {
		if doubt := j.notBy(p, takes); doubt != "" {
			return NotMeasured, doubt
		}
		return Confirmed, p.Reason
	}
	return NotMeasured, "No grant was lost in this run, which proves nothing. " + p.Reason
}

// news is how the holders that were superseded while they believed, or were told of a
// loss, learned of it.
type news struct {
	told   int
	latest time.Duration // from the next grant to the message
	left   int           // gave the lock back themselves before any message
	never  int           // believed to the end of the run
}

func (n news) all() int { return n.told + n.left + n.never }

func (j *claimJudge) news() (n news) {
	for _, g := range j.Trace.Grants {
		next := j.Superseder(g)
		superseded := next != nil && next.OK < g.Until
		switch {
		case g.EndOp >= 0 && j.Ops[g.EndOp].F == history.Lost:
			n.told++
			if next != nil {
				n.latest = max(n.latest, time.Duration(g.Until-next.OK))
			}
		case superseded && g.EndOp >= 0:
			n.left++
		case superseded:
			n.never++
		}
	}
	return n
}

func (n news) String() string {
	text := fmt.Sprintf("Of %s that lost the lock %d %s told.", say.Count(n.all(), "holder"), n.told, say.Verb(n.told, "was", "were"))
	if n.latest > 0 {
		text += fmt.Sprintf(" The latest message came %s after the next grant.", say.Length(n.latest))
	}
	if n.left > 0 {
		text += fmt.Sprintf(" %d ended without a message: %s asked, or gave the lock back.", n.left, say.Verb(n.left, "it", "they"))
	}
	return text
}

const noLoss = "No client lost the lock while it believed to hold it."

// told is open where a client ended its work before a message could come: after a
// pause it is chance which of its threads runs first.
func (j *claimJudge) told(Claimed) (Agrees, string) {
	switch n := j.news(); {
	case n.all() == 0:
		return NotMeasured, noLoss
	case n.never > 0:
		return Contradicted, n.String()
	case n.told == 0:
		return NotMeasured, n.String()
	default:
		return Confirmed, n.String()
	}
}

func (j *claimJudge) untold(Claimed) (Agrees, string) {
	switch n := j.news(); {
	case n.all() == 0:
		return NotMeasured, noLoss
	case n.told > 0:
		return Contradicted, n.String()
	default:
		return Confirmed, n.String()
	}
}
