package shrink

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/stats"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Regression is a scenario ready to be committed, with where it comes from.
type Regression struct {
	Name     string // of the scenario and its file
	Options  runner.Options
	Property string
	Message  string      // of the first violation of the run that it comes from
	From     reports.Run // that run
	Before   string      // its size
	Rate     stats.Rate
	Proven   bool   // it was seen in each run of a proof, of which Rate tells
	Note     string // why it is not proven, or not as small as can be
}

// NameOf is how a regression is called if nobody says otherwise.
func NameOf(scenario, property string) string {
	name, end := strings.ReplaceAll(scenario, "/", "-"), "-"+strings.ReplaceAll(property, "/", "-")
	return strings.TrimSuffix(name, end) + end
}

// Scenario is the regression as a scenario: about the one backend, with what it is
// expected to show, and all that can be said in a scenario said there.
func (r Regression) Scenario(s scenarios.Scenario) scenarios.Scenario {
	s.Title = fmt.Sprintf("%s of %s, violated; the smallest of %s", r.Property, r.Options.Label(), r.From.Scenario)
	about := fmt.Sprintf("Found by dlmtest shrink: what is left of the scenario %s while %s of %s stays violated. In the run it comes from: %s",
		r.From.Scenario, r.Property, r.Options.Label(), oneLine(r.Message))
	s.About = padding.ReplaceAllString(text.WrapSoft(strings.TrimSpace(about), 100), "") + "\n"
	s = said(s, r.Options)
	s.Name, s.Backends = r.Name, []string{r.Options.Backend}
	note := "runs that showed it: " + r.Rate.String()
	if r.Rate.Of == 0 {
		note = ""
	}
	lock, _, _ := strings.Cut(r.Options.Label(), "@") // a version is no part of its name
	s.Expected = map[string]map[string]scenarios.Expectation{lock: {r.Property: {Verdict: checker.Violated, Note: note}}}
	return s
}

// Write writes the file: a heading of comments, then the scenario.
func (r Regression) Write(w io.Writer, s scenarios.Scenario) error {
	var b bytes.Buffer
	say := func(format string, args ...any) { fmt.Fprintf(&b, "# %s\n", oneLine(fmt.Sprintf(format, args...))) }
	say("The smallest scenario found in which %s violates %s.", r.Options.Label(), r.Property)
	say("From %s × %s, seed %d, run %s of %s: %s.", r.From.Scenario, r.Options.Label(), r.Options.Seed, r.From.ID,
		r.From.Started.UTC().Format(time.DateTime), r.Before)
	say("Left: %s.", Size(s))
	if versions := versions(r.From); versions != "" {
		say("Servers: %s; dlmtest %s.", versions, r.Options.Version)
	}
	switch {
	case r.Proven:
		say("Proven, runs that showed it: %s.", r.Rate)
	case r.Rate.Of > 0:
		say("Not proven, runs that showed it: %s; %s", r.Rate, r.Note)
	default:
		say("Not proven: %s", r.Note)
	}
	if r.Proven && r.Note != "" {
		say("%s", r.Note)
	}
	say("Run it (exit code 1 while the violation is there):")
	say("  %s", strings.Join(Command(r.Options, r.Name+".yaml"), " "))
	b.Write(s.YAML())
	_, err := w.Write(b.Bytes())
	return err
}

// versions names what the servers were, each once.
func versions(run reports.Run) string {
	var all []string
	seen := map[string]bool{"dlmtest": true}
	for _, v := range run.Versions {
		if !seen[v.Server] {
			all = append(all, v.Server+" "+v.Version)
			seen[v.Server] = true
		}
	}
	return strings.Join(all, ", ")
}

// padding is what WrapSoft fills lines up with.
var padding = regexp.MustCompile(`(?m) +$`)

var breaks = regexp.MustCompile(`[\x00-\x1f\x7f\x{85}\x{2028}\x{2029}]+`)

// oneLine keeps text of a file that anybody may have written inside its comment.
func oneLine(text string) string {
	return strings.TrimRight(breaks.ReplaceAllString(strings.ToValidUTF8(text, "?"), " "), " ")
}

// Command is the command that runs a scenario of a file with these options.
func Command(o runner.Options, file string) []string {
	o.Fsync = "" // the scenario says it
	words := slices.Concat([]string{"dlmtest", "run", "--scenario", file, "--backend", o.Backend}, o.Args())
	return append(words, "--seed", fmt.Sprint(o.Seed))
}

// said is a scenario that says the settings of its runs itself, as a file has them.
func said(s scenarios.Scenario, o runner.Options) scenarios.Scenario {
	s.Settings, s.Fsync = o.Brief().Stored(), cmp.Or(o.Fsync, s.Fsync)
	s.Settings.Fsync, s.Settings.AllowHost = "", false // no file decides what may reach its reader's machine
	return s
}

// Save writes the file of a regression, whole or not at all.
func (r Regression) Save(path string, s scenarios.Scenario) error {
	return whole.At(path, runner.Text(func(w io.Writer) error { return r.Write(w, s) }))
}
