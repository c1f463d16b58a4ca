package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/scenarios"
)

// TestAnswersOfRecordedRuns keeps what results.json answers of histories that real runs recorded, with
// their scenario and without one. Most are only the begin of a run, which leaves open what its end decides.
func TestAnswersOfRecordedRuns(t *testing.T) {
	files, err := filepath.Glob("../reports/testdata/history-*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all bytes.Buffer
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "history-"), ".jsonl")
		for _, with := range []bool{true, false} {
			dir := t.TempDir()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, HistoryFile), text, 0o644); err != nil {
				t.Fatal(err)
			}
			scenario, run := "", reports.Run{Format: reports.Format, State: reports.Ended}
			if i := strings.LastIndex(name, "-"); with {
				scenario, run.Backend = strings.TrimSuffix(name[:i], "-go"), name[i+1:]
			}
			saveAs(t, dir, scenario, run)
			if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s, scenario %q\n", name, scenario)
			answered(t, dir, &all)
		}
	}
	golden.Compare(t, "testdata/answers.txt", all.Bytes())
}

// saveAs says in run.json what a history is of.
func saveAs(t *testing.T, dir, scenario string, run reports.Run) {
	t.Helper()
	if scenario != "" {
		s, err := scenarios.Load(scenario)
		if err != nil {
			t.Fatal(err)
		}
		run.Scenario, run.Resolved = scenario, string(s.YAML())
	}
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, runFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// answered writes what a script reads.
func answered(t *testing.T, dir string, to *bytes.Buffer) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Answers json.RawMessage
		Differs []checker.Difference
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, r.Answers); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(to, "  %s\n", &flat)
	for _, d := range r.Differs {
		fmt.Fprintf(to, "  differs: %s\n", d)
	}
}
