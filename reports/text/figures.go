package text

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/reports/figures"
	"github.com/dlmtest/dlmtest/reports/say"
)

// figures prints the most useful ones; the page and results.json have the others.
func (p *printer) figures(f figures.Figures) {
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
			t.AppendRow(table.Row{q.Name, say.Thousands(q.Count), say.Length(q.P50), say.Length(q.P99), say.Length(q.Max)})
		}
	}
	p.line("\n%s\n%s", p.bold("Figures"), t.Render())
	if g := f.Grants; g != nil {
		p.wrap("", fmt.Sprintf("%s grants a second; the longest time without any was %s.", say.Figure(g.PerSecond), say.Length(time.Duration(g.Longest))))
	}
	p.recovery(f)
	p.claimed(f.Claims)
}

// recovery is the longest wait after a fault that hit the holder of a key.
func (p *printer) recovery(f figures.Figures) {
	var worst *figures.Recovery
	for i, r := range f.Recoveries {
		if r.Held && (worst == nil || figures.TookLonger(r, *worst)) {
			worst = &f.Recoveries[i]
		}
	}
	switch {
	case worst == nil:
	case worst.Waited < 0:
		p.wrap("", fmt.Sprintf("After fault %d, %s, nobody was granted the key of its victim again.", worst.Fault, worst.Kind))
	default:
		p.wrap("", fmt.Sprintf("After fault %d, %s, the key of its victim passed on within %s.",
			worst.Fault, worst.Kind, say.Length(time.Duration(worst.Waited))))
	}
}

// claimed counts how the claims came out, and names what the run contradicts.
func (p *printer) claimed(claims []figures.Claim) {
	if len(claims) == 0 {
		return
	}
	p.wrap("", "Of what is said of this backend: "+figures.TallyClaims(claims)+".")
	for _, c := range claims {
		if c.Verdict == figures.Contradicted {
			p.wrap(" ✗ ", fmt.Sprintf("“%s” %s", c.Says, c.Measured))
		}
	}
}
