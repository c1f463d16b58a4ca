package cli

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/scenarios"
)

// trap is a folder that somebody sent, and what tells whether anything of it was started,
// read beyond it, or called.
type trap struct {
	dir, mark string
	calls     atomic.Int64
	addr      string
}

// newTrap makes a run that has everything in it which a folder must not decide.
func newTrap(t *testing.T) *trap {
	t.Helper()
	x := &trap{dir: filepath.Join(t.TempDir(), "sent")}
	x.mark = filepath.Join(filepath.Dir(x.dir), "owned")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			x.calls.Add(1)
			_ = c.Close()
		}
	}()
	x.addr = l.Addr().String()
	scenario, err := scenarios.Load("baseline")
	if err != nil {
		t.Fatal(err)
	}
	evil := []string{"/bin/sh", "-c", "touch " + x.mark + " \x1b]0;owned\x07\u202e"}
	compose := filepath.Join(x.dir, "compose.yml")
	run := reports.Run{Format: reports.Format, ID: "../../etc", Scenario: "baseline", Backend: "redis", Seed: 7, Resolved: string(scenario.YAML()),
		Command: []string{"dlmtest", "run", "--scenario", "baseline", "--backend", "redis", "--adapter", strings.Join(evil[:1], " "), "--adapter-files", "/", "--client-image", "evil:1", "--compose", "/srv/compose.yml", "--allow-host=true", "--seed", "7"},
		Logs:    []string{"../../../etc/shadow", "/etc/shadow"}, History: &reports.HistoryFile{Name: "../../../etc/shadow"},
		Repeat: &reports.Repeat{Scenario: string(scenario.YAML()), Settings: settings.Settings{Adapter: evil, Files: "/", Image: "dlmtest/client:evil", Endpoints: []string{x.addr}, Compose: compose,
			Runtime: "local"}}}
	result := checker.Result{Verdict: checker.Violated, Properties: []checker.Property{{Name: "lease-exclusion", Verdict: checker.Violated, Violations: []checker.Violation{{Number: 1, Message: "m",
		Minimal: &checker.Minimal{File: "../x; touch " + x.mark + "\nforged: line"}}}}}}
	var text strings.Builder
	if err := history.Encode(&text, history.Setup{Lease: 2 * time.Second, Keys: []string{"key-1"}, Clients: []string{"client-1"}}, nil); err != nil {
		t.Fatal(err)
	}
	files := map[string]any{"run.json": run, "results.json": result, "history.jsonl": text.String(),
		"compose.yml": "services: {redis-1: {image: dlmtest/redis:latest, profiles: [redis], user: root, volumes: ['/:/host']}}\n",
		"gate.yaml":   "cells: [{scenario: baseline, backend: redis}]\n"}
	for name, value := range files {
		data, plain := value.(string)
		if !plain {
			made, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			data = string(made)
		}
		path := filepath.Join(x.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// TestFolderIsData: no command starts, shows or calls what a folder names. Those that
// would run it say each thing, with nothing raw.
func TestFolderIsData(t *testing.T) {
	beside(t)
	names := []string{`"/bin/sh" "-c" "touch `, `\x1b]0;owned\a\u202e"`, `repeat.adapter_files   "/"`, `repeat.client_image    "dlmtest/client:evil"`, "repeat.endpoints", "never taken from the folder"}
	for name, c := range map[string]struct {
		args func(x *trap) []string
		code int // -1: any, as it is about the folder's content
		want []string
	}{
		"replay":            {func(x *trap) []string { return []string{"replay", x.dir} }, exitUsage, names},
		"replay, trusted":   {func(x *trap) []string { return []string{"replay", x.dir, "--trust"} }, exitUsage, []string{"never taken from the folder"}},
		"replay, in Docker": {func(x *trap) []string { return []string{"replay", x.dir, "--runtime", "docker"} }, exitUsage, names},
		"replay, another":   {func(x *trap) []string { return []string{"replay", x.dir, "--adapter", "/bin/true"} }, exitUsage, []string{"--adapter: what you give is not what"}},
		"shrink":            {func(x *trap) []string { return []string{"shrink", x.dir} }, exitUsage, names},
		"shrink, trusted":   {func(x *trap) []string { return []string{"shrink", x.dir, "--trust"} }, exitUsage, []string{"never taken from the folder"}},
		"gate init":         {func(x *trap) []string { return []string{"gate", "init", x.dir} }, exitUsage, []string{`cells[0].flags.adapter        "/bin/sh"`, `cells[0].flags.adapter-files  "/"`, `cells[0].flags.compose        "/srv/compose.yml"`, "Nothing was written"}},
		"gate --of": {func(x *trap) []string {
			return []string{"gate", "--config", filepath.Join(x.dir, "gate.yaml"), "--of", x.dir}
		}, -1, nil},
		"check":        {func(x *trap) []string { return []string{"check", x.dir} }, -1, nil},
		"explain":      {func(x *trap) []string { return []string{"explain", x.dir, "1"} }, -1, []string{"lease-exclusion", `; touch `}},
		"report":       {func(x *trap) []string { return []string{"report", x.dir} }, -1, nil},
		"report merge": {func(x *trap) []string { return []string{"report", "merge", x.dir, "-o", x.mark + "-merged"} }, -1, nil},
		"diff":         {func(x *trap) []string { return []string{"diff", x.dir, x.dir} }, -1, nil},
		"corpus --record": {func(x *trap) []string {
			return []string{"corpus", "--markdown", "--record", filepath.Join(x.dir, "run.json")}
		}, -1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTrap(t)
			out := t.TempDir()
			cmd := exec.Command(dlmtest(t), c.args(x)...)
			cmd.Dir, cmd.Env = out, append(os.Environ(), "DLMTEST_BEARER=bearer-geheim")
			said, _ := cmd.CombinedOutput() // the exit code is looked at
			if code := cmd.ProcessState.ExitCode(); c.code >= 0 && code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(string(said), want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if c.code == exitUsage && strings.ContainsAny(string(said), "\x1b\u202e\x07") {
				t.Error("something raw was printed")
			}
			for line := range strings.Lines(string(said)) { // a command that a reader is to type is quoted, and on one line
				if strings.HasPrefix(line, "forged") || strings.Contains(line, "/x; touch") && !strings.Contains(line, "'") {
					t.Errorf("a word of the folder stands in %q", line)
				}
			}
			if strings.Contains(string(said), "root:") || strings.Contains(string(said), "geheim") {
				t.Error("a file of the machine, or a secret, was shown")
			}
			if _, err := os.Stat(x.mark); err == nil || x.calls.Load() > 0 {
				t.Errorf("it was started: %v, %d calls", err, x.calls.Load())
			}
			if left, _ := os.ReadDir(out); c.code == exitUsage && len(left) > 0 {
				t.Errorf("something was run: %v", left)
			}
			if t.Failed() {
				t.Logf("%q", said)
			}
		})
	}
}
