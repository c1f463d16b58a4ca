package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
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
	dir := saveSession(t, HistoryFile)
	out, err := Check(t.Context(), dir, checker.Oracle{})
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
	out, err := Check(t.Context(), dir, checker.Oracle{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Verdict != checker.Unknown || !strings.Contains(strings.Join(out.Result.Doubts, " "), "killed") {
		t.Errorf("verdict %v, doubts %q", out.Result.Verdict, out.Result.Doubts)
	}
	for _, name := range []string{partFile, HistoryFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// A history that was cut off is doubted, and left as it was found.
func TestCheckOfATruncatedHistory(t *testing.T) {
	dir := saveSession(t, HistoryFile)
	path := filepath.Join(dir, HistoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := text[:len(text)-20]
	if err := os.WriteFile(path, cut, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := Check(t.Context(), dir, checker.Oracle{})
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

// Nothing holds of a history that was changed after it had been judged, or cut at the
// end of a line, until it is judged again.
func TestOpenOfAnotherHistory(t *testing.T) {
	dir := saveSession(t, HistoryFile)
	if err := os.WriteFile(filepath.Join(dir, runFile), []byte(`{"dlmtest_run":1,"id":"test"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Check(t.Context(), dir, checker.Oracle{}); err != nil {
		t.Fatal(err)
	}
	out, err := Open(dir)
	if err != nil || len(out.Result.Doubts) != 0 || !slices.ContainsFunc(out.Result.Properties, holds) {
		t.Fatalf("as it was judged: %v, doubts %q", err, out.Result.Doubts)
	}
	path := filepath.Join(dir, HistoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := bytes.IndexByte(text, '\n') + 1
	for what, now := range map[string][]byte{
		"no operation left": text[:header],
		"another client":    bytes.ReplaceAll(text, []byte("client-2"), []byte("client-3")),
	} {
		if err := os.WriteFile(path, now, 0o644); err != nil || bytes.Equal(now, text) {
			t.Fatal(err)
		}
		out, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(out.Result.Properties, holds) || out.Result.Answers.Promise == checker.Yes || !strings.Contains(strings.Join(out.Result.Doubts, " "), "not the one that was judged") {
			t.Errorf("%s: %v, %v, doubts %q", what, out.Result.Verdict, out.Result.Answers, out.Result.Doubts)
		}
	}
}

func holds(p checker.Property) bool { return p.Verdict == checker.Holds }

// A history that cannot be judged is drawn all the same: a drawing is needed most where
// something is wrong.
func TestCheckDrawsWhatItCannotJudge(t *testing.T) {
	dir := saveSession(t, HistoryFile)
	path := filepath.Join(dir, HistoryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Replace(text, []byte(`"process":1000,"type":"invoke"`), []byte(`"process":0,"type":"ok"`), 1)
	if err := os.WriteFile(path, broken, 0o644); err != nil || bytes.Equal(broken, text) {
		t.Fatalf("nothing was broken: %v", err)
	}
	if _, err := Check(t.Context(), dir, checker.Oracle{}); err == nil || !strings.Contains(err.Error(), "breaks dlmtest's own rules") {
		t.Fatalf("got %v", err)
	}
	page, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil || !bytes.Contains(page, []byte("own rules, so it is not judged")) || bytes.Contains(page, []byte("every property holds")) {
		t.Errorf("the report does not say why it has no verdict (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(dir, resultsFile)); err == nil {
		t.Error("there is a verdict")
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, broken) {
		t.Errorf("the history was changed (%v)", err)
	}
}

func TestFolder(t *testing.T) {
	out := t.TempDir()
	in, err := newFolder(out, "gc-pause", "broken/lease-put", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	dir := in.Name()
	if err := Link(dir, "latest"); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(out, "latest")); err != nil || target != filepath.Base(dir) {
		t.Errorf("latest points at %q, %v", target, err)
	}
	now := time.Now()
	one, err1 := newFolder(out, "a", "b", now)
	two, err2 := newFolder(out, "a", "b", now)
	if err1 != nil || err2 != nil || one.Name() == two.Name() {
		t.Errorf("two runs of one millisecond share a folder: %v %v (%v, %v)", one, two, err1, err2)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := newFolder(filepath.Join(file, "runs"), "a", "b", time.Now()); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("an unwritable folder: %v", err)
	}
}
