package pins

import (
	"os"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ library, file, version, err string }{
		{library: "redsync@v4.12.0", file: "redsync.go", version: "v4.12.0"},
		{library: "etcd-concurrency@v3.3.8+incompatible", file: "etcd33.go", version: "v3.3.8+incompatible"},
		{library: "etcd-concurrency@v3.5.0", file: "etcdmutex.go", version: "v3.5.0"},
		{library: "redsync"},
		{library: "nobody@v1.0.0"},
		{library: "redsync@4.12.0", err: "write it as v1.2.3"},
		{library: "redsync@v4.12.0/../..", err: "write it as v1.2.3"},
		{library: "redsync@latest", err: "write it as v1.2.3"},
		{library: "redsync@v3.0.0", err: "from v4.0.0 on"},
	} {
		p, ok, err := Find(c.library)
		if ok != (c.file != "" || c.err != "") || p.File != c.file || c.err == "" && (err != nil || p.Version != c.version) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v %v %s %v, want %+v", c.library, ok, err, p.File, p.Version, c)
		}
	}
}

// TestTable: what each adapter needs is there, and its promise fits its backend.
func TestTable(t *testing.T) {
	for _, s := range Table {
		p := Pin{s, s.Since}
		g := p.Program()
		if !strings.Contains(string(g.Files[s.File]), "package main") || strings.Contains(string(g.Files[s.File]), "go:build") {
			t.Errorf("%s: the source of its adapter is not what is built", s.File)
		}
		if g.Files["locks/protocol/adapter/serve.go"] == nil {
			t.Errorf("%s: without the glue", s.File)
		}
		if _, ok := locks.Table[s.Promise.Backend]; !ok {
			t.Errorf("%s: no backend is called %q", s.File, s.Promise.Backend)
		}
		if s.Promise.Bound == 0 || s.Promise.About == "" || s.Renews && s.Promise.Extends {
			t.Errorf("%s: %+v", s.Library, s.Promise)
		}
		if s.Renews && s.Promise.Validity != history.Untold {
			t.Errorf("%s renews by itself: no deadline can be reckoned", s.Library)
		}
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"v1.3.1", "v1.3.2", true}, {"v1.3.2", "v1.3.2", false}, {"v1.10.0", "v1.3.2", false}, {"v1.2.10", "v1.3.0", true}, {"v3.3.8+incompatible", "v3.5.0", true}} {
		if older(c.a, c.b) != c.want {
			t.Errorf("older(%s, %s)", c.a, c.b)
		}
	}
}

// TestBuild compiles the adapters that DLMTEST_PINS names, such as
// redsync@v4.12.0,go-zero@v1.3.1; all: the first version of each. Each needs modules of
// its own, so a plain test run compiles one.
func TestBuild(t *testing.T) {
	named := os.Getenv("DLMTEST_PINS")
	if named == "" {
		if named = "go-zookeeper@v1.0.4"; testing.Short() {
			t.Skip("downloads and compiles a library")
		}
	}
	if named == "all" {
		var all []string
		for _, s := range Table {
			all = append(all, s.Library+"@"+s.Since)
		}
		named = strings.Join(all, ",")
	}
	for library := range strings.SplitSeq(named, ",") {
		p, ok, err := Find(library)
		if !ok || err != nil {
			t.Fatal(library, ok, err)
		}
		folder, err := p.Build(t.Context(), func(string) {})
		if err != nil {
			t.Error(err)
			continue
		}
		if info, err := os.Stat(folder + "/adapter"); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s: %v %v", library, info, err)
		}
	}
}
