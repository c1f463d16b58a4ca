package libraries

import (
	"errors"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

// A test's build info has no modules, so it is given one.
func withVersions(t *testing.T) {
	was := build
	t.Cleanup(func() { build = was })
	build = func() map[string]string {
		all := map[string]string{}
		for _, l := range Table {
			if l.Module != "" {
				all[l.Module] = "v0.10.0"
			}
		}
		return all
	}
}

func TestFind(t *testing.T) {
	withVersions(t)
	for _, c := range []struct{ backend, library, wants string }{
		{"redis", "", ""},
		{"redis", "reference", ""},
		{"redis", "redislock", "redislock"},
		{"redis", "redislock@v0.10.0", "redislock"},
		{"redlock", "redsync@v4.12.0", "redsync"},
		{"redis", "redsync@v4.12.0", "redsync"},
		{"etcd", "etcd-concurrency@v3.3.8+incompatible", "etcd-concurrency"},
	} {
		got, err := Find(c.backend, c.library)
		if err != nil || got.Promise.Library != c.wants || got.Promise.Backend != c.backend || got.Open == nil || got.Port == 0 {
			t.Errorf("Find(%q, %q) = %+v, %v", c.backend, c.library, got.Promise, err)
		}
		if c.wants != "" && got.Promise.Version == "" {
			t.Errorf("%s has no version", c.library)
		}
	}
	for _, c := range []struct{ backend, library, wants string }{
		{"redix", "", `unknown backend "redix"; did you mean "redis"?`},
		{"redis", "redislok", `unknown library "redislok"; did you mean "redislock"?`},
		{"redis", "redislock@v0.0.1", "from v0.9.0 on"},
		{"redis", "redislock@0.9.0", "write it as v1.2.3"},
		{"redis", "go-zero", "go-zero@VERSION"},
		{"redis", "nobody@v1.0.0", `unknown library "nobody"`},
		{"redlock", "rueidislock@v1.0.60", "it runs on redis"},
		{"redis", "reference@v1", "come with dlmtest"},
		{"etcd", "redislock", "it runs on redis"},
	} {
		_, err := Find(c.backend, c.library)
		if err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("Find(%q, %q): %v, want %q", c.backend, c.library, err, c.wants)
		}
		if elsewhere := strings.HasPrefix(c.wants, "it runs on"); errors.Is(err, ErrElsewhere) != elsewhere {
			t.Errorf("Find(%q, %q): %v matches ErrElsewhere: %v", c.backend, c.library, err, !elsewhere)
		}
	}
}

// What an adapter leaves out is filled in, and what it says fits its backend.
func TestTable(t *testing.T) {
	withVersions(t)
	for name, l := range Table {
		if l.About == "" || (l.Module != "" && Version(l.Module) == "") || len(l.On) == 0 || strings.ContainsAny(name, "@/, ") || name == history.Reference {
			t.Errorf("%s: %+v, version %q", name, l, Version(l.Module))
		}
		if !l.opens() {
			if l.source == nil {
				t.Errorf("%s is nowhere", name)
			}
			continue
		}
		for _, b := range l.Backends() {
			base, ok := locks.Table[b]
			lock, err := Find(b, name)
			if !ok || err != nil || lock.Profile != base.Profile || lock.Port != base.Port || lock.Promise.Bound == 0 || lock.Promise.About == "" {
				t.Errorf("%s on %s: %+v, %v", name, b, lock, err)
			}
			if p := lock.Promise; p.Validity != history.Told && !p.Leased {
				t.Errorf("%s on %s tells no validity of a lease that it has not", name, b)
			}
		}
	}
}

func TestDefault(t *testing.T) {
	if b, err := Default("redislock@v0.10.0"); err != nil || b != "redis" {
		t.Error(b, err)
	}
	if _, err := Default("nobody"); err == nil {
		t.Error("a default backend of nobody")
	}
}

// What runs behind the lock client protocol is asked for nothing that the protocol lacks.
func TestProcess(t *testing.T) {
	for library, want := range map[string]bool{
		"": false, history.Reference: false, "pglock": false, "redsync": false, "redsync@v4.12.0": true, "go-zero@v1.3.1": true, "kazoo": true, "kazoo@2.8.0": true, "pglock-do@v1.14.2": true,
	} {
		if Process(library) != want {
			t.Errorf("%q: a process of its own is not %v", library, want)
		}
	}
}
