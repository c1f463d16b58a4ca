package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/runner/gate"
)

// project is a folder with the go.mod of a module that has its locks in a version after the first.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/fine/Lock_Er/v2\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open is a folder that the users of client nodes can enter, which those of t are not.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dlmtest-init-*")
	if err := errors.Join(err, os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// in runs a command in a folder, with what else stands in its environment.
func in(t *testing.T, dir string, env []string, argv ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// What init writes for Python keeps what it claims, as it is, on a real server. Java's adapter is Curator's, whose
// library is asked the same elsewhere.
func TestInitConforms(t *testing.T) {
	beside(t)
	for language, argv := range map[string][]string{"python": {"--conform", "--runtime", "local"}, "java": {}} {
		dir := open(t)
		out, code := in(t, dir, nil, append([]string{dlmtest(t), "init", language}, argv...)...)
		if code != 0 {
			t.Errorf("%s: exit %d\n%s", language, code, out)
		}
		if c, err := gate.Load(filepath.Join(dir, "dlmtest", "gate.yaml")); err != nil || len(c.Cells) != 2 {
			t.Errorf("%s: %+v %v", language, c, err)
		}
	}
}

// What init writes for Go is a module of its own: it builds, its lock keeps what it claims, and the project's go.mod is
// as it was. A release is not there yet, so the newest dlmtest is this tree.
func TestInitGoConforms(t *testing.T) {
	beside(t)
	dir, root := project(t), absolute(t, "../..")
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if out, code := in(t, dir, nil, dlmtest(t), "init", "go"); code != 0 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	own := filepath.Join(dir, "dlmtest")
	sums, err := os.ReadFile(filepath.Join(root, "examples/gomodule/go.sum"))
	if err := errors.Join(err, os.WriteFile(filepath.Join(own, "go.sum"), sums, 0o644)); err != nil {
		t.Fatal(err)
	}
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off"}
	program := filepath.Join(t.TempDir(), "lock-er-dlmtest")
	for _, argv := range [][]string{
		{"go", "mod", "edit", "-replace", "github.com/dlmtest/dlmtest=" + root}, {"go", "mod", "tidy", "-e"}, {"go", "vet", "."}, {"go", "build", "-o", program, "."},
		{program, "conform", "--library", "lock-er", "--runtime", "local"},
		{program, "gate", "--config", "gate.yaml", "--runtime", "local", "--count", "1"},
	} {
		if out, code := in(t, own, env, argv...); code != 0 {
			t.Fatalf("%v: exit %d\n%s", argv, code, out)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if _, missing := os.Stat(filepath.Join(dir, "go.sum")); err != nil || string(after) != string(before) || missing == nil {
		t.Errorf("the project's own module has changed: %v %q", err, after)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// Nothing is written over, not even in part; and the same is told to programs.
func TestInitNeverWritesOver(t *testing.T) {
	beside(t)
	dir := project(t)
	if err := os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, ".github", "workflows", "dlmtest.yml")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, code := in(t, dir, nil, dlmtest(t), "init", "go")
	if _, err := os.Stat(filepath.Join(dir, "dlmtest")); code != exitUsage || err == nil || !strings.Contains(out, "nothing was written") {
		t.Errorf("exit %d, %v\n%s", code, err, out)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	out, code = in(t, dir, nil, dlmtest(t), "init", "go", "--json")
	var said struct {
		Name        string
		Files, Next []string
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || code != 0 || said.Name != "lock-er" || len(said.Next) != 3 || !slices.Contains(said.Files, "dlmtest/lock.go") {
		t.Errorf("exit %d, %v\n%s", code, err, out)
	}
}

// A slip, a folder that is none, a folder without a module, and a folder that leads out are told, and nothing is written.
func TestInitRefuses(t *testing.T) {
	linked, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(linked, "dlmtest")); err != nil {
		t.Fatal(err)
	}
	injected := t.TempDir()
	if err := os.WriteFile(filepath.Join(injected, "go.mod"), []byte(`module "ex.org/a\nreplace x => /etc"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"init", "go", injected}, "malformed import path"},
		{[]string{"init", "pyton"}, `unknown language "pyton": want go, java, python (did you mean python`},
		{[]string{"init", "go", "nowhere"}, "no such folder"},
		{[]string{"init", "go", elsewhere}, "want the folder of your module"},
		{[]string{"init", "python", linked}, "escapes"},
	} {
		if out, code := in(t, t.TempDir(), nil, append([]string{dlmtest(t)}, c.args...)...); code == 0 || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit %d, want %q in\n%s", c.args, code, c.want, out)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("written out of the project: %v %v", left, err)
	}
}

// The workflow that init writes gives the action inputs that it has.
func TestInitWorkflow(t *testing.T) {
	b := beginning{Language: "go"}
	if err := b.ofGo(project(t)); err != nil {
		t.Fatal(err)
	}
	b.templates = []string{"dlmtest.yml"}
	files, err := b.files(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Load(files[".github/workflows/dlmtest.yml"], &file); err != nil {
		t.Fatal(err)
	}
	gated := false
	for _, s := range file.Jobs["gate"].Steps {
		if !strings.HasPrefix(s.Uses, "dlmtest/dlmtest@") {
			continue
		}
		gated = s.With["command"] == "go run ."
		for input := range s.With {
			if _, ok := readAction(t).Inputs[input]; !ok {
				t.Errorf("the action has no input %s", input)
			}
		}
	}
	if !gated {
		t.Errorf("%+v", file)
	}
}
