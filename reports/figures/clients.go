package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// ClientFigures is how one client fared.
type ClientFigures struct {
	Name    string        `json:"name"`
	Asked   int           `json:"asked"`  // acquires that ended
	Grants  int           `json:"grants"` // of these
	WaitP50 time.Duration `json:"wait_p50_ns"`
	WaitP99 time.Duration `json:"wait_p99_ns"`
	WaitMax time.Duration `json:"wait_max_ns"`
	Waited  int64         `json:"waited_ns"` // in all
}

// Fairness is how evenly the lock served its clients.
type Fairness struct {
	// Index is Jain's: 1 when all clients had equally many grants, 1/n when one of n had all.
	Index float64 `json:"jain_index"`
	// Overtaken counts the waits of acquires that were granted, in which another client
	// was granted the key that had asked for it at least Clearly later. Who waited while a
	// fault was in force may have been the victim, and does not count.
	Overtaken int   `json:"overtaken"`
	Waits     int   `json:"waits"` // in which another client was granted the key, and no fault was in force
	Clearly   int64 `json:"clearly_ns"`
}

// wait is one acquire of a key, until its end or the end of the run.
type wait struct {
	from, to int64
	invoke   int
	granted  bool
}

func (m *Measurement) measureClients() string {
	m.waiting = m.waits()
	byClient := map[string][]int64{} // exact: a histogram for each of very many clients would take more room than they do
	figures := map[string]*ClientFigures{}
	for _, waits := range m.waiting {
		for _, w := range waits {
			name := m.Ops[w.invoke].Node
			if name == "" || len(m.Setup.Clients) > 0 && !m.IsClient(name) {
				continue
			}
			if figures[name] == nil {
				figures[name] = &ClientFigures{Name: name} // one that waits to the end of the run had its share, too: none
			}
			if _, ended := m.Ended(w.invoke); !ended {
				continue
			}
			figures[name].Asked++
			figures[name].Waited += w.to - w.from
			if w.granted {
				figures[name].Grants++
			}
			byClient[name] = append(byClient[name], w.to-w.from)
		}
	}
	if len(byClient) == 0 {
		return "No acquire of a client has ended."
	}
	for _, name := range say.Sorted(slices.Collect(maps.Keys(figures))) {
		c, all := figures[name], byClient[name]
		if slices.Sort(all); len(all) == 0 {
			m.Clients = append(m.Clients, *c)
			continue
		}
		c.WaitP50, c.WaitP99, c.WaitMax = ranked(all, 50), ranked(all, 99), ranked(all, 100)
		m.Clients = append(m.Clients, *c)
	}
	m.Fairness = m.fairness()
	return ""
}

// ranked is a quantile of sorted durations.
func ranked(sorted []int64, q float64) time.Duration {
	return time.Duration(sorted[max(int(q/100*float64(len(sorted))+0.5), 1)-1])
}

// waits are the acquires of each key, by the time of their invoke.
func (m *Measurement) waits() map[string][]wait {
	all := map[string][]wait{}
	for i := range m.Ops {
		op := &m.Ops[i]
		if op.Type != history.Invoke || !timeline.IsAcquire(op.F) {
			continue
		}
		w := wait{from: op.Time, to: m.End, invoke: i}
		if end, ok := m.Ended(i); ok {
			w.to, w.granted = m.Ops[end].Time, m.Ops[end].Type == history.OK
		}
		all[op.Key] = append(all[op.Key], w)
	}
	return all
}

// fairness counts who was overtaken. Requests under way at once have no order, so
// only one that came clearly later counts: longer than a client that asks again and
// again lets pass.
func (m *Measurement) fairness() *Fairness {
	fair := &Fairness{Clearly: max(int64(m.Setup.Lease)/10, int64(100*time.Millisecond))}
	sum, squares := 0.0, 0.0
	for _, c := range m.Clients {
		sum += float64(c.Grants)
		squares += float64(c.Grants) * float64(c.Grants)
	}
	if squares > 0 {
		fair.Index = sum * sum / (float64(len(m.Clients)) * squares)
	}
	for _, k := range m.Keys {
		m.overtaken(fair, m.waiting[k.Name], k.Grants)
	}
	return fair
}

// overtaken walks through the waits and grants of one key. Of the grants that came
// while a wait lasted, the one that was asked for last decides.
func (m *Measurement) overtaken(fair *Fairness, waits []wait, grants []*trace.Grant) {
	latest := newPeaks(len(grants), func(i int) int64 { return m.Ops[grants[i].Invoke].Time })
	faults := joinSpans(m.faultTimes())
	for _, w := range waits {
		if !w.granted || meets(faults, w.from, w.to) {
			continue
		}
		first, _ := slices.BinarySearchFunc(grants, w.from, m.byAnswer)
		end, _ := slices.BinarySearchFunc(grants, w.to, m.byAnswer)
		if first >= end {
			continue
		}
		fair.Waits++
		if latest.in(first, end) > w.from+fair.Clearly {
			fair.Overtaken++
		}
	}
}

// joinSpans makes of spans, by their begin, some that do not meet.
func joinSpans(spans []timeline.Span) (all []timeline.Span) {
	for _, s := range spans {
		if n := len(all) - 1; n >= 0 && s.From <= all[n].To {
			all[n].To = max(all[n].To, s.To)
			continue
		}
		all = append(all, s)
	}
	return all
}

// meets says whether one of spans, which are in order and do not meet, lasts at some
// time of [from, to].
func meets(spans []timeline.Span, from, to int64) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= from })
	return i < len(spans) && spans[i].From <= to
}

func (m *Measurement) byAnswer(g *trace.Grant, at int64) int {
	if g.OK < at {
		return -1
	}
	return 1
}

// peaks finds the greatest of a range of values: row j has the greatest of every
// 2^j that follow each other.
type peaks [][]int64

func newPeaks(n int, value func(int) int64) peaks {
	row := make([]int64, n)
	for i := range row {
		row[i] = value(i)
	}
	p := peaks{row}
	for width := 1; 2*width <= n; width *= 2 {
		below := p[len(p)-1]
		row := make([]int64, n-2*width+1)
		for i := range row {
			row[i] = max(below[i], below[i+width])
		}
		p = append(p, row)
	}
	return p
}

// in is the greatest value from first to before end, which comes after it.
func (p peaks) in(first, end int) int64 {
	j := 0
	for 2<<j <= end-first {
		j++
	}
	return max(p[j][first], p[j][end-1<<j])
}

// mostClients is how many clients a drawing has a column for.
const mostClients = 40

func drawClients(m *Measurement, f *Figure) {
	f.Head = []string{"Client", "acquires", "granted", "share", "wait p50", "wait p99", "longest", "waited in all"}
	total, least, most := 0, math.Inf(1), 1.0
	for _, c := range m.Clients {
		if total += c.Grants; c.Asked == 0 {
			continue
		}
		least, most = math.Min(least, float64(c.WaitP50.Microseconds())), math.Max(most, float64(c.WaitMax.Microseconds()))
	}
	for _, c := range m.Clients[:min(len(m.Clients), mostTableRows)] {
		if c.Asked == 0 {
			f.row(c.Name, "0", "0", percent(0, total), say.None, say.None, say.None, say.None)
			continue
		}
		f.row(c.Name, say.Thousands(c.Asked), say.Thousands(c.Grants), percent(c.Grants, total), say.Length(c.WaitP50),
			say.Length(c.WaitP99), say.Length(c.WaitMax), say.Length(time.Duration(c.Waited)))
	}
	f.Folded = len(m.Clients) > 10
	if shown := m.Clients[:min(len(m.Clients), mostClients)]; len(shown) > 1 {
		c := chart.New(200)
		c.LogDurations(least, most)
		c.X.Min, c.X.Max = -0.5, float64(len(shown))-0.5
		c.X.Tick.Marker = clientNames(shown)
		var p50, p99, longest plotter.XYs
		for i, x := range shown {
			if x.Asked == 0 {
				continue
			}
			from := math.Max(float64(x.WaitP50.Microseconds()), 1)
			c.Add(chart.Box{FromX: float64(i) - 0.12, FromY: from,
				ToX: float64(i) + 0.12, ToY: math.Max(float64(x.WaitP99.Microseconds()), from), Tint: chart.Ink("belief")})
			p50 = append(p50, plotter.XY{X: float64(i), Y: from})
			p99 = append(p99, plotter.XY{X: float64(i), Y: math.Max(float64(x.WaitP99.Microseconds()), 1)})
			longest = append(longest, plotter.XY{X: float64(i), Y: math.Max(float64(x.WaitMax.Microseconds()), 1)})
		}
		c.Dots(p50, "p50", chart.Dot, 3.5)
		c.Dots(p99, "p99", chart.Dot, 2.5)
		c.Dots(longest, "bad", chart.Cross, 3.5)
		c.Entries = []chart.Entry{{Ink: "p50", Name: "p50", Shape: "dot"}, {Ink: "p99", Name: "p99", Shape: "dot"},
			{Ink: "bad", Name: "longest wait", Shape: "cross"}}
		f.add("Waiting time of each client", c)
	}
	f.Says = m.fairnessSays()
	f.Note = fmt.Sprintf("Clearly later: at least %s after the one that waited. Jain's index is 1 when all clients had "+
		"equally many grants, and 1/n when one of n had them all.",
		say.Length(time.Duration(m.Fairness.Clearly)))
	if len(m.Clients) > mostClients {
		f.Note += fmt.Sprintf(" The drawing shows the first %d clients, the table the first %d; results.json has all.", mostClients, mostTableRows)
	}
}

func (m *Measurement) fairnessSays() string {
	byGrants := func(a, b ClientFigures) int { return a.Grants - b.Grants }
	most, least := slices.MaxFunc(m.Clients, byGrants), slices.MinFunc(m.Clients, byGrants)
	says := fmt.Sprintf("The lock served %s: %s had the most grants, %s, and %s the fewest, %s (Jain's index %.2f).",
		say.Count(len(m.Clients), "client"), most.Name, say.Thousands(most.Grants), least.Name, say.Thousands(least.Grants), m.Fairness.Index)
	if most.Grants == least.Grants {
		says = fmt.Sprintf("The lock served %s equally often, %s each (Jain's index %.2f).",
			say.Count(len(m.Clients), "client"), say.Count(most.Grants, "grant"), m.Fairness.Index)
	}
	if m.Fairness.Waits == 0 {
		return says + " Nobody else was granted a key while a client waited for it and no fault was in force."
	}
	return says + fmt.Sprintf(" In %s of %s that met no fault a client that had asked clearly later came first.",
		say.Thousands(m.Fairness.Overtaken), say.Count(m.Fairness.Waits, "wait"))
}

// clientNames labels the columns of clients; where they are many, some of them.
type clientNames []ClientFigures

// Ticks implements plot.Ticker.
func (c clientNames) Ticks(_, _ float64) (all []plot.Tick) {
	each := max((len(c)+9)/10, 1)
	for i := 0; i < len(c); i += each {
		all = append(all, plot.Tick{Value: float64(i), Label: shortName(c[i].Name)})
	}
	return all
}

// shortName keeps a name from running into the next one, and from steering anything.
func shortName(name string) string {
	if r := []rune(visible.Line(name)); len(r) > 14 {
		return string(r[:13]) + "…"
	}
	return visible.Line(name)
}
