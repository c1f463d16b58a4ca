package runner

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/shapes"
)

// largeViolated is the folder of a run of hundreds of thousands of lines with thousands
// of violations.
func largeViolated(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, s := range shapes.All {
		if s.Name != "zombies" {
			continue
		}
		setup, ops := s.Make(200000)
		f, err := os.Create(filepath.Join(dir, HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		if err := history.Encode(f, setup, ops); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func readSaved(t *testing.T, dir string) checker.Result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, resultsFile))
	var r checker.Result
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The verdict is saved before anything is made smaller. An interrupt that comes then
// ends that at once: nothing more is looked for, and the report says so.
func TestVerdictComesFirst(t *testing.T) {
	dir := largeViolated(t)
	violations := filepath.Join(dir, violationsDir)
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	out, err := Check(ctx, dir, checker.Oracle{Self: []string{"/bin/false"}}, func(out *Outcome) {
		told++
		first := readSaved(t, dir)
		if first.Verdict != checker.Violated || first.Verdict != out.Result.Verdict {
			t.Errorf("%v is saved, and %v is told", first.Verdict, out.Result.Verdict)
		}
		if v := first.Property("mutual-exclusion").Violations[0]; v.Minimal == nil || !v.Minimal.Skipped || v.Minimal.Why == "" {
			t.Errorf("it does not say that its evidence is still to come: %+v", v.Minimal)
		}
		if _, err := os.Stat(violations); err == nil {
			t.Error("evidence was looked for before the verdict was saved")
		}
		if _, err := os.Stat(filepath.Join(dir, reportFile)); err == nil {
			t.Error("a report was drawn before the verdict was saved")
		}
		cancel()
	})
	if err != nil || told != 1 {
		t.Fatalf("%v, told %d times", err, told)
	}
	if left, err := os.ReadDir(violations); err == nil && len(left) > 0 {
		t.Errorf("%d files of evidence were made after the interrupt", len(left))
	}
	for _, p := range readSaved(t, dir).Properties {
		for _, v := range p.Violations[:min(len(p.Violations), checker.MinimalKept)] {
			if v.Minimal == nil || !strings.Contains(v.Minimal.Why, "interrupted") {
				t.Fatalf("%s: %+v", p.Name, v.Minimal)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil || !strings.Contains(string(page), "no smallest history: not looked for: it was interrupted") {
		t.Errorf("the report does not say what was not looked for: %v", err)
	}
	if out.Result.Verdict != checker.Violated {
		t.Errorf("%v", out.Result.Verdict)
	}
}

// Evidence of an earlier judgement stays until the new is whole: an interrupt, or the death
// of who judges again, loses nothing. What is left half made goes with the next.
func TestOldEvidenceStays(t *testing.T) {
	dir := t.TempDir()
	violating(t, dir)
	names := func() (all []string) {
		entries, err := os.ReadDir(filepath.Join(dir, violationsDir))
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
		t.Fatal(err)
	}
	was := names()
	if len(was) == 0 {
		t.Fatal("there is no evidence to lose")
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Check(ctx, dir, checker.Oracle{}, func(*Outcome) {
		if now := names(); !slices.Equal(now, was) {
			t.Errorf("while it is judged: %v, before %v", now, was)
		}
		cancel()
	}); err != nil {
		t.Fatal(err)
	}
	if now := names(); !slices.Equal(now, was) {
		t.Errorf("after an interrupt: %v, before %v", now, was)
	}
	half := filepath.Join(dir, violationsDir+".new")
	if err := errors.Join(os.Mkdir(half, 0o755), os.WriteFile(filepath.Join(half, "half.jsonl"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
		t.Fatal(err)
	}
	if now := names(); !slices.Equal(now, was) {
		t.Errorf("after one that was killed: %v, before %v", now, was)
	}
	if _, err := os.Stat(half); err == nil {
		t.Error("what was half made stays")
	}
}

// Where nothing can be written the verdict is known all the same.
func TestVerdictOnAFullDisk(t *testing.T) {
	dir := largeViolated(t)
	if err := os.Mkdir(filepath.Join(dir, resultsFile), 0o755); err != nil { // nothing can take its place
		t.Fatal(err)
	}
	out, err := Check(t.Context(), dir, checker.Oracle{})
	if err == nil || out == nil || out.Result.Verdict != checker.Violated {
		t.Errorf("%v, %v", err, out)
	}
}

// violating puts the history of a run that violates something into a folder.
func violating(t *testing.T, dir string) {
	t.Helper()
	i := slices.IndexFunc(shapes.All, func(s shapes.Shape) bool { return s.Name == "zombies" })
	setup, ops := shapes.All[i].Make(2000)
	if err := saveHistory(golden.Root(t, dir), setup, ops); err != nil {
		t.Fatal(err)
	}
}

// A run's folder that is exchanged for a link once its verdict is saved has all the rest that is saved, and nothing
// comes where the link leads.
func TestExchangedWhileJudged(t *testing.T) {
	dir, outside := filepath.Join(t.TempDir(), "run"), t.TempDir()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	violating(t, dir)
	if _, err := Check(t.Context(), dir, checker.Oracle{}, func(*Outcome) {
		if err := errors.Join(os.Rename(dir, dir+".was"), os.Symlink(outside, dir)); err != nil {
			t.Fatal(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if came, err := os.ReadDir(outside); err != nil || len(came) > 0 {
		t.Errorf("it wrote outside: %v, %v", came, err)
	}
	for _, name := range []string{reportFile, junitFile, filepath.Join(violationsDir, "1.jsonl")} {
		if _, err := os.Stat(filepath.Join(dir+".was", name)); err != nil {
			t.Error(err)
		}
	}
}
