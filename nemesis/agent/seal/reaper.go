package seal

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// reaper is the name by which this binary becomes the first process of an adapter's
// namespace.
const reaper = "dlmtest-reaper"

// fork becomes the first process of a namespace, which starts the program as the second.
// Programs of all kinds are adapters, and few are written to be the first: the kernel lets no
// signal end it that it has no handler for, its own neither, and gives it the children of
// others to wait for. The exec leaves no thread that has a capability: those of Go itself have not
// dropped anything yet, and the program is the same user.
func (l letter) fork() error {
	for _, fd := range []int{l.Error, l.Env} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return refused("keep a pipe", err)
		}
	}
	words := []string{reaper, strconv.Itoa(l.Error), strconv.Itoa(l.Env), l.Path}
	return syscall.Exec("/proc/self/exe", append(words, os.Args[2:]...), nil)
}

// start starts the program once nothing of this process is to be had: words are the descriptors for
// what goes wrong and of the environment, the program's path and its own words.
func start(words []string) (pid int) {
	said, err := strconv.Atoi(words[0])
	from, wrong := strconv.Atoi(words[1])
	if err = errors.Join(err, wrong); err == nil {
		err = refused("hide the first process", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	}
	var env []string
	if err == nil {
		unix.CloseOnExec(said)
		env, err = told(from)
	}
	if path := words[2]; err == nil {
		if pid, err = syscall.ForkExec(path, words[3:], &syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}}); err != nil {
			err = &os.PathError{Op: "exec", Path: path, Err: err}
		}
	}
	if err != nil {
		_, _ = os.NewFile(uintptr(said), "error").WriteString(err.Error()) // the exit code says it too
		os.Exit(failed)
	}
	_ = syscall.Close(said) // its end says that the program runs
	return pid
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
func reap(words []string) {
	program := start(words)
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
		case err == syscall.EINTR || err == nil && pid != program:
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
