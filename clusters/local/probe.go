package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// Trial is what one test of the doctor found inside namespaces of its own.
type Trial struct {
	What  string
	Error string // empty: it works
}

// What the doctor tries inside namespaces.
const (
	TryMounts = "mounts"
	TryProc   = "/proc"
	TryVeth   = "veth and bridge"
	TryNft    = "nf_tables"
	TryFuse   = "/dev/fuse"
	TryPtrace = "ptrace"
	TrySeal   = "nested namespaces"
)

// Needed are those that no run can do without.
var Needed = []string{TryMounts, TryProc, TryVeth, TrySeal}

// ForFaults are those that some faults need.
var ForFaults = []string{TryNft, TryFuse, TryPtrace}

// runProbe tries what is named, by default everything, and prints Trials as JSON.
// args are a folder to mount on and the names.
func runProbe(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s probe: want a folder", Command)
	}
	folder, names := args[0], args[1:]
	found := []Trial{}
	for _, t := range []struct {
		what string
		try  func(folder string) error
	}{
		{TryMounts, tryMounts}, {TryProc, tryProc}, {TryVeth, tryVeth},
		{TryNft, tryNft}, {TryFuse, tryFuse}, {TryPtrace, tryPtrace}, {TrySeal, trySeal}, // last: it changes /proc
	} {
		if len(names) > 0 && !slices.Contains(names, t.what) {
			continue
		}
		trial := Trial{What: t.what}
		if err := t.try(folder); err != nil {
			trial.Error = err.Error()
		}
		found = append(found, trial)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func tryMounts(folder string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount table of its own: %w", err)
	}
	if err := tmpfs(folder, "mode=755"); err != nil {
		return err
	}
	usr := filepath.Join(folder, "usr")
	if err := os.Mkdir(usr, 0o755); err != nil {
		return err
	}
	return bindReadOnly("/usr", usr)
}

func tryProc(folder string) error {
	target := filepath.Join(folder, "proc")
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	return unix.Mount("proc", target, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

func tryVeth(string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Flags = bridgeName, net.FlagUp
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
		return fmt.Errorf("bridge: %w", err)
	}
	return plug(1, os.Getpid())
}

// trySeal starts what starts another, as a worker and its adapter. Who starts processes in
// user namespaces finds them in /proc, so that has to be of this process's own namespace.
func trySeal(string) error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return start(seal.Orders{Way: seal.Namespaces, Starts: true}, "seal-trial")
}

// start starts this binary sealed, and returns when it has ended well.
func start(o seal.Orders, word string) error {
	var said bytes.Buffer
	cmd := exec.Command("/proc/self/exe", Command, word)
	cmd.Args[0] = Name
	cmd.Stderr = &said
	if err := o.Start(cmd, cmd.Start); err != nil {
		if cmd.Process != nil {
			_ = cmd.Wait() // the error says more
		}
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// tryNft makes a table as the partitions do.
func tryNft(string) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	conn.AddTable(&nftables.Table{Name: "dlmtest", Family: nftables.TableFamilyINet})
	return conn.Flush()
}

// tryFuse mounts a file system that nobody serves: as far as a kernel goes that
// allows it.
func tryFuse(folder string) error {
	file, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close() // ends the mount too
	target := filepath.Join(folder, "fuse")
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", file.Fd(), os.Getuid(), os.Getgid())
	if err := unix.Mount("dlmtest", target, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return unix.Unmount(target, unix.MNT_DETACH)
}

// tryPtrace stops a child at its exec, as the clock faults do.
func tryPtrace(string) error {
	runtime.LockOSThread() // the kernel ties a tracee to one thread
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", Command, "ptrace-victim")
	cmd.Args[0] = Name
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	var status syscall.WaitStatus
	_, err := syscall.Wait4(cmd.Process.Pid, &status, 0, nil)
	if err == nil && !status.Stopped() {
		err = fmt.Errorf("the traced child did not stop: %#x", status)
	}
	if err == nil {
		err = syscall.PtraceDetach(cmd.Process.Pid)
	}
	_ = cmd.Process.Kill()
	_, _ = cmd.Process.Wait()
	return err
}
