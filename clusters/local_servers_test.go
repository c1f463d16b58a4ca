package clusters

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// All that is missing is named at once, with the packages.
func TestServerMissing(t *testing.T) {
	s := localServer{programs: []string{"sh", "no-such-server", "no-such-client"}, files: []string{"/no/such.jar"}, packages: "such-server"}
	wantError(t, s.check(), "no-such-server is not on this machine; no-such-client is not on this machine; /no/such.jar is not on this machine; install it (apt-get install such-server), or use the runtime docker")
	if err := (localServer{programs: []string{"sh"}}).check(); err != nil {
		t.Error(err)
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir() // below /tmp, which nodes do not share
	if !local.Hidden(dir) {
		t.Skipf("TMPDIR is %s", dir)
	}
	hidden := filepath.Join(dir, "server")
	if err := os.WriteFile(hidden, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := findProgram(hidden)
	wantError(t, err, "and nodes see nothing of this machine's /tmp")
	if path, err := findProgram("sh"); err != nil || filepath.Base(path) != "sh" {
		t.Errorf("sh: %q, %v", path, err)
	}
	t.Setenv("PATH", dir+":relative:/usr/bin")
	if folders := filepath.SplitList(localPath()); folders[0] != "/usr/bin" || !slices.Contains(folders, "/bin") {
		t.Errorf("PATH %q", folders)
	}
}

// An adapter that nodes would not see is refused before anything starts.
func TestRuns(t *testing.T) {
	home, err := os.MkdirTemp("/home", "runs-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	file := filepath.Join(home, "adapter.py")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var l Local
	for _, argv := range [][]string{{file}, {"sh", file}} {
		wantError(t, l.Runs(argv, "/adapter"), "nodes see nothing of this machine's /home")
		wantError(t, l.Runs(argv, "/adapter"), "give its folder as --adapter-files and call it /adapter/…")
	}
	wantError(t, l.Runs([]string{"no-such-program"}, "/adapter"), "no-such-program is not on this machine")
	for _, argv := range [][]string{{"/adapter/run"}, {"sh", "/adapter/run", "-x"}, {"sh", "/no/such/file", "/tmp"}} {
		if err := l.Runs(argv, "/adapter"); err != nil {
			t.Errorf("%q: %v", argv, err)
		}
	}
}

func TestResolveLocal(t *testing.T) {
	specs := []NodeSpec{
		{Name: "a", Image: "foreign:1", Command: []string{"sh"}, User: "redis", Env: []string{"HOME=/x"}},
		{Name: "a", Image: "foreign:1"},
	}
	out, err := resolveLocal(specs)
	wantError(t, err, "two nodes are called a")
	wantError(t, err, "node a: image foreign:1 has a command of its own")
	if out[0].User != "" || !slices.Contains(out[0].Env, "HOSTNAME=a") || !slices.Contains(out[0].Env, "HOME=/x") {
		t.Errorf("resolved %+v", out[0])
	}
	if specs[0].User != "redis" {
		t.Error("the caller's spec was changed")
	}
}

func TestDatabaseOf(t *testing.T) {
	for command, want := range map[string]string{
		"postgres -D /data -c x=1":                 "/data",
		"/usr/lib/postgresql/15/bin/postgres -D":   "",
		"redis-server -D /data":                    "",
		"/usr/lib/postgresql/15/bin/postgres -D x": "x",
		"": "",
	} {
		if got := databaseOf(NodeSpec{Command: strings.Fields(command)}); got != want {
			t.Errorf("%q: %q", command, got)
		}
	}
}

func TestMapped(t *testing.T) {
	table := filepath.Join(t.TempDir(), "uid_map")
	if err := os.WriteFile(table, []byte("         0       1000          1\n         1     100000      65536\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int]bool{0: true, 1: true, nobody: true, 65536: true, 65537: false} {
		if mapped(table, id) != want {
			t.Errorf("%d: want %v", id, want)
		}
	}
	if mapped(table+"x", 0) {
		t.Error("a table that is not there maps nobody")
	}
}

// What to do about a refusal depends on what the kernel refused, here or in the run's first process.
func TestExplainLocal(t *testing.T) {
	for _, c := range []struct {
		op    string
		errno syscall.Errno
		want  string
	}{
		{"fork/exec", syscall.EACCES, "chmod 755"},
		{"fork/exec", syscall.EPERM, "seccomp=unconfined"},
		{"fork/exec", syscall.ENOSPC, "max_*_namespaces"},
		{"mkdir", syscall.EACCES, "point TMPDIR"},
		{"", 0, "start node a"},
	} {
		told := &local.Refusal{Report: local.Report{Error: "told", Op: c.op, Errno: c.errno}}
		wantError(t, explainLocal(fmt.Errorf("start node a: %w", told)), c.want)
		if c.op != "" {
			wantError(t, explainLocal(&fs.PathError{Op: c.op, Path: "x", Err: c.errno}), c.want)
		}
	}
}

func TestTrialFindings(t *testing.T) {
	trials := []local.Trial{{What: local.TryVeth, Error: "operation not supported"}, {What: local.TryProc}}
	found := trialFindings("local", []string{local.TryProc, local.TryVeth, local.TryNft}, trials, "why")
	if f := found[0]; !f.OK || f.Fix != "" || !f.Needed {
		t.Errorf("%+v", f)
	}
	if f := found[1]; f.OK || !strings.Contains(f.Fix, "modprobe -a veth bridge") || !strings.Contains(f.Detail, "not supported") {
		t.Errorf("%+v", f)
	}
	if f := found[2]; f.OK || f.Needed || f.Detail != "not tried: why" {
		t.Errorf("%+v", f)
	}
	if Works(found, "local") || Works(found[:1], "docker") || !Works(found[:1], "local") {
		t.Error("Works")
	}
}

// Each row of servers is whole, and a profile is of one kind.
func TestServers(t *testing.T) {
	profiles := map[string]string{}
	for _, s := range servers {
		if s.name == "" || s.about == "" || imageOf(s.name).about != s.about {
			t.Errorf("%q is not whole, or stands twice", s.name)
		}
		if (len(s.local.programs) == 0) != (s.name == "client") || (len(s.local.programs) == 0) != (s.local.packages == "") {
			t.Errorf("%s: programs %v, packages %q", s.name, s.local.programs, s.local.packages)
		}
		if n := len(s.profiles); (n == 0) != (s.speaks == "") || (n == 0) != (len(s.fsyncs) == 0) {
			t.Errorf("%s: %d profiles, which speak %q and have %d fsync policies", s.name, n, s.speaks, len(s.fsyncs))
		}
		for _, p := range s.profiles {
			if profiles[p] != "" {
				t.Errorf("%s is a profile of %s and of %s", p, profiles[p], s.name)
			}
			profiles[p] = s.name
		}
	}
	if Speaks("redlock") != "redis" || Speaks("mine") != "" {
		t.Errorf("redlock speaks %q, and a profile of the user's own %q", Speaks("redlock"), Speaks("mine"))
	}
}
