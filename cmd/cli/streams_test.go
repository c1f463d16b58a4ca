package cli

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// mayWriteRaw are the files that name the process's own streams, and why they may.
var mayWriteRaw = map[string]string{
	"cmd/cli/streams.go":                  "makes the filters",
	"cmd/cli/inside.go":                   "a program of a node: its agent reads what it writes",
	"cmd/early/early.go":                  "the same",
	"nemesis/agent/seal/helper.go":        "inside a node, before it becomes its program",
	"nemesis/agent/disk.go":               "inside a node: the runner filters the node's log",
	"locks/libraries/golang.go":           "inside a node",
	"workloads/conform.go":                "inside a node",
	"locks/protocol/adapter/serve.go":     "an adapter, whose reader is dlmtest",
	"runner/faultcheck/outside/beat.go":   "inside a node",
	"runner/faultcheck/outside/record.go": "inside a node",
	"clusters/local/init.go":              "inside a run without Docker, whose reader is the runner",
	"clusters/local/probe.go":             "inside a node",
	"main.go":                             "through a filter",
	"init.go":                             "through a filter",
}

// Nobody prints past the filters: a new file that does must be decided.
func TestStreams(t *testing.T) {
	raw := map[string][]string{"os": {"Stdout", "Stderr"}, "fmt": {"Print", "Printf", "Println"}, "log": {"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf"}}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || name == "examples" || name == "checker/models/mutants") {
			return fs.SkipDir // programs of their own
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var called string
			switch x := n.(type) {
			case *ast.SelectorExpr:
				if of, ok := x.X.(*ast.Ident); ok && slices.Contains(raw[of.Name], x.Sel.Name) {
					called = of.Name + "." + x.Sel.Name
				}
			case *ast.CallExpr:
				if f, ok := x.Fun.(*ast.Ident); ok && (f.Name == "println" || f.Name == "print") && len(x.Args) > 0 {
					called = f.Name
				}
			}
			if called != "" && mayWriteRaw[name] == "" {
				t.Errorf("%s uses %s: print to stdout and stderr of cmd/cli/streams.go, or to a writer that the caller gives", name, called)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// evil is a name that steers a terminal, turns text around, hides and gives CI commands.
const evil = "e\x1b[31m\x1b]0;t\a\u009b2J\u202evil\u2066\u200b\U000e0041\r\n::error::x\n##vso[task.complete]\x7f"

// evilFile is evil as far as a file's name can be.
var evilFile = strings.NewReplacer("/", "").Replace(evil)

// hostileFolder has files that somebody else wrote.
type hostileFolder struct{ run, matrix, scenario, gate, compose, adapter string }

func newHostileFolder(t *testing.T) hostileFolder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), evilFile)
	h := hostileFolder{run: filepath.Join(dir, "run"), matrix: filepath.Join(dir, "matrix"), scenario: filepath.Join(dir, "s.yaml"),
		gate: filepath.Join(dir, "gate.yaml"), compose: filepath.Join(dir, "compose.yml"), adapter: filepath.Join(dir, "adapter.sh")}
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	quoted := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	// A key, an owner, nodes and errors of two clients that hold one lock at once.
	text := strings.Join(recorded[:lineBegin], "\n") + "\n" + strings.NewReplacer(`"node":"c1"`, `"node":"c2"`, `"process":1`, `"process":2`, `"owner":"a"`, `"owner":"b"`,
		`"token":1`, `"token":2`, `"v1"`, `"v2"`).Replace(strings.Join(recorded[lineAsked:lineBegin], "\n")) + "\n" +
		`{"time":55,"node":"c1","process":1,"type":"invoke","f":"release","key":"k","owner":"a","token":1}` + "\n" +
		`{"time":56,"node":"c1","process":1,"type":"fail","f":"release","key":"k","owner":"a","token":1,"error":"X"}` + "\n"
	text = strings.NewReplacer(`"k"`, quoted(evil), `"c1"`, quoted("c1"+evil), `"c2"`, quoted("c2"+evil), `"X"`, quoted(evil)).Replace(text)
	run := quoted(reports.Run{ID: evil, Scenario: evil, Backend: evil, Library: evil, Interrupted: evil, Command: []string{"dlmtest", "run", evil}})
	for _, at := range []string{h.run, filepath.Join(h.matrix, "one")} {
		put(filepath.Join(at, "history.jsonl"), text)
		put(filepath.Join(at, "run.json"), run)
	}
	put(filepath.Join(h.matrix, "index.json"), quoted(pages.Index{Format: 1, ID: evil, Version: evil, Scenarios: []string{evil}, Backends: []string{evil}, Count: 1, Command: []string{evil},
		Cells: []pages.Cell{{Scenario: evil, Backend: evil, Verdict: reports.Violates, Runs: []pages.CellRun{{Dir: "one", Verdict: reports.Violates, Error: evil, Doubts: []string{evil}, Seed: 1}}},
			{Scenario: evil, Backend: "b", Verdict: reports.NoSense, Reason: evil}}}))
	put(h.scenario, "name: "+quoted(evil)+"\n"+quoted(evil)+": 1\n")
	put(h.gate, "name: "+quoted(evil)+"\ncells:\n  - {scenario: "+quoted(evil)+", backend: "+quoted(evil)+"}\n")
	put(h.compose, "services:\n  "+quoted(evil)+": {image: "+quoted(evil)+", labels: {dlmtest.leases: "+quoted(evil)+"}}\n")
	put(h.adapter, "#!/bin/sh\nprintf '\\033[31m\\302\\2332J\\342\\200\\256\\n::error::x\\n' >&2\n"+
		`printf '{"hello":{"name":"\\u202e\\u001b[31m\\n::error::x","library":"\\u009b","protocol":1,"offers":["\\u200b"]}}\n'`+"\n"+
		`printf '\033[2J\302\233::error::x\n'`+"\ncat >/dev/null\n")
	return h
}

// hostileCalls are the command lines that every command is asked with. One that has none
// says why: a new command must be decided.
func hostileCalls(h hostileFolder) map[string][][]string {
	file := filepath.Join(h.run, "history.jsonl")
	return map[string][][]string{
		"run": {{"--scenario", evil, "--backend", "redis"}, {"--scenario", h.scenario, "--backend", "redis"}, {"--scenario", "baseline", "--backend", evil},
			{"--scenario", "baseline", "--backend", "redis", "--runtime", "local", "--compose", h.compose}, {"--scenario", "baseline", "--backend", "http", "--endpoint", evil},
			{"--scenario", "baseline", "--library", evil}, {"--scenario", "baseline", "--backend", "redis", "--lease", evil}, {"--" + evil}},
		"check":                 {{h.run}, {h.run, "--json"}, {h.matrix}, {h.matrix, "--json"}, {file}, {file, "--model", "mutex"}, {file, "--model", "mutex", "--json"}, {evil}, {h.scenario, "--model", "mutex"}},
		"explain":               {{h.run}, {h.run, "--json"}, {h.run, "1"}, {file}, {file, "1", "--model", "mutex"}, {evil}, {h.run, evil}},
		"replay":                {{h.run}, {h.matrix}, {evil}},
		"report":                {{h.run, "--format", "md"}, {h.run, "--format", "json"}, {h.run, "--format", "html", "-o", "-"}, {h.run, "--format", "svg", "-o", "-"}, {h.run, h.run, "--format", "md"}, {h.matrix, "--format", "md"}, {h.matrix, "--json"}, {h.matrix, "--format", "html", "-o", "/dev/stdout"}, {evil}},
		"report merge":          {{h.matrix, "-o", filepath.Join(filepath.Dir(h.run), "whole")}, {evil, "-o", evil}},
		"report choosing":       {{evil, "--record", evil}, {h.matrix, "--record", filepath.Join(filepath.Dir(h.run), "choosing.json")}, {"--record", h.gate}},
		"report counts":         {{evil}, {h.matrix}},
		"serve":                 {{evil}, {h.run, "--listen", evil}},
		"hunt":                  {{"--library", evil}, {"--backend", "redis", "--known", h.gate, "--runtime", evil}, {"--backend", "redis", "--resume", evil}, {"--backend", evil, "--for", evil}},
		"shrink":                {{h.run}, {h.run, "--property", evil}, {evil}},
		"convert":               {{file, "--to", "edn"}, {file, "--to", "jsonl"}, {evil, "--to", "edn"}, {h.scenario, "--to", "edn"}},
		"conform":               {{"--endpoint", "127.0.0.1:1", "--", h.adapter}, {"--json", "--endpoint", "127.0.0.1:1", "--", h.adapter}, {"--endpoint", evil, "--", evil}, {"--backend", evil}, {"--backend", "redis", "--library", evil}},
		"capacity":              {{"--backend", evil}, {"--backend", "redis", "--runtime", evil}},
		"doctor":                {{}, {"--json"}},
		"init":                  {{evil}, {"go", evil}, {"go", filepath.Dir(h.scenario)}},
		"list":                  {{evil}, {}, {"--json"}},
		"images":                {{evil}},
		"images build":          {{}, {evil}},
		"images key":            {{}, {evil}},
		"images list":           {{}, {evil}},
		"man":                   {{filepath.Join(h.gate, evil)}},
		"schema":                {{evil}, {"gate"}},
		"selftest":              {{"--part", evil}, {evil}},
		"gate":                  {{"--config", h.gate}, {"--config", evil}, {"--config", h.gate, "--of", h.matrix}, {"--config", h.gate, "--of", evil}},
		"gate init":             {{h.run}, {h.matrix}, {evil}},
		"diff":                  {{h.matrix, h.matrix}, {h.run, h.run}, {h.matrix, h.run, "--json"}, {h.matrix, h.run, "--markdown"}, {evil, evil}},
		"corpus":                {{evil}, {"--record", evil}},
		"help":                  {{evil}},
		"completion":            {{evil}},
		"completion bash":       {{evil}},
		"completion fish":       {{evil}},
		"completion zsh":        {{evil}},
		"__complete":            {{"explain", h.run, ""}, {"run", "--scenario", evil}},
		"completion powershell": {{evil}},
	}
}

// Whatever others wrote, nothing of it reaches the terminal, the log or the CI raw.
func TestHostileStringsInEveryCommand(t *testing.T) {
	beside(t)
	program, h := dlmtest(t), newHostileFolder(t)
	calls := hostileCalls(h)
	root := newRoot()
	root.InitDefaultHelpCmd()
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "dlmtest"), " ")
		if c.Runnable() && name != "" && !(c.Hidden && Inside([]string{"", name})) && calls[name] == nil {
			t.Errorf("dlmtest %s prints, and no hostile string is tried on it: add it to hostileCalls", name)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for name, all := range calls {
		for _, args := range all {
			args = append(strings.Fields(name), args...)
			if slices.ContainsFunc(args, func(a string) bool { return strings.ContainsRune(a, 0) }) {
				t.Fatal("no argument can have a zero byte")
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			cmd := exec.CommandContext(ctx, program, args...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "DOCKER_HOST=unix:///nowhere/"+evilFile, "DLMTEST_SEED="+evil, "GITHUB_ACTIONS=true")
			said, _ := cmd.CombinedOutput()
			cancel()
			if len(said) == 0 {
				t.Errorf("%q says nothing", args)
			}
			wantVisible(t, args, said)
		}
	}
	_ = filepath.WalkDir(filepath.Dir(h.run), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{"results.json", "report.html", "junit.xml", "index.html", "index.md"}, d.Name()) {
			text, _ := os.ReadFile(path)
			for _, r := range string(text) {
				if visible.Hidden(r) {
					t.Errorf("%q has %U", d.Name(), r)
					break
				}
			}
		}
		return nil
	})
}

func wantVisible(t *testing.T, args []string, said []byte) {
	t.Helper()
	for line := range strings.SplitSeq(string(said), "\n") {
		bad := !utf8.ValidString(line) || strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##vso[") || strings.ContainsFunc(line, visible.Hidden)
		if bad {
			t.Errorf("%q prints %.200q", args, line)
			return
		}
	}
}
