package seal_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// uncounted tries to get memory that stays when no process has it; it says what it got.
func uncounted() error {
	var got []string
	for name, call := range map[string]uintptr{"shmget": unix.SYS_SHMGET, "semget": unix.SYS_SEMGET, "msgget": unix.SYS_MSGGET} {
		id, _, errno := unix.Syscall(call, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600) // of a semaphore the third is the flags
		if errno == 0 {
			got = append(got, fmt.Sprint(name, id))
		}
	}
	name, _ := unix.BytePtrFromString("uncounted")
	if fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o600, 0, 0, 0); errno == 0 {
		got = append(got, fmt.Sprint("queue ", fd))
	}
	if n := instances(); n > 64 {
		got = append(got, fmt.Sprint("inotify instances ", n))
	}
	if b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON); err == nil {
		got = append(got, fmt.Sprint("shared memory ", len(b)))
	}
	if _, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		got = append(got, "no memory of its own")
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	before, _ := unix.GetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF)
	err = errors.Join(unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, before/4), unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1))
	if after, _ := unix.GetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF); after != before {
		got = append(got, "a buffer")
	}
	return errors.Join(err, fmt.Errorf("got %v", got))
}

// instances is how many of inotify a program gets, of 100.
func instances() (n int) {
	for ; n < 100; n++ {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			break
		}
		defer unix.Close(fd)
	}
	return n
}

// What runs code under test without Docker has no memory but its processes' own.
func TestCounted(t *testing.T) {
	if err := tryNamespaces(); err != nil {
		t.Skip(err)
	}
	for _, o := range []seal.Orders{seal.Worker(seal.Namespaces, 0, 0, false), seal.Worker(seal.Namespaces, 0, 0, true), seal.Adapter(seal.Namespaces, 0)} {
		want(t, run(t, o), map[string]string{"uncounted": "got []"})
	}
	want(t, run(t, seal.Server(seal.Namespaces, 0, 0)), map[string]string{"uncounted": "shared memory"}) // PostgreSQL asks for it
}

// Whoever starts in /proc sees there no more than its own namespace has.
func TestFolderOfTheOldProc(t *testing.T) {
	if err := tryNamespaces(); err != nil {
		t.Skip(err)
	}
	for dir, most := range map[string]int{"/proc": 4, "/proc/self/task": 4, "/usr": 0} {
		cmd := exec.Command("sh", "-c", "ls -d [0-9]* | wc -l")
		cmd.Dir = dir
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := (seal.Orders{Way: seal.Namespaces}).Start(cmd, cmd.Start); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := cmd.Wait(); err != nil {
			t.Fatal(err, said.String())
		}
		if _, err := fmt.Sscan(out.String(), &n); err != nil || n > most {
			t.Errorf("%s: %q, %v", dir, out.String(), err)
		}
	}
}
