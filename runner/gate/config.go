// Package gate decides whether a release may pass: a list of scenario × backend, what
// each property is expected to show, and enough runs to say so. What was not put to
// the test is inconclusive and never green, and no run is repeated in silence.
//
// Deciding is a pure function of outcomes (Decide, Judge); the runs are a matrix.
package gate

import (
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Library is what is under test where the file does not say: the locks of dlmtest.
const Library = history.Reference

// DefaultCount is how often a cell runs if the file does not say.
const DefaultCount = 5

// Config is a gate file.
type Config struct {
	// Name is for headings; the file's own if empty.
	Name string `yaml:"name,omitempty"`
	// Library is the one under test, NAME or NAME@VERSION (see dlmtest list libraries);
	// reference, the locks of dlmtest, if empty.
	Library string `yaml:"library,omitempty"`
	// Count is how often each cell runs; 5 if not given.
	Count int `yaml:"count,omitempty" jsonschema:"minimum=0"`
	// Seed is that of the first run of each cell, the next have seed+1, …; 0: a new one, printed.
	Seed int `yaml:"seed,omitempty" jsonschema:"minimum=0"`
	// Parallel is how many runs go on at a time; 1 if not given.
	Parallel int `yaml:"parallel,omitempty" jsonschema:"minimum=0"`
	// Budget is the longest that the gate may take, such as 20m; empty: as long as it takes.
	Budget string `yaml:"budget,omitempty" jsonschema:"pattern=^([0-9.]+(ns|us|µs|μs|ms|s|m|h))+$"`
	// Flags are those of dlmtest run for every cell, without their dashes.
	Flags map[string]string `yaml:"flags,omitempty"`
	// Cells are what runs.
	Cells []Cell `yaml:"cells" jsonschema:"required,minItems=1"`

	file  string
	lines map[string]int // path → line
}

// Cell is one scenario against one backend, and what it must show.
type Cell struct {
	// Name tells cells apart that have one scenario and backend.
	Name string `yaml:"name,omitempty"`
	// Scenario is a built-in one, or the path of a YAML file from the gate file's folder.
	Scenario string `yaml:"scenario" jsonschema:"required"`
	// Backend is a lock of dlmtest list backends.
	Backend string `yaml:"backend" words:"backend" jsonschema:"required"`
	// Library is as Config.Library.
	Library string `yaml:"library,omitempty"`
	// Count is as Config.Count.
	Count int `yaml:"count,omitempty" jsonschema:"minimum=0"`
	// Seed is as Config.Seed.
	Seed int `yaml:"seed,omitempty" jsonschema:"minimum=0"`
	// Flags are laid over Config.Flags.
	Flags map[string]string `yaml:"flags,omitempty"`
	// Expect is property → what it must show.
	Expect map[string]Expectation `yaml:"expect,omitempty"`
	// Others is what the properties that Expect does not name must show: holds if
	// empty, or not-judged where something must be detected.
	Others Want `yaml:"others,omitempty" words:"holds,not-judged"`
}

// Expectation is what a property must show. In a file it is one word ("holds"), or a
// map ("{is: known-weakness, reason: …, link: …}").
type Expectation struct {
	// Is says what it must show, in one word.
	Is Want `yaml:"is" words:"expectation" jsonschema:"required"`
	// Reason is why a weakness is accepted, a property is not judged, or nobody knows which.
	Reason string `yaml:"reason,omitempty"`
	// Link is where a weakness is written down, or what shows what is undecided.
	Link string `yaml:"link,omitempty"`
	// Seen is what the run at Link has shown, as dlmtest gate init writes it down.
	Seen string `yaml:"seen,omitempty"`
	// AtLeast is in how many of a cell's runs it must be detected; 0: in all.
	AtLeast int `yaml:"at-least,omitempty" jsonschema:"minimum=0"`
}

// Want is the kind of an expectation.
type Want string

// The expectations.
const (
	Holds      Want = "holds"          // no run violates it
	Weakness   Want = "known-weakness" // it may be violated
	MustDetect Want = "must-detect"    // it must be violated: a lock that is broken on purpose
	NotJudged  Want = "not-judged"     // whatever it shows
	// ToDecide is a violation that nobody has yet called a bug or a weakness: no gate runs with it.
	ToDecide Want = "undecided"
)

// Limit is the budget that the file gives, which Load has checked; 0: none.
func (c *Config) Limit() time.Duration {
	d, _ := time.ParseDuration(c.Budget)
	return d
}

// Label is what a cell is called: "gc-pause/redis", and its name where it has one.
func (c Cell) Label() string {
	label := scenarioName(c.Scenario) + "/" + history.LockName(c.Backend, c.Library)
	if c.Name != "" {
		label += " (" + c.Name + ")"
	}
	return label
}

// wants is what a property of the cell must show, and whether the file names it.
func (c Cell) wants(property string) (e Expectation, named bool) {
	if e, ok := c.Expect[property]; ok {
		return e, true
	}
	if c.Others == NotJudged {
		return Expectation{Is: NotJudged, Reason: "the file does not name it, and the lock is broken on purpose"}, false
	}
	return Expectation{Is: Holds}, false
}

// MarshalYAML writes one word where that says it all.
func (e Expectation) MarshalYAML() (any, error) {
	if e == (Expectation{Is: e.Is}) {
		return string(e.Is), nil
	}
	type plain Expectation
	return plain(e), nil
}

var _ scenarios.Word = (*Expectation)(nil)
