package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A disk without any room costs what would be saved, and not the verdict.
func TestCheckOnAFullDisk(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	writeLong(t, filepath.Join(dir, "history.jsonl"), 2000)
	for _, flag := range []string{"", "--json"} {
		script := `set -e
mount -t tmpfs -o size=4m tmpfs "$1"
cp "$2" "$1/history.jsonl"
dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null || true
exec "$3" check "$1" $4`
		cmd := exec.Command("unshare", "-rm", "sh", "-c", script, "sh", t.TempDir(), filepath.Join(dir, "history.jsonl"), dlmtest(t), flag)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		_ = cmd.Run() // the exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != exitViolated || !strings.Contains(out.String(), "mutual-exclusion") || !strings.Contains(strings.ToLower(out.String()), "violated") {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", flag, code, exitViolated, &out, &said)
		}
		if !strings.Contains(said.String(), "no space left") || !strings.Contains(said.String(), "free some room") {
			t.Errorf("%q: it does not say what is wrong and what to do: %s", flag, &said)
		}
	}
}

// Words that found no room are no success, whichever command says them.
func TestNoRoomForWords(t *testing.T) {
	beside(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"doctor"}, {"--help"}, {"schema", "scenario"}, {"completion", "bash"}} {
		cmd := exec.Command(dlmtest(t), args...)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &said
		_ = cmd.Run() // the exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || strings.Count(said.String(), "no space left") != 1 {
			t.Errorf("%v: exit code %d, want %d: %s", args, code, exitFailed, &said)
		}
	}
}
