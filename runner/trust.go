package runner

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/secret"
)

// ErrTrust says that a saved run's folder names what would be started, shown to code or
// called, and that nobody has said that it may.
var ErrTrust = fmt.Errorf("%w: a run's folder is data", ErrUsage)

// Given is what the command line says of a saved run, and its folder cannot say itself.
type Given struct {
	Trust     bool // all that the folder names, but a compose file in it and secrets
	Library   string
	Adapter   []string
	Files     string
	Image     string
	Compose   string
	Endpoints []string
	AllowHost bool
}

// Named is one thing that a folder names.
type Named struct {
	Field string // of run.json
	Value string // as it stands there, quoted
	Flag  string // that gives the same on the command line

	same    bool   // it was given
	other   bool   // something else was given
	refusal string // why trust is not enough; "": it is
}

// String is a line for a person who decides.
func (n Named) String() string { return fmt.Sprintf("%-22s %s  (%s)", n.Field, n.Value, n.Flag) }

// named lists what the folder names beside what is built in. Each thing was given on the
// command line, or is to be trusted.
func (s *Saved) named(g Given) (all []Named) {
	o := &s.Options
	add := func(flag, field, value string, there, given, same bool) *Named {
		if !there && !given {
			return &Named{}
		}
		all = append(all, Named{Field: "repeat." + field, Value: value, Flag: flag, same: given && same, other: given && !same})
		return &all[len(all)-1]
	}
	add("--library", "library", quoted(o.Library), Unreleased(o.Library), g.Library != "", g.Library == o.Library)
	adapter := add("--adapter", "adapter", quoted(o.Adapter...), len(o.Adapter) > 0, len(g.Adapter) > 0, slices.Equal(secret.Words(g.Adapter), o.Adapter))
	if strings.Contains(strings.Join(o.Adapter, " "), secret.Hidden) {
		adapter.refusal = "its secrets were not stored: give it anew"
	}
	add("--adapter-files", "adapter_files", quoted(o.Files), o.Files != "", g.Files != "", absolute(g.Files) == absolute(o.Files))
	add("--client-image", "client_image", quoted(o.Image), o.Image != "" && !clusters.BuiltIn(o.Image), g.Image != "", g.Image == o.Image)
	endpoints := add("--endpoint", "endpoints", quoted(o.Endpoints...), len(o.Endpoints) > 0, len(g.Endpoints) > 0, slices.Equal(secret.Endpoints(g.Endpoints), secret.Endpoints(o.Endpoints)))
	if strings.Contains(strings.Join(o.Endpoints, " "), secret.Hidden) {
		endpoints.refusal = "its secrets were not stored: give it anew"
	}
	compose := add("--compose", "compose", quoted(o.Compose), o.Compose != "", g.Compose != "", o.Compose != "")
	if Below(s.Dir, o.Compose) {
		compose.refusal = "a compose file is never taken from the folder of a run: name it yourself"
	}
	return all
}

// accept puts what was given in place of what the folder names, and refuses the rest
// unless it is trusted.
func (s *Saved) accept(g Given) error {
	var open []Named
	for _, n := range s.named(g) {
		switch {
		case n.other:
			return fmt.Errorf("%w: %s: what you give is not what %s names, which is %s; give the same, or leave the flag out and see what is asked for", ErrUsage, n.Flag, s.Dir, n.Value)
		case n.same:
		case n.refusal != "" || !g.Trust:
			open = append(open, n)
		default:
			s.Trusted = append(s.Trusted, n.String())
		}
	}
	if len(open) > 0 {
		return untrusted(s.Dir, open)
	}
	o := &s.Options
	if len(g.Adapter) > 0 {
		o.Adapter = g.Adapter
	}
	if g.Compose != "" {
		o.Compose = g.Compose // its SHA-256 says that it is the same
	}
	if len(g.Endpoints) > 0 {
		o.Endpoints = g.Endpoints
	}
	// Whoever made the folder shall not be sent what the environment keeps.
	o.Withhold = len(o.Endpoints) > 0 && len(g.Endpoints) == 0
	o.AllowHost = g.AllowHost
	return nil
}

// untrusted names all that is open, a line each, with nothing raw in it.
func untrusted(dir string, open []Named) error {
	var b strings.Builder
	trust := false
	for _, n := range open {
		fmt.Fprintf(&b, "\n  %s", n)
		if n.refusal != "" {
			fmt.Fprintf(&b, "\n  %-22s %s", "", n.refusal)
		} else {
			trust = true
		}
	}
	what := "Nothing was run. Give each with the same value on the command line"
	if trust {
		what += ", or --trust if you wrote this folder yourself or have read each line"
	}
	return fmt.Errorf("%w, and %q names what would be started, shown to code or called:%s\n%s", ErrTrust, dir, b.String(), what)
}

// quoted writes words so that they can be told apart, and nothing in them is a control.
func quoted(words ...string) string {
	var all []string
	for _, w := range words {
		all = append(all, fmt.Sprintf("%+q", w))
	}
	return strings.Join(all, " ")
}

// commit ends a version that is no release: it names a commit, which may be of anybody's
// fork, as a module proxy serves those too.
var commit = regexp.MustCompile(`\d{14}-[0-9a-f]{12}(\+incompatible)?$`)

// Unreleased says whether a library is asked for at a commit. A release of a library that
// dlmtest knows is code that its author has published.
func Unreleased(library string) bool {
	_, version, pinned := strings.Cut(library, "@")
	return pinned && commit.MatchString(version)
}

func absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Below says whether a path lies in a folder, by name or with all links followed.
func Below(dir, path string) bool {
	if path == "" {
		return false
	}
	in := func(dir, path string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	realDir, err := filepath.EvalSymlinks(absolute(dir))
	real, err2 := filepath.EvalSymlinks(absolute(path))
	return in(absolute(dir), absolute(path)) || errors.Join(err, err2) == nil && in(realDir, real)
}
