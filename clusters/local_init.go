package clusters

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// localInit is the runner's end of a run's first process.
type localInit struct {
	cmd     *exec.Cmd
	control io.WriteCloser // its end tells the process to remove everything
	report  io.Reader
	said    *tail
	ended   chan struct{}
}

// startInit starts self in namespaces of its own, with the nodes' pipes.
func startInit(self string, nodes []*localNode) (*localInit, error) {
	var pipes pipes
	defer pipes.closeTheirs()
	binary, err := os.Open(self)
	if err != nil {
		return nil, fmt.Errorf("agent binary: %w", err)
	}
	defer binary.Close()
	controlR, controlW := pipes.toThem()
	reportR, reportW := pipes.fromThem()
	var stdio []*os.File
	for _, n := range nodes {
		stdio = append(stdio, n.connect(&pipes)...)
	}
	if pipes.err != nil {
		return nil, fmt.Errorf("pipes of the nodes: %w", pipes.err)
	}
	i := &localInit{control: controlW, report: bufio.NewReader(reportR), said: newTail(), ended: make(chan struct{})}
	i.cmd = inNamespaces(local.Command)
	i.cmd.ExtraFiles = local.Files(controlR, reportW, binary, stdio)
	i.cmd.Stderr = i.said
	if err := i.cmd.Start(); err != nil {
		pipes.closeOurs()
		return nil, explainLocal(err)
	}
	begun.Store(true) // it is its own janitor: it removes all when this process ends
	guarding.Add(1)
	for _, n := range nodes {
		go n.copyStderr()
	}
	return i, nil
}

// inNamespaces is a command of this binary, whose descriptor its caller adds,
// with all privileges in namespaces of its own and none outside of them.
func inNamespaces(args ...string) *exec.Cmd {
	cmd := &exec.Cmd{Path: local.SelfPath, Args: append([]string{local.Name}, args...), Dir: "/", Env: []string{"LC_ALL=C"}}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, // Ctrl-C is for the runner alone, as with containers
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID |
			syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: local.UID, HostID: localHostID(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: local.GID, HostID: localHostGroup(), Size: 1}},
		AmbientCaps: allCapabilities(), // a uid other than 0 would lose them at the exec
	}
	if rootAsNobody() { // let go of root's ids and groups
		cmd.SysProcAttr.GidMappingsEnableSetgroups = true
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: local.UID, Gid: local.GID}
	}
	return cmd
}

// nobody owns nothing on the host. Files and devices of root are out of reach
// then, even of a process that believes itself almighty in its namespace.
const nobody = 65534

// localHostID is the user that a run's processes are on the host: nobody for
// root, else the present user, who can map no other.
func localHostID() int {
	if rootAsNobody() {
		return nobody
	}
	return os.Geteuid()
}

func localHostGroup() int {
	if rootAsNobody() {
		return nobody
	}
	return os.Getegid()
}

// rootAsNobody is false for the root of a container that has no other user.
func rootAsNobody() bool {
	return os.Geteuid() == 0 && mapped("/proc/self/uid_map", nobody) && mapped("/proc/self/gid_map", nobody)
}

// mapped tells whether an id exists in this user namespace, as it may not inside
// a container.
func mapped(table string, id int) bool {
	text, _ := os.ReadFile(table)
	for line := range strings.Lines(string(text)) {
		var first, outside, count int
		if _, err := fmt.Sscan(line, &first, &outside, &count); err == nil && id >= first && id-first < count {
			return true
		}
	}
	return false
}

func allCapabilities() []uintptr {
	last := 40 // CAP_CHECKPOINT_RESTORE, Linux 5.9
	if text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			last = n
		}
	}
	var all []uintptr
	for c := range last + 1 {
		all = append(all, uintptr(c))
	}
	return all
}

// wait is called once, after the last report.
func (i *localInit) wait() error {
	defer close(i.ended)
	defer guarding.Add(-1)
	err := i.cmd.Wait()
	if err == nil {
		err = errors.New("without being told to")
	}
	if words := i.said.lines(); words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return err
}

// stop has the process remove everything, and kills it if it does not: the
// kernel kills all of its process tree with it.
func (i *localInit) stop(ctx context.Context) error {
	_ = i.control.Close()
	select {
	case <-i.ended:
		return nil
	case <-time.After(10 * time.Second):
	case <-ctx.Done():
	}
	_ = i.cmd.Process.Kill()
	<-i.ended
	return fmt.Errorf("the run's first process had to be killed; its folder in %s is removed by the next start", os.TempDir())
}
