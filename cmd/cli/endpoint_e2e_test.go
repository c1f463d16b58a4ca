package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRepeatEndpoints: the command that a run names runs against the same services.
func TestRepeatEndpoints(t *testing.T) {
	want := []string{"http://192.0.2.7:8080/v2", "192.0.2.8:80"}
	cmd := newRun()
	if err := cmd.ParseFlags([]string{"--endpoint", want[0], "--endpoint", want[1]}); err != nil {
		t.Fatal(err)
	}
	again := newRun()
	if err := again.ParseFlags(repeat(cmd, "baseline", underTest{backend: "http"}, 7)[2:]); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Flags().GetStringSlice("endpoint"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v", got, err)
	}
}

// quick is a run of a second whose links are looked into, so that clients go by those.
const quick = `name: quick
title: A second on slow links
about: The shortest run that goes by links.
workload: guarded-write
clients: 2
lease: 2s
work: 10ms
think: 10ms
wait: 4s
duration: 1s
after: 0s
faults:
  - {fault: latency, target: clients, latency: 2ms, at: 100ms, for: 500ms}
expect: {faults: 1, contention: 1}
`

// TestEndpoint runs against a lock service in containers of somebody else's, on another network.
func TestEndpoint(t *testing.T) {
	beside(t)
	if out, err := docker("version", "--format", "{{.Server.Version}}"); err != nil {
		t.Skipf("no Docker daemon answers: %s", out)
	}
	port := startService(t)
	file := filepath.Join(t.TempDir(), "quick.yaml")
	if err := os.WriteFile(file, []byte(quick), 0o644); err != nil {
		t.Fatal(err)
	}
	f := settled(t, "--runtime", "docker", "--scenario", file, "--backend", "http", "--endpoint", "http://host.docker.internal:"+port)
	if f.code != 0 || f.verdict("mutual-exclusion") != "holds" {
		t.Errorf("exit %d, mutual-exclusion %s\n%s", f.code, f.verdict("mutual-exclusion"), f.stderr)
	}
}

// startService starts etcd and the lock service as a user would, and returns the port
// of this machine that leads to it.
func startService(t *testing.T) (port string) {
	t.Helper()
	must := func(args ...string) string {
		t.Helper()
		out, err := docker(args...)
		if err != nil {
			t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return out
	}
	binary := dlmtest(t)
	if out, err := exec.Command(binary, "images", "build").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	name := fmt.Sprintf("dlmtest-endpoint-%d", os.Getpid())
	must("network", "create", name)
	t.Cleanup(func() { must("network", "rm", name) })
	run := func(node string, args ...string) {
		must(append([]string{"run", "--detach", "--rm", "--network", name, "--name", name + node}, args...)...)
		t.Cleanup(func() { must("rm", "--force", name+node) })
	}
	run("-etcd", "dlmtest/etcd:latest", "etcd", "--data-dir", "/tmp/etcd", "--listen-client-urls", "http://0.0.0.0:2379", "--advertise-client-urls", "http://"+name+"-etcd:2379")
	run("-service", "--user", "0", "--publish", "8080", "--volume", filepath.Dir(binary)+":/service:ro", "dlmtest/client:latest", "/service/dlmtest", "lockservice", "-etcd", name+"-etcd:2379")
	all := strings.Fields(must("port", name+"-service", "8080"))
	return all[0][strings.LastIndex(all[0], ":")+1:]
}

func docker(args ...string) (string, error) {
	out, err := exec.Command("timeout", append([]string{"60", "docker"}, args...)...).CombinedOutput()
	return string(bytes.TrimSpace(out)), err
}
