// Package pins builds lock libraries of pinned versions into adapters of the lock
// client protocol: each is a program of its own, in a module of its own, so that no
// version has to agree with another, or with dlmtest. The source is the one that is
// compiled into dlmtest for the version that it was built with.
package pins

import (
	"context"
	"fmt"
	"go/build/constraint"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/internal/gobuild"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// Folder is where a client node has the adapter of its pin.
const Folder = "/adapter"

// Source says how versions of a library are built.
type Source struct {
	Module string // that is pinned
	Since  string // the first version that the adapter is for
	Folder string // of the adapter's package, in locks/libraries
	Name   string // of the adapter's variable there
	// Requires are other modules that the adapter needs at a version of their own,
	// MODULE VERSION; @ stands for the pinned version.
	Requires []string
	// Older says what is different in older versions, the oldest first; of those that a
	// version is older than, the first alone counts.
	Older []Older
}

// Older is what the adapter's source needs for versions before one.
type Older struct {
	Before   string
	Module   string            // "": the same
	Imports  map[string]string // what lies elsewhere, by its path in the newest version
	Shim     bool              // some API is another: built with the tag older
	Requires []string          // as Source.Requires, in place of those
	Lacks    []string          // offers of the newest version that these cannot make
}

// Pin is one version of a library.
type Pin struct {
	Source
	Library string // as --library names it
	Version string
	Sources fs.FS // with the folders of all adapters
}

var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)

// At says whether there can be a pin of a version.
func (s Source) At(library, version string) error {
	switch {
	case !versionForm.MatchString(version):
		return fmt.Errorf("%s: %q is no version of a Go module; write it as v1.2.3", library, version)
	case adapter.Older(version, s.Since):
		return fmt.Errorf("%s: there is an adapter from %s on", library, s.Since)
	}
	return nil
}

// older is what is different in the pin's version.
func (p Pin) older() Older {
	for _, o := range p.Older {
		if adapter.Older(p.Version, o.Before) {
			return o
		}
	}
	return Older{}
}

// Lacks are the offers of the newest version that this one cannot make.
func (p Pin) Lacks() []string { return p.older().Lacks }

// From is the module that has the pin's version.
func (p Pin) From() string {
	if o := p.older(); o.Module != "" {
		return o.Module
	}
	return p.Module
}

// Build returns a folder of this machine with the pin's program, called adapter, and
// makes it if it is not there yet. ErrNoVersion: there is none to make it of.
func (p Pin) Build(ctx context.Context, progress func(line string)) (folder string, err error) {
	program, err := p.Program()
	if err == nil {
		folder, err = gobuild.Build(ctx, program, progress)
	}
	if err != nil {
		return "", p.explain(ctx, fmt.Errorf("--library %s@%s: %w", p.Library, p.Version, err))
	}
	return folder, nil
}

// module is dlmtest's own path, which a pin's module takes, so that its sources are the same.
const module = "github.com/dlmtest/dlmtest"

// mainText is the program of a pin.
const mainText = `// Command adapter is one version of a library behind the lock client protocol.
package main

import (
	lib %q

	%q
)

func main() {
	a := lib.%s
	a.Library = adapter.VersionOf(%q)
	adapter.Main(a)
}
`

// Program is the pin as modules to build: its adapter, the glue, and the pinned version.
func (p Pin) Program() (gobuild.Program, error) {
	o := p.older()
	g := gobuild.Program{Name: p.Library + "-" + p.Version, Module: module, Files: map[string][]byte{},
		Requires: []string{p.From() + " " + p.Version}, Binaries: map[string]string{"adapter": "."}}
	requires := p.Requires
	if o.Requires != nil {
		requires = o.Requires
	}
	for _, r := range requires {
		g.Requires = append(g.Requires, strings.ReplaceAll(r, "@", p.Version))
	}
	const glue, lib = "locks/protocol", "locks/libraries/"
	g.Files["main.go"] = fmt.Appendf(nil, mainText, path.Join(module, lib, p.Source.Folder), path.Join(module, glue, "adapter"), p.Name, p.From())
	if err := put(g.Files, protocol.Glue, "adapter", glue, Older{}); err != nil {
		return g, err
	}
	return g, put(g.Files, p.Sources, p.Source.Folder, lib, o)
}

// put adds the files of a folder that this version is built with.
func put(files map[string][]byte, from fs.FS, folder, below string, o Older) error {
	entries, err := fs.ReadDir(from, folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if strings.HasSuffix(name, "_test.go") || e.IsDir() {
			continue
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if text, ok := adapt(string(text), o); ok {
			files[path.Join(below, name)] = []byte(text)
		}
	}
	return nil
}

// adapt is a file as a version needs it; ok: it needs the file. Its build tags are decided
// here, as nobody sets any where it is built: ignore marks what is built alone, for of such
// files go mod tidy leaves the imports out, and a server's modules stay out of ours.
func adapt(text string, o Older) (_ string, ok bool) {
	if line, rest, _ := strings.Cut(text, "\n"); constraint.IsGoBuild(line) {
		tags, err := constraint.Parse(line)
		if err != nil || !tags.Eval(func(tag string) bool { return tag == "ignore" || tag == "older" && o.Shim }) {
			return "", false
		}
		text = rest
	}
	for _, is := range slices.Sorted(maps.Keys(o.Imports)) {
		text = strings.ReplaceAll(text, `"`+is+`"`, `"`+o.Imports[is]+`"`)
	}
	return text, true
}
