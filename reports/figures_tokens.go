package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
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

func (m *measurement) measureTokens() string {
	switch {
	case !m.Setup.Promise.Token:
		return "The lock gives no fencing token."
	case len(m.Trace.Grants) == 0:
		return "Nobody was granted the lock."
	}
	for _, key := range slices.Sorted(maps.Keys(m.ByKey)) {
		if len(m.grantsOf(key)) == 0 {
			continue
		}
		k := KeyTokens{Key: key}
		highest := int64(0)
		for _, g := range m.grantsOf(key) {
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

func drawTokens(m *measurement, f *figure) {
	tinted := []ink{"valid", "fenced", "unfenced", "p99", "muted"}
	busiest := slices.SortedStableFunc(slices.Values(m.Tokens), func(a, b KeyTokens) int { return b.Grants - a.Grants })
	busiest = busiest[:min(len(busiest), mostTokenKeys)]
	least := int64(math.MaxInt64)
	for _, k := range busiest {
		for _, g := range m.grantsOf(k.Key) {
			if g.Token != 0 {
				least = min(least, g.Token)
			}
		}
	}
	c := m.overTime(190)
	var keys []entry
	var wrong plotter.XYs
	top := 1.0
	for i, k := range busiest {
		points, falls := m.tokenPoints(k.Key, least)
		for _, p := range points {
			top = math.Max(top, p.Y)
		}
		wrong = append(wrong, falls...)
		c.dots(points, tinted[i], dot, 1.8)
		keys = append(keys, entry{string(tinted[i]), k.Key, "dot"})
	}
	c.dots(wrong, "bad", cross, 4)
	keys = append(keys, entry{"bad", "not above an earlier one", "cross"})
	c.legend = append(keys, c.legend...)
	c.Y.Min, c.Y.Max = 0, top*1.04
	c.Y.Tick.Marker = fewer(func(x float64) string { return "+" + number(x) })
	f.add("Tokens of grants over time, above the lowest one", c)
	f.Head = []string{"Key", "grants", "first token", "last token", "not above an earlier one"}
	falls, grants := 0, 0
	for i, k := range m.Tokens {
		falls, grants = falls+k.NotAbove, grants+k.Grants
		if i < mostTableRows {
			f.row(k.Key, thousands(k.Grants), strconv.FormatInt(k.First, 10), strconv.FormatInt(k.Last, 10), thousands(k.NotAbove))
		}
	}
	f.Folded = len(f.Rows) > 10
	f.Says = fmt.Sprintf("Each of %s has a token above all earlier ones of its key.", count(grants, "grant"))
	if falls > 0 {
		f.Says = fmt.Sprintf("%s of %s %s a token that is not above an earlier one of its key.", thousands(falls),
			count(grants, "grant"), verb(falls, "carries", "carry"))
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
func (m *measurement) tokenPoints(key string, least int64) (points, falls plotter.XYs) {
	grants := m.grantsOf(key)
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

// verb is one or many, by a number.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
