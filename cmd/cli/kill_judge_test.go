package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// judge judges what the killed command has left of its runs: nothing of it is green, and
// no sound lock is red.
func (k *killed) judge(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(k.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "run.json" {
			return err
		}
		dir := filepath.Dir(path)
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(`"state": "running"`)) {
			return err
		}
		out, err := runner.Check(t.Context(), dir, checker.Oracle{})
		switch {
		case err != nil:
			t.Errorf("%s: the killed run cannot be judged: %v", k.name, err)
		case out.Result.Verdict == checker.Holds:
			t.Errorf("%s: a killed run is green: %+v", k.name, out.Result)
		case out.Result.Verdict == checker.Violated && out.Run.Scenario == "baseline" && !strings.HasPrefix(out.Run.Backend, "broken/"):
			t.Errorf("%s: a sound lock is red: %s", k.name, keptFolder(t, dir))
		}
		if _, err := runner.Replayable(dir, runner.Given{Trust: true}); err != nil {
			t.Errorf("%s: the killed run cannot be done again: %v", k.name, err)
		}
		return nil
	})
	indices, _ := filepath.Glob(filepath.Join(k.out, "*", "index.json"))
	for _, path := range indices {
		x, errOpen := matrix.Open(filepath.Dir(path))
		if errOpen == nil && !x.Ended {
			x, errOpen = matrix.Check(t.Context(), filepath.Dir(path), checker.Oracle{}, func(pages.Cell, pages.CellRun) {})
			if code := exitWith(matrixError(x, errOpen)); errOpen == nil && code == exitHolds {
				t.Errorf("%s: a killed matrix is green: %+v", k.name, x)
			}
		}
		err = errors.Join(err, errOpen)
	}
	if err != nil {
		t.Error(err)
	}
	entries, _ := os.ReadDir(k.out)
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(k.out, e.Name()))
	}
}

// keptFolder saves a folder from the end of the test.
func keptFolder(t *testing.T, dir string) string {
	t.Helper()
	to, err := os.MkdirTemp("", "dlmtest-kept-*")
	if err == nil {
		err = os.CopyFS(to, os.DirFS(dir))
	}
	return fmt.Sprint(to, " ", err)
}

func notIn(now, before []string) []string {
	return slices.DeleteFunc(slices.Clone(now), func(path string) bool { return slices.Contains(before, path) })
}
