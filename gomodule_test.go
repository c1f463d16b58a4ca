package dlmtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module is the template of a maintainer's own module.
const module = "examples/gomodule"

// inModule runs a command there, and returns what it prints and its exit code.
func inModule(t *testing.T, argv ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = module
	// With the flags of make, what make test has compiled is used again: all from nothing takes ten minutes on a slow machine.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -trimpath", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "updates to go.mod needed") || strings.Contains(string(out), "missing go.sum entry") {
		t.Fatalf("%s does not go with this module's go.mod any more: make tidy\n%s", module, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The template passes as it stands: its own go test, in namespaces, with no Docker.
func TestModule(t *testing.T) {
	needsRedis(t)
	out, code := inModule(t, "go", "test", "-count=1", "-v", ".")
	if code != 0 || strings.Count(out, "--- PASS") != 2 || strings.Contains(out, "--- SKIP") {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	if want := "known weakness, violated in 1 of 1 run"; !strings.Contains(out, want) {
		t.Errorf("a stopped client was not seen to act, want %q in:\n%s", want, out)
	}
}

// Its program is all of dlmtest, with the lock among the libraries.
func TestModuleProgram(t *testing.T) {
	needsRedis(t)
	program := filepath.Join(t.TempDir(), "smalllock-dlmtest")
	if out, code := inModule(t, "go", "build", "-o", program, "./cmd/smalllock-dlmtest"); code != 0 {
		t.Fatal(out)
	}
	if out, code := inModule(t, program, "list", "libraries"); code != 0 || !strings.Contains(out, "smalllock") || !strings.Contains(out, "v0.1.0") {
		t.Errorf("exit %d, no smalllock v0.1.0 in:\n%s", code, out)
	}
	runs := t.TempDir()
	out, code := inModule(t, program, "run", "--scenario", "baseline", "--library", "smalllock@v0.1.0", "--runtime", "local", "--lease", "1s", "--out", runs)
	if code != 0 || !strings.Contains(out, "smalllock") {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	if out, code := inModule(t, program, "check", filepath.Join(runs, "latest")); code != 0 || !strings.Contains(out, "smalllock") {
		t.Errorf("check: exit %d:\n%s", code, out)
	}
	if out, code := inModule(t, program, "run", "--scenario", "baseline", "--library", "smalllok"); code != 64 || !strings.Contains(out, `"smalllock"`) {
		t.Errorf("a slip of the finger: exit %d:\n%s", code, out)
	}
}
