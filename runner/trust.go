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
	"github.com/dlmtest/dlmtest/internal/settings"
)

// ErrTrust says that a saved run's folder names what would be started, shown to code or
// called, and that nobody has said that it may.
var ErrTrust = fmt.Errorf("%w: a run's folder is data", ErrUsage)

// Given is what the command line says of a run that a file describes, and the file cannot
// say itself.
type Given struct {
	settings.Settings
	Trust bool     // all that the file names, but a compose file beside it and secrets
	Unset []string // flags that were given and say nothing, such as --strict=false
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

// named lists what a file says beside what is built in. Each thing was given on the
// command line, or is to be trusted. called is what a field is called in the file, and dir
// the folder where the file lies.
func named(o, given settings.Settings, dir string, called func(settings.Field) string) (all []Named) {
	for _, f := range settings.Fields() {
		if !f.Trust || !foreign(f, o) && !f.Said(given) {
			continue
		}
		n := Named{Field: called(f), Value: quoted(f.Plain(o)...), Flag: "--" + f.Flag}
		n.same = f.Said(given) && slices.Equal(f.Plain(given.Stored()), f.Plain(o.Stored()))
		n.other = f.Said(given) && !n.same
		switch {
		case f.Secret && strings.Contains(strings.Join(f.Plain(o), " "), secret.Hidden):
			n.refusal = "its secrets were not stored: give it anew"
		case f.Flag == "compose" && Below(dir, o.Compose):
			n.refusal = "a compose file is never taken from the folder of a run: name it yourself"
		}
		all = append(all, n)
	}
	return all
}

// foreign says whether a setting names what is not built in.
func foreign(f settings.Field, o settings.Settings) bool {
	switch f.Flag {
	case "library":
		return Unreleased(o.Library)
	case "client-image":
		return o.Image != "" && !clusters.BuiltIn(o.Image)
	}
	return f.Said(o)
}

// accept puts what was given in place of what the folder names, and refuses the rest
// unless it is trusted.
func (s *Saved) accept(g Given) error {
	var open []Named
	for _, n := range named(s.Options.Settings, g.Settings, s.Dir, func(f settings.Field) string { return "repeat." + f.JSON }) {
		if n.Flag == "--compose" && g.Compose != "" && s.Options.Compose != "" {
			n.same, n.other = true, false // wherever it is now: its SHA-256 says that it is the same
		}
		switch {
		case n.other:
			return fmt.Errorf("%w: %s: what you give is not what %s names, which is %s; give the same, or leave the "+
				"flag out and see what is asked for", ErrUsage, n.Flag, s.Dir, n.Value)
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
	for _, f := range settings.Fields() {
		if f.Trust && f.Said(g.Settings) {
			f.Copy(&o.Settings, g.Settings)
		}
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

// Below says whether a path lies in a folder, by name or with all links followed.
func Below(dir, path string) bool {
	if path == "" {
		return false
	}
	in := func(dir, path string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	realDir, err := filepath.EvalSymlinks(settings.Absolute(dir))
	real, err2 := filepath.EvalSymlinks(settings.Absolute(path))
	return in(settings.Absolute(dir), settings.Absolute(path)) || errors.Join(err, err2) == nil && in(realDir, real)
}
