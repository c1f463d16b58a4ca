package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// What stands beside a history is read as strictly as it.
func TestFilesOfAFolderAreStrict(t *testing.T) {
	whole := `{"verdict": "holds", "properties": [{"name": "recovery", "verdict": "holds", "reason": "so"}], "counts": {"operations": 3}, "figures": {"what": 1}}`
	if r, err := DecodeResults("results.json", []byte(whole)); err != nil || r.Verdict != checker.Holds || r.Counts.Operations != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	for text, want := range map[string]string{
		"{\"verdict\": \"holds\",\n \"verdikt\": \"violated\"}":                                                   `results.json: line 2: unknown field "verdikt"`,
		"{\"verdict\": \"holds\",\n\n \"verdict\": \"violated\"}":                                                 `results.json: line 3: field "verdict" comes twice`,
		"{\n\"verdict\": \"green\"}":                                                                              `results.json: line 2: `,
		`{"properties": [{"name": "mutual-exclusoin", "verdict": "holds"}]}`:                                      `results.json: /properties/0: "mutual-exclusoin" is no property`,
		`{"properties": [{"name": "recovery", "verdict": "violated"}, {"name": "recovery", "verdict": "holds"}]}`: `results.json: /properties/1: "recovery" is judged twice`,
		"{\"properties\": [{\"name\": \"recovery\",\n \"verdict\": \"holds\", \"reson\": \"so\"}]}":               `results.json: line 2: unknown field "reson"`,
		"{\"properties\": [{\"name\": \"recovery\", \"violations\": [{\"number\": 1,\n\n\"Operations\": [1]}]}]}": `results.json: line 3: unknown field "Operations"`,
		"{\"verdict\": \"holds\"}\n{}":                                                                            `results.json: line 2: `,
		"{\"figures\": {\"a\": 1,\n \"a\": 2}}":                                                                   `results.json: line 2: field "a" comes twice`,
	} {
		if _, err := DecodeResults("results.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"{\"dlmtest_run\": 1,\n \"backened\": \"redis\"}":             `unknown field "backened"`,
		`{"dlmtest_run": 1, "state": "finished"}`:                     `state "finished": want running, ended or killed`,
		"{\"dlmtest_run\": 1, \"seed\": 1,\n \"seed\": 2}":            `line 2: field "seed" comes twice`,
		"{\"dlmtest_run\": 1, \"repeat\": {\"lie\": true,\n\"x\":1}}": `line 2: unknown field "x"`,
		`{"dlmtest_run": 99, "moon": 1}`:                              `written by a newer dlmtest`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, runFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readRun(golden.Root(t, dir)); err == nil || !strings.Contains(err.Error(), "run.json: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A list that is told from its first to its last is one that somebody can read.
func TestListsOfAFolderHaveAnEnd(t *testing.T) {
	many := strings.Repeat(`"d",`, 1<<17) + `"d"`
	if _, err := DecodeResults("results.json", []byte(`{"doubts": [`+many+`]}`)); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("doubts of results.json: %v", err)
	}
	for _, field := range []string{"doubts", "command"} {
		if _, err := DecodeRun("run.json", []byte(`{"dlmtest_run": 1, "`+field+`": [`+many+`]}`)); !errors.Is(err, bounded.ErrTooLarge) {
			t.Errorf("%s of run.json: %v", field, err)
		}
	}
}
