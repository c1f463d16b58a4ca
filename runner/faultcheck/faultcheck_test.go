package faultcheck_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/dlmtest/dlmtest" // hands docker-compose.yml down, as in a program
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/runner/faultcheck"
)

var (
	runtimes = flag.String("runtimes", "", "measure in local, docker, or both with a comma; empty: where it works, without Docker if it can be")
	only     = flag.String("scenarios", strings.Join(faultcheck.Short, ","), "what to measure")
	each     = flag.Int("each", 1, "how often")
	page     = flag.String("page", "", "write the table of docs/faults-measured.md anew, in this file")
)

// What the proofs of faults say is what the victims measure.
func TestMeasured(t *testing.T) {
	self := filepath.Join(t.TempDir(), "dlmtest")
	build := exec.Command("go", "build", "-o", self, "../../cmd/dlmtest")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // containers have other libraries
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	c := program(t)
	var rows []faultcheck.Row
	for range *each {
		for _, runtime := range where(t, self) {
			some, err := faultcheck.Run(t.Context(), faultcheck.Options{Runtime: runtime, Scenarios: strings.Split(*only, ","), Self: self, C: c,
				Parallel: 2, Say: func(text string) { t.Log(text) }, Keep: os.Getenv("FAULTCHECK_KEEP")})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, some...)
		}
	}
	lines, agreed := faultcheck.Tally(rows), map[string]bool{}
	for _, l := range lines {
		agreed[l.Kinds[0]] = agreed[l.Kinds[0]] || l.Agreed > 0
		if l.State == faultcheck.Unmeasured { // a slow machine starts programs too late to see a fault of half a second
			t.Logf("not measured: %s: %s: %s: %s", l.Runtime, l.Fault, l.What, l.Why)
		}
		t.Logf("%-7s %s\n    %s: %d of %d\n    said: %s\n    measured: %s", l.Runtime, l.Fault, l.What, l.Agreed, l.Runs, l.Said, l.Measured)
		if l.State == faultcheck.Disagrees {
			t.Errorf("%s: %s: %s: %s", l.Runtime, l.Fault, l.What, l.Why)
		}
	}
	for kind, seen := range agreed { // one that is never measured may as well not work
		if !seen {
			t.Errorf("nothing of any %s was measured", kind)
		}
	}
	if *page != "" && !t.Failed() {
		rewrite(t, *page, faultcheck.Markdown(lines))
	}
}

// where is in which runtimes there is to measure. A machine without namespaces has Docker.
func where(t *testing.T, self string) []string {
	if *runtimes != "" {
		return strings.Split(*runtimes, ",")
	}
	found := clusters.Doctor(t.Context(), self)
	for _, runtime := range []string{"local", "docker"} {
		if clusters.Works(found, runtime) {
			return []string{runtime}
		}
	}
	t.Fatal("no runtime works on this machine: see dlmtest doctor")
	return nil
}

// rewrite puts the table where the page has one.
func rewrite(t *testing.T, path, table string) {
	const begin, end = "<!-- measured -->\n", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %q and %q", path, begin, end)
	}
	if err := os.WriteFile(path, []byte(head+begin+table+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// program builds the C program, where there is a compiler.
func program(t *testing.T) string {
	dir := t.TempDir()
	if _, err := exec.LookPath("gcc"); err != nil {
		return ""
	}
	if out, err := exec.Command("gcc", "-O1", "-Wall", "-Werror", "-pthread", "-o", filepath.Join(dir, "clocks"), "outside/c/clocks.c").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	return dir
}
