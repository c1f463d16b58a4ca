package hunt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// hunt.json is read strictly: an error names the file and the field.
func TestDecodeRefuses(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(ReportFile, good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, other, want string }{
		{`"trials": 12,`, ``, "trials"},
		{`"trials": 12`, `"trials": "12"`, "trials"},
		{`"trials": 12`, `"trials": -1`, "trials"},
		{`"trials": 12`, `"trials": 12, "trails": 13`, "trails"},
		{`"trials": 12`, `"trials": 12, "trials": 13`, "twice"},
		{`"cause": "release-by-owner: zombie",`, ``, "findings/0/cause"},
		{`"found": 3`, `"found": 4`, "findings/0"},
		{`"run": "runs/1"`, `"run": "../elsewhere"`, "findings/0/run"},
		{`"scenario": "mine.yaml"`, `"scenario": "/etc/mine.yaml"`, "findings/0/scenario"},
		{`"decision": "shared"`, `"decision": "liked"`, "dismissed/0/decision"},
		{`"format": 1`, `"format": 99`, "newer dlmtest"},
		{`"format": 1`, `"format": 0`, "format"},
		{string(good[len(good)/2:]), ``, "line"},
		{string(good), `[]`, ReportFile},
		{string(good), ``, ReportFile},
	} {
		bad := strings.Replace(string(good), c.old, c.other, 1)
		if bad == string(good) {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := Decode(ReportFile, []byte(bad))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), ReportFile) {
			t.Errorf("%.40q for %.40q: %v", c.other, c.old, err)
		}
	}
}

// The last line of trials.jsonl is torn where a hunt was killed, and is written anew; any other is an error.
func TestTornTrials(t *testing.T) {
	dir := t.TempDir()
	h := hunting(t, &world{}, dir, 1)
	if err := h.keep(Tried{Number: 1, Scenario: "x"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, trialsFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, `{"number": 2, "se`...), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.Report.Save(golden.Root(t, dir)); err != nil {
		t.Fatal(err)
	}
	again, err := New(h.Spec)
	if err != nil || !again.taken[1] || again.taken[2] {
		t.Fatalf("%v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(whole) {
		t.Errorf("%v %s", err, now)
	}
	if err := os.WriteFile(path, append([]byte("{\"numbr\": 2}\n"), whole...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(h.Spec); err == nil || !strings.Contains(err.Error(), "numbr") || !strings.Contains(err.Error(), trialsFile) {
		t.Errorf("%v", err)
	}
}

// What a hunt of somebody else's holds marks nothing up in the page for a pull request.
func TestMarkdownOfAForeignHunt(t *testing.T) {
	const hostile = "x\n```\n![i](http://evil) <img src=//evil> @all |"
	r := &Report{Lock: hostile, Coverage: []Cover{{Fault: hostile, Trigger: hostile}},
		Findings: []*Finding{{Property: hostile, Cause: hostile, Message: hostile, Run: "a)" + hostile, Scenario: "a)" + hostile + ".yaml",
			Command: []string{"dlmtest", "x\n```\n<img/src=//evil>"}}},
		Left: []*Dismissed{{Cause: hostile, Decision: Open, Why: hostile}}}
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "```") && strings.Trim(line, "`\n") == "" {
			t.Errorf("a fence: %q", line)
		}
		if plain := strings.Split(line, "````"); len(plain)%2 == 1 { // what is code is shown as it is
			for i := 0; i < len(plain); i += 2 {
				for _, bad := range []string{"<img", "![i]", " @all"} {
					if strings.Contains(plain[i], bad) {
						t.Errorf("%q in %q", bad, line)
					}
				}
			}
		}
	}
}

// A list of trials that unfolds to far more than it holds is refused before it does.
func TestTrialsHaveAnEnd(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, trialsFile)
	for name, text := range map[string]string{
		"many trials":   strings.Repeat("{}\n", mostTrials+1),
		"many features": strings.Repeat(`{"seen": {"features": [""`+strings.Repeat(`,""`, mostFeatures/2)+"]}}\n", 4),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if all, _, err := readTrials(golden.Root(t, dir)); !errors.Is(err, bounded.ErrTooLarge) || len(all) > 0 {
			t.Errorf("%s: %d trials, %v", name, len(all), err)
		}
	}
}

// The command of a finding of somebody else's is quoted, and begins no other program than dlmtest.
func TestCommandOfAForeignFinding(t *testing.T) {
	for want, command := range map[string][]string{
		"dlmtest run --scenario 'a;id' '`id`' '$(id)' 'a|b' '>x' '#y' '~' 'a\nb'": {"dlmtest", "run", "--scenario", "a;id", "`id`", "$(id)", "a|b", ">x", "#y", "~", "a\nb"},
		"# no command of dlmtest: rm -rf '~'":                                     {"rm", "-rf", "~"},
	} {
		f := Finding{Command: command}
		if got := f.Line(); got != want {
			t.Errorf("%q: %s, want %s", command, got, want)
		}
	}
}

// Three million words of a command took report merge 24 s.
func TestListsOfAHuntHaveAnEnd(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // of the hunt, and of its first finding
		parts := strings.SplitAfter(string(good), `"command": [`)
		parts[i] += strings.Repeat(`"w",`, 1<<17)
		if _, err := Decode(ReportFile, []byte(strings.Join(parts, ""))); !errors.Is(err, bounded.ErrTooLarge) {
			t.Errorf("%d: %v", i, err)
		}
	}
	var settings strings.Builder // one and a half million took 35 s
	for i := range 1 << 17 {
		fmt.Fprintf(&settings, "\"k%d\": 1, ", i)
	}
	for field, many := range map[string]string{`"settings": {`: settings.String(), `"version"`: `"merged": [` + strings.Repeat(`"w",`, 1<<17) + `"w"], `} {
		bad := strings.Replace(string(good), field, field+many, 1)
		if field == `"version"` {
			bad = strings.Replace(string(good), field, many+field, 1)
		}
		if _, err := Decode(ReportFile, []byte(bad)); !errors.Is(err, bounded.ErrTooLarge) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Who goes on with a hunt whose folder is that of his own runs, as somebody may have put a hunt.json there, keeps them.
func TestResumeKeepsTheRunsOfOthers(t *testing.T) {
	dir := t.TempDir()
	h := hunting(t, &world{}, dir, 1)
	mine, left := filepath.Join(dir, runsDir, "20261122T210000.000_baseline_redis"), filepath.Join(dir, runsDir, "7")
	if err := errors.Join(h.Report.Save(golden.Root(t, dir)), os.MkdirAll(mine, 0o755), os.MkdirAll(left, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := New(h.Spec); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run of a killed session is still there: %v", err)
	}
}
