package runner

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/internal/settings/settingstest"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/workloads"
)

// Every setting reaches the worker, the report and the run that is done again.
func TestEverySettingIsPassedOn(t *testing.T) {
	compose := unlabelled(t)
	for _, x := range settingstest.Others() {
		t.Run(x.Flag, func(t *testing.T) {
			o := options(t, "baseline", "redlock")
			if x.Flag == "compose" {
				x.Settings.Compose = compose
			}
			o.Settings = x.Settings.Over(settings.Default())
			p := &plan{Options: o}
			var err error
			if p.sum, err = composeSum(o.Compose); err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(p.worker(0, "client-1", workloads.Guarded))
			var spec workloads.Spec
			if err = errors.Join(err, json.Unmarshal(data, &spec)); err != nil {
				t.Fatal(err)
			}
			if x.JSON != "-" && !slices.Equal(x.Plain(spec.Settings), x.Plain(o.Settings)) {
				t.Errorf("the worker is told %v", x.Plain(spec.Settings))
			}
			run := p.begun("dir", o.Runtime, time.Now())
			if run.Options[x.Flag] != strings.Join(x.Texts(o.Settings), " ") {
				t.Errorf("the report says %q", run.Options[x.Flag])
			}
			saved, err := Replayable(folderOf(t, run), Given{Trust: true})
			if err != nil {
				t.Fatal(err)
			}
			if x.JSON == "-" { // it is not the folder's to say
				if saved.Options.AllowHost {
					t.Error("a folder lets what it names reach this machine")
				}
				saved, err = Replayable(saved.Dir, Given{Settings: settings.Settings{AllowHost: true}, Trust: true})
			}
			if err != nil || !reflect.DeepEqual(saved.Options.Settings, o.Settings) {
				t.Errorf("%v: was\n%+v\nis\n%+v", err, o.Settings, saved.Options.Settings)
			}
		})
	}
}

// folderOf is the folder of a run with this run.json.
func folderOf(t *testing.T, run reports.Run) string {
	t.Helper()
	dir := t.TempDir()
	run.State = reports.Ended
	for name, v := range map[string]any{runFile: run, resultsFile: checker.Result{Verdict: checker.Violated}} {
		data, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A scenario's file is data as a run's folder is: what it names beside what is built in
// must be given or trusted, whichever setting it is.
func TestSettle(t *testing.T) {
	for _, x := range settingstest.Others() {
		t.Run(x.Flag, func(t *testing.T) {
			if x.Flag == "library" {
				x.Settings.Library = "redsync@v4.13.1-0.20240101000000-0123456789ab"
			}
			settled := func(g Given) (Options, []string, error) {
				o := options(t, "gc-pause", "redis")
				o.Scenario.Settings = x.Settings
				trusted, err := o.Settle("/nowhere/mine.yaml", g)
				return o, trusted, err
			}
			want := x.Settings.Over(settings.Default())
			o, _, err := settled(Given{})
			if x.Trust && !errors.Is(err, ErrTrust) || !x.Trust && (err != nil || !reflect.DeepEqual(o.Settings, want)) {
				t.Errorf("without trust: %v %+v", err, o.Settings)
			}
			if x.Trust && !strings.Contains(err.Error(), "settings."+x.YAML) {
				t.Errorf("it does not say where: %v", err)
			}
			o, trusted, err := settled(Given{Trust: true})
			if err != nil || !reflect.DeepEqual(o.Settings, want) || x.Trust != (len(trusted) == 1) || o.Withhold != (x.Flag == "endpoint") || !o.Scenario.Settings.IsZero() {
				t.Errorf("trusted: %v %q %+v", err, trusted, o)
			}
			o, _, err = settled(Given{Settings: x.Settings})
			if err != nil || !reflect.DeepEqual(o.Settings, want) || o.Withhold {
				t.Errorf("given: %v %+v", err, o.Settings)
			}
			o, _, err = settled(Given{Unset: []string{x.Flag}, Trust: true})
			if err != nil || !reflect.DeepEqual(o.Settings.Resolved(), settings.Default()) {
				t.Errorf("taken back: %v %+v", err, o.Settings)
			}
		})
	}
}

// Another lock on the command line leaves nothing of the one that the file names.
func TestSettleOnAnotherLock(t *testing.T) {
	file := settings.Settings{Adapter: []string{"python3", "/adapter/mine.py"}, Files: "/srv", Image: "mine:1", Strict: true}
	for name, g := range map[string]Given{
		"a library":       {Settings: settings.Settings{Library: "redsync"}},
		"the reference":   {Unset: []string{"library"}},
		"another adapter": {Settings: settings.Settings{Adapter: []string{"other"}}},
	} {
		o := options(t, "gc-pause", "redis")
		o.Scenario.Settings = file
		if _, err := o.Settle("mine.yaml", g); err != nil || o.Files != "" || o.Image != "" || !o.Strict || !slices.Equal(o.Adapter, g.Adapter) {
			t.Errorf("%s: %v %+v", name, err, o.Settings)
		}
	}
	o := options(t, "gc-pause", "redis") // a run never passes settings by that nobody has looked at
	o.Scenario.Settings = file
	if _, err := Applies(t.Context(), o); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "settings of its own") {
		t.Errorf("%v", err)
	}
	o.Scenario.Settings = settings.Settings{Compose: "/srv/case/compose.yml"}
	if _, err := o.Settle("/srv/case/mine.yaml", Given{Trust: true}); !errors.Is(err, ErrTrust) {
		t.Errorf("a compose file beside the scenario: %v", err)
	}
}
