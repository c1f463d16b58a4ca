package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// session is a small history that holds: two clients, one key, a final acquire.
func session() (history.Setup, []history.Op) {
	setup := history.Setup{Promise: history.Promise{Backend: "redis", Leased: true, Extends: true, Bound: time.Second},
		Lease: 2 * time.Second, Keys: []string{"k"}, Clients: []string{"client-1", "client-2"}, Fencing: "at-least", FenceOn: "write"}
	var ops []history.Op
	at := int64(1e9)
	add := func(process int, node string, typ history.Type, f history.F, owner string) {
		at += 1e6
		op := history.Op{Time: at, Mono: at, Node: node, Process: process, Type: typ, F: f, Key: "k", Owner: owner}
		if f == history.Acquire && typ == history.OK {
			op.Sent, op.Lease, op.Deadline = at-1e5, 2e9, at+1e9
		}
		ops = append(ops, op)
	}
	for n, node := range []string{"client-1", "client-2", "final"} {
		if node == "final" {
			ops = append(ops, history.Op{Time: at + 1, Node: node, Type: history.Note, F: history.Final})
		}
		owner := node + "/1"
		add(n*perTest, node, history.Invoke, history.Acquire, "")
		add(n*perTest, node, history.OK, history.Acquire, owner)
		add(n*perTest, node, history.Invoke, history.Release, owner)
		add(n*perTest, node, history.OK, history.Release, owner)
	}
	return setup, ops
}

const perTest = 1000

func saveSession(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	setup, ops := session()
	if err := history.Encode(&text, setup, ops); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCheckWritesWhatPeopleRead(t *testing.T) {
	dir := saveSession(t, historyFile)
	out, err := Check(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := out.Result.Property("lease-exclusion"); p == nil || p.Verdict == checker.Violated {
		t.Errorf("%+v", out.Result)
	}
	for _, name := range []string{runFile, resultsFile, reportFile, junitFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// What a killed run has left is judged, kept, and never green.
func TestCheckOfAKilledRun(t *testing.T) {
	dir := saveSession(t, partFile)
	out, err := Check(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Verdict != checker.Unknown || !strings.Contains(strings.Join(out.Result.Doubts, " "), "killed") {
		t.Errorf("verdict %v, doubts %q", out.Result.Verdict, out.Result.Doubts)
	}
	for _, name := range []string{partFile, historyFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// A history that was cut off is doubted, and left as it was found.
func TestCheckOfATruncatedHistory(t *testing.T) {
	dir := saveSession(t, historyFile)
	path := filepath.Join(dir, historyFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := text[:len(text)-20]
	if err := os.WriteFile(path, cut, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := Check(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Verdict == checker.Holds || !strings.Contains(strings.Join(out.Result.Doubts, " "), "middle of a line") {
		t.Errorf("verdict %v, doubts %q", out.Result.Verdict, out.Result.Doubts)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, cut) {
		t.Errorf("the history was changed: %d bytes, then %d (%v)", len(cut), len(after), err)
	}
}

func TestFolder(t *testing.T) {
	out := t.TempDir()
	dir, err := newFolder(out, "gc-pause", "broken/lease-put", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := link(dir); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(out, "latest")); err != nil || target != filepath.Base(dir) {
		t.Errorf("latest points at %q, %v", target, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newFolder(filepath.Join(file, "runs"), "a", "b", time.Now()); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("an unwritable folder: %v", err)
	}
}
