package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The adapter and its parent, the worker.
var mine, worker int

// others are all processes in view that this adapter has not started, the worker and the
// first process too, in view or not.
func others() []int {
	all := []int{}
	seen := map[int]bool{}
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if !ours(pid) {
			all, seen[pid] = append(all, pid), true
		}
	}
	for _, pid := range []int{1, worker} {
		if pid > 0 && pid != mine && !seen[pid] && !ours(pid) {
			all = append(all, pid)
		}
	}
	return all
}

// ours says whether a process is the adapter or comes of it. One that has ended and is not yet
// buried may have lost its parent, and is nobody's; so may what a set-user-id program has left, which a probe started.
func ours(pid int) bool {
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if program, _, _ := bytes.Cut(command, []byte{0}); slices.Contains(setuidPrograms, string(program)) {
		return true
	}
	if state := statusOf(pid, "State"); strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X") {
		return true
	}
	for pid > 1 {
		if pid == mine || pid == os.Getpid() {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		pid, _ = strconv.Atoi(rest[1])
	}
	return pid == mine || pid == os.Getpid()
}

// anyOther tries one thing on each of them.
func anyOther(do func(pid int) error) (string, error) {
	var all []string
	for _, pid := range others() {
		all = append(all, strconv.Itoa(pid))
	}
	reached, err := any(all, func(text string) error {
		pid, _ := strconv.Atoi(text)
		return do(pid)
	})
	if err == nil {
		name, _ := os.ReadFile("/proc/" + reached + "/cmdline")
		reached += " " + string(bytes.ReplaceAll(name, []byte{0}, []byte(" ")))
	}
	return reached, err
}

// opens says whether a file of a process can be opened; %d is the process.
func opens(pattern string, how int) func() (string, error) {
	return func() (string, error) {
		return anyOther(func(pid int) error {
			fd, err := unix.Open(fmt.Sprintf(pattern, pid), how|unix.O_CLOEXEC, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		})
	}
}

var processProbes = []probe{
	{"ptrace", func() (string, error) {
		return anyOther(func(pid int) error {
			_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0)
			if errno != 0 {
				return errno
			}
			return nil // it ends with this process
		})
	}},
	{"read-memory", func() (string, error) { return anyOther(vmRead) }},
	{"proc-mem", opens("/proc/%d/mem", unix.O_RDWR)},
	{"proc-root", opens("/proc/%d/root/.", unix.O_RDONLY)},
	{"proc-cwd", opens("/proc/%d/cwd/.", unix.O_RDONLY)},
	{"proc-environ", func() (string, error) {
		return anyOther(func(pid int) error {
			_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			return err
		})
	}},
	{"proc-fds", opens("/proc/%d/fd/.", unix.O_RDONLY)},
	{"history-pipe", func() (string, error) { return anyOther(forge) }},
	{"steal-fd", func() (string, error) {
		return anyOther(func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			_, err = unix.PidfdGetfd(fd, 1, 0)
			return err
		})
	}},
	{"inherited-files", func() (string, error) {
		if inherited == "" {
			return "", errors.New("stdin, stdout and stderr, and nothing else")
		}
		return inherited, nil
	}},
	{"signal", func() (string, error) {
		return anyOther(func(pid int) error { return unix.Kill(pid, 0) })
	}},
	{"stop-worker", func() (string, error) {
		if worker <= 0 {
			return "", errors.New("it has no number here")
		}
		return "the worker", unix.Kill(worker, unix.SIGCONT)
	}},
	{"pidfd-signal", func() (string, error) {
		return anyOther(func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.PidfdSendSignal(fd, 0, nil, 0)
		})
	}},
	{"signal-machine", func() (string, error) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", *victim))
		if *victim <= 1 || err == nil && !bytes.HasPrefix(line, []byte("sleep\x00")) {
			return "", errors.New("its number belongs to another process here")
		}
		return "a process of the machine", unix.Kill(*victim, unix.SIGTERM)
	}},
	{"shared-memory", func() (string, error) { return any(segments(), attaches) }},
	{"limits-of-others", func() (string, error) {
		return anyOther(func(pid int) error {
			var old unix.Rlimit
			return unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old)
		})
	}},
	{"priority-of-others", func() (string, error) {
		return anyOther(func(pid int) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 0) })
	}},
	{"affinity-of-others", func() (string, error) {
		return anyOther(func(pid int) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(pid, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(pid, &set)
		})
	}},
}

// vmRead reads where a static program of Linux lies on amd64; an address that is not
// mapped is told by another error than a process that may not be read.
func vmRead(pid int) error {
	buffer := make([]byte, 8)
	local := []unix.Iovec{{Base: &buffer[0], Len: 8}}
	remote := []unix.RemoteIovec{{Base: 0x400000, Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, remote, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil
	}
	return err
}

// forge writes an operation that nobody did into the pipes of another process. Only what is
// no terminal and no file is written to: a pipe or a socket.
func forge(pid int) error {
	line := fmt.Sprintf(`{"op":{"t":1,"node":"client-1","p":999,"type":"note","f":"forged","error":%q}}`+"\n", *mark)
	var errs []error
	for fd := range 12 {
		path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
		file, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstat(file, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
			if _, err = unix.Write(file, []byte(line)); err == nil {
				return nil
			}
		}
		_ = unix.Close(file)
	}
	return errors.Join(append(errs[:min(1, len(errs))], errors.New("no pipe of it can be written"))...)
}

// inherited names the files that this adapter has been started with, beside its stdio.
var inherited string

// inheritedFiles lists them. Go itself opens an epoll, an eventfd and the limit of its processors.
func inheritedFiles() string {
	var all []string
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		fd, _ := strconv.Atoi(e.Name())
		if err != nil || fd < 3 || strings.HasPrefix(to, "anon_inode:[event") || strings.HasPrefix(to, "/proc/") || strings.HasPrefix(to, "/sys/fs/cgroup/") {
			continue
		}
		all = append(all, e.Name()+"→"+to)
	}
	return strings.Join(all, " ")
}

// segments are the numbers of all shared memory in view. The page that bends a worker's
// clock is one, and the worker executes what stands in it.
func segments() (all []string) {
	text, _ := os.ReadFile("/proc/sysvipc/shm")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] != "key" {
			all = append(all, f[1])
		}
	}
	return all
}

// attaches says whether a segment can be written, if need be by making it writable before.
func attaches(number string) error {
	id, _ := strconv.Atoi(number) // the kernel wrote it
	if _, err := unix.SysvShmAttach(id, 0, 0); err == nil {
		return nil
	}
	var d unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &d); err != nil {
		return err
	}
	d.Perm.Mode = 0o777
	_, err := unix.SysvShmCtl(id, unix.IPC_SET, &d)
	return err
}
