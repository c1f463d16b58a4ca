package gate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/scenarios"
)

const good = `name: release
library: reference
count: 3
seed: 7
budget: 20m
flags: {lease: 1s, renew: true}
cells:
  - scenario: gc-pause
    backend: redis
    flags: {lease: 2s, wait: 1}
    expect:
      mutual-exclusion: {is: known-weakness, reason: every lease ends, link: "https://example.org/1"}
      lease-exclusion: holds
  - scenario: naive-release
    backend: broken/no-owner-check
    count: 5
    seed: 9
    others: not-judged
    expect:
      release-by-owner: {is: must-detect, at-least: 4}
  - name: mine
    scenario: my/own.yaml
    backend: etcd
    expect: {fairness: {is: not-judged, reason: nobody waits}}
`

func TestParse(t *testing.T) {
	c, err := Parse("dir/gate.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	a, b, own := c.Cells[0], c.Cells[1], c.Cells[2]
	if a.Count != 3 || a.Seed != 7 || a.Flags["lease"] != "2s" || a.Flags["renew"] != "true" || a.Flags["wait"] != "1" || a.Library != Library ||
		a.Expect["mutual-exclusion"].Is != Weakness || a.Expect["lease-exclusion"].Is != Holds || a.Others != Holds {
		t.Errorf("%+v", a)
	}
	if b.Count != 5 || b.Seed != 9 || b.Flags["lease"] != "1s" || b.Expect["release-by-owner"].AtLeast != 4 || b.Others != NotJudged {
		t.Errorf("%+v", b)
	}
	if own.Scenario != "dir/my/own.yaml" || own.Label() != "own/etcd (mine)" || c.Limit() != 20*time.Minute || c.Parallel != 1 {
		t.Errorf("%+v %v", own, c.Limit())
	}
	for path, line := range map[string]int{"cells[0]": 8, "cells[0].expect.lease-exclusion": 13, "cells[0].expect.fairness": 12, "cells[1].expect.release-by-owner": 20, "cells[9]": 8} {
		if got := c.Line(path); got != line {
			t.Errorf("%s is on line %d, want %d", path, got, line)
		}
	}
}

// mistakes are pieces of the good file, what stands in their place, and what Parse says of it.
var mistakes = []struct{ old, new, want string }{
	{"count: 3", `"": 3`, `gate.yaml: line 3: unknown field ""; there are budget, cells, count,`},
	{"count: 3", "cuont: 3", `gate.yaml: line 3: unknown field "cuont"; did you mean "count"?`},
	{"count: 3", "count: three", `line 3: count: "three" is not a whole number`},
	{"count: 3", "count: -1", "line 3: count: -1: want from 1"},
	{"seed: 7", "seed: -7", "line 4: seed: -7"},
	{"budget: 20m", "budget: long", "line 5: budget: \"long\": want a time such as 20m"},
	{"library: reference", "library: redislok", "line 2: library: unknown library \"redislok\"; did you mean \"redislock\"?"},
	{"gc-pause", "gc-puase", `line 8: unknown scenario "gc-puase"; did you mean "gc-pause"?`},
	{"backend: redis", "backend: rediss", `line 9: unknown backend "rediss"; did you mean "redis"?`},
	{"    backend: redis\n", "", "line 8: backend is missing"},
	{"lease-exclusion: holds", "lease-exclusoin: holds", `unknown property "lease-exclusoin"; did you mean "lease-exclusion"?`},
	{"lease-exclusion: holds", "lease-exclusion: hold", `line 13: cells[0].expect.lease-exclusion: unknown expectation "hold"; did you mean "holds"?`},
	{"lease-exclusion: holds", "lease-exclusion: {is: hold}", `line 13: unknown expectation "hold"`},
	{"lease-exclusion: holds", "lease-exclusion: known-weakness", "a known weakness needs a reason and a link"},
	{", link: \"https://example.org/1\"", "", "a known weakness needs a reason and a link"},
	{"reason: every lease ends", "reason: ''", "a known weakness needs a reason and a link"},
	{"https://example.org/1", "javascript:alert(1)", "want an address (https://…) or the path of a file"},
	{"{is: not-judged, reason: nobody waits}", "not-judged", "not-judged needs a reason"},
	{"at-least: 4", "at-least: 6", "at-least: 6: want from 1 to the count of runs, 5"},
	{"lease-exclusion: holds", "lease-exclusion: {is: holds, at-least: 1}", "at-least is for must-detect alone"},
	{"others: not-judged", "others: whatever", "line 18: others: \"whatever\""},
	{"release-by-owner: {is: must-detect, at-least: 4}", "release-by-owner: holds", "nothing here is must-detect"},
	{"  - name: mine\n    scenario: my/own.yaml\n    backend: etcd", "  - scenario: gc-pause\n    backend: redis", "gc-pause/redis stands twice; give one of them a name"},
	{"flags: {lease: 2s, wait: 1}", "flags: [lease]", "want a map of fields, not a list"},
	{good[strings.Index(good, "cells:"):], "", "an empty gate proves nothing"},
	{"cells:", "cells: &a", "anchors and aliases are not supported"},
	{good, "", "the file is empty"},
	{"name: release", "name: release\n---\n", "a second document starts"},
	{"name: release", "name: [", "gate.yaml: "},
}

// Each mistake has its line, and says what to do.
func TestParseRefuses(t *testing.T) {
	for _, c := range mistakes {
		_, err := Parse("gate.yaml", []byte(strings.Replace(good, c.old, c.new, 1)))
		var problems scenarios.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add("cells: [{scenario: a, backend: b, expect: {x: [1]}}]")
	f.Add("cells:\n- {}\n- null\n- 3")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("gate.yaml", []byte(text))
		if err != nil {
			return
		}
		data, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse("gate.yaml", data); err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, data)
		}
	})
}

func TestLoadSaysWhatToDo(t *testing.T) {
	if _, err := Load(t.TempDir() + "/none.yaml"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "dlmtest gate init") {
		t.Error(err)
	}
}

func TestSetCount(t *testing.T) {
	c, err := Parse("gate.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetCount(4); err != nil || c.Cells[0].Count != 4 {
		t.Errorf("%v, %d", err, c.Cells[0].Count)
	}
	if err := c.SetCount(3); err == nil || !strings.Contains(err.Error(), "at least 4 runs") {
		t.Error(err)
	}
}

// A gate that somebody else wrote may name any file as a scenario: a pipe is not waited for, and what is no scenario is
// not shown.
func TestScenariosOfAForeignGate(t *testing.T) {
	dir := t.TempDir()
	path, secret := filepath.Join(dir, "gate.yaml"), filepath.Join(dir, "key.yaml")
	err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600), os.WriteFile(secret, []byte("geheim"), 0o600),
		os.WriteFile(path, []byte("cells: [{scenario: pipe.yaml, backend: redis}]\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "pipe.yaml is no file") {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := scenarios.Load(secret); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("what is no scenario: %v", err)
	}
}
