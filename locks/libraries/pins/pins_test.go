package pins

import (
	"strings"
	"testing"
	"testing/fstest"
)

var source = Source{Module: "example.org/lock/v2", Since: "v2.0.0", Folder: "lock", Name: "Adapter", Requires: []string{"example.org/api @"}, Older: []Older{
	{Before: "v2.1.0", Module: "example.org/old", Shim: true, Requires: []string{"example.org/rpc v1.0.0"}, Lacks: []string{"try"},
		Imports: map[string]string{"example.org/lock/v2": "example.org/old/lock"}},
	{Before: "v2.2.0", Lacks: []string{"validity"}},
}}

func TestAt(t *testing.T) {
	for version, want := range map[string]string{
		"v2.0.0": "", "v2.10.0": "", "v2.0.0-rc.1": "", "v3.3.8+incompatible": "",
		"2.1.0": "write it as v1.2.3", "v2.1.0/../..": "write it as v1.2.3", "latest": "write it as v1.2.3", "v1.9.9": "from v2.0.0 on",
	} {
		if err := source.At("lock@"+version, version); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", version, err, want)
		}
	}
}

// What a version is built of: the first difference that is newer than it, alone.
func TestProgram(t *testing.T) {
	files := fstest.MapFS{
		"lock/lock.go":      {Data: []byte("package lock\n\nimport _ \"example.org/lock/v2\"\n")},
		"lock/new.go":       {Data: []byte("//go:build !older\n\npackage lock\n")},
		"lock/old.go":       {Data: []byte("//go:build older\n\npackage lock\n")},
		"lock/alone.go":     {Data: []byte("//go:build ignore\n\npackage lock\n")},
		"lock/lock_test.go": {Data: []byte("package lock\n")},
	}
	const lib = "locks/libraries/lock/"
	for _, c := range []struct {
		version, requires, imports, has, not string
		lacks                                string
	}{
		{"v2.0.0", "example.org/old v2.0.0, example.org/rpc v1.0.0", `"example.org/old/lock"`, "old.go", "new.go", "try"},
		{"v2.1.0", "example.org/lock/v2 v2.1.0, example.org/api v2.1.0", `"example.org/lock/v2"`, "new.go", "old.go", "validity"},
		{"v2.2.0", "example.org/lock/v2 v2.2.0, example.org/api v2.2.0", `"example.org/lock/v2"`, "new.go", "old.go", ""},
	} {
		p := Pin{Source: source, Library: "lock", Version: c.version, Sources: files}
		g, err := p.Program()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(g.Requires, ", "); got != c.requires || !strings.Contains(string(g.Files[lib+"lock.go"]), c.imports) || strings.Join(p.Lacks(), ",") != c.lacks {
			t.Errorf("%s: %s, lacks %v\n%s", c.version, got, p.Lacks(), g.Files[lib+"lock.go"])
		}
		if g.Files[lib+c.has] == nil || g.Files[lib+c.not] != nil || g.Files[lib+"alone.go"] == nil || g.Files[lib+"lock_test.go"] != nil || g.Files["locks/protocol/adapter/serve.go"] == nil {
			t.Errorf("%s: it is not built of what it needs", c.version)
		}
		for name, text := range g.Files {
			if strings.HasPrefix(string(text), "//go:build") {
				t.Errorf("%s: %s still has its build tag, and nobody sets it", c.version, name)
			}
		}
		if main := string(g.Files["main.go"]); !strings.Contains(main, "a := lib.Adapter") || !strings.Contains(main, `"`+p.From()+`"`) {
			t.Errorf("%s: %s", c.version, main)
		}
	}
}
