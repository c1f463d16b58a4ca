package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fault that cannot work is refused before the run, with what to do, and nothing is
// left: no run, no history, no container.
func TestRefusedBeforeTheRun(t *testing.T) {
	beside(t)
	seccomp := func(rule string) string {
		return writeFile(t, "compose.yml", `services:
  redis-1:
    image: dlmtest/redis:latest
    profiles: [redis]
    command: [redis-server, --bind, "*", --protected-mode, "no", --dir, /var/lib/redis]
    expose: ["6379"]
    healthcheck: {test: [CMD, redis-cli, PING]}
    security_opt: ['seccomp={"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{`+rule+`,"action":"SCMP_ACT_ERRNO"}]}']
`)
	}
	cut := writeFile(t, "cut.yaml", scenarioWith("cut", "  - {fault: partition, target: a-server, at: 0.5 lease, for: 0.5 lease}\n"))
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"clock", []string{"--scenario", "clock-jump", "--runtime", "docker", "--allow-host", "--compose", seccomp(`"names":["ptrace"]`)},
			[]string{"the fault clock", "runtime docker", "ptrace", "not permitted", "--cap-add SYS_PTRACE"}},
		{"partition", []string{"--scenario", cut, "--runtime", "docker", "--allow-host", "--compose",
			seccomp(`"names":["socket"],"args":[{"index":0,"value":16,"op":"SCMP_CMP_EQ"},{"index":2,"value":12,"op":"SCMP_CMP_EQ"}]`)}, // NETLINK_NETFILTER
			[]string{"the fault partition", "runtime docker", "nf_tables", "not permitted", "modprobe nf_tables"}},
		{"crash", []string{"--scenario", "token-amnesia", "--runtime", "local"},
			[]string{"the fault crash", "runtime local", "/dev/fuse: permission denied", "chmod 666 /dev/fuse", "--runtime docker"}},
		{"disk: lossy", []string{"--scenario", "baseline-lossy", "--runtime", "local"},
			[]string{"disk: lossy", "/dev/fuse: permission denied"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir()
			cmd := exec.Command(dlmtest(t), append([]string{"run", "--backend", "redis", "--out", out}, test.args...)...)
			if strings.Contains(strings.Join(test.args, " "), "local") {
				cmd = withoutFuse(t, cmd)
			}
			said, _ := cmd.CombinedOutput() // the exit code is looked at
			if code := cmd.ProcessState.ExitCode(); code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			for _, want := range append(test.want, "dlmtest doctor") {
				if !strings.Contains(string(said), want) {
					t.Errorf("it does not say %q", want)
				}
			}
			if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
				t.Errorf("a run was left: %v %v", left, err)
			}
			if t.Failed() {
				t.Logf("%s", said)
			}
			nothingLeft(t, cmd)
		})
	}
}

// withoutFuse runs cmd as one that may not open /dev/fuse: over it lies, in a mount
// table of the command's own, the same device for root alone.
func withoutFuse(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to hide /dev/fuse from one process")
	}
	device := filepath.Join(t.TempDir(), "fuse")
	if said, err := exec.Command("mknod", "-m", "600", device, "c", "10", "229").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return exec.Command("unshare", append([]string{"-m", "sh", "-c", `mount --bind "$0" /dev/fuse && exec "$@"`, device}, cmd.Args...)...)
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// scenarioWith is a scenario with these faults.
func scenarioWith(name, faults string) string {
	return `name: ` + name + `
title: A scenario of a test
about: Faults one after the other.
workload: guarded-write
clients: 3
lease: 2s
work: 20ms
think: 10ms
duration: 4 lease
faults:
` + faults
}
