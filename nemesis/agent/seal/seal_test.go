package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// victim is the argument that makes this test binary the program under test.
const victim = "seal-victim"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == victim {
		_ = json.NewEncoder(os.Stdout).Encode(attack(os.Args[2]))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// attack tries everything and says what came of it.
func attack(parent string) map[string]string {
	said := map[string]string{}
	try := func(what string, err error) { said[what] = fmt.Sprint(err) }
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			said[name] = strings.TrimSpace(value)
		}
	}
	said["pid"], said["uid"] = fmt.Sprint(os.Getpid()), fmt.Sprint(os.Getuid(), os.Geteuid(), os.Getgid())
	seen, _ := filepath.Glob("/proc/[0-9]*")
	said["processes"] = fmt.Sprint(len(seen))
	var pid int
	_, _ = fmt.Sscan(parent, &pid)
	try("kill", syscall.Kill(pid, syscall.SIGURG))
	try("ptrace", unix.PtraceAttach(pid))
	_, err := os.OpenFile("/proc/"+parent+"/mem", os.O_RDWR, 0)
	try("mem", err)
	_, err = os.Open("/proc/" + parent + "/fd/0")
	try("fd", err)
	_, err = os.ReadFile("/proc/" + parent + "/environ")
	try("environ", err)
	try("remount", unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	try("tmpfs", unix.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
	try("umount", unix.Unmount("/proc", unix.MNT_DETACH))
	try("chroot", unix.Chroot("/tmp"))
	try("unshare", unix.Unshare(unix.CLONE_NEWUSER))
	try("setuid", syscall.Setuid(0))
	try("segment", changeSegment())
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	try("clone", cmd.Run())
	try("run", exec.Command("/bin/true").Run())
	_, err = unix.MemfdCreate("x", 0)
	try("memfd", err)
	_, err = unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	try("vsock", err)
	_, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	try("raw", err)
	try("uncounted", uncounted())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		l.Close()
	}
	try("tcp", err)
	return said
}

// changeSegment makes shared memory of this process's own, and then changes its mode.
func changeSegment() error {
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o555)
	if err != nil {
		return fmt.Errorf("shmget: %w", err)
	}
	var d unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &d); err != nil {
		return fmt.Errorf("shmctl of a look: %w", err)
	}
	d.Perm.Mode = 0o755
	_, err = unix.SysvShmCtl(id, unix.IPC_SET, &d)
	_, removed := unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	return errors.Join(err, removed)
}

// run has the victim sealed, and returns what it said.
func run(t *testing.T, o seal.Orders) map[string]string {
	t.Helper()
	cmd := exec.Command(binary(t), victim, fmt.Sprint(os.Getpid()))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := o.Start(cmd, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	said := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	return said
}

// binary is this one, where every user may execute it.
func binary(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "seal-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	path := filepath.Join(dir, "victim")
	if err := errors.Join(err, os.WriteFile(path, self, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

func want(t *testing.T, said, wanted map[string]string) {
	t.Helper()
	for what, part := range wanted {
		if !strings.Contains(said[what], part) {
			t.Errorf("%s: %q, want %q", what, said[what], part)
		}
	}
}

// sealed is what every sealed program says.
var sealed = map[string]string{
	"CapInh": "0000000000000000", "CapPrm": "0000000000000000", "CapEff": "0000000000000000", "CapAmb": "0000000000000000",
	"NoNewPrivs": "1", "Seccomp": "2", "run": "<nil>", "tcp": "<nil>",
	"ptrace": "operation not permitted", "remount": "operation not permitted", "tmpfs": "operation not permitted",
	"umount": "operation not permitted", "chroot": "operation not permitted", "unshare": "operation not permitted",
	"clone": "operation not permitted", "memfd": "not implemented", "vsock": "not supported", "raw": "not permitted",
	"segment": "operation not permitted",
}

func TestNamespaces(t *testing.T) {
	if err := tryNamespaces(); err != nil {
		t.Skip(err)
	}
	said := run(t, seal.Orders{Way: seal.Namespaces})
	want(t, said, sealed)
	want(t, said, map[string]string{"CapBnd": "0000000000000000", "pid": "1", "processes": "1", "mem": "no such file", "fd": "no such file"})
	if os.Getpid() != 1 {
		want(t, said, map[string]string{"kill": "no such process"})
	}
}

func TestUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
	said := run(t, seal.Orders{Way: seal.Users, UID: 64001, GID: 64001})
	want(t, said, sealed)
	want(t, said, map[string]string{"CapBnd": "0000000000000000", "uid": "64001 64001 64001", "Groups": "", "kill": "not permitted",
		"mem": "permission denied", "fd": "permission denied", "environ": "permission denied", "setuid": "not permitted"})
}

// A program that its image starts as root keeps what entrypoints need, and cannot trace.
func TestRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
	said := run(t, seal.Orders{Way: seal.Users, Keep: seal.ForRoot})
	want(t, said, map[string]string{"CapEff": "00000000000004cb", "CapBnd": "00000000000004cb", "NoNewPrivs": "1", "Seccomp": "2",
		"mem": "permission denied", "fd": "permission denied", "ptrace": "not permitted", "remount": "not permitted"})
}

// A worker that starts adapters has what it takes, and its adapter nothing.
func TestStarts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
	said := run(t, seal.Orders{Way: seal.Users, UID: 64001, GID: 64001, Keep: seal.ForAdapters, Starts: true})
	want(t, said, map[string]string{"CapEff": "00000000000000e0", "CapAmb": "00000000000000e0", "NoNewPrivs": "1", "mem": "permission denied"})
}

// An adapter is not the first process of its namespace: it can end itself by a signal, and
// what it leaves behind is not its own to wait for.
func TestReaper(t *testing.T) {
	if err := tryNamespaces(); err != nil {
		t.Skip(err)
	}
	o := seal.Orders{Way: seal.Namespaces, Reaper: true, Dies: true}
	said := run(t, o)
	want(t, said, sealed)
	want(t, said, map[string]string{"processes": "2", "kill": "no such process"})
	for script, code := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "kill $$": 143, "sleep 1000 & exit 0": 201, "exit 201": 199, "exit 0": 0} {
		cmd := exec.Command("sh", "-c", script)
		if err := o.Start(cmd, cmd.Start); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code says it
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: %d, want %d", script, got, code)
		}
	}
	for code, want := range map[int][2]int{0: {}, 7: {}, 137: {9, 0}, 203: {0, 3}} {
		if by, running := o.Ended(code); int(by) != want[0] || running != want[1] {
			t.Errorf("%d: %v, %d", code, by, running)
		}
		if by, running := (seal.Orders{}).Ended(code); by != 0 || running != 0 {
			t.Errorf("without a reaper, %d: %v, %d", code, by, running)
		}
	}
}

// A shell that has left files open does not hand them to the program.
func TestInherited(t *testing.T) {
	file, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, o := range []seal.Orders{{Way: seal.Users, UID: os.Getuid(), GID: os.Getgid()}, {Way: seal.Namespaces}, {Way: seal.Namespaces, Reaper: true}} {
		if o.Way == seal.Namespaces && tryNamespaces() != nil {
			continue
		}
		var out bytes.Buffer
		cmd := exec.Command("sh", "-c", "ls -l /proc/$$/fd")
		cmd.ExtraFiles, cmd.Stdout = []*os.File{file}, &out
		if err := o.Start(cmd, cmd.Start); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || strings.Contains(out.String(), "passwd") {
			t.Errorf("%+v: %s", o, out.String())
		}
	}
}

// An adapter reaches nothing of the first process of its namespace.
func TestReaperIsApart(t *testing.T) {
	if err := tryNamespaces(); err != nil {
		t.Skip(err)
	}
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", "kill -0 1; for f in mem environ root/. cwd/. fd/0; do head -c1 /proc/1/$f && echo got $f; done; trap '' TERM; kill -TERM 0; echo lives")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, &out, &syscall.SysProcAttr{Setpgid: true}
	o := seal.Orders{Way: seal.Namespaces, Reaper: true}
	if err := o.Start(cmd, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Contains(out.String(), "got") || strings.Contains(out.String(), "set\n") ||
		!strings.Contains(out.String(), "lives") || !strings.Contains(strings.ToLower(out.String()), "not permitted") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// Nothing of its first process helps an adapter: that has no more than itself.
func TestReaperHasNothing(t *testing.T) {
	if err := tryNamespaces(); err != nil {
		t.Skip(err)
	}
	var out bytes.Buffer
	cmd := exec.Command("sh", "-c", "sleep 0.2; cat /proc/1/task/*/status")
	cmd.Stdout = &out
	o := seal.Orders{Way: seal.Namespaces, Reaper: true}
	if err := o.Start(cmd, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	threads := 0
	for line := range strings.Lines(out.String()) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "CapEff", "CapPrm", "CapBnd", "CapAmb":
			threads++
			if strings.Trim(value, "0") != "" {
				t.Errorf("%s of a thread: %s", name, value)
			}
		case "Seccomp":
			if value != "2" {
				t.Errorf("a thread without the filter")
			}
		}
	}
	if threads == 0 {
		t.Error("no thread was seen")
	}
}

// What cannot be started is an error of the start, as without a seal.
func TestNoProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no-program")
	if err := os.WriteFile(file, []byte("nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/there/is/no/program", file} {
		cmd := exec.Command(path)
		err := seal.Orders{Way: seal.Users, UID: os.Getuid(), GID: os.Getgid()}.Start(cmd, cmd.Start)
		if err == nil || !strings.Contains(err.Error(), "exec "+path) {
			t.Errorf("%s: %v", path, err)
		}
		if cmd.Process != nil {
			_ = cmd.Wait()
		}
	}
}

// The limits bind the program and what it starts.
func TestLimits(t *testing.T) {
	cmd := exec.Command("sh", "-c", "ulimit -d; ulimit -f; grep -o 'core file size *[^ ]* *[^ ]*' /proc/self/limits; grep -o 'pending signals *[^ ]*' /proc/self/limits; cat /proc/self/oom_score_adj")
	r, w, _ := os.Pipe()
	cmd.Stdout = w
	o := seal.Orders{Way: seal.Users, UID: os.Getuid(), GID: os.Getgid(), Limits: seal.Limits{Data: 1 << 30, File: 1 << 20}}
	if err := o.Start(cmd, cmd.Start); err != nil {
		t.Fatal(err)
	}
	w.Close()
	text, _ := io.ReadAll(r)
	if err := cmd.Wait(); err != nil || strings.Join(strings.Fields(string(text)), " ") != "1048576 2048 core file size 1 1 pending signals 4096 900" {
		t.Errorf("%q, %v", text, err)
	}
}

func tryNamespaces() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("no user namespaces here: %w", err)
	}
	return nil
}

// BenchmarkStart is what a seal costs a program that ends at once.
func BenchmarkStart(b *testing.B) {
	for _, way := range []seal.Way{seal.Open, seal.Users, seal.Namespaces} {
		b.Run("way="+string(way), func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				if err := (seal.Orders{Way: way, UID: os.Getuid(), GID: os.Getgid()}).Start(cmd, cmd.Start); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A word that is no way starts nothing: it would seal nothing.
func TestUnknownWay(t *testing.T) {
	t.Setenv(seal.Variable, "x")
	cmd := exec.Command("/bin/true")
	if err := (seal.Orders{Way: seal.Here()}).Start(cmd, cmd.Start); err == nil || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("%v", err)
	}
	if cmd.Process != nil {
		t.Error("it was started")
		_ = cmd.Wait()
	}
}

// An adapter is never root, whoever starts it.
func TestAdapterIsNobody(t *testing.T) {
	if o := seal.Adapter(seal.Users, seal.AdapterID); o.UID != seal.AdapterID || o.GID != seal.AdapterID {
		t.Errorf("%+v", o)
	}
}
