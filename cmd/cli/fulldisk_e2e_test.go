package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filling runs a command in namespaces of its own with its runs on a small disk, which is full from the moment in which
// words stand in what it says, or a file that a pattern names has something in it. What it leaves is counted: processes,
// mounts, files in TMPDIR. What it saved is copied to DISK-after.
const filling = `set -u
disk=$1 moment=$2; shift 2
mount -t tmpfs -o size=80m tmpfs "$disk" || exit 99
mounts() { cut -d' ' -f1 /proc/self/mountinfo | sort; }
mounts >"$disk.mounts"
timeout -s KILL 120 "$@" --out "$disk/runs" >"$disk.out" 2>"$disk.err" &
pid=$!
come() { case $moment in
	*/*) [ -n "$(find "$disk" -path "$disk/$moment" -size +0)" ] ;;
	*) grep -qs "$moment" "$disk.err" ;;
esac; }
until come || ! kill -0 $pid; do sleep 0.01; done
kill -STOP $(pgrep -P $pid) # while the disk becomes as small as what is on it
mount -o remount,size=$(($(df -k --output=used "$disk" | tail -n 1)))k "$disk" || echo "the disk did not become full" >"$disk.left"
kill -CONT $(pgrep -P $pid)
wait $pid; code=$?
alone() { [ $(pgrep -c .) -le 2 ]; } # this shell and pgrep
for n in 1 2 3 4 5 6 7 8 9 10; do alone && break; sleep 1; done # a janitor ends after its command
alone || pgrep -a . >>"$disk.left"
for id in $(mounts | comm -13 "$disk.mounts" -); do grep "^$id " /proc/self/mountinfo >>"$disk.left"; done # of other runs some go
find "$TMPDIR" -mindepth 1 -not -path '*/dlmtest-local-*' >>"$disk.left"
find "$TMPDIR" -mindepth 2 -not -name lock -not -path '*/database-*' >>"$disk.left"
find "$disk" -name '.dlmtest-tmp*' >>"$disk.left"
cp -a "$disk" "$disk-after"
exit $code`

// A disk that is full in the midst of things costs what would have been saved. What was is kept and can be judged again,
// nothing of a cut history is green, and the error says what to do.
func TestDiskFillsInTheMiddle(t *testing.T) {
	beside(t) // each case sees only its own processes and mounts
	if err := exec.Command("unshare", "-mpf", "--mount-proc", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run(); err != nil {
		t.Skipf("no tmpfs can be mounted in a namespace of one's own: %v", err)
	}
	gate := writeFile(t, "gate.yaml", "{name: g, count: 2, cells: [{scenario: baseline, backend: redis}]}\n")
	for _, c := range []struct {
		name, moment string
		args         []string
		code         int
		says         string   // beside what is wrong
		again        []string // judges what is left: DIR is its folder
		after        int
	}{
		{"run, as it starts", "runs/*/history.jsonl.part", []string{"run", "--scenario", "baseline", "--backend", "redis", "--lease", "1s"},
			exitFailed, "free some room, then start it again", []string{"check", "DIR"}, exitInconclusive},
		{"run, in the load", " %: ", []string{"run", "--scenario", "baseline", "--backend", "redis", "--lease", "1s"},
			exitFailed, "free some room, then dlmtest check", []string{"check", "DIR"}, exitInconclusive},
		{"run, as the history is saved", "Taking the cluster down", []string{"run", "--scenario", "baseline", "--backend", "redis", "--lease", "1s"},
			exitFailed, ", then dlmtest check", []string{"check", "DIR"}, -1}, // also once the history is whole, and the verdict is not
		{"run, as the report is written", "looking for the smallest", []string{"run", "--scenario", "gc-pause", "--backend", "redis", "--lease", "1s"},
			exitViolated, "free some room, then dlmtest check", []string{"check", "DIR"}, exitViolated},
		{"matrix", "runs/*/*/history.jsonl.part", []string{"run", "--scenario", "baseline", "--backend", "redis,postgres", "--lease", "1s"},
			exitFailed, "free some room, then dlmtest check", []string{"check", "DIR"}, exitInconclusive},
		{"gate", "runs/*/*/history.jsonl.part", []string{"gate", "--config", gate},
			exitFailed, "free some room, then dlmtest check", []string{"gate", "--config", gate, "--of", "DIR"}, exitInconclusive},
		{"hunt", "runs/*/trials.jsonl", []string{"hunt", "--backend", "redis", "--seed", "3", "--for", "1m"},
			exitFailed, "free some room, then go on with --resume",
			[]string{"hunt", "--backend", "redis", "--seed", "3", "--for", "10s", "--runtime", "local", "--resume", "DIR"}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var own killed
			own.folders(t) // the user nobody may enter them
			disk := filepath.Join(filepath.Dir(own.out), "disk")
			if err := os.Mkdir(disk, 0o755); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			args := append([]string{"-mpf", "--mount-proc", "sh", "-c", filling, "sh", disk, c.moment, dlmtest(t)}, c.args...)
			cmd := exec.CommandContext(ctx, "unshare", append(args, "--runtime", "local")...)
			cmd.Env = append(os.Environ(), "TMPDIR="+own.tmp)
			script, _ := cmd.CombinedOutput() // the exit code is looked at
			out, said, left := textOf(disk+".out"), textOf(disk+".err"), textOf(disk+".left")
			if strings.Contains(out, "inconclusive") && c.code == exitViolated { // on a busy machine
				c.code, c.after = exitFailed, exitInconclusive
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !containsOne(said, "no space left|0 MB are free") || !strings.Contains(said, c.says) {
				t.Errorf("it does not say %q", c.says)
			}
			if whole := strings.Contains(c.moment, "down"); !whole && strings.Contains(out, "every property holds") || strings.Contains(out, "PASS") {
				t.Error("it is green of a part")
			}
			for line := range strings.Lines(out) {
				path, named := strings.CutPrefix(line, "report  ")
				path = strings.TrimSpace(strings.Replace(path, disk, disk+"-after", 1))
				if _, err := os.Stat(path); named && err != nil {
					t.Errorf("it names a report that is not there: %v", err)
				}
			}
			if left != "" {
				t.Errorf("it left: %s", left)
			}
			dirs, _ := filepath.Glob(disk + "-after/runs/2*")
			if len(dirs) != 1 {
				t.Fatalf("folders: %q\n%s%s%s", dirs, script, out, said)
			}
			for i := range c.again {
				c.again[i] = strings.Replace(c.again[i], "DIR", dirs[0], 1)
			}
			again := exec.CommandContext(ctx, dlmtest(t), c.again...)
			again.Dir = t.TempDir()
			judged, _ := again.CombinedOutput() // the exit code is looked at
			code := again.ProcessState.ExitCode()
			if c.after >= 0 && code != c.after || code == exitFailed || code == exitUsage || bytes.Contains(judged, []byte("PASS")) {
				t.Errorf("%q: exit code %d, want %d: %s", c.again, code, c.after, judged)
			}
			if t.Failed() {
				t.Logf("%s%s%s", script, out, said)
			}
		})
	}
}

func textOf(path string) string {
	text, _ := os.ReadFile(path) // one that is not there says nothing
	return string(text)
}
