package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

// honouredFile says all that a service may ask of Docker.
const honouredFile = `services:
  redis-1:
    image: dlmtest/redis:latest
    profiles: [redis]
    command: [redis-server, --bind, "*", --protected-mode, "no", --dir, /data, --save, "", --maxclients, "1000", --set-proc-title, "no"] # more clients: it would raise its own limit of files; a title: it would write over its environment
    expose: ["6379"]
    user: "0"
    working_dir: /data
    environment: {PLAIN: value}
    env_file: [more.env]
    healthcheck: {test: [CMD, redis-cli, PING], interval: 1s}
    labels: {dlmtest.version: redis-server --version}
    cap_drop: [ALL]
    cap_add: [CHOWN, IPC_LOCK]
    security_opt: [no-new-privileges:true]
    read_only: true
    mem_limit: 300m
    memswap_limit: 400m
    mem_reservation: 100m
    pids_limit: 77
    cpus: 1.5
    shm_size: 9m
    ulimits: {nofile: {soft: 1111, hard: 2222}, core: 1}
    tmpfs: ["/data:size=32m,mode=755"]
    volumes: ["./redis.conf:/etc/mine.conf:ro", "kept:/kept:nocopy"]
volumes: {kept: }
`

// TestComposeIsHonoured runs a cluster of a user's own file and asks Docker, and the kernel,
// whether each of its fields is true.
func TestComposeIsHonoured(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"compose.yml": honouredFile, "more.env": "MORE=1\n", "redis.conf": "# mine\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(dlmtest(t), "run", "--scenario", "baseline", "--backend", "redis", "--runtime", "docker", "--out", t.TempDir(), "--compose", filepath.Join(dir, "compose.yml"))
	said := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	node, server := look(t, cmd.Process.Pid)
	if t.Failed() {
		_ = cmd.Process.Signal(os.Interrupt)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitHolds {
		t.Fatalf("%v\n%s", err, said)
	}
	if text := "healthcheck.interval of the compose file changes nothing"; !strings.Contains(said.String(), text) {
		t.Errorf("it does not say %q:\n%s", text, said)
	}
	h := node.HostConfig
	nofile := slices.ContainsFunc(h.Ulimits, func(u *engine.Ulimit) bool { return u.Name == "nofile" && u.Soft == 1111 && u.Hard == 2222 })
	added := strings.ReplaceAll(strings.Join(h.CapAdd, " "), "CAP_", "") // Docker writes either
	caps := strings.Contains(added, "CHOWN") && strings.Contains(added, "IPC_LOCK") && slices.Equal(h.CapDrop, []string{"ALL"})
	mounts := map[string]bool{}
	for _, m := range node.Mounts {
		mounts[m.Destination] = m.RW
	}
	conf, hasConf := mounts["/etc/mine.conf"]
	for name, ok := range map[string]bool{
		"read_only": h.ReadonlyRootfs, "mem_limit": h.Memory == 300<<20, "memswap_limit": h.MemorySwap == 400<<20, "mem_reservation": h.MemoryReservation == 100<<20,
		"pids_limit": h.PidsLimit != nil && *h.PidsLimit == 77, "cpus": h.NanoCPUs == 1.5e9, "shm_size": h.ShmSize == 9<<20, "ulimits": nofile,
		"cap_add and cap_drop": caps, "volumes, read-only": hasConf && !conf, "volumes, a volume": mounts["/kept"],
		"tmpfs": slices.ContainsFunc(h.Mounts, func(m mountPoint) bool {
			return m.Target == "/data" && m.TmpfsOptions != nil && m.TmpfsOptions.SizeBytes == 32<<20 && m.TmpfsOptions.Mode == 0o755
		}),
		"security_opt": slices.ContainsFunc(h.SecurityOpt, func(o string) bool { return strings.HasPrefix(o, "no-new-privileges") }),
	} {
		if !ok {
			t.Errorf("%s: not so in %+v, %+v", name, h, node.Mounts)
		}
	}
	for name, want := range map[string]string{
		"user": "Uid:\t0", "cap_add and cap_drop of the server": "CapEff:\t0000000000004001", "security_opt": "NoNewPrivs:\t1", "ulimits": "Max open files            1111                 2222",
		"environment": "PLAIN=value", "env_file": "MORE=1", "working_dir": "cwd /data", "read_only": "/ is read-only", "tmpfs": "size=32768k", "its file": "conf # mine",
	} {
		if !strings.Contains(server, want) {
			t.Errorf("%s: the server's process has no %q:\n%s", name, want, server)
		}
	}
	nothingLeft(t, cmd)
}

type mountPoint = struct {
	Type, Source, Target string
	TmpfsOptions         *struct {
		SizeBytes int64
		Mode      os.FileMode
	}
}

// inspected is what is looked at of docker inspect.
type inspected struct {
	HostConfig struct {
		engine.Resources
		ReadonlyRootfs  bool
		ShmSize         int64
		CapAdd, CapDrop []string
		SecurityOpt     []string
		Mounts          []mountPoint
	}
	Mounts []struct {
		Destination string
		RW          bool
	}
}

// look waits until the server of a run serves, and asks Docker about its container and the
// kernel about its process.
func look(t *testing.T, runner int) (node inspected, server string) {
	t.Helper()
	const about = `for p in /proc/[0-9]*; do case $(cat $p/comm) in redis-server*)
cat $p/status $p/limits; tr '\0' '\n' < $p/environ; echo cwd $(readlink $p/cwd); grep ' /data ' $p/mounts
grep -q '^[^ ]* / [^ ]* ro' $p/mounts && echo / is read-only; echo conf $(cat /etc/mine.conf);; esac; done`
	for deadline := time.Now().Add(150 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		out, _ := exec.Command("docker", "ps", "--filter", "label=dlmtest.node=redis-1", "--format", `{{.ID}} {{.Label "dlmtest"}}`).Output()
		for line := range strings.Lines(string(out)) {
			id, run, _ := strings.Cut(strings.TrimSpace(line), " ")
			if !strings.HasPrefix(run, strconv.Itoa(runner)+"-") {
				continue
			}
			text, err := exec.Command("docker", "exec", "-u", "0", id, "bash", "-c", about).Output()
			if err != nil || !strings.Contains(string(text), "cwd") {
				continue
			}
			said, err := exec.Command("docker", "inspect", id).Output()
			var all []inspected
			if err != nil || json.Unmarshal(said, &all) != nil || len(all) != 1 {
				t.Errorf("docker inspect: %v %s", err, said)
				return inspected{}, ""
			}
			return all[0], string(text)
		}
	}
	t.Error("the server was not seen")
	return inspected{}, ""
}
