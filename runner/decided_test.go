package runner

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/scenarios"
)

// pauseOnEtcd is the begin of a real run of gc-pause, with what the scenario expects of etcd.
func pauseOnEtcd(t *testing.T) (saved, map[string]checker.Expectation) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("../reports/testdata/history-gc-pause-etcd.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, HistoryFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := readHistory(golden.Root(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	scenario, err := scenarios.Load("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	return h, scenario.ExpectedOf("etcd", "write", false)
}

// A load has shown all only when what is expected was seen, the fault is over, and somebody was granted the
// key who asked for it afterwards. Where something is missing it has its time.
func TestSeenSoFar(t *testing.T) {
	h, expected := pauseOnEtcd(t)
	more := maps.Clone(expected)
	more["lease-exclusion"] = checker.Expectation{Verdict: checker.Violated, Sometimes: true}
	stale := h.setup
	stale.Expect.StaleWrites = 2
	healed := slices.IndexFunc(h.ops, func(op history.Op) bool { return op.Fault != nil && op.Fault.Phase == history.Heal })
	unhealed := slices.Delete(slices.Clone(h.ops), healed, healed+1)
	unseen := slices.DeleteFunc(slices.Clone(h.ops), func(op history.Op) bool { return op.Fault != nil && op.Fault.Phase == history.Observed })
	faultless := slices.DeleteFunc(slices.Clone(h.ops), func(op history.Op) bool { return op.Fault != nil })
	calm := h.setup
	calm.Expect = history.Expect{}
	for name, c := range map[string]struct {
		setup    history.Setup
		ops      []history.Op
		expected map[string]checker.Expectation
		want     checker.Seen
	}{
		"all is there":                    {h.setup, h.ops, expected, checker.Shown},
		"no violation is expected":        {h.setup, h.ops, nil, checker.Settled},
		"one is not there":                {h.setup, h.ops, more, checker.TooLittle},
		"too few stale writes":            {stale, h.ops, expected, checker.TooLittle},
		"the fault lasts":                 {h.setup, unhealed, expected, checker.TooLittle},
		"the fault was not seen":          {h.setup, unseen, expected, checker.TooLittle},
		"no fault, no violation expected": {calm, faultless, nil, checker.TooLittle},
		"nothing has come":                {h.setup, nil, expected, checker.TooLittle},
	} {
		if got, _ := seeSoFar(c.setup, slices.Clone(c.ops), c.expected); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	first := -1
	for n := range h.ops {
		part := slices.Clone(h.ops[:n+1])
		if seen, _ := seeSoFar(h.setup, part, expected); seen != checker.TooLittle {
			first = n
			break
		}
	}
	fresh := slices.IndexFunc(h.ops[healed:], func(op history.Op) bool {
		return op.Type == history.OK && op.F == history.Acquire && slices.ContainsFunc(h.ops[healed:], func(asked history.Op) bool {
			return asked.Type == history.Invoke && asked.F == history.Acquire && asked.Process == op.Process && asked.Time < op.Time
		})
	})
	if fresh < 0 || first <= healed+fresh {
		t.Errorf("all was seen at line %d; the heal is %d, and the first fresh grant comes %d after it", first, healed, fresh)
	}
}

// A load that has shown a violation that is expected ends then; any other goes on for the scenario's time after its
// faults; and where nobody asks for it a load has its time.
func TestLoadEndsOnceItIsDecided(t *testing.T) {
	h, expected := pauseOnEtcd(t)
	for name, c := range map[string]struct {
		until    string
		expected map[string]checker.Expectation
		after    time.Duration
		ends     bool
	}{
		"shown":              {"decided", expected, time.Hour, true},
		"settled, and later": {"decided", nil, 0, true},
		"settled":            {"decided", nil, time.Hour, false},
		"not asked for":      {"time", expected, 0, false},
	} {
		rec, err := newRecorder(filepath.Join(t.TempDir(), partFile), h.setup)
		if err != nil {
			t.Fatal(err)
		}
		rec.ops = slices.Clone(h.ops)
		s := &stage{plan: &plan{Options: Options{Settings: settings.Settings{Until: c.until}}, setup: h.setup}, rec: rec}
		begun := time.Now()
		d := s.decider(begun)
		if d != nil {
			d.expected = c.expected
		}
		d.healed(begun.Add(c.after))
		ends := false
		for range 40 {
			if ends = d.ends(silent{}); ends {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		notes := slices.DeleteFunc(slices.Clone(rec.ops), func(op history.Op) bool { return op.F != history.Decided })
		if ends != c.ends || (len(notes) == 1) != c.ends || c.ends && (notes[0].Length <= 0 || notes[0].Time != h.ops[len(h.ops)-1].Time) {
			t.Errorf("%s: %v, %+v", name, ends, notes)
		}
	}
}

// A report says that the load ended early, beside each yes as well. Nothing holds where the whole history does not
// show what the load ended for.
func TestEarlyEndIsTold(t *testing.T) {
	h, _ := pauseOnEtcd(t)
	for name, c := range map[string]struct{ early, more bool }{
		"it had its time":              {false, false},
		"early":                        {true, false},
		"early, and it is not shown":   {true, true},
		"in time, and it is not shown": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			scenario, err := scenarios.Load("gc-pause")
			if err != nil {
				t.Fatal(err)
			}
			if c.more {
				scenario.Expected["etcd"]["lease-exclusion"] = scenarios.Expectation{Verdict: checker.Violated}
			}
			ops := slices.Clone(h.ops)
			if c.early {
				ops = append(ops, history.Op{Time: ops[len(ops)-1].Time, Type: history.Note, F: history.Decided, Length: 3e9})
				history.Sort(ops)
			}
			dir := t.TempDir()
			run := reports.Run{Format: reports.Format, State: reports.Ended, Backend: "etcd", Resolved: string(scenario.YAML())}
			if err := errors.Join(saveRun(golden.Root(t, dir), run), saveHistory(golden.Root(t, dir), h.setup, ops)); err != nil {
				t.Fatal(err)
			}
			out, err := Check(t.Context(), dir, checker.Oracle{})
			if err != nil {
				t.Fatal(err)
			}
			result := out.Result
			doubted := slices.ContainsFunc(result.Doubts, func(d string) bool { return strings.Contains(d, "as lease-exclusion seemed to be violated") })
			if doubted != (c.early && c.more) || doubted == (result.Property("fenced-writes").Verdict == checker.Holds) {
				t.Errorf("%q, fenced-writes %v", result.Doubts, result.Property("fenced-writes").Verdict)
			}
			if told := strings.HasSuffix(result.Sentences.Fenced, "The load ended early."); told != (c.early && !doubted) {
				t.Errorf("%q", result.Sentences.Fenced)
			}
			if result.Answers.Unfenced != checker.No || strings.Contains(result.Sentences.Unfenced, "early") {
				t.Errorf("a violation needs no more time: %q", result.Sentences.Unfenced)
			}
			var terminal, markdown bytes.Buffer
			err = errors.Join(text.Write(&terminal, out.Run, out.Setup, out.Ops, result, text.Options{}), text.Markdown(&markdown, out.Run, out.Setup, out.Ops, result))
			page, err2 := os.ReadFile(filepath.Join(dir, reportFile))
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			for _, report := range []string{terminal.String(), markdown.String(), string(page)} {
				if told := strings.Contains(report, "The load ended after 3.000 s, before its time"); told != c.early {
					t.Errorf("told: %v, in %.300s", told, report)
				}
			}
		})
	}
}
