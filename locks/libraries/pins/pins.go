// Package pins builds lock libraries of pinned versions into adapters of the lock
// client protocol: each is a program of its own, in a module of its own, so that no
// version has to agree with another, or with dlmtest.
package pins

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/gobuild"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// Source is how versions of a library are built and what their lock promises.
type Source struct {
	Library string // as --library names it
	Module  string // that is pinned
	Since   string // the first version that it is for
	File    string // its adapter, in the folder adapters
	// Requires are other modules that the adapter needs at a version of their own,
	// MODULE VERSION; @ stands for the pinned version.
	Requires []string
	Promise  history.Promise
	Renews   bool // see locks.Lock
	Slow     bool // see locks.Lock
}

// Pin is one version of a library.
type Pin struct {
	Source
	Version string
}

//go:embed adapters/*.go
var adapters embed.FS

var versionForm = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)

// Find is the pin that NAME@VERSION names. ok: there is an adapter for it; an error
// says what is wrong with the version.
func Find(library string) (p Pin, ok bool, err error) {
	name, version, pinned := strings.Cut(library, "@")
	if !pinned || !slices.Contains(Libraries(), name) {
		return p, false, nil
	}
	if !versionForm.MatchString(version) {
		return p, true, fmt.Errorf("%s: %q is no version of a Go module; write it as v1.2.3", library, version)
	}
	for _, s := range Table {
		if s.Library == name && !older(version, s.Since) {
			p = Pin{Source: s, Version: version} // the table has the oldest first
		}
	}
	if p.Library == "" {
		return p, true, fmt.Errorf("%s: there is an adapter from %s on", library, First(name))
	}
	p.Promise.Library, p.Promise.Version = name, version
	return p, true, nil
}

// Libraries are the names that can be pinned.
func Libraries() (names []string) {
	for _, s := range Table {
		if !slices.Contains(names, s.Library) {
			names = append(names, s.Library)
		}
	}
	slices.Sort(names)
	return names
}

// First is the oldest version of a library that has an adapter; "": none has.
func First(name string) string {
	for _, s := range Table {
		if s.Library == name {
			return s.Since
		}
	}
	return ""
}

// older compares versions by their three numbers.
func older(version, than string) bool {
	a, b := numbers(version), numbers(than)
	return slices.Compare(a[:], b[:]) < 0
}

func numbers(version string) (n [3]int) {
	_, _ = fmt.Sscanf(version, "v%d.%d.%d", &n[0], &n[1], &n[2])
	return n
}

// tag keeps the adapters out of dlmtest's own build, as each needs another module.
const tag = "//go:build ignore\n"

// glue is where package adapter lies in its module, whose path a pin's module takes.
const glue = "locks/protocol/"

// Program is the pin as modules to build: its adapter, the glue, and the pinned version.
func (p Pin) Program() gobuild.Program {
	g := gobuild.Program{Name: p.Library + "-" + p.Version, Module: "github.com/dlmtest/dlmtest", Files: map[string][]byte{},
		Requires: []string{p.Module + " " + p.Version}, Binaries: map[string]string{"adapter": "."}}
	for _, r := range p.Requires {
		g.Requires = append(g.Requires, strings.ReplaceAll(r, "@", p.Version))
	}
	for _, name := range []string{"common.go", p.File} {
		text, err := adapters.ReadFile("adapters/" + name)
		if err != nil {
			panic("pins: " + err.Error()) // the table names a file that is not embedded: a test looks
		}
		g.Files[name] = []byte(strings.TrimPrefix(string(text), tag))
	}
	files, _ := protocol.Glue.ReadDir("adapter") // embedded
	for _, f := range files {
		if text, err := protocol.Glue.ReadFile("adapter/" + f.Name()); err == nil && !strings.HasSuffix(f.Name(), "_test.go") {
			g.Files[glue+"adapter/"+f.Name()] = text
		}
	}
	return g
}
