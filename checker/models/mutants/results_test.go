package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What is kept is found again, and is no longer believed when its file has changed.
func TestResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "build", "mutants.json")
	k, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := mistake{at: "p/a.go:1:2", what: "x", hash: "1"}, mistake{at: "p/a.go:2:2", what: "x", hash: "1"}, mistake{at: "p/a.go:3:2", what: "x", hash: "1"}
	for m, verdict := range map[mistake]string{a: killed, b: survived} {
		if err := k.add(m, result{Verdict: verdict, Hash: "1", Sources: "s", Tried: few}); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.save(); err != nil {
		t.Fatal(err)
	}
	if k, err = load(path); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		m       mistake
		sources string
		want    bool
	}{
		{a, "s", true}, {b, "s", true}, {c, "s", false},
		{a, "with another test", true}, {b, "with another test", false},
		{mistake{at: a.at, what: "x", hash: "changed"}, "s", false}, {mistake{at: a.at, what: "y", hash: "1"}, "s", false},
	} {
		if got := k.settled(x.m, x.sources, few); got != x.want {
			t.Errorf("%+v of %s: settled %v", x.m, x.sources, got)
		}
	}
	if k.settled(b, "s", many) {
		t.Error("what was tried on few histories is settled for many")
	}
	if err := os.WriteFile(path, []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path); err == nil {
		t.Error("a file of something else is taken for results")
	}
}
