package cli

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/runner/hunt"
)

// hunted is what a hunt in namespaces of this machine has left, with its exit code.
func hunted(t testing.TB, args ...string) (dir string, r *hunt.Report, code int) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(dlmtest(t), append([]string{"hunt", "--runtime", "local", "--out", out}, args...)...)
	said, _ := cmd.CombinedOutput()
	dirs, err := filepath.Glob(filepath.Join(out, "*_hunt"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v %v: %s", dirs, err, said)
	}
	if r, err = hunt.Read(dirs[0]); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Logf("%s", said)
	return dirs[0], r, cmd.ProcessState.ExitCode()
}

// Told nothing but its name, a hunt finds what is wrong with a lock whose release asks for no
// owner, and leaves a scenario that shows it; in the sound lock beside it, it finds nothing.
func TestHunt(t *testing.T) {
	beside(t)
	dir, r, code := hunted(t, "--backend", "broken/no-owner-check", "--for", "5m", "--first", "--seed", "7")
	// Whichever a trial shows first of a key that is freed under its holder: another is let in, and the holder loses it.
	broken := []string{"release-by-owner", "lease-exclusion", "honest-claims", "false-loss", "mutual-exclusion", "no-lost-update/unfenced"}
	var found []string
	for _, f := range r.Findings {
		found = append(found, f.Property)
	}
	i := slices.IndexFunc(found, func(p string) bool { return slices.Contains(broken, p) })
	if code != exitViolated || i < 0 {
		t.Fatalf("exit code %d, %s: %v", code, r.Summary(), found)
	}
	f := r.Findings[i]
	if f.Found < hunt.Again || f.ReferenceFound > 0 || f.ReferenceOf < hunt.Repeats && !f.Owed { // what it owes needs no reference lock
		t.Errorf("%s: %s", f.Property, f.Rates())
	}
	for _, file := range []string{f.Scenario, "index.html", "index.md", "junit.xml",
		filepath.Join(f.Run, "report.html")} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
	if page, err := os.ReadFile(filepath.Join(dir, "index.html")); err != nil || !strings.Contains(string(page), "data:image/svg") || len(f.Story) == 0 {
		t.Errorf("the page has no story and picture: %v, %d steps", err, len(f.Story))
	}
	if _, r, code = hunted(t, "--backend", "redis", "--for", "20s", "--seed",
		"7"); code == exitViolated || len(r.Findings) > 0 || r.Trials == 0 {
		t.Errorf("redis: exit code %d, %s", code, r.Summary())
	}
}

func TestHuntRefuses(t *testing.T) {
	beside(t)
	program := dlmtest(t)
	for want, args := range map[string][]string{
		"no lock is named":     {},
		"--for 0s":             {"--backend", "redis", "--for", "0"},
		"did you mean redis?":  {"--backend", "rediss"},
		"redislock":            {"--library", "redislok"},
		"of one lock":          {"--backend", "redis,etcd"},
		"both name the lock":   {"--library", "redislock", "--adapter", "x", "--backend", "redis"},
		"--backend is missing": {"--adapter", "x"},
		"--shard needs --seed": {"--backend", "redis", "--shard", "1/2"},
		"is no shard":          {"--backend", "redis", "--seed", "1", "--shard", "3/2"},
		"--parallel 10000":     {"--backend", "redis", "--parallel", "10000"},
		"folder of a hunt":     {"--backend", "redis", "--resume", t.TempDir()},
		"--known":              {"--backend", "redis", "--known", "nowhere.yaml"},
	} {
		cmd := exec.Command(program, append([]string{"hunt"}, args...)...)
		cmd.Dir = t.TempDir()
		said, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(string(said),
			strings.TrimPrefix(want, "--known")) {
			t.Errorf("%q: exit code %d, %q is not in %s", args, code, want, said)
		}
		if left, _ := filepath.Glob(filepath.Join(cmd.Dir, "runs", "*")); len(left) > 0 {
			t.Errorf("%q leaves %q", args, left)
		}
	}
}

// BenchmarkHunt prints how many trials a minute a hunt makes.
func BenchmarkHunt(b *testing.B) {
	for _, backend := range strings.Fields(cmp.Or(os.Getenv("BACKENDS"), "redis")) {
		for _, parallel := range strings.Fields(cmp.Or(os.Getenv("PARALLEL"), "0")) {
			for b.Loop() {
				_, r, _ := hunted(b, "--backend", backend, "--for", cmp.Or(os.Getenv("FOR"), "2m"), "--seed", "1",
					"--runtime", cmp.Or(os.Getenv("RUNTIME"), "local"), "--parallel", parallel)
				rate := float64(r.Trials) / r.Seconds * 60
				line, _ := json.Marshal(map[string]any{"backend": backend, "parallel": r.Parallel, "trials_a_minute": rate,
					"runs_a_minute": r.PerMinute(), "trials": r.Trials, "disturbed": r.Disturbed, "seconds": r.Seconds})
				b.Logf("%s", line)
				b.ReportMetric(rate, "trials/min")
			}
		}
	}
}
