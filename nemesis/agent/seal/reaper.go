package seal

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// reaper is the name by which this binary becomes the first process of an adapter's
// namespace.
const reaper = "dlmtest-reaper"

// fork starts the program as the second process of its namespace, and becomes the first.
// Programs of all kinds are adapters, and few are written to be that one: the kernel lets no
// signal end it that it has no handler for, its own neither, and gives it the children of
// others to wait for. The exec leaves no thread that has a capability.
func (l letter) fork() error {
	// The threads of Go itself have not dropped anything yet, and the program is the same user.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return refused("hide the helper's memory", err)
	}
	pid, err := syscall.ForkExec(l.Path, os.Args[2:], &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return &os.PathError{Op: "exec", Path: l.Path, Err: err}
	}
	return syscall.Exec("/proc/self/exe", []string{reaper, strconv.Itoa(pid)}, nil)
}

// Exit codes of a reaper. The first process of a namespace cannot end itself by a signal, so
// that is a code, as shells have it; and it alone sees what the program has left running, as
// the kernel ends that with it. Codes of the program's own above those are the highest that is left.
const (
	killed = 128 // and the signal
	own    = 199
	left   = 200 // and how many
	most   = 55
)

// reap waits for all processes of the namespace and ends with the program, and the kernel
// then ends what that has left. It holds none of its pipes, so that their ends are seen.
func reap(program string) {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // it has no more than the program, and still is none of its business
	for s := syscall.Signal(1); s < 65; s++ {
		if s != syscall.SIGCHLD { // a process that ignores that has nobody to wait for
			signal.Ignore(s) // what the program sends to its group
		}
	}
	for fd := range 3 {
		_ = syscall.Close(fd)
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR || err == nil && strconv.Itoa(pid) != program:
		case err != nil:
			os.Exit(failed)
		case status.Signaled():
			os.Exit(killed + int(status.Signal()))
		default:
			if n := others(); n > 0 {
				os.Exit(left + min(n, most))
			}
			os.Exit(min(status.ExitStatus(), own))
		}
	}
}

// others are the processes of this namespace that still run, beside this one.
func others() (n int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if end := bytes.LastIndexByte(stat, ')'); err == nil && end >= 0 && len(stat) > end+2 && stat[end+2] != 'Z' && stat[end+2] != 'X' {
			n++
		}
	}
	return n
}

// Ended is what the exit code of a program's reaper says: the signal that ended it, or how
// many processes it has left running.
func (o Orders) Ended(code int) (by syscall.Signal, running int) {
	switch {
	case !o.Reaper || code <= killed:
		return 0, 0
	case code <= own:
		return syscall.Signal(code - killed), 0
	}
	return 0, code - left
}
