package dlmtest

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The tree shows its ideas at the top, and imports point one way between its folders.
func TestTree(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" && e.Name() != "build" && e.Name() != "runs" {
			folders = append(folders, e.Name())
		}
	}
	if len(folders) > 15 {
		t.Errorf("%d folders at the top, at most 15: %v", len(folders), folders)
	}
	if circle := circle(imports(t)); circle != nil {
		t.Errorf("folders import each other in a circle: %s", strings.Join(circle, " → "))
	}
}

// imports lists for each folder at the top those that its packages import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	const module = "github.com/dlmtest/dlmtest"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := func(path string) string {
		if path == module+"/cmd/dlmtest" {
			return "cmd/dlmtest" // is Main of the module's own package, and so above it; the commands are below
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), "/")
		return first
	}
	sets := map[string]map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := folder(words[0])
		for _, path := range words[1:] {
			if to := folder(path); strings.HasPrefix(path, module) && to != from {
				if sets[from] == nil {
					sets[from] = map[string]bool{}
				}
				sets[from][to] = true
			}
		}
	}
	all := map[string][]string{}
	for from, to := range sets {
		all[from] = slices.Sorted(maps.Keys(to))
	}
	return all
}

// circle returns the folders of one circle, or nil.
func circle(imports map[string][]string) []string {
	done := map[string]bool{}
	var walk func(folder string, way []string) []string
	walk = func(folder string, way []string) []string {
		if i := slices.Index(way, folder); i >= 0 {
			return append(way[i:], folder)
		}
		if done[folder] {
			return nil
		}
		for _, next := range imports[folder] {
			if found := walk(next, append(way, folder)); found != nil {
				return found
			}
		}
		done[folder] = true
		return nil
	}
	for _, folder := range slices.Sorted(maps.Keys(imports)) {
		if found := walk(folder, nil); found != nil {
			return found
		}
	}
	return nil
}

func TestCircle(t *testing.T) {
	if got := circle(map[string][]string{"a": {"b", "c"}, "b": {"c"}}); got != nil {
		t.Errorf("no circle: %v", got)
	}
	if got := circle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}); !slices.Equal(got, []string{"b", "c", "b"}) {
		t.Errorf("circle: %v", got)
	}
}

// What is shown stands above what is known: in reports each package imports only those above it in this list.
func TestReportsImportOneWay(t *testing.T) {
	order := []string{"say", "chart", "sheet", "", "timeline", "story", "remedies", "figures", "junit", "picture", "text", "pages", "serve"}
	const base = "github.com/dlmtest/dlmtest/reports"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./reports/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	rank := func(path string) int {
		rest, ok := strings.CutPrefix(path, base)
		if !ok {
			return -1
		}
		return slices.Index(order, strings.TrimPrefix(rest, "/"))
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := rank(words[0])
		if from < 0 {
			continue // of tests
		}
		seen++
		for _, path := range words[1:] {
			if to := rank(path); to >= from || strings.HasPrefix(path, base) && to < 0 {
				t.Errorf("%s imports %s", words[0], path)
			}
		}
	}
	if seen != len(order) {
		t.Errorf("%d packages of %d in the list", seen, len(order))
	}
}
