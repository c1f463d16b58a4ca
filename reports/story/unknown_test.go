package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// told is the story of two grants, the second made while the first was not given back, in lines.
func toldOf(t *testing.T, setup history.Setup, ops []history.Op, named ...int) string {
	t.Helper()
	for i := range ops {
		ops[i].Index, ops[i].Key = i, "k"
	}
	lines := ""
	for _, s := range Of(setup, ops, checker.Violation{Key: "k", At: ops[named[len(named)-1]].Time, Operations: named, Message: "m"}) {
		lines += fmt.Sprintln(s.Who, s.What)
	}
	return lines
}

// Who lost a lock may owe the loss to something that it asked for and was never answered: the story
// tells the last of these, and how a read-write lock was asked for.
func TestLosersUnknown(t *testing.T) {
	op := func(at int64, node string, typ history.Type, f history.F, owner string) history.Op {
		o := history.Op{Time: at, Node: node, Process: len(node), Type: typ, F: f, Owner: owner, Mode: history.Exclusive}
		if typ == history.OK && f == history.Acquire {
			o.Sent, o.Lease, o.Deadline = at-1, 1000, at+999
		}
		return o
	}
	ops := []history.Op{
		op(1, "a", history.Invoke, history.Acquire, ""), op(10, "a", history.OK, history.Acquire, "x"),
		op(20, "a", history.Invoke, history.Extend, "x"), op(30, "a", history.Info, history.Extend, "x"),
		op(40, "a", history.Invoke, history.Extend, "x"), op(70, "a", history.Info, history.Extend, "x"),
		op(80, "bb", history.Invoke, history.Acquire, ""), op(90, "bb", history.OK, history.Acquire, "y"),
		op(100, "a", history.Invoke, history.Release, "x"),
	}
	ops[3].Error, ops[5].Error = "first", "context deadline exceeded"
	setup := history.Setup{Lease: 1000, Keys: []string{"k"}, Clients: []string{"a", "bb"}, Kind: history.ReadWrite,
		Promise: history.Promise{Leased: true, Shared: true}}
	got := toldOf(t, setup, ops, 1, 7)
	if !strings.Contains(got, `a asks to renew "k" as the writer, and is never told what came of it: no answer in time.`) || strings.Contains(got, "first") {
		t.Error(got)
	}
	if !strings.Contains(got, `bb acquires "k" as the writer`) {
		t.Error(got)
	}
}

// A client that asks again before it knows what became of its release may be given its old hold, which the release then
// ends: the story tells both, also where another waited so long that nobody knows whose grant came first.
func TestHeldAgain(t *testing.T) {
	op := func(at int64, node string, typ history.Type, f history.F, owner string, token int64) history.Op {
		return history.Op{Time: at, Node: node, Process: len(node), Type: typ, F: f, Owner: owner, Token: token, Error: map[bool]string{true: "no answer"}[typ == history.Info]}
	}
	ops := []history.Op{
		op(1, "a", history.Invoke, history.Acquire, "", 0), op(10, "a", history.OK, history.Acquire, "x", 5),
		op(11, "bb", history.Invoke, history.Acquire, "", 0),
		op(20, "a", history.Invoke, history.Release, "x", 5), op(30, "a", history.Info, history.Release, "x", 5),
		op(40, "a", history.Invoke, history.Acquire, "", 0), op(50, "a", history.OK, history.Acquire, "y", 5),
		op(60, "bb", history.OK, history.Acquire, "z", 6),
		op(100, "a", history.Invoke, history.Release, "y", 5),
	}
	setup := history.Setup{Lease: 1000, Keys: []string{"k"}, Clients: []string{"a", "bb"}, Promise: history.Promise{Leased: true, Token: true}}
	got := toldOf(t, setup, ops, 6, 7)
	for _, want := range []string{`a asks to release "k", and is never told what came of it`, `a acquires "k" with token 5, which it had before`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	ops[4].Type = history.OK // the token is the same all the same, but the hold is another
	if got := toldOf(t, setup, ops, 6, 7); strings.Contains(got, "had before") || strings.Contains(got, "never told") {
		t.Error(got)
	}
}

// A claim whose deadline had passed before it was told is no lease of a time below 0.
func TestNoLeaseBelowZero(t *testing.T) {
	if got := goodFor("its lease is", "its lease", -26.8*60e9); got != "its lease had ended 26.8 min before this answer came" {
		t.Error(got)
	}
	if got := goodFor("which is then", "which", 2e9); got != "which is then good for 2 s" {
		t.Error(got)
	}
}
