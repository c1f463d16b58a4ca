package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// belongings is all that one command has on this machine, and nobody else's: other
// runs may go on beside it.
type belongings struct {
	processes  []int    // below this test, and in its containers
	namespaces []string // of these, other than the test's own
	mounts     []string // of this machine, in its folders and of its containers
	fuse       []string // connections that its processes serve
	docker     []string // containers, networks, volumes that carry its pid
}

// String names what there is; empty: nothing.
func (b belongings) String() string {
	var all []string
	for what, n := range map[string]any{"processes": b.processes, "namespaces": b.namespaces, "mounts": b.mounts, "FUSE connections": b.fuse, "in Docker": b.docker} {
		if text := fmt.Sprint(n); text != "[]" {
			all = append(all, what+" "+text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// adoptOrphans makes this process the parent of whatever a killed command leaves, so that
// nothing gets out of sight.
func adoptOrphans(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// descendants are the processes that descend from one. The dead ones among our own children
// that nobody waits for are buried on the way.
func descendants(pid int) (all []int) {
	for queue := childrenOf(pid); len(queue) > 0; queue = queue[1:] {
		if stateOf(queue[0]) != "Z" {
			all = append(all, queue[0])
		}
		queue = append(queue, childrenOf(queue[0])...)
	}
	return all
}

func stateOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "Z" // it has ended meanwhile
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[0]
}

// buryOrphans waits for the dead that this process has adopted.
func buryOrphans(mine int) {
	for _, pid := range childrenOf(os.Getpid()) {
		if pid != mine && stateOf(pid) == "Z" {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// namespacesOf are those of processes that this one is not in.
func namespacesOf(pids []int) (all []string) {
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/ns/*", pid))
		for _, link := range links {
			is, err := os.Readlink(link)
			own, _ := os.Readlink("/proc/self/ns/" + filepath.Base(link))
			if err == nil && is != own && !slices.Contains(all, is) {
				all = append(all, is)
			}
		}
	}
	return all
}

// servedBy are the FUSE connections that processes see mounted and this one does not.
func servedBy(pids []int) (all []string) {
	for _, pid := range pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); strings.Contains(line, " - fuse.dlmtest ") && len(fields) > 2 && !slices.Contains(all, fields[2]) {
				all = append(all, fields[2])
			}
		}
	}
	return all
}

// connections are those that the kernel has, by the number of their mount.
func connections(t *testing.T) (all []string) {
	t.Helper()
	made, err := unix.Fsopen("fusectl", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil // no FUSE here
	}
	defer unix.Close(made)
	if err := unix.FsconfigCreate(made); err != nil {
		return nil // only root may look
	}
	root, err := unix.Fsmount(made, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(root)
	entries, err := os.ReadDir(fmt.Sprintf("/proc/self/fd/%d", root))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, "0:"+e.Name())
	}
	return all
}

// trace is what a command had when it was killed, to be looked for afterwards.
type trace struct {
	owner   int
	docker  bool
	folders []string // of its own: its TMPDIR, its cache
	had     belongings
	seen    []boxed
}

// trace takes down what a command has. It is stopped meanwhile.
func (k *killed) trace(t *testing.T) trace {
	t.Helper()
	tr := trace{owner: k.cmd.Process.Pid, docker: k.docker, folders: []string{k.tmp, k.cache}}
	pids := append([]int{tr.owner}, descendants(tr.owner)...)
	if tr.docker {
		tr.had.docker, tr.seen = inDocker(t, tr.owner)
		for _, c := range tr.seen {
			if c.State.Pid > 0 {
				pids = append(append(pids, c.State.Pid), descendants(c.State.Pid)...)
			}
		}
	}
	tr.had.processes, tr.had.namespaces, tr.had.fuse = pids, namespacesOf(pids), servedBy(pids)
	tr.had.mounts = tr.mounts()
	return tr
}

// left is what there still is of it.
func (tr trace) left(t *testing.T) (b belongings) {
	t.Helper()
	buryOrphans(0)
	b.processes = descendants(os.Getpid())
	if tr.docker {
		b.docker, _ = inDocker(t, tr.owner)
		for _, c := range tr.seen {
			if c.State.Pid > 0 && stateOf(c.State.Pid) != "Z" && strings.Contains(cgroupOf(c.State.Pid), c.ID) {
				b.processes = append(b.processes, c.State.Pid)
			}
		}
	}
	b.namespaces = append(b.namespaces, namespacesOf(b.processes)...)
	b.mounts = tr.mounts()
	for _, c := range connections(t) {
		if slices.Contains(tr.had.fuse, c) {
			b.fuse = append(b.fuse, c)
		}
	}
	return b
}

func cgroupOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)) // it may have ended
	return string(text)
}

// mounts are those of this machine that are in the command's folders or of its containers,
// their network namespaces among them.
func (tr trace) mounts() (all []string) {
	marks := slices.Clone(tr.folders)
	for _, c := range tr.seen {
		marks = append(marks, c.ID, c.GraphDriver.Data["MergedDir"])
		if key := c.NetworkSettings.SandboxKey; key != "" { // a mount of its network namespace; Docker empties the folder once a minute
			marks = append(marks, "/docker/netns/"+filepath.Base(key))
		}
	}
	text, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && slices.ContainsFunc(marks, func(m string) bool { return m != "" && strings.Contains(fields[4], m) }) {
			all = append(all, fields[4])
		}
	}
	return all
}

// listed lists all that is in some folders, by path.
func listed(t *testing.T, folders ...string) (all []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() && strings.HasPrefix(d.Name(), "database-") { // kept on purpose, for the next run
				return fs.SkipDir
			}
			if err == nil && path != folder {
				all = append(all, path)
			}
			if errors.Is(err, fs.ErrNotExist) { // gone meanwhile
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
