package seal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The helper runs here and not below main: half of the CPU that a start of this binary costs
// goes into packages that come later, and nothing of them is needed. Go initializes by import
// path, so this one, which imports little, comes first of ours. A health check runs every 50 ms.
func init() {
	if len(os.Args) > 4 && os.Args[0] == reaper {
		reap(os.Args[1:])
	}
	if len(os.Args) < 3 || os.Args[0] != Helper {
		return
	}
	var l letter
	if err := json.Unmarshal([]byte(os.Args[1]), &l); err != nil {
		fmt.Fprintln(os.Stderr, Helper, "is for dlmtest itself, not for hands:", err)
		os.Exit(failed)
	}
	// Whatever else is open: the end of the error's pipe is the exec, and a shell that started
	// dlmtest may have left it files of its user's.
	CloseOnExec()
	runtime.LockOSThread() // ids, capabilities and the filter are those of a thread
	err := l.seal()
	if err == nil && l.Reaper {
		err = l.fork()
	} else if err == nil {
		err = l.exec()
	}
	said := os.NewFile(uintptr(l.Error), "error")
	_, _ = said.WriteString(err.Error()) // the exit code says it too
	os.Exit(failed)
}

// exec becomes the program.
func (l letter) exec() error {
	env, err := told(l.Env)
	if err == nil {
		err = syscall.Exec(l.Path, os.Args[2:], env)
		err = &os.PathError{Op: "exec", Path: l.Path, Err: err}
	}
	return err
}

// CloseOnExec keeps all files but stdin, stdout and stderr that this process has now from every program that it starts, and from the one that
// it becomes. What a command is given by name (exec.Cmd's ExtraFiles) it gets all the same.
func CloseOnExec() {
	if unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd") // before Linux 5.11
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC) // the folder's own is closed already
		}
	}
}

// failed is the exit code of a helper that could not become the program.
const failed = 127

// seal does everything in the one order that works: what takes capabilities first.
func (l letter) seal() error {
	if l.Way == Namespaces {
		if err := l.furnish(); err != nil {
			return err
		}
	}
	if err := l.Limits.set(); err != nil {
		return err
	}
	if err := dropBounds(l.Keep); err != nil {
		return err
	}
	if l.Way == Users {
		if err := l.become(); err != nil {
			return err
		}
	}
	if err := keepOnly(l.Keep); err != nil {
		return err
	}
	if err := l.dieWithParent(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return refused("no_new_privs", err)
	}
	return l.filter()
}

// watches are the limits of what watches files. The kernel counts it by user, in each namespace up to the first: what a program
// here takes, the programs of its user on the machine lack.
var watches = map[string]string{"max_inotify_instances": "32", "max_inotify_watches": "4096"}

// furnish makes the new namespaces what their program shall see: no process but its own.
// All other mounts are those of the node, which the user namespace has locked.
func (l letter) furnish() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return refused("mount /proc", err)
	}
	// Who starts in a folder of the old /proc would go on seeing that: the folder of that name now, or none.
	if dir, err := syscall.Getwd(); err != nil || os.Chdir(dir) != nil {
		if err := os.Chdir("/"); err != nil {
			return refused("leave the folder", err)
		}
	}
	for name, most := range watches {
		if err := os.WriteFile("/proc/sys/user/"+name, []byte(most), 0); err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without it has none to take
			return refused("limit of "+name, err)
		}
	}
	if l.Starts {
		return nil
	}
	// Each namespace would bring a set of capabilities of its own, and the kernel's bugs
	// are in what those open.
	return refused("forbid user namespaces", os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
}

// become changes the user, for this thread alone: the exec takes its ids to the program.
func (l letter) become() error {
	openPipes()
	if os.Geteuid() == l.UID && os.Getegid() == l.GID && l.UID == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil { // until keepOnly
		return refused("keep capabilities", err)
	}
	for _, c := range []struct {
		what    string
		call    uintptr
		a, b, c uintptr
	}{
		{"setgroups", unix.SYS_SETGROUPS, 0, 0, 0},
		{"setgid", unix.SYS_SETRESGID, uintptr(l.GID), uintptr(l.GID), uintptr(l.GID)},
		{"setuid", unix.SYS_SETRESUID, uintptr(l.UID), uintptr(l.UID), uintptr(l.UID)},
	} {
		if _, _, errno := unix.RawSyscall(c.call, c.a, c.b, c.c); errno != 0 {
			if os.Geteuid() == l.UID && os.Getegid() == l.GID {
				continue // an ordinary user who stays what it is
			}
			return refused(fmt.Sprintf("become user %d:%d: %s", l.UID, l.GID, c.what), errno)
		}
	}
	return nil
}

// openPipes lets the next user open /dev/stdout and its like, which are pipes of ours.
// Nobody else gets at them by /proc, which asks for the right to trace.
func openPipes() {
	for fd := range 3 {
		var s unix.Stat_t
		if unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFIFO {
			_ = unix.Fchmod(fd, 0o666) // somebody else's pipe: as it was
		}
	}
}

// dieWithParent is set anew after the change of ids, which clears it.
func (l letter) dieWithParent() error {
	if !l.Dies {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return refused("die with the parent", err)
	}
	if l.Way == Users && os.Getppid() != l.Parent {
		return errors.New("seal the program: who started it has ended")
	}
	return nil
}
