package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
)

// A lock that grants everything is violated. Where its adapter breaks the protocol
// besides, that is the adapter's fault and nothing else, whatever was seen before.
func TestBadAdapter(t *testing.T) {
	beside(t)
	for way, want := range map[string]string{"none": "", "dies": "(died)", "twice": "(twice)", "leaves": "(stays-on)"} {
		t.Run(way, func(t *testing.T) {
			mark := fmt.Sprintf("bad-adapter-%d", time.Now().UnixNano())
			f := runScenario(t, "--scenario", "baseline", "--backend", "redis", "--runtime", "local", "--lease", "1s", "--clients", "2",
				"--adapter", "sh /adapter/bad.sh "+way+" "+mark, "--adapter-files", "testdata/adapter")
			noneMarked(t, mark)
			if want == "" {
				if f.code != exitViolated || f.verdict("mutual-exclusion") != "violated" {
					t.Errorf("a lock that grants everything: exit %d, %s\n%s", f.code, f.verdict("mutual-exclusion"), f.stderr)
				}
				return
			}
			if f.code != exitFailed || !strings.Contains(f.stderr, "the adapter's fault "+want) || !strings.Contains(strings.Join(f.result.Doubts, " "), want) {
				t.Errorf("exit %d, doubts %q\n%s", f.code, f.result.Doubts, f.stderr)
			}
			for _, p := range f.result.Properties {
				if p.Verdict != checker.Unknown && p.Verdict != checker.NA || len(p.Violations) > 0 {
					t.Errorf("%s: %+v", p.Name, p)
				}
			}
		})
	}
}

// An adapter that makes up its fencing tokens is told by them. Those that rise with the machine's clock rise as those of a
// service do, and it is told by what they do not prevent.
func TestForgedTokens(t *testing.T) {
	beside(t)
	const rising = "fencing-monotonic"
	for way, want := range map[string]string{"token-same": rising, "token-own": rising, "token-falls": rising, "token-last": rising,
		"token-rises": "mutual-exclusion"} {
		t.Run(way, func(t *testing.T) {
			f := runScenario(t, "--scenario", "baseline", "--backend", "redis", "--runtime", "local", "--lease", "1s",
				"--clients", "2", "--adapter", "sh /adapter/bad.sh "+way, "--adapter-files", "testdata/adapter")
			if f.code != exitViolated || f.verdict(want) != "violated" {
				t.Errorf("exit %d, %s %s\n%s", f.code, want, f.verdict(want), f.stderr)
			}
		})
	}
}

// noneMarked wants no process with mark in its command line.
func noneMarked(t *testing.T, mark string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		var left []string
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range all {
			if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(mark)) {
				left = append(left, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("still running: %q", left)
			return
		}
	}
}

// A pause stops the worker, the adapter and the first process of the adapter's namespace, and
// the proof counts all three.
func TestPauseOfAnAdapter(t *testing.T) {
	beside(t)
	f := settled(t, "--scenario", "gc-pause", "--library", "redis-py", "--runtime", "local", "--lease", "2s")
	if f.code != exitViolated || f.verdict("mutual-exclusion") != "violated" {
		t.Errorf("exit %d, mutual-exclusion %s: %q\n%s", f.code, f.verdict("mutual-exclusion"), f.result.Doubts, f.stderr)
	}
	history, err := os.ReadFile(filepath.Join(f.dir, "history.jsonl"))
	if err != nil || !strings.Contains(string(history), "threads of 3 processes in state T") {
		t.Errorf("no proof of a pause of three processes (%v)", err)
	}
}

// A version that the clients' nodes do not have is refused before there is a cluster, with
// the one that they have; that one runs.
func TestVersionNotInstalled(t *testing.T) {
	beside(t)
	cmd := exec.Command(dlmtest(t), "run", "--scenario", "baseline", "--library", "redis-py@9.9", "--runtime", "local", "--out", t.TempDir())
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(text), "--library redis-py@9.9: the clients' nodes have version ") || strings.Contains(string(text), "Starting") {
		t.Fatalf("%v\n%s", err, text)
	}
	_, has, _ := strings.Cut(string(text), "the clients' nodes have version ")
	has, _, _ = strings.Cut(has, ",")
	f := settled(t, "--scenario", "baseline", "--library", "redis-py@"+has, "--runtime", "local", "--lease", "2s", "--clients", "2")
	if f.code != exitHolds {
		t.Errorf("redis-py@%s: exit %d\n%s", has, f.code, f.stderr)
	}
}
