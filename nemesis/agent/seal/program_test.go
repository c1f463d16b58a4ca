package seal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program is found by its own PATH, the last that is given, in absolute folders alone.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"yes": 0o755, "no": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho $0 $#\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/nowhere", "PATH=/nowhere::.:" + dir}
	cmd := Program(t.Context(), env, []string{"yes", "a", "b"})
	if cmd.Args[0] != "yes" {
		t.Errorf("it is called %q", cmd.Args[0])
	}
	if out, err := cmd.Output(); err != nil || !strings.HasSuffix(string(out), "/yes 2\n") {
		t.Errorf("%q, %v", out, err)
	}
	t.Chdir(dir)
	for _, env := range [][]string{env[:1], {"PATH=."}, {"PATH="}, nil} {
		if err := Program(t.Context(), env, []string{"yes"}).Run(); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%q: %v", env, err)
		}
	}
	for _, name := range []string{"no", "folder"} {
		if err := Program(t.Context(), env, []string{name}).Run(); !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
