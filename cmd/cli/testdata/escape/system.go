package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"
)

var systemProbes = []probe{
	{"capabilities", func() (string, error) {
		for _, name := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
			if v := status(name); strings.Trim(v, "0") != "" {
				return name + " " + v, nil
			}
		}
		return "", errors.New("none")
	}},
	{"bounding-set", func() (string, error) {
		if v := status("CapBnd"); strings.Trim(v, "0") != "" && status("NoNewPrivs") != "1" {
			return v + ", and programs may gain privileges", nil
		}
		return "", errors.New("nothing can be gained")
	}},
	{"no-new-privs", func() (string, error) {
		if status("NoNewPrivs") != "1" {
			return "programs may gain privileges", nil
		}
		return "", errors.New("set")
	}},
	{"be-root", func() (string, error) {
		if os.Getuid() == 0 || os.Geteuid() == 0 {
			return "it is root", nil
		}
		return "root", syscall.Setuid(0)
	}},
	{"be-another", func() (string, error) { return "another user", syscall.Setresuid(12345, 12345, 12345) }},
	{"groups", func() (string, error) { return "other groups", syscall.Setgroups([]int{0}) }},
	{"root-group", func() (string, error) {
		all, _ := os.Getgroups()
		for _, g := range append(all, os.Getgid(), os.Getegid()) {
			if g == 0 {
				return "it is in root's group", nil
			}
		}
		return "", errors.New("not in root's group")
	}},
	{"keyring", func() (string, error) {
		_, err := unix.AddKey("user", *mark, []byte("x"), unix.KEY_SPEC_USER_KEYRING)
		return "the user's keyring", err
	}},
	{"keyctl", func() (string, error) {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
		return "the session's keyring", err
	}},
	{"bpf", call("a BPF map", unix.SYS_BPF, 0, &[16]uint32{1, 4, 4, 1})},
	{"perf", func() (string, error) {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
		_, err := unix.PerfEventOpen(&attr, -1, 0, -1, 0)
		return "samples of all processes", err
	}},
	{"kernel-log", func() (string, error) {
		_, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 64))
		return "dmesg", err
	}},
	{"kernel-module", func() (string, error) {
		err := unix.InitModule([]byte("no module"), "")
		if errors.Is(err, unix.ENOEXEC) { // it looked at it
			err = nil
		}
		return "a module", err
	}},
	{"set-clock", func() (string, error) {
		var t unix.Timex
		if _, err := unix.Adjtimex(&t); err != nil {
			return "", err
		}
		t.Modes = 0x4000 // ADJ_TICK, to what it is
		_, err := unix.Adjtimex(&t)
		return "the clock", err
	}},
	{"host-name", func() (string, error) {
		name, _ := os.Hostname()
		return "the host name", unix.Sethostname([]byte(name))
	}},
	{"swap", func() (string, error) {
		_, _, errno := unix.Syscall(unix.SYS_SWAPOFF, uintptr(unsafe.Pointer(&[]byte("/no/such/file\x00")[0])), 0, 0)
		if errno == unix.EPERM || errno == unix.ENOSYS {
			return "", errno
		}
		return "swap", nil
	}},
	{"raise-limits", func() (string, error) {
		var limit unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_NPROC, &limit)
		if limit.Max == unix.RLIM_INFINITY {
			limit.Max = 1 << 40
		}
		limit.Max++
		err := unix.Setrlimit(unix.RLIMIT_NPROC, &limit)
		if err == nil { // where none is set, lowering it is everybody's right
			var now unix.Rlimit
			_ = unix.Getrlimit(unix.RLIMIT_NPROC, &now)
			if now.Max < limit.Max {
				err = errors.New("it was lowered")
			}
		}
		return "more processes", err
	}},
	{"nice", takesBackPriority},
	{"realtime", func() (string, error) {
		return "real-time priority", unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	}},
	{"proc-sys", func() (string, error) {
		return any([]string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger",
			"/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv4/conf/all/route_localnet", "/proc/sys/kernel/hostname", "/proc/sys/fs/binfmt_misc/register",
			"/proc/1/oom_score_adj", "/proc/1/setgroups", "/proc/1/uid_map", "/proc/1/coredump_filter", "/proc/kcore", "/proc/acpi/wakeup"}, opensToWrite)
	}},
	{"sys", func() (string, error) {
		return any([]string{"/sys/kernel/uevent_helper", "/sys/kernel/mm/transparent_hugepage/enabled",
			"/sys/power/state", "/sys/kernel/security/apparmor/.load",
			"/sys/block/vda/queue/scheduler", "/sys/class/net/eth0/mtu", "/sys/module/kernel/parameters/panic"}, opensToWrite)
	}},
	{"cgroups", func() (string, error) {
		var all []string
		for _, name := range []string{"release_agent", "notify_on_release", "cgroup.procs", "tasks",
			"memory.limit_in_bytes", "memory.max", "pids.max", "devices.allow"} {
			for _, pattern := range []string{"/sys/fs/cgroup/%s", "/sys/fs/cgroup/*/%s", "/sys/fs/cgroup/*/*/%s"} {
				found, _ := filepath.Glob(fmt.Sprintf(pattern, name))
				all = append(all, found...)
			}
		}
		return any(all, opensToWrite)
	}},
}

// takesBackPriority gives up one step of the priority that this process was started with, whatever it
// is, and asks for it back: worse than now everybody may become.
func takesBackPriority() (string, error) {
	runtime.LockOSThread() // the kernel keeps a priority by thread
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return "", err
	}
	worse := min(20-own+1, 19) // the kernel tells 20 less the nice value
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, worse); err != nil {
		return "", err
	}
	return "a better priority", unix.Setpriority(unix.PRIO_PROCESS, 0, worse-1)
}

func opensToWrite(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_ = file.Close()
	}
	return err
}

// status is a line of what the kernel says of this process.
func status(name string) string { return statusOf(os.Getpid(), name) }

func statusOf(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it has ended
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func call(reached string, number, command uintptr, attr *[16]uint32) func() (string, error) {
	return func() (string, error) {
		_, _, errno := unix.Syscall(number, command, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
		if errno != 0 {
			return "", errno
		}
		return reached, nil
	}
}

// firewall makes a table, which would undo a partition or make one, and takes it away.
func firewall() (string, error) {
	c, err := nftables.New()
	if err != nil {
		return "", err
	}
	table := c.AddTable(&nftables.Table{Name: "escape", Family: nftables.TableFamilyINet})
	if err := c.Flush(); err != nil {
		return "", err
	}
	c.DelTable(table)
	return "the node's firewall", c.Flush()
}
