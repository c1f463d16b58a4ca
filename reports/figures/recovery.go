package figures

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"gonum.org/v1/plot"

	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Recovery is how long, from the begin of a fault, somebody waited for a key until
// it was granted to a client that the fault had not hit.
type Recovery struct {
	Fault   int      `json:"fault"` // its number
	Kind    string   `json:"kind"`
	Victims []string `json:"victims"`
	Key     string   `json:"key"`
	Held    bool     `json:"held"` // a victim held the key when the fault began
	Begin   int64    `json:"begin_ns"`
	// Waited counts from the begin of the fault, or from the first acquire after it; -1:
	// nobody was granted the key before the run's end.
	Waited int64  `json:"waited_ns"`
	To     string `json:"to,omitempty"` // the client that was granted it
}

func (m *Measurement) measureRecoveries() string {
	if len(m.Faults) == 0 {
		return "The run has no fault."
	}
	if m.waiting == nil {
		m.waiting = m.waits()
	}
	reach := map[string][]int64{}
	for key, waits := range m.waiting {
		latest := make([]int64, len(waits))
		for i, w := range waits {
			latest[i] = w.to
			if i > 0 {
				latest[i] = max(latest[i], latest[i-1])
			}
		}
		reach[key] = latest
	}
	for _, e := range m.Episodes() {
		if !slices.ContainsFunc(e.Victims, func(f *trace.Fault) bool { return f.Begin >= 0 }) {
			continue // it never came
		}
		m.Recoveries = append(m.Recoveries, m.recoveriesOf(e, reach)...)
	}
	if len(m.Recoveries) == 0 {
		return "Nobody asked for a key after a fault had begun."
	}
	return ""
}

// recoveriesOf are those of every key that a victim held; of a fault that hit no
// holder, the longest one.
func (m *Measurement) recoveriesOf(e *timeline.Episode, reach map[string][]int64) (held []Recovery) {
	begin := m.During(e).From
	hit := map[string]bool{}
	base := Recovery{Fault: e.Victims[0].ID, Kind: e.Kind, Begin: begin - m.Begin}
	for _, f := range e.Victims {
		hit[f.Target] = true
		base.Victims = append(base.Victims, f.Target)
	}
	base.Victims = say.Sorted(base.Victims)
	if !slices.ContainsFunc(m.Setup.Clients, func(c string) bool { return !hit[c] }) {
		hit = map[string]bool{} // all are at fault, so any of them will do
	}
	var longest *Recovery
	for key := range m.waiting {
		r := base
		r.Key, r.Held = key, m.heldBy(key, hit, begin)
		if !m.recovery(&r, hit, begin, m.waiting[key], reach[key]) {
			continue
		}
		if r.Held {
			held = append(held, r)
		} else if longest == nil || TookLonger(r, *longest) {
			longest = &r
		}
	}
	if len(held) == 0 && longest != nil {
		held = append(held, *longest)
	}
	slices.SortFunc(held, func(a, b Recovery) int {
		if TookLonger(a, b) {
			return -1
		}
		return 1
	})
	return held
}

// TookLonger says whether a took longer than b; names make the order certain.
func TookLonger(a, b Recovery) bool {
	x, y := uint64(a.Waited), uint64(b.Waited) // −1 is the greatest
	return x > y || x == y && a.Key < b.Key
}

// heldBy says whether one of the nodes believed to hold a key.
func (m *Measurement) heldBy(key string, nodes map[string]bool, at int64) bool {
	grants := m.GrantsOf(key)
	i := sort.Search(len(grants), func(i int) bool { return m.Ops[grants[i].Op].Time > at })
	for i--; i >= 0 && i > len(grants)-mostDots; i-- {
		if g := grants[i]; nodes[g.Node] && g.Until >= at {
			return true
		} else if g.Until < at {
			return false
		}
	}
	return false
}

// recovery fills in how long the first of those that the fault had not hit waited.
// A grant whose request was sent before the fault says nothing of it.
func (m *Measurement) recovery(r *Recovery, hit map[string]bool, begin int64, waits []wait, reach []int64) bool {
	first := int64(-1)
	for i := sort.Search(len(waits), func(i int) bool { return reach[i] > begin }); i < len(waits); i++ {
		if w := waits[i]; w.to > begin && !hit[m.Ops[w.invoke].Node] {
			first = max(w.from, begin)
			break
		}
	}
	if first < 0 {
		return false
	}
	grants := m.GrantsOf(r.Key)
	r.Waited = -1
	for i := sort.Search(len(grants), func(i int) bool { return m.Ops[grants[i].Op].Time > begin }); i < len(grants); i++ {
		g := grants[i]
		if ok := &m.Ops[g.Op]; !hit[g.Node] && max(ok.Sent, m.Ops[g.Invoke].Time) >= begin {
			r.Waited, r.To = ok.Time-first, g.Node
			break
		}
	}
	return true
}

// mostBars is how many recoveries a drawing has.
const mostBars = 30

func drawRecoveries(m *Measurement, f *Figure) {
	lease := float64(m.Setup.Lease) / 1e9
	shown := m.Recoveries[:min(len(m.Recoveries), mostBars)]
	longest := lease
	for _, r := range shown {
		longest = max(longest, float64(r.Waited)/1e9)
	}
	c := chart.New(float64(44 + 24*len(shown)))
	c.X.Min, c.X.Max = 0, longest*1.06
	c.X.Tick.Marker = chart.Ticks(func(x float64) string { return say.Number(x) + " s" })
	c.Y.Min, c.Y.Max = -0.5, float64(len(shown))-0.5
	c.Y.Tick.Marker = rowNames(shown)
	for i, r := range shown {
		y, tint := float64(len(shown)-1-i), chart.Ink("wait")
		if r.Held {
			tint = "valid"
		}
		to := float64(r.Waited) / 1e9
		if r.Waited < 0 {
			to, tint = c.X.Max, "bad"
		}
		c.Add(chart.Box{FromX: 0, FromY: y - 0.3, ToX: to, ToY: y + 0.3, Tint: tint})
	}
	if m.Setup.Promise.Leased {
		c.Upright(lease, "faultline")
		c.Key("faultline", "the lease, "+say.Length(m.Setup.Lease), "dash")
	}
	c.Entries = append([]chart.Entry{{Ink: "valid", Name: "a victim held the key", Shape: "band"}, {Ink: "wait", Name: "no victim held it", Shape: "band"},
		{Ink: "bad", Name: "no grant until the run's end", Shape: "band"}}, c.Entries...)
	f.add("Time from the begin of each fault to the next grant to a client that it had not hit", c)
	f.Head = []string{"Fault", "begun at", "on", "key", "held by a victim", "next grant after", "to"}
	for i, r := range m.Recoveries {
		if i == mostTableRows {
			break
		}
		after := "none until the end"
		if r.Waited >= 0 {
			after = say.Length(time.Duration(r.Waited))
		}
		f.row(fmt.Sprintf("%d, %s", r.Fault, r.Kind), say.Seconds(r.Begin), say.Names(r.Victims), r.Key, yes(r.Held), after, r.To)
	}
	f.Folded = len(f.Rows) > 10
	f.Says = m.recoverySays()
	f.Note = "From the begin of the fault, or from the first acquire after it where nobody waited then. A grant that " +
		"was asked for at the service before the fault does not count."
	if len(m.Recoveries) > mostBars {
		f.Note += fmt.Sprintf(" The drawing shows the first %d of %d.", mostBars, len(m.Recoveries))
	}
}

func (m *Measurement) recoverySays() string {
	held, within, none := 0, 0, 0
	var longest Recovery
	for _, r := range m.Recoveries {
		if r.Waited > longest.Waited {
			longest = r
		}
		if r.Waited < 0 {
			none++
		}
		if r.Held {
			held++
			if r.Waited >= 0 && r.Waited <= int64(m.Setup.Lease) {
				within++
			}
		}
	}
	says := "No fault hit a client that held a key."
	if held > 0 && m.Setup.Promise.Leased {
		says = fmt.Sprintf("Of %s that a victim held when its fault began, %s passed on within a lease of %s.",
			say.Count(held, "key"), say.Thousands(within), say.Length(m.Setup.Lease))
	} else if held > 0 {
		says = fmt.Sprintf("%s %s held by a victim when its fault began; this lock has no lease.", say.Count(held, "key"), say.Verb(held, "was", "were"))
	}
	if longest.Waited > 0 {
		says += fmt.Sprintf(" The longest wait for somebody else's grant was %s, in fault %d, %s.",
			say.Length(time.Duration(longest.Waited)), longest.Fault, longest.Kind)
	}
	if none > 0 {
		says += fmt.Sprintf(" After %s nobody was granted the key again.", say.Count(none, "fault"))
	}
	return says
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// rowNames labels the bars, the first one on top.
type rowNames []Recovery

// Ticks implements plot.Ticker.
func (rows rowNames) Ticks(_, _ float64) (all []plot.Tick) {
	for i, r := range rows {
		all = append(all, plot.Tick{Value: float64(len(rows) - 1 - i), Label: fmt.Sprintf("%d %s", r.Fault, shortName(r.Kind))})
	}
	return all
}
