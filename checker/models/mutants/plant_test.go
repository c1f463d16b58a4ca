package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlant plants mistakes in a small file and reads what comes out.
func TestPlant(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	source := "package p\n\nfunc f(a, b int, ok bool) int {\n\tif ok && a < b {\n\t\ta++\n\t}\n\tfor a > 9 {\n\t\ta = b\n\t}\n\treturn a\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module p\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	planted, overlay, err := plant(dir, scratch)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range planted {
		got = append(got, strings.TrimPrefix(m.at, filepath.Base(dir)+"/")+": "+m.what)
	}
	want := []string{
		"a.go:4:5: condition turned round: ok && a < b", "a.go:4:5: && becomes ||: ok && a < b",
		"a.go:4:11: < becomes <=: a < b", "a.go:4:11: < becomes >=: a < b", "a.go:5:3: left out: a++",
		"a.go:7:6: > becomes >=: a > 9", "a.go:7:6: > becomes <=: a > 9", "a.go:8:3: left out: a = b",
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("%q is not planted", w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("planted %q", got)
	}
	if _, err := os.Stat(overlay); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(scratch, "a.go"))
	if err != nil || !strings.Contains(string(text), "if !mutant(4) { a++ }") && !strings.Contains(string(text), "{ a++ }") {
		t.Errorf("%v\n%s", err, text)
	}
}

// What is excused stands in its file: an excuse for code that has gone would excuse what comes there next.
func TestExcusesHaveTheirLines(t *testing.T) {
	for _, e := range equivalent {
		of, name := filepath.Split(e.file)
		dir := map[string]string{"checker/": "../..", "models/": "..", "trace/": "../../../history/trace"}[of]
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), e.line) {
			t.Errorf("%s has no %q: %v", e.file, e.line, err)
		}
	}
}

func TestExcused(t *testing.T) {
	if _, known := excused(mistake{at: "nowhere.go:1", what: "left out: x"}); known {
		t.Error("a mistake in no list is excused")
	}
}
