package clusters

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Labels on everything that dlmtest makes in Docker.
const (
	labelRun   = "dlmtest"       // the run's id
	labelOwner = "dlmtest.owner" // see Owner
	labelNode  = "dlmtest.node"  // the node's name
)

// Owner is the process that a container belongs to, named so that any other
// process can tell whether it still lives: a pid alone is used again.
type Owner struct {
	Boot  string // the kernel's boot id
	PID   int
	Start uint64 // of the process, in clock ticks since boot
	Space string // the pid name space that PID counts in
}

// ThisProcess is the calling process as an owner.
func ThisProcess() (Owner, error) {
	boot, err := bootID()
	if err != nil {
		return Owner{}, err
	}
	o := Owner{Boot: boot, PID: os.Getpid(), Space: pidSpace()}
	o.Start, _, err = processStart(o.PID)
	return o, err
}

// String is the value of the owner label.
func (o Owner) String() string {
	return fmt.Sprintf("%s/%d/%d/%s", o.Boot, o.PID, o.Start, o.Space)
}

// ParseOwner reads the value of an owner label.
func ParseOwner(label string) (Owner, error) {
	part := strings.Split(label, "/")
	if len(part) < 3 {
		return Owner{}, fmt.Errorf("owner %q is not boot/pid/start", label)
	}
	pid, errPID := strconv.Atoi(part[1])
	start, errStart := strconv.ParseUint(part[2], 10, 64)
	if err := errors.Join(errPID, errStart); err != nil {
		return Owner{}, fmt.Errorf("owner %q: %w", label, err)
	}
	o := Owner{Boot: part[0], PID: pid, Start: start}
	if len(part) > 3 {
		o.Space = part[3]
	}
	return o, nil
}

// life is what this process can tell of another: nothing is the zero value.
type life int

const (
	unknown life = iota
	alive
	dead
)

// life judges an owner. With a daemon on this machine another boot id is an
// earlier boot; with a remote one it may be another machine. Pids of another
// name space mean nothing here.
func (o Owner) life(localDaemon bool) life {
	boot, err := bootID()
	switch {
	case err != nil:
		return unknown
	case o.Boot != boot && localDaemon:
		return dead
	case o.Boot != boot:
		return unknown
	case o.Space != "" && o.Space != pidSpace():
		return unknown
	}
	start, state, err := processStart(o.PID)
	switch {
	case err == nil && start == o.Start && state != 'Z' && state != 'X':
		return alive
	case err != nil && errors.Is(syscall.Kill(o.PID, 0), syscall.EPERM):
		return unknown // hidden from us, yet there
	}
	return dead
}

func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("boot id: %w", err)
	}
	return string(bytes.TrimSpace(id)), nil
}

func pidSpace() string {
	space, _ := os.Readlink("/proc/self/ns/pid")
	return strings.Trim(space, "pid:[]")
}

// processStart reads the start time and state of a process. The name, which
// comes before them, may hold spaces and brackets.
func processStart(pid int) (uint64, byte, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("process %d: %w", pid, err)
	}
	field := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(field) < 20 {
		return 0, 0, fmt.Errorf("process %d: stat has %d fields", pid, len(field))
	}
	start, err := strconv.ParseUint(string(field[19]), 10, 64)
	return start, field[0][0], err
}
