package shrink

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/internal/settings/settingstest"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/scenarios"
)

// The scenario that is saved says every setting of the run that it comes from: whoever
// runs the file by itself tests the same lock in the same way.
func TestRegressionKeepsEverySetting(t *testing.T) {
	for _, x := range settingstest.Others() {
		t.Run(x.Flag, func(t *testing.T) {
			o := runner.Options{Backend: "redis", Seed: 7, Settings: x.Settings.Over(settings.Default())}
			r := Regression{Name: "small", Property: property, Options: o, From: reports.Run{Scenario: "noisy"}}
			path := filepath.Join(t.TempDir(), "small.yaml")
			if err := r.Save(path, r.Scenario(noisy(t))); err != nil {
				t.Fatal(err)
			}
			file, err := scenarios.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			again := runner.Options{Scenario: *file, Backend: "redis"}
			if _, err := again.Settle(path, runner.Given{Trust: true}); err != nil {
				t.Fatal(err)
			}
			if x.Flag == "fsync" { // the scenario itself has it
				again.Fsync = again.Scenario.Fsync
			}
			if x.JSON == "-" { // no file decides what may reach its reader's machine
				o.AllowHost = false
			}
			if !reflect.DeepEqual(again.Settings, o.Settings) {
				t.Errorf("was\n%+v\nis\n%+v", o.Settings, again.Settings)
			}
			if words := Command(o, path); x.Flag != "fsync" && x.JSON != "-" && !slices.Contains(words, "--"+x.Flag) && !slices.Contains(words, "--"+x.Flag+"=true") {
				t.Errorf("the command does not say it: %q", words)
			}
		})
	}
}

// So do the files of the candidates, and their runs.
func TestCandidatesKeepEverySetting(t *testing.T) {
	w := &world{}
	l := live(t, w)
	for _, x := range settingstest.Others() {
		l.Options.Settings = x.Settings.Over(l.Options.Settings)
	}
	l.Options.AllowHost, l.Options.Etcd = false, ""
	s := noisy(t)
	c, err := l.candidate(s)
	if err != nil {
		t.Fatal(err)
	}
	file, err := scenarios.Load(c.File)
	if err != nil || !reflect.DeepEqual(c.Scenario.Settings, settings.Settings{}) {
		t.Fatalf("%v %+v", err, c.Scenario.Settings)
	}
	again := runner.Options{Scenario: *file}
	_, err = again.Settle(c.File, runner.Given{Trust: true})
	if again.Fsync = again.Scenario.Fsync; err != nil || !reflect.DeepEqual(again.Settings, l.Options.Resolved()) {
		t.Errorf("%v: %+v, want %+v", err, again.Settings, l.Options.Resolved())
	}
}
