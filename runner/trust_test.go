package runner

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/reports"
)

// hostile is, for each field of a saved run that decides the next one, what somebody
// would write there who means harm, and what must be said of it. A field that is not
// here fails the test: decide whether it names what is started, shown to code or called.
var hostile = map[string]struct {
	value any
	want  string // of the error; "": it is data, whatever it says
}{
	"Library":    {"redsync@v4.13.1-0.20240101000000-0123456789ab", `repeat.library         "redsync@v4.13.1-0.20240101000000-0123456789ab"`},
	"Adapter":    {[]string{"/bin/sh", "-c", "touch \x1b[2J\u202e/tmp/owned"}, `repeat.adapter         "/bin/sh" "-c" "touch \x1b[2J\u202e/tmp/owned"`},
	"Files":      {"/", `repeat.adapter_files   "/"`},
	"Image":      {"dlmtest/client:evil", `repeat.client_image    "dlmtest/client:evil"`},
	"Endpoints":  {[]string{"http://192.0.2.1/", "http://192.0.2.2/"}, `repeat.endpoints       "http://192.0.2.1/" "http://192.0.2.2/"`},
	"Compose":    {"/nowhere/compose.yml", `repeat.compose         "/nowhere/compose.yml"`},
	"Scenario":   {"name: ../../evil\n", "repeat.scenario"},
	"Resource":   {"/bin/sh", "repeat.resource"},
	"Fencing":    {"/bin/sh", "repeat.fencing"},
	"FenceOn":    {"/bin/sh", "repeat.fence_on"},
	"AllowHost":  {true, ""}, // it is not read
	"SelfFence":  {"/bin/sh", "repeat.self_fence"},
	"Oracle":     {"/bin/sh", "repeat.oracle"},
	"Runtime":    {"ssh://host", "repeat.runtime"},
	"Etcd":       {"v3.5.0 => ../evil", "give a version"},
	"Fsync":      {"$(evil)", "has no fsync policy"},
	"Idle":       {"-1s", "repeat.idle_timeout"},
	"Free":       {"-1s", "repeat.free_within"},
	"Wait":       {-1, "must not be below 0"},
	"ComposeSum": {"evil", "has changed since the run"},
	"Until":      {"never", "repeat.until"},
	"Strict":     {true, ""},
	"Lie":        {true, ""},
}

// TestHostileFields sets each field of run.json that decides a run to something hostile.
func TestHostileFields(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[reports.Repeat]()) {
		if f.Anonymous {
			continue // its fields come by themselves
		}
		t.Run(f.Name, func(t *testing.T) {
			h, known := hostile[f.Name]
			if !known {
				t.Fatalf("nobody has decided what a folder may say as %s", f.Name)
			}
			dir := savedRun(t, options(t, "gc-pause", "redlock"), func(r *reports.Run) {
				reflect.ValueOf(r.Repeat).Elem().FieldByName(f.Name).Set(reflect.ValueOf(h.value).Convert(f.Type))
			})
			saved, err := Replayable(dir, Given{})
			if err == nil && h.want != "" { // what a run itself refuses, before anything is started
				var reason string
				if reason, err = Applies(t.Context(), saved.Options); reason != "" {
					err = errors.New(reason)
				}
			}
			if h.want == "" && err != nil || h.want != "" && (err == nil || !strings.Contains(err.Error(), h.want)) {
				t.Errorf("want %q, got %v", h.want, err)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\u202e") {
				t.Errorf("raw: %q", err)
			}
		})
	}
}

// What is built in needs no trust.
func TestBuiltInNeedsNoTrust(t *testing.T) {
	for name, change := range map[string]func(*reports.Repeat){
		"nothing":             func(*reports.Repeat) {},
		"an image of dlmtest": func(r *reports.Repeat) { r.Image = "dlmtest/client-python:latest" },
		"a library":           func(r *reports.Repeat) { r.Library = "redsync" },
		"a release":           func(r *reports.Repeat) { r.Library = "redsync@v4.13.0" },
		"an early release":    func(r *reports.Repeat) { r.Library = "redsync@v4.0.0-beta.1" },
		"a version of etcd":   func(r *reports.Repeat) { r.Etcd = "3.6.16" },
	} {
		saved, err := Replayable(savedRun(t, options(t, "gc-pause", "redlock"), func(r *reports.Run) { change(r.Repeat) }), Given{})
		if err != nil || len(saved.Trusted) > 0 || saved.Options.Withhold {
			t.Errorf("%s: %v %+v", name, err, saved)
		}
	}
	for _, name := range []string{"dlmtest/client", "dlmtest/client:1", "docker.io/dlmtest/client:latest", "dlmtest/client:latest ", "dlmtest/client:latest@sha256:00", "Dlmtest/client:latest"} {
		_, err := Replayable(savedRun(t, options(t, "gc-pause", "redlock"), func(r *reports.Run) { r.Repeat.Image = name }), Given{})
		if !errors.Is(err, ErrTrust) {
			t.Errorf("the image %q passes for a built-in one: %v", name, err)
		}
	}
}

// TestTrust: what lets a folder's programs pass, and what does not.
func TestTrust(t *testing.T) {
	compose := unlabelled(t)
	sum, err := composeSum(compose)
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://me:geheim@192.0.2.1:80/?key=geheim"
	all := func(r *reports.Repeat) {
		r.Adapter, r.Files, r.Image = []string{"python3", "/adapter/a b.py"}, "/srv/files", "mine:1"
		r.Compose, r.ComposeSum = compose, sum
	}
	given := Given{Settings: settings.Settings{Adapter: []string{"python3", "/adapter/a b.py"}, Files: "/srv/files", Image: "mine:1", Compose: compose}}
	called := func(r *reports.Repeat) { r.Endpoints = []string{"http://me:***@192.0.2.1:80/?key=***"} }
	open := func(r *reports.Repeat) { r.Endpoints = []string{"http://192.0.2.1:80/"} }
	for name, c := range map[string]struct {
		change   func(*reports.Repeat)
		given    Given
		want     string // of the error; "": it goes on
		withheld bool
	}{
		"nothing given":            {all, Given{}, "repeat.client_image    \"mine:1\"  (--client-image)", false},
		"trusted":                  {all, Given{Trust: true}, "", false},
		"all given":                {all, given, "", false},
		"files by another way":     {all, with(given, func(g *Given) { g.Files = "/srv/../srv/files" }), "", false},
		"one missing":              {all, with(given, func(g *Given) { g.Image = "" }), "repeat.client_image", false},
		"one missing, trusted":     {all, with(given, func(g *Given) { g.Image, g.Trust = "", true }), "", false},
		"another adapter":          {all, with(given, func(g *Given) { g.Adapter = []string{"python3", "/adapter/a", "b.py"} }), "--adapter: what you give is not what", false},
		"another, trusted":         {all, with(given, func(g *Given) { g.Files, g.Trust = "/srv", true }), "--adapter-files: what you give is not what", false},
		"given for nothing":        {func(*reports.Repeat) {}, Given{Settings: settings.Settings{Image: "mine:1"}}, "--client-image: what you give is not what", false},
		"another compose file":     {all, with(given, func(g *Given) { g.Compose = "/dev/null" }), "the compose file of the run was /dev/null", false},
		"endpoints, trusted":       {open, Given{Trust: true}, "", true},
		"endpoints, given":         {open, Given{Settings: settings.Settings{Endpoints: []string{"http://192.0.2.1:80/"}}}, "", false},
		"masked, trusted":          {called, Given{Trust: true}, "its secrets were not stored", false},
		"masked, given":            {called, Given{Settings: settings.Settings{Endpoints: []string{endpoint}}}, "", false},
		"masked, given to another": {called, Given{Settings: settings.Settings{Endpoints: []string{"http://me:geheim@192.0.2.2:80/?key=geheim"}}}, "--endpoint: what you give is not what", false},
		"masked, given masked":     {called, Given{Settings: settings.Settings{Endpoints: []string{"http://me:***@192.0.2.1:80/?key=***"}}}, "", false}, // Options.reaches refuses it
		"one of two given":         {func(r *reports.Repeat) { r.Endpoints = []string{"a:1", "b:1"} }, Given{Settings: settings.Settings{Endpoints: []string{"a:1"}}}, "what you give is not what", false},
	} {
		t.Run(name, func(t *testing.T) {
			saved, err := Replayable(savedRun(t, options(t, "gc-pause", "redis"), func(r *reports.Run) { c.change(r.Repeat) }), c.given)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("want %q, got %v", c.want, err)
				}
				return
			}
			if err != nil || saved.Options.Withhold != c.withheld {
				t.Fatalf("%v, %+v", err, saved)
			}
			if given := c.given; len(given.Endpoints) > 0 && saved.Options.Endpoints[0] != given.Endpoints[0] || given.Trust == (len(saved.Trusted) == 0) {
				t.Errorf("%+v, trusted %q", saved.Options, saved.Trusted)
			}
		})
	}
}

func with(g Given, change func(*Given)) Given { change(&g); return g }

// A compose file is never taken from the run's folder, whatever leads there; whoever
// names it himself may.
func TestComposeOfTheFolder(t *testing.T) {
	elsewhere := t.TempDir()
	for name, path := range map[string]func(dir string) string{
		"in it":       func(dir string) string { return filepath.Join(dir, "compose.yml") },
		"around":      func(dir string) string { return filepath.Join(dir, "..", filepath.Base(dir), "compose.yml") },
		"by a link":   func(dir string) string { return filepath.Join(elsewhere, "link.yml") },
		"by a folder": func(dir string) string { return filepath.Join(elsewhere, "folder", "compose.yml") },
	} {
		dir := savedRun(t, options(t, "gc-pause", "redis"), nil)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "compose.yml"), []byte("services: {a: {image: x}}\n"), 0o600), os.RemoveAll(filepath.Join(elsewhere, "link.yml")), os.RemoveAll(filepath.Join(elsewhere, "folder")),
			os.Symlink(filepath.Join(dir, "compose.yml"), filepath.Join(elsewhere, "link.yml")), os.Symlink(dir, filepath.Join(elsewhere, "folder"))); err != nil {
			t.Fatal(err)
		}
		sum, _ := composeSum(filepath.Join(dir, "compose.yml"))
		rewrite(t, dir, func(r *reports.Repeat) { r.Compose, r.ComposeSum = path(dir), sum })
		for _, g := range []Given{{}, {Trust: true}} {
			if _, err := Replayable(dir, g); !errors.Is(err, ErrTrust) || !strings.Contains(err.Error(), "never taken from the folder") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if saved, err := Replayable(dir, Given{Settings: settings.Settings{Compose: filepath.Join(dir, "compose.yml")}}); err != nil || saved.Options.AllowHost {
			t.Errorf("%s, and named: %v", name, err)
		}
	}
}

// rewrite changes the run.json of a folder.
func rewrite(t *testing.T, dir string, change func(*reports.Repeat)) {
	t.Helper()
	run, err := readRun(golden.Root(t, dir))
	if err == nil {
		change(run.Repeat)
		err = Write(golden.Root(t, dir), runFile, func(w io.Writer) error { return writeJSON(w, run) })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoSecretIsStored: what is written of a run has no password, and the bearer token of
// the environment goes nowhere that a folder names.
func TestNoSecretIsStored(t *testing.T) {
	t.Setenv(BearerVariable, "bearer-geheim")
	o := options(t, "gc-pause", "http")
	o.Runtime, o.Endpoints = "docker", []string{"http://me:geheim@192.0.2.1:80/?key=geheim", "http://geheim@192.0.2.2:80"}
	o.Adapter = []string{"x", "postgres://u:geheim@h/db"}
	o.Command = []string{"dlmtest", "run", "--endpoint", o.Endpoints[0]}
	p, err := newPlan(t.Context(), o, locks.Table["http"])
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{plan: p, site: &site{}, dir: t.TempDir(), rec: &recorder{}}
	data, err := json.Marshal(s.describe(time.Now(), false))
	if err != nil || strings.Contains(string(data), "geheim") {
		t.Errorf("%v\n%s", err, data)
	}
	if got := p.worker(0, "client-1", "").Lock.Bearer; got != "bearer-geheim" {
		t.Errorf("an endpoint of the command line gets %q", got)
	}
	p.Withhold = true
	if got := p.worker(0, "client-1", "").Lock.Bearer; got != "" {
		t.Errorf("an endpoint of a folder gets %q", got)
	}
	for _, e := range []string{"me:geheim@192.0.2.1:80", "http://me:geheim@192.0.2.1", "http://me:geheim@localhost:1/?geheim", "grpc://me:gehe im@h"} {
		o.Endpoints = []string{e}
		if _, err := newPlan(t.Context(), o, locks.Table["http"]); err != nil && strings.Contains(err.Error(), "gehe") {
			t.Errorf("%s: %v", e, err)
		}
	}
	o.Endpoints = []string{"http://me:***@192.0.2.1:80/"}
	if _, err := newPlan(t.Context(), o, locks.Table["http"]); err == nil || !strings.Contains(err.Error(), "give it anew") {
		t.Errorf("a masked endpoint: %v", err)
	}
}

// What a node writes has no secret either: neither its log nor the history.
func TestNodesTellNoSecret(t *testing.T) {
	hide := secret.Filter(append(secret.Of([]string{"http://me:ge%22heim@h"}), secret.Forms("bearer-geheim")...))
	rec, err := newRecorder(filepath.Join(t.TempDir(), partFile), history.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	rec.hide = hide
	dir := t.TempDir()
	stdout := `{"log":"Post http://me:ge%22heim@h: Bearer bearer-geheim, or ge\"heim"}` + "\n"
	n, err := attach(&clusters.Node{Spec: clusters.NodeSpec{Name: "n"}, Stdout: strings.NewReader(stdout), Stderr: strings.NewReader("")}, rec, dir)
	if err != nil {
		t.Fatal(err)
	}
	<-n.gone
	log, err := os.ReadFile(filepath.Join(dir, "n.log"))
	if err != nil || string(log) != "Post http://me:***@h: Bearer ***, or ***\n" {
		t.Errorf("%q %v", log, err)
	}
}

// What a compose file has from the environment is a secret whatever is tested.
func TestBearerIsAlwaysSecret(t *testing.T) {
	t.Setenv(BearerVariable, "bearer-geheim")
	if got := (&plan{}).secrets(); !slices.Contains(got, "bearer-geheim") {
		t.Errorf("hidden: %q", got)
	}
}
