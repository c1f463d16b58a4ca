package dlmtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What CONTRIBUTING says of a new thing is true of the newest one: the files that it lists, and
// no others, name it. A second table would be one more file.
func TestPaths(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(text), "\n## A new ")[1:]
	if len(sections) == 0 {
		t.Fatal("CONTRIBUTING.md has no section that begins with ## A new")
	}
	for _, section := range sections {
		what, rest, _ := strings.Cut(section, "\n")
		names, listed := worked(rest)
		if len(names) == 0 || len(listed) == 0 {
			t.Errorf("a new %s: no line that begins with \"The newest is `NAME`\", or no list of files", what)
			continue
		}
		if got := naming(t, names); !slices.Equal(got, listed) {
			t.Errorf("a new %s: CONTRIBUTING.md lists\n%s\nand these name %s:\n%s",
				what, strings.Join(listed, "\n"), strings.Join(names, " or "), strings.Join(got, "\n"))
		}
	}
}

// worked reads a worked example: the names of the newest thing, and the files of the list after it.
func worked(section string) (names, files []string) {
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(section) {
		all := quoted.FindAllStringSubmatch(line, -1)
		switch {
		case strings.HasPrefix(line, "The newest is "):
			for _, q := range all {
				names = append(names, q[1])
			}
		case strings.HasPrefix(line, "- `"):
			files = append(files, all[0][1])
		case strings.HasPrefix(line, "## "):
			return names, files
		}
	}
	return names, slices.Sorted(slices.Values(files))
}

// naming lists the files that name one of these: as a text in quotes, as a key of YAML, or as a
// word of Go. Tests, scenarios, the bugs of libraries and words use what exists, and add nothing.
func naming(t *testing.T, names []string) (files []string) {
	t.Helper()
	for i, name := range names {
		names[i] = regexp.QuoteMeta(name)
	}
	any := "(" + strings.Join(names, "|") + ")"
	named := regexp.MustCompile(`["` + "`" + `]` + any + `["` + "`" + `]|\b` + any + `\(|\b` + any + `,|(?m)^\s*` + any + `:|\[` + any + `[,\]]`)
	users := []string{"docs", "examples", "runner/corpus", "runs", "build"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || slices.Contains(users, filepath.ToSlash(path)) || len(path) > 1 && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go"), strings.HasPrefix(path, "scenarios") && filepath.Ext(path) != ".go", !slices.Contains([]string{".go", ".yml", ".yaml", ".json"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && named.Match(text) {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
