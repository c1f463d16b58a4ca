package cli

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// files lists what is below a folder.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error { names = append(names, path); return err })
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A run that nobody has judged, in a folder that cannot be written, such as an artefact
// of CI: dlmtest report judges it all the same, and leaves the folder as it is.
func TestReportOfASealedRun(t *testing.T) {
	top, err := os.MkdirTemp("", "dlmtest-sealed-*") // t.TempDir is for this user alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	run, elsewhere, program := filepath.Join(top, "run"), filepath.Join(top, "elsewhere"), filepath.Join(top, "dlmtest")
	history, err := os.ReadFile("../../reports/testdata/history-gc-pause-etcd.jsonl")
	self, err2 := os.Executable()
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{os.Chmod(top, 0o755), os.Mkdir(run, 0o755), os.Mkdir(elsewhere, 0o777), os.Chmod(elsewhere, 0o777),
		os.WriteFile(filepath.Join(run, "history.jsonl"), history, 0o644), os.WriteFile(program, binary, 0o755), os.Chmod(run, 0o555)} {
		if step != nil {
			t.Fatal(step)
		}
	}
	defer func() { _ = os.Chmod(run, 0o755) }()
	before := files(t, run)
	cmd := exec.Command(program, "report", run, "-o", filepath.Join(elsewhere, "report.html"))
	cmd.Dir, cmd.Env = elsewhere, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + elsewhere, "TMPDIR=" + elsewhere}
	if os.Geteuid() == 0 { // who may write everything is no test of it
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the folder cannot be written") {
		t.Fatalf("%v:\n%s", err, out)
	}
	page, err := os.ReadFile(filepath.Join(elsewhere, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("mutual-exclusion")) {
		t.Errorf("no report of the judgement: %v", err)
	}
	if after := files(t, run); !slices.Equal(before, after) {
		t.Errorf("the folder had %q and has %q", before, after)
	}
	if left := files(t, elsewhere); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
}
