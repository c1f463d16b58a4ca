package local_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/clusters"
)

// What the kernel refuses is said with what to set. Each limit is set in a user
// namespace of the test's own.
func TestRefusedNamespaces(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("unshare is missing")
	}
	for limit, want := range map[string]string{
		"max_user_namespaces": "max_user_namespaces is 0; as root: sysctl -w user.max_user_namespaces",
		"max_net_namespaces":  "max_net_namespaces is 0; as root: sysctl -w user.max_net_namespaces",
	} {
		binary, err := os.Open(self)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("unshare", "-Ur", "sh", "-c", "echo 0 > /proc/sys/user/"+limit+"; exec /proc/self/fd/3 runner x")
		cmd.ExtraFiles = []*os.File{binary}
		text, err := cmd.CombinedOutput()
		binary.Close()
		if err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s", limit, err, text)
		}
	}
}

// A container whose root is the only user it has.
func TestOnlyRootIsMapped(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("unshare is missing")
	}
	binary, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	cmd := exec.Command("unshare", "-Ur", "/proc/self/fd/3", "-test.run=TestNodesReachEachOther")
	cmd.ExtraFiles = []*os.File{binary}
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestDoctor(t *testing.T) {
	findings := clusters.Doctor(t.Context(), self)
	if !clusters.Works(findings, "local") {
		t.Error("local does not work")
	}
	seen := map[string]bool{}
	for _, f := range findings {
		t.Logf("%+v", f)
		seen[f.Runtime] = true
		if f.Runtime == "" || f.What == "" || f.Detail == "" || f.OK != (f.Fix == "") {
			t.Errorf("incomplete: %+v", f)
		}
	}
	if len(seen) != 2 {
		t.Errorf("runtimes %v", seen)
	}
}

func TestDoctorWithoutDaemon(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///there/is/no/daemon.sock")
	findings := clusters.Doctor(t.Context(), self)
	if clusters.Works(findings, "docker") || !strings.Contains(findings[0].Fix, "apt-get install docker.io") {
		t.Errorf("%+v", findings[0])
	}
}
