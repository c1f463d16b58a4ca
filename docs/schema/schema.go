// Package schema holds the JSON Schemas of the files that people write for dlmtest. They are generated, by
// go test -update, from the types and tables that read these files, and held against the readers by tests.
package schema

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Base is where the schemas are published.
const Base = "https://raw.githubusercontent.com/dlmtest/dlmtest/main/docs/schema/"

// Names are what there are schemas of: compose, gate, scenario.
func Names() []string {
	entries, err := fs.Glob(files, "*.json")
	if err != nil {
		panic("schema: " + err.Error()) // cannot fail: the pattern is right
	}
	for i := range entries {
		entries[i] = strings.TrimSuffix(entries[i], ".json")
	}
	return slices.Sorted(slices.Values(entries))
}

// Of is the schema of a name; nil if there is none.
func Of(name string) []byte {
	data, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil // nothing else can fail: the files are embedded
	}
	return data
}

// Line is the first line of a file, which tells editors its schema.
func Line(name string) string { return "# yaml-language-server: $schema=" + Base + name + ".json\n" }
