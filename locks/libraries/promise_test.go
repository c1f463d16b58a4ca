package libraries

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// bundled is the version of a module that this program is built with, as go.mod has it; ""
// where it has none.
func bundled(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// hello is what a pin says of itself.
func hello(t *testing.T, name, version string) protocol.Result {
	t.Helper()
	pin, ok, err := Table[name].pin(name, version)
	if !ok || err != nil {
		t.Fatal(name, version, ok, err)
	}
	folder, err := pin.Build(t.Context(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	c, err := protocol.Dial(t.Context(), protocol.Command{Argv: []string{filepath.Join(folder, "adapter")}}, func(*protocol.Conn, protocol.Event) {})
	if err != nil {
		t.Fatal(name, version, err)
	}
	defer func() { _ = c.Drop() }()
	return c.Hello()
}

// The adapter that is compiled in and the one that is built alone for the same version
// promise the same, in every library and on each of its backends: else release against
// release would compare adapters.
func TestOnePromise(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every library")
	}
	for _, name := range Pinnable() {
		l := Table[name]
		version := bundled(t, l.Module)
		if !l.opens() {
			continue // there is one alone
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of a build alone is waiting for modules and for the linker
			h := hello(t, name, version)
			if err := saysSo(h, version, l.Offers); err != nil || h.Name != name {
				t.Error(h.Name, err)
			}
			pin, _, err := l.pin(name, version)
			if err != nil {
				t.Fatal(err)
			}
			for i, lock := range l.On {
				inside := l.complete(name, lock, locks.Table[l.Backends()[i]])
				alone := l.pinned(inside, pin)
				told := Told(inside, h)
				for what, got := range map[string]locks.Lock{"the pin": alone, "its hello": told} {
					want := inside.Promise
					got.Promise.Version, got.Promise.About = want.Version, want.About // of the program, not of the library
					if got.Promise != want || got.Renews != inside.Renews || got.Slow != inside.Slow || got.Port != inside.Port {
						t.Errorf("%s promises\n%+v, and what is compiled in\n%+v", what, got, inside)
					}
				}
			}
		})
	}
}

// Older versions, to the oldest, build and offer what the table says: DLMTEST_PINS names
// them, such as redsync@v4.12.0,go-zero@v1.3.1; all: those at which an adapter changes. Each
// needs modules of its own, so a plain test run compiles two: one whose API is another.
func TestOlderVersions(t *testing.T) {
	named := os.Getenv("DLMTEST_PINS")
	if named == "" {
		if named = "go-pglock@v3.0.0,etcd-concurrency@v3.5.0"; testing.Short() {
			t.Skip("downloads and compiles libraries")
		}
	}
	if named == "all" {
		named = strings.Join(turning(), ",")
	}
	for library := range strings.SplitSeq(named, ",") {
		t.Run(library, func(t *testing.T) {
			name, version, _ := strings.Cut(library, "@")
			pin, ok, err := Pin(library)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			l := Table[name]
			offers := slices.DeleteFunc(slices.Clone(l.Offers), func(o string) bool { return slices.Contains(pin.Lacks(), o) })
			if err := saysSo(hello(t, name, version), version, offers); err != nil {
				t.Error(err)
			}
		})
	}
}

// turning are the oldest versions, and those from which on an adapter needs less.
func turning() (all []string) {
	for _, name := range Pinnable() {
		s := Table[name].source
		all = append(all, name+"@"+s.Since)
		for _, o := range s.Older {
			all = append(all, name+"@"+o.Before)
		}
	}
	return all
}

// A row of the table says what is so: an older version lacks what the newest offers.
func TestLacks(t *testing.T) {
	for _, name := range Pinnable() {
		l := Table[name]
		for _, o := range l.source.Older {
			for _, lacks := range o.Lacks {
				if !slices.Contains(l.Offers, lacks) {
					t.Errorf("%s before %s lacks %s, which no version offers", name, o.Before, lacks)
				}
			}
		}
		if p := promising(locks.Lock{}, l.Offers).Promise; p.Leased && p.Validity == history.Reckoned && slices.Contains(l.Offers, protocol.OfferAsked) {
			t.Errorf("%s: sent says all that asked says", name)
		}
	}
}
