package settings_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/internal/settings/settingstest"
)

// Every field has its names, and a default that it can be.
func TestFields(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range settings.Fields() {
		if f.Flag == "" || f.JSON == "" || f.YAML == "" || f.Help == "" || seen[f.Flag] {
			t.Errorf("%+v", f)
		}
		seen[f.Flag] = true
		if f.Words != nil && !slices.Contains(f.Words, f.Default) {
			t.Errorf("%s: the default %q is none of %q", f.Flag, f.Default, f.Words)
		}
		if f.Value != "" && !strings.Contains(f.Help, f.Value) {
			t.Errorf("%s: %q is not in %q", f.Flag, f.Value, f.Help)
		}
		if f.JSON != "-" && f.JSON != strings.ReplaceAll(f.Flag, "-", "_") && f.JSON != f.Flag+"s" {
			t.Errorf("%s is called %s in run.json", f.Flag, f.JSON)
		}
	}
	for _, o := range settingstest.Others() {
		if !o.Said(o.Settings) || !o.Said(o.Settings.Brief()) {
			t.Errorf("%s is not changed", o.Flag)
		}
		if p := o.Settings.Check(); len(p) > 0 {
			t.Errorf("%+v", p)
		}
	}
}

// some are settings of which any part is changed.
func some(t *rapid.T) (s settings.Settings) {
	for _, o := range settingstest.Others() {
		if rapid.Bool().Draw(t, o.Flag) {
			o.Copy(&s, o.Settings)
		}
	}
	return s
}

// What is brief says the same as what is whole, and what lies over the rest wins.
func TestOverAndBrief(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := some(t), some(t)
		if got := a.Resolved().Brief(); !reflect.DeepEqual(got, a) {
			t.Errorf("%+v, then brief %+v", a, got)
		}
		both := a.Over(b)
		for _, f := range settings.Fields() {
			from := b
			if f.Said(a) {
				from = a
			}
			if !slices.Equal(f.Plain(both), f.Plain(from)) {
				t.Errorf("%s: %v over %v is %v", f.Flag, f.Plain(a), f.Plain(b), f.Plain(both))
			}
		}
		if !reflect.DeepEqual(a.Stored(), a.Stored().Stored()) {
			t.Errorf("stored twice is %+v", a.Stored().Stored())
		}
	})
}

func TestCheck(t *testing.T) {
	for want, s := range map[string]settings.Settings{
		"want write, read":    {FenceOn: "reed"},
		"must not be below 0": {Wait: -1},
		"at least 1ms":        {Idle: "1us"},
		"want off, lease":     {Idle: "soon"},
	} {
		if p := s.Check(); len(p) != 1 || !strings.Contains(p[0].Want, want) {
			t.Errorf("want %q, got %+v", want, p)
		}
	}
	if d, err := settings.Timeout("lease").Of(2 * time.Second); d != 2*time.Second || err != nil {
		t.Errorf("%v %v", d, err)
	}
}

// An older dlmtest wrote a timeout in nanoseconds.
func TestOldTimeout(t *testing.T) {
	var s settings.Settings
	err := json.Unmarshal([]byte(`{"idle_timeout":1500000000,"fence_on":"read"}`), &s)
	if err != nil || s.Idle != "1.5s" || s.FenceOn != "read" {
		t.Errorf("%+v %v", s, err)
	}
}

func TestArgs(t *testing.T) {
	s := settings.Settings{FenceOn: "read", Strict: true, Adapter: []string{"a b", "it's"}, Endpoints: []string{"http://me:geheim@h", "i:1"}}
	got := s.Resolved().Args()
	want := []string{"--adapter", `'a b' 'it'\''s'`, "--fence-on", "read", "--strict=true", "--endpoint", "http://me:***@h", "--endpoint", "i:1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := s.Resolved().Args("fencing", "fence-on"); !slices.Equal(got, []string{"--fencing", "at-least", "--fence-on", "read"}) {
		t.Errorf("%q", got)
	}
}
