// Package libraries holds the lock libraries under test: an adapter each, one small
// file, that uses the unmodified library as its documents say, and the resolver of
// their names. What a library does not offer its adapter does not add: a Promise
// says what it tells its user, and the judge keeps to that.
package libraries

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries/pins"
)

// Library is one under test.
type Library struct {
	About   string // one sentence: how its adapter uses it, and what is special
	Module  string // the Go module, whose version the build knows; "": Version says it, or its adapter's hello
	Version string // where no module has it
	Package string // of Debian, that brings a library of another language
	// Tells prints the version of that library in a client's node, where it is no part of
	// this program.
	Tells []string
	Image string // of the client nodes that it needs; "": the usual one
	// Offers are those of its adapter's hello, see docs/protocol.md; none: it has no adapter.
	Offers []string
	// Left is what the library has and its adapter does not offer, by the offer, and why.
	Left   map[string]string
	argv   []string     // that starts its adapter, of one of examples/adapters
	source *pins.Source // how other versions are built; nil: they are not
	// On are the locks that it makes, by the backend that Promise.Backend names; the
	// first is the default. Find fills in what they share with the backend's reference.
	On []locks.Lock
}

// Has is the version of the library in this program.
func (l Library) Has() string { return cmp.Or(l.Version, Version(l.Module)) }

// From is where the library comes from, for people.
func (l Library) From() string {
	switch {
	case l.Package != "":
		return "Debian's " + l.Package
	case l.Module == "":
		return strings.TrimSpace("your own " + l.Has())
	}
	return strings.TrimSpace(l.Module + " " + l.Has())
}

// Backends are the names of those that the library runs on, its default first.
func (l Library) Backends() (names []string) {
	for _, lock := range l.On {
		names = append(names, lock.Promise.Backend)
	}
	return names
}

// ErrElsewhere says that a library does not run on a backend.
var ErrElsewhere = errors.New("it does not run there")

// Names of the libraries that need no version to be named, sorted, without the reference.
func Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(Table)), func(name string) bool { return !Table[name].opens() })
}

// Pinnable are the names of the libraries that are built at a version that one names, sorted.
func Pinnable() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(Table)), func(name string) bool { return Table[name].source == nil })
}

// Since is the first version that can be built; "": none can.
func (l Library) Since() string {
	if l.source == nil {
		return ""
	}
	return l.source.Since
}

// opens says whether the library is part of this program, or of the clients' nodes.
func (l Library) opens() bool { return len(l.On) > 0 && l.On[0].Open != nil }

// Find is the lock under test: that of a library on a backend, or, where library is
// "" or reference, the backend's own. A library may be pinned, NAME@VERSION; then
// this program must have been built with that version.
func Find(backend, library string) (locks.Lock, error) {
	base, ok := locks.Table[backend]
	if !ok {
		return locks.Lock{}, fmt.Errorf("unknown backend %q%s", backend, near.Hint(backend, locks.Names()))
	}
	name, version, pinned := strings.Cut(library, "@")
	if name == "" || name == history.Reference {
		if pinned {
			return locks.Lock{}, fmt.Errorf("%q: the reference locks have no version of their own, they come with dlmtest", library)
		}
		return base, nil
	}
	pin, built, err := Pin(library)
	if err != nil {
		return locks.Lock{}, err
	}
	l, err := Get(library)
	if err != nil {
		return locks.Lock{}, err
	}
	if has := l.Has(); pinned && !built && (has != "" || l.Module != "") &&
		version != has { // a build may not say what it has: then it is not known to be this one
		return locks.Lock{}, fmt.Errorf("%s: this dlmtest was built with %s %s, and there is no adapter for "+
			"another version", library, name, cmp.Or(has, "of an unknown version"))
	}
	for _, lock := range l.On {
		switch lock = l.complete(name, lock, base); {
		case lock.Promise.Backend != backend:
		case built:
			return l.pinned(lock, pin), nil
		default:
			return lock, nil
		}
	}
	return locks.Lock{}, fmt.Errorf("%s on %s: %w; it runs on %s", name, backend, ErrElsewhere, strings.Join(l.Backends(), ", "))
}

// Get finds a library by its name, with a version or without one.
func Get(library string) (Library, error) {
	name, _, pinned := strings.Cut(library, "@")
	l, ok := Table[name]
	switch {
	case !ok:
		return l, fmt.Errorf("unknown library %q%s; dlmtest list libraries shows all", name, near.Hint(name, append(Names(), history.Reference)))
	case !pinned && !l.opens():
		return l, fmt.Errorf("%s is built at a version that you name, from %s on: %s@VERSION", name, l.Since(), name)
	}
	return l, nil
}

// Default is the backend that a library, pinned or not, is tested on where none is named.
func Default(library string) (backend string, err error) {
	if _, _, err := Pin(library); err != nil {
		return "", err
	}
	l, err := Get(library)
	if err != nil {
		return "", err
	}
	return l.Backends()[0], nil
}

// Pin is the version of a library that runs as a program of its own: any other than the
// one that this program was built with. ok: it is one.
func Pin(library string) (p pins.Pin, ok bool, err error) {
	name, version, pinned := strings.Cut(library, "@")
	l := Table[name]
	if !pinned || l.opens() && version == Version(l.Module) {
		return p, false, nil // it runs in the worker
	}
	return l.pin(name, version)
}

// Process says whether a library runs as a program of its own, behind the lock client
// protocol: one of another language, or of a pinned version.
func Process(library string) bool {
	_, pinned, _ := Pin(library)
	name, _, _ := strings.Cut(library, "@")
	return pinned || Table[name].Image != ""
}

// complete fills in what the lock of a library shares with the reference of its backend.
func (l Library) complete(name string, lock, base locks.Lock) locks.Lock {
	lock.Profile, lock.Port, lock.Endpoints, lock.Named = base.Profile, base.Port, base.Endpoints, base.Named
	if lock.CheckLease == nil {
		lock.CheckLease = base.CheckLease
	}
	p := &lock.Promise
	p.Library, p.Version, p.Survives = name, l.Has(), base.Promise.Survives
	if p.Bound == 0 {
		p.Bound = base.Promise.Bound
	}
	if p.About == "" {
		p.About = l.About
	}
	return lock
}
