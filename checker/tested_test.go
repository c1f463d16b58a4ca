package checker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// always are those that do not hold without what puts them to the test: they are n/a or unknown.
var always = map[string]bool{"herd": true, "recovery": true, "availability": true, "fenced-writes": true, "loss-noticed": true, "starvation": true}

// TestQueues counts who waits behind another, and who gives that up.
func TestQueues(t *testing.T) {
	b := newBuilder()
	b.grant(0, 10*sec, "client-1", "k", 1)
	b.op(sec, "client-2", history.Invoke, history.Acquire, "k")
	b.op(2*sec, "client-2", history.Fail, history.Acquire, "k") // behind client-1
	b.grant(3*sec, 11*sec, "client-3", "k", 2)                  // behind client-1, and served
	b.op(12*sec, "client-2", history.Invoke, history.Acquire, "k")
	b.op(13*sec, "client-2", history.Fail, history.Acquire, "k") // behind nobody
	setup, ops := b.done()
	if behind, gave := newRun(setup, ops).queues(); behind != 2 || gave != 1 {
		t.Errorf("%d behind another, %d of them gave up", behind, gave)
	}
}

// TestSlightOverlap: two clocks cannot tell leases that overlap by half a millisecond, which is
// said with its figure; a longer one is a violation, and none is not told of.
func TestSlightOverlap(t *testing.T) {
	for _, c := range []struct {
		overlap int64
		want    Verdict
		says    string
	}{
		{-ms, Holds, ""},
		{ms / 2, Holds, "1 overlap of leases not counted, the longest 0.500 ms: below 1 ms two clocks cannot tell."},
		{2 * ms, Violated, ""},
	} {
		b := newBuilder()
		b.grant(0, 10*ms, "client-1", "k", 1) // sent at 9 ms, valid for 1 s
		b.grant(500*ms, 9*ms+sec-c.overlap, "client-2", "k", 2)
		setup, ops := b.done()
		result := Judge(setup, ops)
		p := result.Property("lease-exclusion")
		if p.Verdict != c.want || !strings.HasSuffix(p.Tested, c.says) || c.says == "" && strings.Contains(p.Tested, "not counted") {
			t.Errorf("an overlap of %d ns: %s, %q", c.overlap, p.Verdict, p.Tested)
		}
		if slight := result.Counts.SlightOverlaps; (slight == 1) != (c.says != "") {
			t.Errorf("an overlap of %d ns: %d counted as slight", c.overlap, slight)
		}
	}
}

// TestEachGreenIsTold: every property says of one of the golden histories by what it was put to
// the test, and of one what could not have shown, by each of the facts that its row names. The
// words stand in the golden files.
func TestEachGreenIsTold(t *testing.T) {
	met, lacked := map[string]bool{}, map[string]bool{}
	see := func(r *run, c Checker) {
		for _, test := range c.tests {
			of := map[bool]map[string]bool{true: met, false: lacked}[r.factOf(test.fact) > 0]
			of[c.Name], of[test.one] = true, true
		}
	}
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob("testdata/*/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, deeper...) {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		setup, ops, err := history.Decode(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		result, r := Judge(setup, ops), newRun(setup, ops)
		for _, p := range result.Properties {
			c, _ := Find(p.Name)
			if told := p.Tested != ""; told != (p.Verdict == Holds) {
				t.Errorf("%s: %s is %s, and told %q", path, p.Name, p.Verdict, p.Tested)
			}
			if p.Verdict == Holds {
				see(r, c)
			}
		}
	}
	for _, c := range Checkers {
		if len(c.tests) == 0 {
			t.Errorf("%s says nothing beside a green", c.Name)
		}
		if c.OfUse() {
			continue // see TestUses
		}
		if !met[c.Name] || !lacked[c.Name] && !always[c.Name] {
			t.Errorf("%s: put to the test %v, not by all %v", c.Name, met[c.Name], lacked[c.Name])
		}
		for _, test := range c.tests {
			if !met[test.one] && test.fact != gaveUp { // see TestQueues
				t.Errorf("no history has a %s", test.one)
			}
			if strings.ContainsAny(test.shows, ".;") || test.none == "" || test.more == "" {
				t.Errorf("%s: %q is no part of a sentence", c.Name, test.shows)
			}
		}
	}
}

// A property that nothing could have put to the test says nothing of it.
func TestNothingIsToldOfNoTest(t *testing.T) {
	b := newBuilder()
	b.grantOf(0, 10*ms, "client-1", 1)
	r := newRun(b.done())
	never := test{only: func(*run) bool { return false }}
	if got := (Checker{tests: []test{never}}).tell(r); got != "" {
		t.Errorf("%q", got)
	}
}
