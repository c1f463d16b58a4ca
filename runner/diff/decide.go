package diff

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/internal/stats"
)

// decide gives every part of a cell its state.
func (c *CellDiff) decide(threshold float64, tests int) {
	if c.Why != "" {
		return
	}
	var all []State
	for i := range c.Properties {
		c.Properties[i].decide()
		all = append(all, c.Properties[i].State)
	}
	for i := range c.Measures {
		c.Measures[i].decide(threshold, tests)
		all = append(all, c.Measures[i].State)
	}
	c.State = worst(all)
	switch {
	case c.OldRuns == 0 || c.NewRuns == 0:
		c.State, c.Why = worst([]State{c.State, Unclear}), "no run of one side was judged"
	case c.NewLost > 0:
		c.State, c.Why = worst([]State{c.State, Unclear}), fmt.Sprintf("%d of the new runs reached no judgement", c.NewLost)
	}
}

// decide: a violation that was never seen before is no matter of chance, since what
// is violated is proven; how often something is violated is.
func (p *Property) decide() {
	o, n := p.Old, p.New
	rates := fmt.Sprintf("violated in %d of %d runs, before in %d of %d", n.Violated, n.Conclusive, o.Violated, o.Conclusive)
	switch {
	case n.Conclusive == 0:
		p.State, p.Why = Unclear, fmt.Sprintf("no new run puts it to the test; before %d of %d violated it", o.Violated, o.Conclusive)
	case n.Violated > 0 && o.Conclusive == 0:
		p.State, p.Why = Regression, rates+", and no old run put it to the test"
	case n.Violated > 0 && o.Violated == 0:
		p.State, p.Why = Regression, rates+fmt.Sprintf(", which proved a rate below %s alone", stats.Bound(o.Conclusive))
	case o.Violated == 0 && o.Conclusive > 0 && o.Open == 0 && n.Open > 0:
		p.State, p.Why = Unclear, fmt.Sprintf("%d of %d new runs do not put it to the test, before all %d did", n.Open, n.Open+n.Conclusive, o.Conclusive)
	case o.Violated == 0:
		p.State, p.Why = Same, fmt.Sprintf("holds in %d runs, before in %d", n.Conclusive, o.Conclusive)
	case !p.test.significant:
		p.State, p.Why = Same, rates+fmt.Sprintf(" (p %.3f: chance explains it)", p.P)
	case n.rate() > o.rate():
		p.State, p.Why = Regression, rates+fmt.Sprintf(" (p %.4f; %s more often at 95 %%)", p.P, p.Diff)
	default:
		p.State, p.Why = Improvement, rates+fmt.Sprintf(" (p %.4f)", p.P)
	}
}

func (m *Measure) decide(threshold float64, tests int) {
	worse := m.Change > 0 != m.UpIsGood
	switch {
	case m.OldN == 0 || m.NewN == 0:
		m.State, m.Why = Unclear, "one side has no such operation"
	case m.test.least >= stats.Alpha/float64(tests):
		m.State, m.Why = Unclear, fmt.Sprintf("too few runs to tell from chance among %d tests; take %d of each side (--count)", tests, enough(tests))
	case !m.test.significant:
		m.State, m.Why = Same, fmt.Sprintf("p %.3f: chance explains it", m.P)
	case max(m.Change, -m.Change) < threshold:
		m.State, m.Why = Same, fmt.Sprintf("p %.4f, but less than %s", m.P, stats.Percent(threshold))
	case worse:
		m.State, m.Why = Regression, fmt.Sprintf("p %.4f", m.P)
	default:
		m.State, m.Why = Improvement, fmt.Sprintf("p %.4f", m.P)
	}
}

// enough is how many runs of each side could show a difference among so many tests.
func enough(tests int) int {
	n := 2
	for stats.Least(n, n) >= stats.Alpha/float64(tests) && n < 49 {
		n++
	}
	return n
}

func worst(all []State) State {
	for _, s := range states {
		if slices.Contains(all, s) {
			return s
		}
	}
	return Same
}
