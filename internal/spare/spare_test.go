package spare

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program that has its threads in reserve goes on where the kernel gives it none; another ends.
func TestThreads(t *testing.T) {
	if os.Getenv(role) != "" {
		play(os.Getenv(role) == "reserved")
		return
	}
	for _, c := range []struct {
		role string
		ends bool
	}{{"reserved", false}, {"not reserved", true}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestThreads$")
		cmd.Env = append(os.Environ(), role+"="+c.role)
		out, err := cmd.CombinedOutput()
		if ended := strings.Contains(string(out), "failed to create new OS thread"); ended != c.ends || (err != nil) != c.ends {
			t.Errorf("%s: %v\n%.600s", c.role, err, out)
		}
	}
}

const role = "SPARE_TEST"

// play blocks half of the reserve where no thread can be made any more.
func play(reserved bool) {
	if reserved {
		Threads()
	}
	none := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the system call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAGAIN)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := filterAll(none); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	over := make(chan bool)
	for range threads / 2 {
		go func() {
			_ = unix.Nanosleep(&unix.Timespec{Nsec: 2e8}, nil)
			over <- true
		}()
	}
	for range threads / 2 {
		select {
		case <-over:
		case <-time.After(20 * time.Second):
			os.Exit(4)
		}
	}
}

// filterAll puts a filter on all threads of the program.
func filterAll(filter []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}
