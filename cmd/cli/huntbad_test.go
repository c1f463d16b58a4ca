package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/runner/hunt"
)

// An adapter that dies in each trial ends the hunt soon, as a failure that says what to do.
func TestHuntOfADyingAdapter(t *testing.T) {
	beside(t)
	_, r, code := hunted(t, "--backend", "redis", "--adapter", "false", "--for", "10m", "--seed", "1")
	if code != exitFailed || r.Trials != 0 || len(r.Findings) > 0 || r.Little == "" {
		t.Errorf("exit code %d, %s", code, r.Summary())
	}
	if !strings.Contains(r.Stopped, "in a row") || !strings.Contains(r.Stopped, "adapter") {
		t.Errorf("it does not say why it ended: %q", r.Stopped)
	}
}

// An adapter that offers little is hunted with what it offers: no trial is of another kind.
func TestHuntOfAnAdapter(t *testing.T) {
	beside(t)
	for _, limit := range []string{"20s", "60s"} { // a slow machine learns for long
		dir, r, code := hunted(t, "--backend", "redis", "--adapter", "python3 /adapter/redis_py.py", "--adapter-files", "../../examples/adapters",
			"--for", limit, "--seed", "1", "--parallel", "2")
		if code != exitHolds && code != exitInconclusive || r.Stopped != "" {
			t.Fatalf("exit code %d, %s, stopped: %q", code, r.Summary(), r.Stopped)
		}
		if trials, err := os.ReadFile(filepath.Join(dir, "trials.jsonl")); err != nil || strings.Contains(string(trials), "offers none") {
			t.Errorf("%v %s", err, trials)
		}
		if r.Trials > 0 {
			return
		}
	}
	t.Error("no trial was judged")
}

// A disk that fills while a hunt goes on: it ends, says what to do, and what was learnt before can be read.
func TestHuntOnAFullDisk(t *testing.T) {
	beside(t)
	kept := t.TempDir()
	script := `mount -t tmpfs -o size=100m tmpfs "$1" || exit 99
(while ! [ -s "$1"/*_hunt/trials.jsonl ]; do sleep 0.2; done
 dd if=/dev/zero of="$1/filler" bs=64k 2>/dev/null) &
filler=$!
"$3" hunt --backend redis --for 90s --seed 1 --parallel 2 --runtime local --out "$1"
code=$?
kill $filler 2>/dev/null # a hunt that ends before its first trial leaves it waiting, and this test with it
cp "$1"/*_hunt/hunt.json "$1"/*_hunt/trials.jsonl "$2"
exit $code`
	cmd := exec.Command("unshare", "-m", "sh", "-c", script, "sh", t.TempDir(), kept, dlmtest(t))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run() // the exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitFailed && code != exitInconclusive {
		t.Errorf("exit code %d: %s", code, &said)
	}
	if text := said.String(); !strings.Contains(text, "free") || !strings.Contains(text, "--resume") && !strings.Contains(text, "--out") {
		t.Errorf("it does not say what to do: %s", text)
	}
	if r, err := hunt.Read(kept); err != nil || len(r.Findings) > 0 {
		t.Errorf("%v %+v", err, r)
	}
}

// The shards of a hunt make one, by the command of the matrix.
func TestHuntMerge(t *testing.T) {
	beside(t)
	out := t.TempDir()
	shards := func(limit string) (dirs []string, judged bool) {
		judged = true
		for i := 1; i <= 2; i++ {
			dir, r, _ := hunted(t, "--backend", "redis", "--for", limit, "--seed", "3", "--parallel", "2", "--shard", fmt.Sprintf("%d/2", i))
			if r.Shard != fmt.Sprintf("%d/2", i) {
				t.Fatalf("%+v", r)
			}
			dirs, judged = append(dirs, dir), judged && r.Trials > 0
		}
		return dirs, judged
	}
	var dirs []string
	judged := false
	for _, limit := range []string{"8s", "30s", "90s"} { // a slow machine learns for longer than the first
		if dirs, judged = shards(limit); judged {
			break
		}
	}
	if !judged {
		t.Fatal("no trial was judged")
	}
	whole := filepath.Join(out, "whole")
	cmd := exec.Command(dlmtest(t), append([]string{"report", "merge", "-o", whole}, dirs...)...)
	said, _ := cmd.CombinedOutput()
	r, err := hunt.Read(whole)
	if err != nil || len(r.Merged) != 2 || r.Stopped != "" {
		t.Fatalf("%v %+v: %s", err, r, said)
	}
	if code := cmd.ProcessState.ExitCode(); code != exitInconclusive && r.Trials < hunt.Least || code == exitViolated {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(whole, "index.html")); err != nil {
		t.Error(err)
	}
}
