package figures

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/reports/say"
)

// Claim is something that is commonly said of a backend, and what a run measured.
type Claim struct {
	Says     string  `json:"says"`
	By       string  `json:"by"` // kinds and titles of who says so
	Measure  string  `json:"measure"`
	Verdict  Agrees  `json:"verdict"`
	Measured string  `json:"measured"` // one sentence; of a claim that was not measured, why
	Claimed  Claimed `json:"-"`
}

// Agrees says whether a run agrees with a claim. Not measured is the zero value's
// meaning, and what is said whenever a scenario did not try it.
type Agrees string

// What can come of a claim. Confirmed says no more than that this run agrees.
const (
	Confirmed    Agrees = "confirmed"
	Contradicted Agrees = "contradicted"
	NotMeasured  Agrees = "not measured"
)

// Class is the look of the outcome on a page.
func (a Agrees) Class() string {
	return map[Agrees]string{Confirmed: "holds", Contradicted: "violated"}[a]
}

// Sign is the sign of the outcome, so that colour never carries it alone.
func (a Agrees) Sign() string {
	if sign, ok := map[Agrees]string{Confirmed: "✓", Contradicted: "✗"}[a]; ok {
		return sign
	}
	return "–"
}

// Claimed is one claim as claims.yaml has it.
type Claimed struct {
	Says     string        `yaml:"says"`
	By       []string      `yaml:"by"`
	Measure  string        `yaml:"measure"`
	Quantile float64       `yaml:"quantile,omitempty"`
	Below    time.Duration `yaml:"below,omitempty"`
	Within   string        `yaml:"within,omitempty"` // a duration, or lease
}

// claimBook is claims.yaml.
type claimBook struct {
	Sources map[string]struct {
		Kind  string `yaml:"kind"`
		Title string `yaml:"title"`
	} `yaml:"sources"`
	Backends map[string][]Claimed `yaml:"backends"`
}

//go:embed claims.yaml
var claimsYAML []byte

// book reads the claims when they are first asked for.
var book = sync.OnceValues(func() (claimBook, error) { return readClaims(claimsYAML) })

func readClaims(text []byte) (claimBook, error) {
	var b claimBook
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&b); err != nil {
		return b, fmt.Errorf("claims.yaml: %w", err)
	}
	for backend, claims := range b.Backends {
		for _, c := range claims {
			if err := b.check(c); err != nil {
				return b, fmt.Errorf("claims.yaml: %s: %q: %w", backend, c.Says, err)
			}
		}
	}
	return b, nil
}

func (b claimBook) check(c Claimed) error {
	if measureOf(c.Measure) == nil {
		return fmt.Errorf("no measure %q", c.Measure)
	}
	if len(c.By) == 0 || c.Says == "" {
		return fmt.Errorf("says and by are needed")
	}
	for _, name := range c.By {
		if _, ok := b.Sources[name]; !ok {
			return fmt.Errorf("no source %q", name)
		}
	}
	if c.timed() && (c.Below <= 0 || c.Quantile <= 0 || c.Quantile >= 100) {
		return fmt.Errorf("a latency needs quantile and below")
	}
	if c.Within != "" && c.Within != "lease" {
		_, err := time.ParseDuration(c.Within)
		return err
	}
	return nil
}

// ClaimedBackends are those of which something is on record, sorted.
func ClaimedBackends() ([]string, error) {
	b, err := book()
	return slices.Sorted(maps.Keys(b.Backends)), err
}

// claims holds what is said of the run's backend against what was measured. Of a
// run in doubt nothing is confirmed, and no time is blamed on the lock.
func (m *Measurement) claims() (all []Claim) {
	if library := m.Setup.Promise.Library; library != "" {
		m.Missing["claims"] = "What is commonly said is of the backend's own lock, and " + library + " was under test."
		return nil
	}
	b, err := book()
	if err != nil {
		panic(err)
	}
	j := &claimJudge{Measurement: m}
	for _, c := range b.Backends[m.Setup.Promise.Backend] {
		var by []string
		for _, name := range c.By {
			by = append(by, fmt.Sprintf("%s (%s)", b.Sources[name].Kind, b.Sources[name].Title))
		}
		claim := Claim{Says: c.Says, By: strings.Join(by, "; "), Measure: c.Measure, Claimed: c}
		claim.Verdict, claim.Measured = measureOf(c.Measure)(j, c)
		if doubt := m.doubtOf(c); doubt != "" && (claim.Verdict == Confirmed || c.timed()) {
			claim.Verdict, claim.Measured = NotMeasured, "The run as a whole is in doubt: "+doubt
		}
		all = append(all, claim)
	}
	if len(all) == 0 {
		m.Missing["claims"] = "Nothing that is commonly said of this backend is on record here."
	}
	return all
}

// timed says whether a claim is about how long something takes.
func (c Claimed) timed() bool { return latencyMeasures[c.Measure] != nil }

// doubtOf is why the run says nothing of a claim, or "". For how long something takes
// it does not matter that the scenario saw too little of what it is about, but it does
// that the machine was starved.
func (m *Measurement) doubtOf(c Claimed) string {
	doubts := m.result.Doubts
	if c.timed() {
		doubts = doubts[min(m.result.Vacuous, len(doubts)):]
	}
	if len(doubts) > 0 {
		return doubts[0]
	}
	if stall := m.result.Counts.MaxStall; c.timed() && stall > int64(m.Setup.Lease)/8 {
		return fmt.Sprintf("a node was not scheduled for %s.", say.Length(time.Duration(stall)))
	}
	return ""
}

// TallyClaims is how many claims came out how.
func TallyClaims(all []Claim) string {
	n := map[Agrees]int{}
	for _, c := range all {
		n[c.Verdict]++
	}
	return fmt.Sprintf("%d confirmed, %d contradicted, %d not measured", n[Confirmed], n[Contradicted], n[NotMeasured])
}
