package figures

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Validity is for how long grants were claimed, against what their lease allows,
// T_valid = T_lease − T_elapsed − δ, and against what really remained of them. All
// count from the answer to the acquire.
type Validity struct {
	Claims       int   `json:"claims"`
	Drift        int64 `json:"drift_ns"` // δ, by the lease of the setup; 0: the algorithm claims none
	ElapsedP50   int64 `json:"elapsed_p50_ns"`
	ElapsedMax   int64 `json:"elapsed_max_ns"`
	ClaimedLeast int64 `json:"claimed_least_ns"`
	ClaimedMost  int64 `json:"claimed_most_ns"`
	BeyondBudget int   `json:"beyond_budget"` // claims of more than T_valid
	// Read counts the grants of which the rest of the lease was read at a server, and
	// MarginLeast is how much more that was, at least, than what was claimed.
	Read        int   `json:"read_at_server"`
	MarginLeast int64 `json:"margin_least_ns"`
	// Broken counts the grants that somebody else was granted while the holder claimed
	// it, had not been told of the loss and had not given it back.
	Broken        int   `json:"broken"`
	BrokenLongest int64 `json:"broken_longest_ns"` // the rest of the claim that was wrong
	// Whole counts the grants that their holder believed in to the end of the claim, and
	// that nobody else was granted before: only these show that it was not too long.
	Whole int `json:"held_to_end"`
}

// budget is the account of one grant; ns from the answer.
type budget struct {
	at                        int64 // raw
	elapsed, allowed, claimed int64
	left                      int64 // of the lease, as a server said; 0: not read
	lost                      int64 // when somebody else was granted it, within the claim; 0: never
	whole                     bool  // the client believed in it to its end, and rightly so
}

func (m *Measurement) measureValidity() string {
	if !m.Setup.Promise.Leased {
		return "The lock gives no lease, so a grant claims no validity."
	}
	left := m.restAtServer()
	for _, g := range m.Trace.Grants {
		ok := &m.Ops[g.Op]
		if ok.Deadline == 0 || ok.Mono == 0 || ok.Sent == 0 {
			continue
		}
		lease := ok.Lease
		if lease == 0 {
			lease = int64(m.Setup.Lease)
		}
		b := budget{at: ok.Time, elapsed: ok.Time - ok.Sent, claimed: ok.Deadline - ok.Mono, left: left[g.Owner]}
		b.allowed = lease - b.elapsed - m.drift(lease)
		if next := m.Superseder(g); next != nil {
			if after := next.OK - ok.Time; after < b.claimed && next.OK < g.Until {
				b.lost = max(after, 1)
			}
		}
		b.whole = b.lost == 0 && g.Until-ok.Time >= b.claimed
		m.budgets = append(m.budgets, b)
	}
	if len(m.budgets) == 0 {
		return "No grant has a deadline, the time of its request and its client's own clock."
	}
	m.Validity = m.account()
	return ""
}

// drift is δ: what the algorithm takes off for clocks that run apart.
func (m *Measurement) drift(lease int64) int64 {
	return int64(m.Setup.Promise.DriftFactor*float64(lease)) + int64(m.Setup.Promise.DriftFixed)
}

// restAtServer is, by owner, what a server first said to be left of the lease, from
// the answer on. It was read at some instant before its note: taken as the latest, it
// is too long rather than too short, and never longer than the lease. A server that
// only tells whole seconds says too little.
func (m *Measurement) restAtServer() map[string]int64 {
	all, fine := map[string]int64{}, false
	for i := range m.Ops {
		op := &m.Ops[i]
		g := m.ByOwner[op.Owner]
		if op.F != history.Holder || op.Lease <= 0 || g == nil || all[op.Owner] != 0 {
			continue
		}
		if answers := m.Renewed(g); len(answers) > 1 && m.Ops[answers[1]].Time <= op.Time {
			continue // of a later lease
		}
		fine = fine || op.Lease%int64(time.Second) != 0
		lease := max(m.Ops[g.Op].Lease, int64(m.Setup.Lease))
		all[op.Owner] = min(op.Time+op.Lease-g.OK, lease)
	}
	if !fine {
		return nil
	}
	return all
}

func (m *Measurement) account() *Validity {
	v := &Validity{Claims: len(m.budgets), Drift: m.drift(int64(m.Setup.Lease)), ClaimedLeast: math.MaxInt64, MarginLeast: math.MaxInt64}
	elapsed := newWindow(3)
	for _, b := range m.budgets {
		elapsed.record(b.elapsed / 1000)
		v.ElapsedMax = max(v.ElapsedMax, b.elapsed)
		v.ClaimedLeast, v.ClaimedMost = min(v.ClaimedLeast, b.claimed), max(v.ClaimedMost, b.claimed)
		if b.claimed > b.allowed+clockNoise {
			v.BeyondBudget++
		}
		if b.left > 0 {
			v.Read++
			v.MarginLeast = min(v.MarginLeast, b.left-b.claimed)
		}
		if b.whole {
			v.Whole++
		}
		if b.lost > 0 {
			v.Broken++
			v.BrokenLongest = max(v.BrokenLongest, b.claimed-b.lost)
		}
	}
	if v.Read == 0 {
		v.MarginLeast = 0
	}
	v.ElapsedP50 = int64(elapsed.took(50))
	return v
}

func drawValidity(m *Measurement, f *Figure) {
	v := m.Validity
	c := m.overTime(210)
	var allowed, claimed, left, lost plotter.XYs
	low, high := math.Inf(1), float64(m.Setup.Lease)
	each := len(m.budgets)/mostDots + 1
	for i, b := range m.budgets {
		if i%each != 0 && b.lost == 0 || b.lost > 0 && len(lost) >= mostDots {
			continue
		}
		x := m.since(b.at)
		allowed, claimed = append(allowed, plotter.XY{X: x, Y: float64(b.allowed)}), append(claimed, plotter.XY{X: x, Y: float64(b.claimed)})
		low, high = min(low, float64(b.claimed), float64(b.allowed)), max(high, float64(b.claimed))
		if b.left > 0 {
			left = append(left, plotter.XY{X: x, Y: float64(b.left)})
			low, high = min(low, float64(b.left)), max(high, float64(b.left))
		}
		if b.lost > 0 {
			lost = append(lost, plotter.XY{X: x, Y: float64(b.lost)})
			low = min(low, float64(b.lost))
		}
	}
	pad := max((high-low)*0.08, 1e6)
	c.Y.Min, c.Y.Max = max(low-pad, 0), high+pad
	c.Y.Tick.Marker = chart.Fewer(func(x float64) string { return say.Length(time.Duration(x)) })
	lease := float64(m.Setup.Lease)
	c.Line(plotter.XYs{{X: c.X.Min, Y: lease}, {X: c.X.Max, Y: lease}}, "faultline", 5, 3)
	c.Dots(allowed, "wait", chart.Square, 2.6)
	c.Dots(claimed, "valid", chart.Dot, 1.6)
	c.Dots(left, "fenced", chart.Ring, 2.2)
	c.Dots(lost, "bad", chart.Cross, 4.5)
	c.Entries = append([]chart.Entry{{Ink: "wait", Name: "T_valid, what the lease allows", Shape: "dot"},
		{Ink: "valid", Name: "claimed by the client", Shape: "dot"}, {Ink: "fenced", Name: "left at a server", Shape: "ring"},
		{Ink: "bad", Name: "another client was granted the key", Shape: "cross"}, {Ink: "faultline", Name: "the lease", Shape: "dash"}}, c.Entries...)
	f.add("Validity of each grant from its answer on: allowed, claimed, and what really remained", c)
	f.Head = []string{"Of each grant", "least", "most"}
	spread := func(name string, of func(budget) int64, counts func(budget) bool) {
		least, most, any := int64(math.MaxInt64), int64(math.MinInt64), false
		for _, b := range m.budgets {
			if counts(b) {
				least, most, any = min(least, of(b)), max(most, of(b)), true
			}
		}
		if any {
			f.row(name, say.Length(time.Duration(least)), say.Length(time.Duration(most)))
		}
	}
	always, read := func(budget) bool { return true }, func(b budget) bool { return b.left > 0 }
	spread("T_elapsed, from the request to the answer", func(b budget) int64 { return b.elapsed }, always)
	spread("T_valid, what the lease allows", func(b budget) int64 { return b.allowed }, always)
	spread("claimed by the client", func(b budget) int64 { return b.claimed }, always)
	spread("left at a server", func(b budget) int64 { return b.left }, read)
	spread("left at a server beyond what was claimed", func(b budget) int64 { return b.left - b.claimed }, read)
	spread("until another client was granted the key", func(b budget) int64 { return b.lost }, func(b budget) bool { return b.lost > 0 })
	f.Says = m.validitySays(v)
	f.Note = fmt.Sprintf("T_valid = T_lease − T_elapsed − δ, with a lease of %s and a δ of %s%s. The deadline of "+
		"a grant counts from the moment its request was sent.",
		say.Length(m.Setup.Lease), say.Length(time.Duration(v.Drift)), driftWords(m.Setup.Promise))
}

func driftWords(p history.Promise) string {
	if p.DriftFactor == 0 && p.DriftFixed == 0 {
		return ", as this lock takes nothing off for clocks that drift"
	}
	return fmt.Sprintf(" (%s %% of the lease and %s)", say.Number(p.DriftFactor*100), say.Length(p.DriftFixed))
}

func (m *Measurement) validitySays(v *Validity) string {
	from, to := say.Length(time.Duration(v.ClaimedLeast)), say.Length(time.Duration(v.ClaimedMost))
	if to != from {
		from += " to " + to
	}
	says := fmt.Sprintf("Clients claimed %s for %s.", say.Count(v.Claims, "grant"), from)
	if v.BeyondBudget > 0 {
		says += fmt.Sprintf(" %s of these claims %s longer than T_valid.", say.Thousands(v.BeyondBudget), say.Verb(v.BeyondBudget, "is", "are"))
	} else {
		says += " No claim is longer than T_valid."
	}
	switch {
	case v.Broken > 0:
		says += fmt.Sprintf(" %s of them did not hold: another client was granted the key up to %s before the "+
			"claim was over.", say.Thousands(v.Broken), say.Length(time.Duration(v.BrokenLongest)))
	case v.Read > 0 && v.MarginLeast < -clockNoise:
		says += fmt.Sprintf(" A server kept one for %s less than was claimed.", say.Length(time.Duration(-v.MarginLeast)))
	default:
		says += " Nobody else was granted a key that a client still claimed."
	}
	return says
}
