package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
)

// recorded is a small history as dlmtest records them, a line each.
var recorded = []string{
	`{"dlmtest_history":1,"setup":{"promise":{"backend":"test","leased":true,"token":true},"lease":2000000000,"keys":["k"],"clients":["c1","c2"],"fencing":"at-least","fence_on":"write","expect":{}}}`,
	`{"time":10,"node":"c1","process":1,"type":"invoke","f":"acquire","key":"k"}`,
	`{"time":20,"mono":20,"node":"c1","process":1,"type":"ok","f":"acquire","key":"k","owner":"a","token":1,"sent":15,"lease":2000000000,"deadline":2000000015}`,
	`{"time":30,"node":"c1","process":1,"type":"invoke","f":"write","key":"k","owner":"a","token":1,"value":"v1","fenced":{},"unfenced":{}}`,
	`{"time":40,"node":"store","process":0,"type":"note","f":"apply","key":"k","owner":"a","token":1,"value":"v1","fenced":{"accepted":true},"unfenced":{"accepted":true}}`,
	`{"time":50,"node":"c1","process":1,"type":"ok","f":"write","key":"k","owner":"a","token":1,"value":"v1","fenced":{"accepted":true},"unfenced":{"accepted":true}}`,
	`{"time":60,"node":"s1","process":0,"type":"note","f":"fault","fault":{"id":1,"kind":"pause","target":"s1","phase":"begin"}}`,
	`{"time":70,"node":"s1","process":0,"type":"note","f":"fault","fault":{"id":1,"kind":"pause","target":"s1","phase":"observed"}}`,
	`{"time":80,"node":"s1","process":0,"type":"note","f":"fault","fault":{"id":1,"kind":"pause","target":"s1","phase":"heal"}}`,
	`{"time":90,"node":"c1","process":1,"type":"invoke","f":"release","key":"k","owner":"a","token":1}`,
	`{"time":100,"node":"c1","process":1,"type":"ok","f":"release","key":"k","owner":"a","token":1}`,
	`{"time":110,"node":"final","process":9,"type":"note","f":"final"}`,
	`{"time":120,"node":"final","process":9,"type":"invoke","f":"acquire","key":"k"}`,
	`{"time":130,"mono":130,"node":"final","process":9,"type":"ok","f":"acquire","key":"k","owner":"z","token":2,"sent":125,"lease":2000000000,"deadline":2000000125}`,
}

// Indexes into recorded.
const (
	lineHeader = iota
	lineAsked
	lineGranted
	lineWrite
	lineApply
	_
	lineBegin
	lineObserved
	lineHeal
	lineRelease
	lineReleased
	lineFinal
	lineFinally
	lineEnd
)

// edit is recorded with old replaced by other in one line.
func edit(line int, old, other string) []string {
	lines := slices.Clone(recorded)
	lines[line] = strings.Replace(lines[line], old, other, 1)
	if lines[line] == recorded[line] {
		panic("no " + old + " in " + lines[line])
	}
	return lines
}

// without is recorded without a line.
func without(line int) []string { return slices.Delete(slices.Clone(recorded), line, line+1) }

// repeated is recorded with a copy of a line put in before another.
func repeated(line, before int) []string {
	return slices.Insert(slices.Clone(recorded), before, recorded[line])
}

// TestBadInput: what is wrong with a history is an error of dlmtest or leaves the
// verdict unknown, with the reason; it is never held against the lock. Each is
// judged as the folder of a run, and as a file by a model, which sees the lock alone.
func TestBadInput(t *testing.T) {
	const failed, unknown, holds = exitFailed, exitInconclusive, exitHolds
	for _, c := range []struct {
		name  string
		lines []string
		dir   int // exit code of dlmtest check DIR
		why   string
		file  int // of dlmtest check FILE --model lease, or fenced-register for what is wrong with writes
		fwhy  string
	}{
		{"sound", recorded, unknown, "No contention", holds, ""},

		// What every recording keeps.
		{"the clock goes back", edit(lineRelease, `"time":90`, `"time":79`), failed, "line 10 (invoke release of process 1 on \"c1\"): time goes back by 1 ns", failed, "the clock goes back by 1 ns"},
		{"two pending", repeated(lineAsked, lineGranted), failed, "the operation of line 2 of the process is still pending", failed, "process 1 calls acquire while its acquire of line 2 is pending"},
		{"nothing pending", without(lineAsked), failed, "nothing was invoked", failed, "process 1 ends acquire without having called it"},
		{"other operation", edit(lineReleased, "release", "acquire"), failed, "line 10 invoked release", failed, "but called release"},
		{"after retirement", edit(lineGranted, `"ok"`, `"info"`), failed, "retired by an unknown outcome", failed, "process 1 goes on after its unknown outcome"},
		{"write without token", edit(lineWrite, `"token":1,`, ``), failed, `it carries token 0, but line 3 granted "a" with token 1`, failed, "a write without a token"},
		{"write with another token", edit(lineWrite, `"token":1,`, `"token":2,`), failed, "it carries token 2", holds, ""},
		{"resource without token", edit(lineApply, `"token":1,`, ``), failed, "it carries token 0", holds, ""},
		{"grant without owner", edit(lineGranted, `"owner":"a",`, ``), failed, "a grant without an owner", failed, "line 4: the grant of line 3 has no owner"},
		{"owner twice", edit(lineEnd, `"owner":"z"`, `"owner":"a"`), failed, `owner "a" was used on line 3`, holds, ""},
		{"value twice", slices.Insert(slices.Clone(recorded), lineRelease,
			strings.Replace(recorded[lineWrite], `"time":30`, `"time":80`, 1)), failed, `value "v1" was used on line 4`, holds, ""},
		{"write without value", edit(lineWrite, `"value":"v1",`, ``), failed, "a write without a value", failed, `value "" is written twice, or is there at first`},
		{"open fault", without(lineHeal), failed, `fault 1 on "s1" is open since line 7`, holds, ""},
		{"fault without begin", without(lineBegin), failed, "fault 1 is observed, but it is not open", holds, ""},
		{"fault begins twice", repeated(lineBegin, lineObserved), failed, "fault 1 began on line 7 and was not healed", holds, ""},
		{"fault healed twice", repeated(lineHeal, lineRelease), failed, "fault 1 is healed, but it did not begin", holds, ""},
		{"heal failed", edit(lineHeal, `"heal"`, `"failed"`), failed, "the heal of fault 1 failed", holds, ""},
		{"fault not observed", without(lineObserved), unknown, "never observed at its victim", holds, ""},

		{"note", edit(lineFinal, `"final"}`, `"finale"}`), failed, `line 12 (note finale of process 9 on "final"): "finale" is no note that is known`, holds, ""},

		// What is too little.
		{"empty file", nil, failed, "no header", failed, "the file is empty"},
		{"empty history", recorded[:1], unknown, "Nobody was granted the lock", failed, "no operation of a client in it"},
		{"only faults", slices.Concat(recorded[:1], recorded[lineBegin:lineRelease]), unknown, "Nobody was granted the lock", failed, "no operation of a client in it: only 3 notes"},
		{"no end", recorded[:lineFinal], unknown, "Interrupted: the history ends before the final acquire", holds, ""},
		{"cut off", edit(lineEnd, `"lease":2000000000,"deadline":2000000125}`, ""), unknown, "The history ends in the middle of a line", failed, "the last line is cut off"},

		// What no run can have written.
		{"from the future", edit(lineHeader, `:1,"setup"`, `:2,"setup"`), failed, "written by a newer dlmtest: version 2", failed, "written by a newer dlmtest: version 2"},
		{"no history", []string{`{"name":"x"}`}, failed, "not a dlmtest history", failed, "no field of it is known"},
		{"unknown field", edit(lineAsked, `"key"`, `"kay"`), failed, `unknown field "kay"`, failed, `unknown field "kay"`},
		{"unknown promise", edit(lineHeader, `"leased"`, `"forever"`), failed, `unknown field "forever"`, failed, `unknown field "forever"`},
		{"no lease", edit(lineHeader, `"lease":2000000000`, `"lease":0`), failed, "lease 0s: want more", failed, "lease 0s: want more"},
		{"endless lease", edit(lineHeader, `"lease":2000000000`, `"lease":9000000000000000000`), failed, "at most 24h0m0s", failed, "at most 24h0m0s"},
		{"time out of range", edit(lineEnd, `"time":130`, `"time":9223372036854775807`), failed, "is beyond 36 years", failed, "out of range"},
		{"time beyond 64 bits", edit(lineEnd, `"time":130`, `"time":9223372036854775808`), failed, "a number beyond 64 bits", failed, "a number beyond 64 bits"},
		{"deadline out of range", edit(lineGranted, `"deadline":2000000015`, `"deadline":-9223372036854775807`), failed, "deadline", holds, ""},
		{"request out of its span", edit(lineGranted, `"sent":15`, `"sent":5`), failed, "sent at 5, outside of its own span", holds, ""},
		{"token beyond 64 bits", edit(lineGranted, `"token":1`, `"token":9223372036854775808`), failed, "a number beyond 64 bits", failed, "a number beyond 64 bits"},
		{"token that overflowed", edit(lineEnd, `"token":2`, `"token":-9223372036854775807`), failed, "is negative: it overflowed", failed, "out of range"},
		{"greatest token", edit(lineEnd, `"token":2`, `"token":9223372036854775807`), unknown, "No contention", holds, ""},
		{"negative process", edit(lineFinally, `"process":9`, `"process":-9`), failed, "process -9 is negative", failed, "out of range"},
		{"fraction", edit(lineAsked, `"time":10`, `"time":1.5`), failed, "want a comma", failed, "want a comma"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Join(c.lines, "\n")
			if !strings.HasPrefix(c.name, "cut") && text != "" {
				text += "\n"
			}
			dir := savedRun(t, "history.jsonl", text)
			judgedDir(t, dir, c.dir, c.why)
			model := "lease"
			if strings.HasPrefix(c.name, "write") {
				model = "fenced-register"
			}
			judgedFile(t, filepath.Join(dir, "history.jsonl"), model, c.file, c.fwhy)
		})
	}
}

// savedRun is the folder of a run that ended well.
func savedRun(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	for file, content := range map[string]string{name: text, "run.json": `{"dlmtest_run":1,"id":"test"}`} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// judgedDir wants an exit code of dlmtest check DIR, with its reason: an error that
// says it and no results, or results in which nothing is violated and something says it.
func judgedDir(t *testing.T, dir string, code int, why string) {
	t.Helper()
	_, err := command("check", dir, "--oracle", "off", "--json")
	if got := exitWith(err); got != code {
		t.Fatalf("check DIR ends with %d (%v), want %d", got, err, code)
	}
	results, missing := os.ReadFile(filepath.Join(dir, "results.json"))
	if code == exitFailed {
		if missing == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("check DIR says %v, want %q and no results", err, why)
		}
		return
	}
	var r checker.Result
	if err := json.Unmarshal(results, &r); err != nil {
		t.Fatal(err)
	}
	said := strings.Join(r.Doubts, "\n")
	for _, p := range r.Properties {
		said += "\n" + p.Reason
		if p.Verdict == checker.Violated {
			t.Errorf("%s is violated: %s", p.Name, p.Reason)
		}
	}
	if !strings.Contains(said, why) {
		t.Errorf("check DIR says %s, want %q", said, why)
	}
}

// judgedFile wants an exit code of dlmtest check FILE --model M, with its reason.
func judgedFile(t *testing.T, file, model string, code int, why string) {
	t.Helper()
	out, err := command("check", file, "--model", model, "--json")
	if got := exitWith(err); got != code {
		t.Fatalf("check FILE ends with %d (%v), want %d", got, err, code)
	}
	if code == exitFailed && (out != "" || !strings.Contains(err.Error(), why)) {
		t.Errorf("check FILE says %v and %q, want %q and no verdict", err, out, why)
	}
}

// command runs the command line.
func command(args ...string) (string, error) {
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	err := root.Execute()
	return out.String(), err
}

// A history that is still being written is left alone; one whose writer died is
// judged, and nothing of it holds.
func TestCheckOfARunThatGoesOn(t *testing.T) {
	dir := savedRun(t, "history.jsonl.part", strings.Join(recorded, "\n")+"\n")
	writer, err := os.OpenFile(filepath.Join(dir, "history.jsonl.part"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(writer.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	judgedDir(t, dir, exitFailed, "the run is still going on")
	if _, err := os.Stat(filepath.Join(dir, "history.jsonl")); err == nil {
		t.Error("something was written into the folder of a run that goes on")
	}
	_ = writer.Close()
	judgedDir(t, dir, exitInconclusive, "")
}

// TestOwnFile: a file in dlmtest's own format is read as strictly as any other, and one that is
// none is not sent to --model.
func TestOwnFile(t *testing.T) {
	text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(text(recorded)))
	_ = zip.Close()
	for _, c := range []struct {
		name, text string
		code       int
		why        string
	}{
		{"as it is", text(recorded), exitInconclusive, ""},
		{"packed", packed.String(), exitInconclusive, ""},
		{"marked", "\xef\xbb\xbf" + text(recorded), exitInconclusive, ""},
		{"time goes back", text(edit(lineRelease, `"time":90`, `"time":79`)), exitFailed, `line 10 (invoke release of process 1 on "c1"): time goes back by 1 ns`},
		{"field twice", text(edit(lineAsked, `"key":"k"`, `"key":"k","key":"l"`)), exitFailed, `history line 2: column 81: field "key" comes twice`},
		{"fence", text(edit(lineHeader, `"write"`, `"never"`)), exitFailed, `history line 1: setup: fence_on "never": want one of ["write" "read"], or nothing`},
		{"shows", text(edit(lineHeader, `"expect":{}`, `"expect":{},"shows":"beauty"`)), exitFailed, `line 1: setup: shows "beauty", which is no property`},
		{"empty", "", exitFailed, "the file is empty"},
		{"no text", "\x00\x01", exitFailed, "the file is no text"},
		{"another format", "{:process 0, :type :invoke, :f :acquire, :value nil}\n", exitUsage, "--model says by which model it is judged"},
	} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"check", "explain"} {
			_, err := command(verb, path)
			if verb == "explain" && c.code == exitInconclusive {
				if err != nil {
					t.Errorf("%s: explain says %v", c.name, err)
				}
				continue
			}
			if got := exitWith(err); got != c.code {
				t.Errorf("%s: %s ends with %d (%v), want %d", c.name, verb, got, err, c.code)
			}
			if c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why) || c.code == exitFailed && strings.Contains(err.Error(), "says by which")) {
				t.Errorf("%s: %s says %v, want %q", c.name, verb, err, c.why)
			}
		}
	}
}
