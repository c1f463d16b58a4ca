package reports

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// figures prints the most useful ones; the page and results.json have the others.
func (p *printer) figures(f Figures) {
	if len(f.Latencies) == 0 {
		return
	}
	t := p.table(table.Row{"", "count", "p50", "p99", "max"})
	var right []table.ColumnConfig
	for n := 2; n <= 5; n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, q := range f.Latencies {
		switch q.Operation {
		case "acquire", "acquire-refused", "renew", "release":
			t.AppendRow(table.Row{q.Name, thousands(q.Count), length(q.P50), length(q.P99), length(q.Max)})
		}
	}
	p.line("\n%s\n%s", p.bold("Figures"), t.Render())
	if g := f.Grants; g != nil {
		p.wrap("", fmt.Sprintf("%s grants a second; the longest time without any was %s.", figure3(g.PerSecond), length(time.Duration(g.Longest))))
	}
	p.recovery(f)
	p.claimed(f.Claims)
}

// recovery is the longest wait after a fault that hit the holder of a key.
func (p *printer) recovery(f Figures) {
	var worst *Recovery
	for i, r := range f.Recoveries {
		if r.Held && (worst == nil || tookLonger(r, *worst)) {
			worst = &f.Recoveries[i]
		}
	}
	switch {
	case worst == nil:
	case worst.Waited < 0:
		p.wrap("", fmt.Sprintf("After fault %d, %s, nobody was granted the key of its victim again.", worst.Fault, worst.Kind))
	default:
		p.wrap("", fmt.Sprintf("After fault %d, %s, the key of its victim passed on within %s.", worst.Fault, worst.Kind, length(time.Duration(worst.Waited))))
	}
}

// claimed counts how the claims came out, and names what the run contradicts.
func (p *printer) claimed(claims []Claim) {
	if len(claims) == 0 {
		return
	}
	p.wrap("", "Of what is said of this backend: "+tallyClaims(claims)+".")
	for _, c := range claims {
		if c.Verdict == Contradicted {
			p.wrap(" ✗ ", fmt.Sprintf("“%s” %s", c.Says, c.Measured))
		}
	}
}
