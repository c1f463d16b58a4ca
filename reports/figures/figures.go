// Package figures measures a run, draws what was measured, and holds what is said of a lock against it.
package figures

import (
	"fmt"
	"html/template"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/chart"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// Figures is what was measured in a run; results.json holds it under "figures".
// Durations are nanoseconds, and instants count from the first operation. A part
// that is missing was not measured, for the reason in Missing.
type Figures struct {
	Length     int64             `json:"length_ns"` // from the first operation to the last
	Latencies  []Quantiles       `json:"latencies,omitempty"`
	Grants     *GrantRate        `json:"grants,omitempty"`
	Clients    []ClientFigures   `json:"clients,omitempty"`
	Fairness   *Fairness         `json:"fairness,omitempty"`
	Tokens     []KeyTokens       `json:"tokens,omitempty"`
	Recoveries []Recovery        `json:"recoveries,omitempty"`
	Clocks     []NodeClock       `json:"clocks,omitempty"`
	Validity   *Validity         `json:"validity,omitempty"`
	Claims     []Claim           `json:"claims,omitempty"`
	Missing    map[string]string `json:"missing,omitempty"` // figure → why it is not there
}

// Measure takes the figures of a history. It never fails: what cannot be measured
// is missing, with the reason.
func Measure(setup history.Setup, ops []history.Op, r checker.Result) Figures {
	return Of(timeline.New(setup, ops), r).Figures
}

// Measurement is the figures of a trace, and what only drawings need.
type Measurement struct {
	*timeline.View
	Figures
	result  checker.Result
	rate    []float64 // grants a second of each bin
	budgets []budget
	drifts  []nodeOffsets
	waiting map[string][]wait // of each key, by the time of their invoke
	latency *latency          // once it was measured
}

// plate is one figure: how it is measured, and how a page shows it.
type plate struct {
	id, title string
	measure   func(m *Measurement) (missing string)
	draw      func(m *Measurement, f *Figure)
}

var plates = []plate{
	{"latencies", "Latency", (*Measurement).measureLatency, drawLatency},
	{"latencies-over-time", "Latency over time", (*Measurement).anyWindow, drawLatencyOverTime},
	{"grants", "Grants per second", (*Measurement).measureGrants, drawGrants},
	{"clients", "Waiting and fairness", (*Measurement).measureClients, drawClients},
	{"tokens", "Fencing tokens", (*Measurement).measureTokens, drawTokens},
	{"recoveries", "Recovery", (*Measurement).measureRecoveries, drawRecoveries},
	{"clocks", "Clocks", (*Measurement).measureClocks, drawClocks},
	{"validity", "Validity of each grant", (*Measurement).measureValidity, drawValidity},
}

// Of measures everything, once.
func Of(t *timeline.View, r checker.Result) *Measurement {
	m := &Measurement{View: t, result: r, Figures: Figures{Length: max(t.End-t.Begin, 0), Missing: map[string]string{}}}
	for _, p := range plates {
		var missing string
		if panicked := Attempt(func() { missing = p.measure(m) }); panicked != "" {
			missing = "This figure could not be measured, which is a bug of dlmtest: " + panicked
		}
		if missing != "" {
			m.Missing[p.id] = missing
		}
	}
	if panicked := Attempt(func() { m.Claims = m.claims() }); panicked != "" {
		m.Claims = nil
		m.Missing["claims"] = "The claims could not be compared, which is a bug of dlmtest: " + panicked
	}
	return m
}

// Figure is what a page shows of one plate: a sentence, drawings, a table. Without
// data there is only why.
type Figure struct {
	ID, Title, Says, Missing string
	Panels                   []panel
	Head                     []string
	Rows                     [][]string
	Note                     string // below the table
	Folded                   bool   // the table, as it is long and the drawing says the same
}

// panel is one drawing with its legend.
type panel struct {
	Label  string // for who cannot see it
	SVG    template.HTML
	Legend []chart.Entry
}

// add draws a chart into the figure.
func (f *Figure) add(label string, c *chart.Chart) {
	svg, err := c.SVG(label, "says-"+f.ID)
	if err != nil {
		panic(err)
	}
	f.Panels = append(f.Panels, panel{label, svg, c.Entries})
}

// row adds a line to the figure's table.
func (f *Figure) row(cells ...string) { f.Rows = append(f.Rows, cells) }

// Shown draws every figure. One that fails leaves a sentence in its place: it never
// takes the report with it.
func (m *Measurement) Shown() (all []Figure) {
	for _, p := range plates {
		f := Figure{ID: p.id, Title: p.title, Missing: m.Missing[p.id]}
		if f.Missing == "" {
			if panicked := Attempt(func() { p.draw(m, &f) }); panicked != "" {
				f = Figure{ID: p.id, Title: p.title, Missing: "This figure could not be drawn, which is a bug of dlmtest: " + panicked}
			}
		}
		all = append(all, f)
	}
	return all
}

// Attempt runs do and returns the text of its panic, "" if there was none.
func Attempt(do func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	do()
	return ""
}
