package checker

import (
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/nouns"
)

// fact is something without which some kind of defect cannot show in a run.
type fact struct {
	one, more string // "death of a holder", "deaths of holders"
	none      string // "no holder died"
	count     func(*run) int
}

// test is a fact that puts a property to the test.
type test struct {
	*fact
	shows string          // what only shows where there is one: "a key that a dead holder keeps"
	only  func(*run) bool // of which locks it is asked; nil: of all
}

var (
	granted = &fact{"grant", "grants", "nobody was granted a key",
		func(r *run) int { return len(r.Grants) }}
	contended = &fact{"contended acquire", "contended acquires", "nobody waited beside a holder",
		func(r *run) int { return r.counts.Contended }}
	superseded = &fact{"holder superseded before it knew", "holders superseded before they knew", "no holder was superseded before it knew",
		func(r *run) int {
			return counted(r.Grants, func(g *trace.Grant) bool { return g.By != nil && g.By.OK < g.End })
		}}
	staleWrites = &fact{"stale write", "stale writes", "nobody wrote on a superseded grant",
		func(r *run) int { return r.counts.StaleWrites + r.staleBlocks() }}
	faultGrants = &fact{"grant of others during a fault", "grants of others during a fault", "nobody was granted a key during a fault",
		func(r *run) int { return r.counts.GrantsDuringFault }}
	faultsSeen = &fact{"fault", "faults", "there was no fault",
		func(r *run) int { return r.counts.FaultsSeen }}
	serversHit = &fact{"fault after which a server may forget", "faults after which a server may forget",
		"no server was killed, crashed or given a wrong clock",
		func(r *run) int { return r.begun(true, func(k history.FaultKind) bool { return k.EndsLeases }) }}
	clientClocks = &fact{"client with a wrong clock", "clients with a wrong clock", "no client's clock was wrong",
		func(r *run) int { return r.begun(false, func(k history.FaultKind) bool { return k.Name == "clock" }) }}
	holdersDead = &fact{"death of a holder", "deaths of holders", "no holder died",
		func(r *run) int { return counted(r.Grants, func(g *trace.Grant) bool { return r.deathOf(g) != nil }) }}
	lossesTold = &fact{"loss that a client was told of", "losses that clients were told of", "nobody was told of a loss",
		func(r *run) int { return len(r.Losses) }}
	lossesSaid = &fact{lossesTold.one, lossesTold.more, lossesTold.none, // by the answer to a release, too
		func(r *run) int { return len(r.Losses) + len(r.denied()) }}
	renewed = &fact{"renewal", "renewals", "nobody renewed a grant",
		func(r *run) (n int) {
			for _, g := range r.Grants {
				n += g.Asked
			}
			return n
		}}
	lateReleases = &fact{"release of a superseded grant", "releases of superseded grants", "no superseded grant was given back",
		func(r *run) int {
			return counted(r.Grants, func(g *trace.Grant) bool { return g.Release >= 0 && g.SupersededAt(r.Ops[g.Release].Time) })
		}}
	lateAsks = &fact{"renewal or release of what was lost", "renewals and releases of what was lost", "nobody renewed or gave back what it had lost",
		(*run).lateAsks}
	tokenPairs = &fact{"pair of tokens", "pairs of tokens", "no key was granted twice",
		func(r *run) (n int) {
			for _, k := range r.keys {
				n += max(0, len(k.Grants)-1)
			}
			return n
		}}
	unanswered = &fact{"operation of unknown outcome", "operations of unknown outcome", "no answer was lost",
		func(r *run) int { return r.counts.Unknowns }}
	looksSeen = &fact{"look at the servers", "looks at the servers", "nobody looked at the servers",
		func(r *run) (n int) {
			for _, k := range r.keys {
				n += counted(k.Holders, func(i int) bool { return r.trusted(&r.Ops[i]) })
			}
			return n
		}}
	refused = &fact{"refusal", "refusals", "nobody was refused a key",
		func(r *run) (n int) {
			for i := range r.Ops {
				if r.Ops[i].Busy {
					n++
				}
			}
			return n
		}}
	inQueue = &fact{"wait behind another", "waits behind another", "no two clients waited at once",
		func(r *run) int { n, _ := r.queues(); return n }}
	gaveUp = &fact{"wait behind another that was given up", "waits behind others that were given up", "nobody gave up its place behind another",
		func(r *run) int { _, n := r.queues(); return n }}
	takenAgain = &fact{"hold taken again", "holds taken again", "nobody took again what it held",
		func(r *run) int {
			return counted(r.Grants, func(g *trace.Grant) bool { return len(g.Nest.Again)+len(g.Nest.Told) > 0 })
		}}
)

func counted[T any](all []T, is func(T) bool) (n int) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// begun counts the faults of some kinds that hit servers, or clients.
func (r *run) begun(servers bool, of func(history.FaultKind) bool) (n int) {
	for _, f := range r.Faults {
		if f.Begin >= 0 && r.isClient(f.Target) != servers && of(history.FaultOf(f.Kind)) {
			n++
		}
	}
	return n
}

// lateAsks counts the renewals and releases that were refused, and those that said ok though
// another had been granted the key.
func (r *run) lateAsks() (n int) {
	for _, g := range r.Grants {
		for _, i := range g.Events {
			if op := &r.Ops[i]; op.Type == history.Fail && (op.F == history.Extend || op.F == history.Release) {
				n++
			}
		}
	}
	for _, s := range r.Successes {
		if s.Grant.SupersededAt(r.Ops[s.Invoke].Time) {
			n++
		}
	}
	return n
}

// queues counts the waits that began while another client waited for the key, and those of
// them that ended without a grant.
func (r *run) queues() (behind, unserved int) {
	for _, k := range r.keys {
		waits := slices.Clone(k.Waits)
		slices.SortFunc(waits, func(a, b trace.Wait) int { return a.Invoke - b.Invoke })
		ends := make([]int64, len(waits))
		for i, w := range waits {
			ends[i] = w.To
		}
		slices.Sort(ends)
		for i, w := range waits {
			over := sort.Search(len(ends), func(j int) bool { return ends[j] > w.From })
			if i-over <= 0 || r.Ops[w.Invoke].F != history.Acquire {
				continue
			}
			behind++
			if w.Done >= 0 && r.Ops[w.Done].Type != history.OK {
				unserved++
			}
		}
	}
	return behind, unserved
}

// words are "2 deaths of holders".
func (f *fact) words(n int) string { return nouns.Irregular(n, f.one, f.more) }

// shows makes the test of a property by a fact.
func (f *fact) shows(defect string) test { return test{fact: f, shows: defect} }

// of asks it of some locks only.
func (t test) of(only func(*run) bool) test {
	t.only = only
	return t
}
