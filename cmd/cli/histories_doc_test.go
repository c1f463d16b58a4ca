package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// typed is a line of docs/histories.md that a reader may type, and the folder in
// testdata/suites/histories.txtar that has its files.
type typed struct{ suite, line string }

var (
	codeSpan = regexp.MustCompile("`((?:dlmtest|cat) [^`]*)`")
	noSlug   = regexp.MustCompile(`[^a-z0-9]+`)
)

// typedLines are all commands of the page: those of its table, in other sentences, and in blocks.
func typedLines(t *testing.T, page string) (all []typed) {
	block := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			block = !block
			continue
		}
		suite := "lock"
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "|") {
			suite = strings.Trim(noSlug.ReplaceAllString(strings.ToLower(cells[1]), "-"), "-")
		}
		var spans []string
		if block {
			command, _, _ := strings.Cut(line, "#")
			spans = append(spans, strings.TrimSpace(command))
		}
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			spans = append(spans, strings.ReplaceAll(span[1], `\|`, "|"))
		}
		for _, span := range spans {
			one := typed{suite, span}
			if suite == "lock" && strings.Contains(span, "register") {
				one.suite = "register"
			}
			if span != "" {
				all = append(all, one)
			}
		}
	}
	if block {
		t.Fatal("a block without an end")
	}
	return all
}

// TestTypedLines types every command of docs/histories.md on a file of the shape that it is
// for: one that is valid and one that is not.
func TestTypedLines(t *testing.T) {
	beside(t) // the lines one after the other: each takes less than a look at the processors
	page, err := os.ReadFile("../../docs/histories.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := txtar.ParseFile("testdata/suites/histories.txtar")
	if err != nil {
		t.Fatal(err)
	}
	lines, unused := typedLines(t, string(page)), map[string]bool{}
	if len(lines) < 25 {
		t.Errorf("only %d lines are found: %q", len(lines), lines)
	}
	for _, f := range files.Files {
		unused[strings.Split(f.Name, "/")[0]] = true
	}
	for _, l := range lines {
		delete(unused, l.suite)
		for _, kind := range []string{"valid", "invalid"} {
			t.Run(kind+"/"+l.line, func(t *testing.T) { l.run(t, files, kind) })
		}
	}
	if len(unused) > 0 {
		t.Errorf("no line of the page reads %v", unused)
	}
}

func (l typed) run(t *testing.T, files *txtar.Archive, kind string) {
	dir := t.TempDir()
	for _, f := range files.Files {
		if name, found := strings.CutPrefix(f.Name, l.suite+"/"+kind+"/"); found {
			writeAt(t, filepath.Join(dir, name), f.Data)
		}
	}
	if strings.Contains(l.line, "runs/latest") {
		l.bash(t, dir, "mkdir -p runs/latest && dlmtest convert history.edn --to jsonl --lease 2s -o runs/latest/history.jsonl")
	}
	if kind == "valid" && strings.HasPrefix(l.line, "dlmtest explain ") {
		return // there is nothing to explain
	}
	want := map[bool]int{true: 1}[kind == "invalid" && strings.Contains(l.line, "dlmtest check ")]
	if code, said := l.bash(t, dir, l.line); code != want {
		t.Errorf("exited with %d, want %d\n%s", code, want, said)
	}
}

func (l typed) bash(t *testing.T, dir, line string) (code int, said string) {
	cmd := exec.Command("bash", "-c", "set -o pipefail; "+line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return ended.ExitCode(), string(out)
	} else if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

func writeAt(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}
