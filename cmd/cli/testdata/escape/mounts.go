package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// real are folders that are the machine's own, or that a node sees read-only.
var real = []string{"/home", "/opt", "/etc", "/usr", "/", "/root", "/srv", "/adapter", "/dlmtest", "/sys", "/proc/sys", "/bin", "/lib", "/mnt", "/work"}

var mountProbes = []probe{
	{"remount", func() (string, error) {
		return any(real, func(path string) error {
			if err := unix.Mount("none", path, "", unix.MS_REMOUNT|unix.MS_BIND, ""); err != nil {
				return err
			}
			return nil
		})
	}},
	{"mount-setattr", func() (string, error) {
		return any(real, func(path string) error {
			return unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		})
	}},
	{"unmount", func() (string, error) {
		return any(append([]string{"/tmp", "/proc"}, real...), func(path string) error { return unix.Unmount(path, unix.MNT_DETACH) })
	}},
	{"mount-tmpfs", mounts("tmpfs", "")},
	{"mount-proc", mounts("proc", "")},
	{"mount-sysfs", mounts("sysfs", "")},
	{"mount-cgroup", mounts("cgroup", "memory")},
	{"mount-cgroup2", mounts("cgroup2", "")},
	{"mount-overlay", mounts("overlay", "lowerdir=/usr:/etc")},
	{"mount-bind", func() (string, error) {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			return "", err
		}
		return "/ once more", unix.Mount("/", dir, "", unix.MS_BIND|unix.MS_REC, "")
	}},
	{"fsopen", func() (string, error) {
		fd, err := unix.Fsopen("tmpfs", 0)
		if err != nil {
			return "", err
		}
		return "a file system of its own", unix.FsconfigCreate(fd)
	}},
	{"open-tree", func() (string, error) {
		_, err := unix.OpenTree(unix.AT_FDCWD, "/etc", unix.OPEN_TREE_CLONE)
		return "a copy of the mount of /etc", err
	}},
	{"unshare-mounts", alone("a mount table of its own", unix.SYS_UNSHARE, unix.CLONE_NEWNS)},
	{"unshare-user", alone("all capabilities in a user namespace", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)},
	{"unshare-user-mounts", alone("all capabilities and a mount table", unix.SYS_UNSHARE, unix.CLONE_NEWUSER|unix.CLONE_NEWNS)},
	{"unshare-net", alone("a network of its own", unix.SYS_UNSHARE, unix.CLONE_NEWNET)},
	{"unshare-others", alone("namespaces of its own", unix.SYS_UNSHARE, unix.CLONE_NEWPID|unix.CLONE_NEWUTS|unix.CLONE_NEWIPC|unix.CLONE_NEWCGROUP)},
	{"clone-user", cloneUser},
	{"clone3-user", clone3User},
	{"setns", func() (string, error) {
		var all []string
		for _, pid := range append(others(), 1) {
			for _, kind := range []string{"user", "mnt", "net", "pid", "ipc", "uts", "cgroup"} {
				all = append(all, fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
			}
		}
		return any(all, func(path string) error {
			fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return inChild(unix.SYS_SETNS, uintptr(fd), 0)
		})
	}},
	{"setns-pidfd", func() (string, error) {
		return anyOther(func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return inChild(unix.SYS_SETNS, uintptr(fd), unix.CLONE_NEWNS)
		})
	}},
	{"chroot", func() (string, error) { return "chroot", syscall.Chroot("/tmp") }},
	{"pivot-root", func() (string, error) { return "pivot_root", unix.PivotRoot("/", "/tmp") }},
	{"open-by-handle", func() (string, error) {
		handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/etc/hostname", 0)
		if err != nil {
			return "", err
		}
		dir, err := unix.Open("/etc", unix.O_RDONLY, 0)
		if err != nil {
			return "", err
		}
		_, err = unix.OpenByHandleAt(dir, handle, unix.O_RDONLY)
		return "any file of the disk, by its number", err
	}},
}

func mounts(kind, options string) func() (string, error) {
	return func() (string, error) {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			return "", err
		}
		return kind, unix.Mount("none", dir, kind, 0, options)
	}
}

func alone(reached string, call uintptr, flags int) func() (string, error) {
	return func() (string, error) { return reached, inChild(call, uintptr(flags), 0) }
}

// inChild makes one system call in a child without other threads, as some need.
func inChild(call, a, b uintptr) error {
	runtime.LockOSThread()
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, errno = syscall.RawSyscall(call, a, b, 0)
		for {
			_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
		}
	}
	return ended(int(pid))
}

// ended takes the exit code of a child for the error of its call.
func ended(pid int) error {
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return err
	}
	if status.Signaled() {
		return errors.New("killed by " + status.Signal().String())
	}
	if status.ExitStatus() != 0 {
		return syscall.Errno(status.ExitStatus())
	}
	return nil
}
