package hunt

import (
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/scenarios"
)

// A theme draws what only goes together: a client that stops for longer than its lease while another
// waits for longer than that. Drawn one by one, such numbers meet too seldom.
type theme func(d die, s Space, t scenarios.Scenario) scenarios.Scenario

// rota is the order in which themes have their turns, so that a hunt of few trials has tried most. Each is a class of
// what goes wrong with locks, and none is a bug that somebody knows. A theme that stands here twice has two turns.
var rota = []struct {
	draw    theme // nil: a trial on no theme
	nth, of int   // this turn of the theme in a round, from 0, and how many it has
}{
	{contention, 0, 1}, {stoppedHolder, 0, 1}, {serverAway, 0, 2}, {sweep, 0, 3}, {comesBack, 0, 2}, {nil, 0, 1}, {stoppedWaiter, 0, 1}, {gaveUp, 0, 1},
	{badLeader, 0, 2}, {slowLinks, 0, 2}, {leftAway, 0, 1}, {death, 0, 1}, {mostAway, 0, 1}, {lostMessage, 0, 1}, {comesBack, 1, 2},
	{lateRenewal, 0, 1}, {lateRelease, 0, 2}, {resets, 0, 1}, {cutShort, 0, 2}, {sweep, 1, 3}, {serverAway, 1, 2}, {wrongClock, 0, 1},
	{lapsed, 0, 1}, {slowLinks, 1, 2}, {sweep, 2, 3}, {badLeader, 1, 2}, {alike, 0, 1}, {cutShort, 1, 2}, {lateRelease, 1, 2},
	{longHold, 0, 1},
}

// visit says how often the theme of a turn has had its turn before.
func visit(turn int) int {
	now := rota[turn%len(rota)]
	return turn/len(rota)*now.of + now.nth
}

// themed is a trial on the theme of its turn, or on another where that cannot be run; ok: one could be run.
func (s Space) themed(d die, turn int, t scenarios.Scenario) (scenarios.Scenario, bool) {
	if t.Workload = pick(d, s.Workloads); slices.Contains(s.Workloads, usual) && d.one(2) {
		t.Workload = s.mainly(d) // most themes are about several clients and one key
	}
	draw := rota[turn%len(rota)].draw
	if draw == nil {
		return t, false
	}
	d.visit = visit(turn)
	for n := range redraws {
		if n >= redraws/2 {
			if draw = pick(d, rota).draw; draw == nil {
				continue
			}
		}
		c := patient(d, draw(d, s, t))
		c.Faults = slices.Clone(c.Faults)
		for i := range c.Faults {
			f := &c.Faults[i]
			f.Name, f.Count = unused(c.Faults[:i]), max(f.Count, 1)
			if f.On == "" {
				f.On = "at"
			}
		}
		if c = s.asleep(fitted(c)); s.trouble(c) == "" {
			for i := range c.Faults {
				c.Faults[i].Optional = true
			}
			return c, true
		}
	}
	return t, false
}

// patient has who waits for long wait beyond what a free key is owed in, in every other trial: who gives up before, for its own lock does not let it
// in, can blame nobody. It costs nothing where the key is granted. Who waits for two keys in a circle is let go by the end of its wait alone.
func patient(d die, t scenarios.Scenario) scenarios.Scenario {
	if owed := beyondOwed(t); t.Workload != history.TwoKeys && of(t, t.Wait) >= 2 && of(t, t.Wait) < of(t, owed) && d.one(2) {
		t.Wait = owed
	}
	return t
}

// beyondOwed is a wait that a free key always ends.
func beyondOwed(t scenarios.Scenario) scenarios.Duration {
	return leases(1 + of(t, fixed(checker.Patience(t.Lease.Of(0)))))
}

// of is a length of a trial in leases.
func of(t scenarios.Scenario, d scenarios.Duration) float64 {
	return d.Of(t.Lease.Of(0)).Seconds() / t.Lease.Of(0).Seconds()
}

// contention has no fault: each use of the lock in turn, with work beyond the lease and waits beyond both, and then
// with much to do in little time, with work for most of a lease, so that who joins a hold outlives who began it, or with
// waits shorter than the work, so that many give up, or so that nobody asks for a while.
func contention(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Clients, t.Workload = 1, 3+d.IntN(min(s.Clients-2, 4)), next(d, s.Workloads)
	switch t.Renew = s.Extends; (d.visit + d.visit/len(s.Workloads)) % 3 {
	case 0:
		t.Work, t.Wait, t.Duration = leases(d.log(1.5, 6)), leases(d.log(4, 10)), leases(d.log(3, 6))
		return t
	case 1:
		t.Clients, t.Think, t.Duration = 2, leases(d.log(2, 5)), leases(10)
		t.Work = someOrNone(d, 0.005, 1.5)
		return t
	}
	t.Work, t.Think, t.Wait = someOrNone(d, 0.005, 0.1), someOrNone(d, 0.005, 0.1), leases(d.log(1, 6))
	switch d.IntN(4) {
	case 0, 1:
		t.Renew, t.Work, t.Duration = false, leases(d.log(0.3, 0.9)), leases(d.log(3, 6))
	case 2:
		t.Work, t.Wait, t.Duration = leases(d.log(0.1, 1.2)), leases(d.log(0.1, 0.8)), leases(d.log(3, 6))
	}
	return t
}

// beyond is a length beyond a lease, often until another has the key.
func beyond(d die) scenarios.Span {
	f := span(leases(d.log(1.1, 3)))
	if d.one(3) {
		f.Until, f.Min = pick(d, untils), scenarios.Duration{Leases: 1}
		f.Max = leases(d.log(2, 4))
	}
	return f
}

// stops is one of the ways in which a client is away from its servers.
func stops(d die, f scenarios.Fault) scenarios.Fault {
	f.Fault = pick(d, []string{"pause", "pause", "pause", "stall-worker", "partition", "blackhole", "hold-answer", "hold-request"})
	if f.Fault == "partition" {
		f.From = "servers"
	}
	return f
}

// stoppedHolder is away for longer than its lease, and then acts, renews or releases.
func stoppedHolder(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Renew, t.Wait = 1, s.Extends && !d.one(3), leases(d.log(2, 8))
	t.Work, t.Duration = leases(d.log(0.1, 2)), leases(d.log(2, 4))
	t.Faults = []scenarios.Fault{stops(d, scenarios.Fault{Target: "holder", For: beyond(d),
		On: next(d, []string{"before-write", "renewing", "acquired", "releasing", "writing"})})}
	switch {
	case t.Faults[0].On == "renewing":
		t.Renew, t.Work = s.Extends, leases(d.log(0.5, 2))
	case slices.Contains(s.Workloads, "own-key") && d.one(3): // nobody else asks: whatever is refused then is its own doing
		t.Workload = "own-key"
	}
	switch shared := s.shared(); {
	case d.visit%3 == 2 && len(shared) > 0: // others join meanwhile, and it comes back among them
		t.Workload, t.Clients = shared[d.visit/3%len(shared)], max(t.Clients, 3)
	case d.visit%3 == 1 && (s.Renews || s.Extends): // what it keeps of a hold that is lost is seen in its next ones
		t.Workload, t.Clients, t.Renew = usual, 2, s.Extends
		t.Work, t.Think, t.Wait, t.Duration = leases(d.log(1.2, 2.2)), someOrNone(d, 0.01, 0.2), leases(d.log(4, 8)), leases(d.log(8, 12))
		t.Faults[0].On, t.Faults[0].Count, t.Faults[0].Every = "acquired", 2, leases(3+d.log(0.3, 3))
	}
	return t
}

// stoppedWaiter is away for longer than its lease, or dies, while another holds the key, or loses its links as another gives it back.
func stoppedWaiter(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Keys, t.Clients, t.Renew = 1, 3+d.IntN(min(s.Clients-2, 3)), s.Extends
	t.Work, t.Wait, t.Duration = leases(d.log(0.5, 3)), leases(d.log(3, 8)), leases(d.log(3, 6))
	f := scenarios.Fault{Fault: next(d, []string{"pause", "kill", "reset", "away", "partition", "pause"}), Target: "a-waiter", On: "acquired",
		For: span(leases(d.log(1.1, 3))), At: leases(d.log(0.05, 1))}
	switch f.Fault {
	case "away":
		f = stops(d, f)
		f.Target, f.On = "holder", "waiting" // who passes it is about to wait
	case "reset", "partition": // one that then waits for ever has to be seen to
		t.Work, t.Wait, f.On, f.For = leases(d.log(0.1, 1)), leases(d.log(5, 10)), "releasing", span(leases(d.log(0.1, 0.9)))
		t.Clients, f.Count, f.Every = 2+d.IntN(2), 3, leases(d.log(0.3, 1))
	}
	if f.Fault == "partition" {
		f.From = "servers"
	}
	t.Faults = []scenarios.Fault{f}
	return t
}

// lostMessage loses or delays messages of acquires, renewals and releases; whoever gives up meanwhile may
// stay away, and who was answered late may hold on until what it believes to have is over, or nearly. There are many
// messages, so a trial has some of these faults; every other time it is of what several can hold.
func lostMessage(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	if d.visit%2 == 1 {
		return lateAcquire(d, s, t)
	}
	if shared := s.shared(); d.visit%4 == 2 && len(shared) > 0 {
		t.Workload = shared[d.visit/4%len(shared)] // what is lost there is counted wrong ever after
	}
	t.Keys, t.Work, t.Think = 1, someOrNone(d, 0.01, 0.5), leases(d.log(0.01, 0.3))
	if t.Wait, t.Duration = leases(d.log(1, 6)), leases(d.log(2, 4)); d.one(2) {
		t.Wait, t.Think, t.Duration = leases(d.log(0.1, 0.6)), leases(d.log(0.3, 3)), leases(d.log(4, 7))
	} else if d.one(2) {
		t.Work, t.Wait, t.Duration = leases(d.log(0.4, 1.5)), leases(d.log(2, 6)), leases(d.log(4, 7))
	}
	var all []scenarios.Fault
	for range 2 + d.IntN(3) {
		f := scenarios.Fault{Fault: pick(d, sweeps), Target: "holder",
			On: pick(d, []string{"waiting", "waiting", "waiting", "releasing", "renewing"}), At: leases(d.log(0.05, 2)), For: span(leases(d.log(0.1, 2)))}
		if s.message(d, &f); f.On == "renewing" {
			t.Renew, t.Work = s.Extends, leases(d.log(0.5, 2))
		}
		all = append(all, f)
	}
	t.Faults = all
	return t
}

// slowLinks lasts as long as the trial, with holds from nothing to many leases, or to about the end of one.
func slowLinks(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Renew = s.Extends && !d.one(4)
	t.Work, t.Think, t.Duration = someOrNone(d, 0.004, 0.1), someOrNone(d, 0.004, 0.1), leases(d.log(2, 4))
	lease := float64(t.Lease.Of(0).Milliseconds())
	latency, slow := d.log(2, lease/4), []string{"clients", "clients", "holder"}
	switch {
	case d.visit%2 == 0:
		t.Clients, t.Work, t.Duration = 2, leases(d.log(2, 6)), leases(d.log(6, 12))
		t.Wait, latency = leases(d.log(0.3, 4)), d.log(lease/30, lease/4)
	case d.IntN(5) < 2: // who gives each server a tenth of the lease to answer is granted nothing over slower ones
		t.Renew, t.Keys, t.Clients, latency = false, 1, max(t.Clients, 3), d.log(lease/60, lease/4)
		slow = []string{"clients", "holder"} // the next one's answer is not late then
		t.Work, t.Wait, t.Duration = leases(d.log(0.5, 1.1)), leases(d.log(2, 8)), leases(d.log(4, 8))
	case slices.Contains(s.Workloads, "own-key") && d.one(2): // short holds, and whatever is in the way of the next is its own doing
		t.Workload = "own-key"
	default: // what is between two requests of an acquire is long then, and a queue moves on meanwhile
		t.Keys, t.Clients, t.Wait = 1, max(t.Clients, 3), beyondOwed(t)
	}
	if trips := leases(20 * latency / lease); of(t, t.Wait) < trips.Leases { // an acquire may take many, and who gives up before them has nobody to blame
		t.Wait = trips
	}
	f := scenarios.Fault{Fault: "latency", Target: pick(d, slow), For: span(t.Duration),
		Latency: fixed(time.Duration(latency) * time.Millisecond)}
	if f.Target == "holder" {
		f.On = "waiting"
	}
	f.Jitter = fixed(time.Duration(d.Float64() * float64(f.Latency.Fixed) / 2).Round(time.Millisecond))
	t.Faults = []scenarios.Fault{f}
	return t
}

// alike has clients whose names begin alike, even where each is two programs, and where each has a key, keys too: some are then held for
// so long that who waits for another's is seen to. Else the one whose name begins those of others is away beyond its lease,
// again and again: what it does when it is back may hit one of these.
func alike(d die, s Space, t scenarios.Scenario) scenarios.Scenario {
	t.Clients = mostAlike + d.IntN(max(s.Clients-mostAlike, 0)+1)
	t.Work, t.Think, t.Wait = someOrNone(d, 0.01, 0.3), someOrNone(d, 0.01, 0.3), leases(d.log(2, 8))
	if t.Keys = 1; slices.Contains(s.Workloads, "own-key") && d.one(2) {
		work := d.log(0.1, 3)
		t.Workload, t.Renew, t.Work, t.Duration = "own-key", s.Extends, leases(work), leases(2+2*work) // each comes back while others hold theirs
		return t
	}
	if t.Renew, t.Duration = s.Extends && d.one(2), leases(d.log(5, 7)); slices.Contains(s.Workloads, usual) && d.one(2) {
		t.Workload = usual
	}
	for n := range 1 + d.IntN(3) {
		f := scenarios.Fault{Fault: "pause", Target: "client-1", On: pick(d, []string{"acquired", "before-write", "writing", "renewing", "releasing"}),
			At: leases(0.01 + 2*float64(n)), For: span(leases(d.log(1.1, 2)))}
		if n > 0 && d.one(4) {
			f.Fault, f.Target = "kill", "holder"
		}
		t.Faults = append(slices.Clone(t.Faults), f)
	}
	return t
}

// mostAlike clients are the fewest of which one's name begins another's.
const mostAlike = 10
