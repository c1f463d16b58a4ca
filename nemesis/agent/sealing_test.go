package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// A worker has its number, whoever has that as a name in its image.
func TestWorkerIsANumber(t *testing.T) {
	if os.Getenv("AGENT_TEST_PASSWD") != "" {
		if err := os.WriteFile("/etc/passwd", nil, 0); err == nil {
			t.Fatal("this is not the test's own file")
		}
		o, err := sealing(Child{User: fmt.Sprint(seal.WorkerID), Speaks: true})
		if err != nil || o.UID != seal.WorkerID || o.GID != seal.WorkerID {
			t.Errorf("%+v, %v", o, err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
	file := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d:x:0:0::/:/bin/sh\n", seal.WorkerID), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "sh", "-c", `mount --bind "$1" /etc/passwd && mount -o remount,bind,ro /etc/passwd && exec "$2" -test.run "^TestWorkerIsANumber$"`, "sh", file, os.Args[0])
	cmd.Env = append(os.Environ(), "AGENT_TEST_PASSWD=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
