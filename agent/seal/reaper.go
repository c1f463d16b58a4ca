package seal

import (
	"os"
	"strconv"
	"syscall"
)

// reaper is the name by which this binary becomes the first process of an adapter's
// namespace.
const reaper = "dlmtest-reaper"

// fork starts the program as the second process of its namespace, and becomes the first.
// Programs of all kinds are adapters, and few are written to be that one: the kernel lets no
// signal end it that it has no handler for, its own neither, and gives it the children of
// others to wait for. The exec leaves no thread that has a capability.
func (l letter) fork() error {
	pid, err := syscall.ForkExec(l.Path, os.Args[2:], &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return &os.PathError{Op: "exec", Path: l.Path, Err: err}
	}
	return syscall.Exec("/proc/self/exe", []string{reaper, strconv.Itoa(pid)}, nil)
}

// killed is what an exit code has more than the signal that ended the program: the first
// process of a namespace cannot end itself by one.
const killed = 128

// reap waits for all processes of the namespace and ends with the program, and the kernel
// then ends what that has left. It holds none of its pipes, so that their ends are seen.
func reap(program string) {
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
			os.Exit(status.ExitStatus())
		}
	}
}

// Ended is the signal that ended a program with the exit code that its reaper has given, as
// the kernel would have told it; 0: none.
func (o Orders) Ended(code int) syscall.Signal {
	if o.Reaper && code > killed && code < killed+65 {
		return syscall.Signal(code - killed)
	}
	return 0
}
