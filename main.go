package dlmtest

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/cmd/cli"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/internal/visible"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Main makes a program all of the command dlmtest, with locks of its own among the
// libraries: "run --scenario gc-pause --library NAME", list, conform, gate, report, and the
// rest. It does not return. The exit codes are those of dlmtest: 0 every property holds,
// 1 a property is violated, 2 inconclusive, 3 dlmtest or its infrastructure failed or a
// Lock is not as dlmtest needs it, 64 wrong usage.
//
// The program plays every role of a run, and is copied into the containers of Docker's
// runtime: build it with CGO_ENABLED=0.
func Main(locks ...Lock) {
	if err := register(locks...); err != nil {
		fmt.Fprintln(visible.Console(os.Stderr), "dlmtest:", err)
		os.Exit(64)
	}
	say.Own = len(locks) > 0
	os.Exit(cli.Main(ownVersion()))
}

// register adds locks to the libraries under test.
func register(all ...Lock) error {
	for i := range all {
		l := &all[i]
		if err := l.Check(); err != nil {
			return err
		}
		libraries.Table[l.Name] = l.library()
	}
	return nil
}

var nameOf = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// Check says what is missing in a Lock, or cannot be, as Init and Main do.
func (l Lock) Check() error {
	_, taken := libraries.Table[l.Name]
	switch {
	case !nameOf.MatchString(l.Name):
		return fmt.Errorf("Lock.Name %q: want letters, digits, - and _, as it is typed after --library", l.Name)
	case taken || l.Name == history.Reference:
		return fmt.Errorf("Lock.Name %q is taken: by a library of dlmtest, or by another Lock", l.Name)
	case strings.ContainsAny(l.Version, "@ \n"):
		return fmt.Errorf("lock %s: Lock.Version %q: want a version without spaces and @", l.Name, l.Version)
	case len(l.Backends) == 0:
		return fmt.Errorf("lock %s: Lock.Backends is empty: want the backends on whose servers it runs: %s", l.Name, strings.Join(locks.Intact(), ", "))
	case l.Open == nil:
		return fmt.Errorf("lock %s: Lock.Open is nil: want the function that opens a client's session", l.Name)
	case !l.Promise.Leased && (l.Promise.Extend || l.Promise.Until || l.Promise.Sent || l.Promise.Renews):
		return fmt.Errorf("lock %s: Promise.Extend, Until, Sent and Renews are about a lease, and Promise.Leased is false", l.Name)
	}
	for _, backend := range l.Backends {
		if !slices.Contains(locks.Intact(), backend) {
			return fmt.Errorf("lock %s: Lock.Backends: no backend is %q%s", l.Name, backend, near.Hint(backend, locks.Intact()))
		}
	}
	return nil
}

// library is the lock as dlmtest knows one.
func (l *Lock) library() libraries.Library {
	all := libraries.Library{About: l.About, Version: l.version()}
	for _, backend := range l.Backends {
		all.On = append(all.On, locks.Lock{Open: l.open(backend), Renews: l.Promise.Renews, CheckLease: locks.Table[backend].CheckLease,
			Promise: l.promise(backend)})
	}
	return all
}

// promise is what the judge must know.
func (l *Lock) promise(backend string) history.Promise {
	p := l.Promise
	h := history.Promise{Backend: backend, About: l.About, Leased: p.Leased, Order: p.Order, Token: p.Token,
		Session: p.Lost, Extends: p.Extend, Renews: p.Renews, Tries: p.Try, Bound: p.Bound}
	switch {
	case p.Until && p.Sent, !p.Leased:
	case p.Until:
		h.Validity = history.Unproven
	case p.Sent:
		h.Validity = history.Reckoned
	default:
		h.Validity = history.Untold
	}
	return h
}

func (l *Lock) version() string {
	if l.Version != "" {
		return l.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

// version is set at link time; empty: the build info of this program has it.
var version string

// ownVersion is dlmtest's.
func ownVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == "github.com/dlmtest/dlmtest" && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "development"
}
