package gobuild

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var hello = Program{Name: "hello", Binaries: map[string]string{"hello": "."},
	Files: map[string][]byte{"main.go": []byte("package main\n\nfunc main() { print(\"hello\") }\n")}}

// ownCache keeps programs in a folder of the test's own, and the go command's cache as it is.
func ownCache(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func TestBuild(t *testing.T) {
	ownCache(t)
	var said []string
	folder, err := Build(t.Context(), hello, func(line string) { said = append(said, line) })
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(folder, "hello")).CombinedOutput()
	if string(out) != "hello" || err != nil || len(said) == 0 {
		t.Errorf("%q %v, told %q", out, err, said)
	}
	said = nil
	again, err := Build(t.Context(), hello, func(line string) { said = append(said, line) })
	if again != folder || err != nil || len(said) > 0 {
		t.Errorf("a second build: %s %v, told %q", again, err, said)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), "building-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Runs side by side ask for the same program.
func TestBuildTogether(t *testing.T) {
	ownCache(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := Build(t.Context(), hello, func(string) {}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestBuildFails(t *testing.T) {
	ownCache(t)
	bad := hello
	bad.Files = map[string][]byte{"main.go": []byte("package main\n\nfunc main() { nonsense() }\n")}
	_, err := Build(t.Context(), bad, func(string) {})
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") || !strings.Contains(err.Error(), "build hello") {
		t.Errorf("got %v", err)
	}
	pins, _ := os.ReadDir(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "dlmtest", "pins"))
	if len(pins) > 0 {
		t.Errorf("left behind: %v", pins)
	}
	t.Setenv("PATH", "")
	if _, err := Build(t.Context(), bad, func(string) {}); err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("without a go command: %v", err)
	}
}

// TestSum: all that decides a program decides its folder.
func TestSum(t *testing.T) {
	sums := map[string]bool{}
	for _, p := range []Program{{}, {Requires: []string{"a v1.0.0"}}, {Requires: []string{"a v1.0.1"}}, {Module: "m"},
		{Files: map[string][]byte{"a": []byte("b")}}, {Files: map[string][]byte{"a": []byte("c")}}, {Binaries: map[string]string{"a": "."}}} {
		if sums[p.sum()] {
			t.Errorf("%+v is taken for another", p)
		}
		sums[p.sum()] = true
	}
}
