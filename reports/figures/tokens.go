package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"

	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/say"
)

// KeyTokens is the fencing tokens of one key, in the order of the answers.
type KeyTokens struct {
	Key    string `json:"key"`
	Grants int    `json:"grants"`
	First  int64  `json:"first"`
	Last   int64  `json:"last"`
	// NotAbove counts the grants whose token is not above those of all earlier answers.
	// Whether that breaks a promise is decided by fencing-monotonic, which knows what
	// was asked before.
	NotAbove int `json:"not_above"`
	None     int `json:"none,omitempty"` // grants without a token
}

func (m *Measurement) measureTokens() string {
	switch {
	case !m.Setup.Promise.Token:
		return "The lock gives no fencing token."
	case len(m.Trace.Grants) == 0:
		return "Nobody was granted the lock."
	}
	for _, key := range slices.Sorted(maps.Keys(m.ByKey)) {
		if len(m.GrantsOf(key)) == 0 {
			continue
		}
		k := KeyTokens{Key: key}
		highest := int64(0)
		for _, g := range m.GrantsOf(key) {
			k.Grants++
			switch {
			case g.Token == 0:
				k.None++
				continue
			case k.First == 0:
				k.First = g.Token
			case g.Token <= highest:
				k.NotAbove++
			}
			highest, k.Last = max(highest, g.Token), g.Token
		}
		m.Tokens = append(m.Tokens, k)
	}
	return ""
}

// mostTokenKeys is how many keys a drawing has, and mostRows a table.
const (
	mostTokenKeys = 5
	mostTableRows = 50
)

func drawTokens(m *Measurement, f *Figure) {
	tinted := []chart.Ink{"valid", "fenced", "unfenced", "p99", "muted"}
	busiest := slices.SortedStableFunc(slices.Values(m.Tokens), func(a, b KeyTokens) int { return b.Grants - a.Grants })
	busiest = busiest[:min(len(busiest), mostTokenKeys)]
	least := int64(math.MaxInt64)
	for _, k := range busiest {
		for _, g := range m.GrantsOf(k.Key) {
			if g.Token != 0 {
				least = min(least, g.Token)
			}
		}
	}
	c := m.overTime(190)
	var keys []chart.Entry
	var wrong plotter.XYs
	top := 1.0
	for i, k := range busiest {
		points, falls := m.tokenPoints(k.Key, least)
		for _, p := range points {
			top = math.Max(top, p.Y)
		}
		wrong = append(wrong, falls...)
		c.Dots(points, tinted[i], chart.Dot, 1.8)
		keys = append(keys, chart.Entry{Ink: string(tinted[i]), Name: k.Key, Shape: "dot"})
	}
	c.Dots(wrong, "bad", chart.Cross, 4)
	keys = append(keys, chart.Entry{Ink: "bad", Name: "not above an earlier one", Shape: "cross"})
	c.Entries = append(keys, c.Entries...)
	c.Y.Min, c.Y.Max = 0, top*1.04
	c.Y.Tick.Marker = chart.Fewer(func(x float64) string { return "+" + say.Number(x) })
	f.add("Tokens of grants over time, above the lowest one", c)
	f.Head = []string{"Key", "grants", "first token", "last token", "not above an earlier one"}
	falls, grants := 0, 0
	for i, k := range m.Tokens {
		falls, grants = falls+k.NotAbove, grants+k.Grants
		if i < mostTableRows {
			f.row(k.Key, say.Thousands(k.Grants), strconv.FormatInt(k.First, 10), strconv.FormatInt(k.Last, 10), say.Thousands(k.NotAbove))
		}
	}
	f.Folded = len(f.Rows) > 10
	f.Says = fmt.Sprintf("Each of %s has a token above all earlier ones of its key.", say.Count(grants, "grant"))
	if falls > 0 {
		f.Says = fmt.Sprintf("%s of %s %s a token that is not above an earlier one of its key.", say.Thousands(falls),
			say.Count(grants, "grant"), say.Verb(falls, "carries", "carry"))
	}
	f.Note = fmt.Sprintf("Heights count from token %d, the lowest one. In the order of the answers; whether the order "+
		"was promised is decided by fencing-monotonic.", least)
	if len(m.Tokens) > mostTokenKeys {
		f.Note += fmt.Sprintf(" The drawing shows the %d busiest of %d keys.", mostTokenKeys, len(m.Tokens))
	}
	if len(m.Tokens) > mostTableRows {
		f.Note += fmt.Sprintf(" The table has the first %d; results.json has all.", mostTableRows)
	}
}

// mostDots is how many marks of one kind a drawing has; more would lie on each other.
const mostDots = 1500

// tokenPoints are the tokens of a key, thinned out to what can be seen, and those
// that are not above an earlier one.
func (m *Measurement) tokenPoints(key string, least int64) (points, falls plotter.XYs) {
	grants := m.GrantsOf(key)
	each := len(grants)/mostDots + 1
	highest := int64(0)
	for i, g := range grants {
		if g.Token == 0 {
			continue
		}
		p := plotter.XY{X: m.since(g.OK), Y: float64(g.Token - least)}
		switch {
		case g.Token <= highest && len(falls) < mostDots:
			falls = append(falls, p)
		case i%each == 0:
			points = append(points, p)
		}
		highest = max(highest, g.Token)
	}
	return points, falls
}
