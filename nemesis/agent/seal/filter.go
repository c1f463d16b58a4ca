package seal

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// forbidden are the system calls that no program under test has a use for, beside its way
// out: mounts, other processes' memory, the kernel's own state, and parts of the kernel in
// which most holes of the last years were. Without capabilities most fail anyhow.
var forbidden = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT,
	unix.SYS_OPEN_TREE, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

// missing are calls that programs do without where a kernel has none: rings, whose requests
// no filter sees, and memory that is in no file system, which no limit counts, or in pipes.
var missing = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_VMSPLICE}

// uncounted are calls that make what stays when no process has it. An agent makes the page that
// bends clocks, and its child only attaches that.
var uncounted = []uint32{unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN}

// shared are the flags of memory that a process can share and forget: it stays.
const shared = unix.MAP_SHARED | unix.MAP_ANONYMOUS

// families are the sockets that programs under test may have. Those of virtual machines
// know no network namespace.
var families = []uint32{unix.AF_UNSPEC, unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// onProcesses are calls that do something to the process that an argument names. The first
// one is not for an adapter: see fork.
var onProcesses = map[uint32]uint32{
	unix.SYS_KILL: 0, unix.SYS_TKILL: 0, unix.SYS_TGKILL: 0, unix.SYS_RT_SIGQUEUEINFO: 0, unix.SYS_RT_TGSIGQUEUEINFO: 0,
	unix.SYS_PIDFD_OPEN: 0, unix.SYS_PRLIMIT64: 0, unix.SYS_SETPRIORITY: 1, unix.SYS_SCHED_SETAFFINITY: 0, unix.SYS_SCHED_GETAFFINITY: 0,
	unix.SYS_SCHED_SETPARAM: 0, unix.SYS_SCHED_SETSCHEDULER: 0, unix.SYS_SCHED_SETATTR: 0,
}

// namespaces are the flags of clone that make some.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// machines are the kernel's names of what this binary was compiled for.
var machines = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}

// Where the kernel shows a filter the call, its machine and its arguments; all three
// machines put the low half of an argument first.
const (
	numberAt   = 0
	machineAt  = 4
	argumentAt = 16
)

const (
	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO
)

// rules are the filter of this program.
func (l letter) rules(machine uint32) []bpf.Instruction {
	answer := func(errno unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: deny | uint32(errno)} }
	load := func(at uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: at, Size: 4} }
	unless := func(val uint32, skip uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: val, SkipTrue: skip}
	}
	rules := []bpf.Instruction{
		load(machineAt),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: machine, SkipTrue: 1},
		answer(unix.ENOSYS), // programs of 32 bits have other numbers
		load(numberAt),
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
		answer(unix.ENOSYS),
	}
	furnishes := l.Starts && l.Way == Namespaces // what it starts is bound by its filter, too
	for _, nr := range forbidden {
		if nr == unix.SYS_MOUNT && furnishes {
			continue
		}
		rules = append(rules, unless(nr, 1), answer(unix.EPERM))
	}
	absent := append([]uint32{unix.SYS_CLONE3}, missing...)
	if l.Counted {
		absent = append(absent, uncounted...)
		rules = append(rules, unless(unix.SYS_MMAP, 5), load(argumentAt+8*3), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: shared},
			unless(shared, 1), answer(unix.EPERM), bpf.RetConstant{Val: allow},
			// A socket's buffer stays as it is, so that sockets can be counted; who asks is not told.
			unless(unix.SYS_SETSOCKOPT, 6), load(argumentAt+8), unless(unix.SOL_SOCKET, 3), load(argumentAt+8*2),
			unless(unix.SO_SNDBUF, 1), answer(0), bpf.RetConstant{Val: allow})
	}
	for _, nr := range absent { // clone3 keeps its flags in memory; libraries fall back to clone
		rules = append(rules, unless(nr, 1), answer(unix.ENOSYS))
	}
	// A segment keeps the mode that it was made with. The page that bends a program's clocks
	// belongs to the program's own user, and other processes execute what stands in it.
	rules = append(rules, unless(unix.SYS_SHMCTL, 4), load(argumentAt+8), unless(unix.IPC_SET, 1), answer(unix.EPERM), bpf.RetConstant{Val: allow})
	if l.Reaper {
		for nr, argument := range onProcesses {
			rules = append(rules, unless(nr, 4), load(argumentAt+8*argument), unless(1, 1), answer(unix.EPERM), bpf.RetConstant{Val: allow})
		}
	}
	if !furnishes {
		rules = append(rules, unless(unix.SYS_UNSHARE, 1), answer(unix.EPERM),
			unless(unix.SYS_CLONE, 4),
			load(argumentAt), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: namespaces, SkipTrue: 1}, answer(unix.EPERM),
			bpf.RetConstant{Val: allow})
	}
	if l.Notify > 0 {
		for _, nr := range []uint32{unix.SYS_SYNC, unix.SYS_SYNCFS} {
			rules = append(rules, unless(nr, 1), bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF})
		}
	}
	rules = append(rules, unless(unix.SYS_SOCKET, uint8(len(families)+2)), load(argumentAt))
	for i, f := range families {
		rules = append(rules, bpf.JumpIf{Cond: bpf.JumpEqual, Val: f, SkipTrue: uint8(len(families) - i)})
	}
	return append(rules, answer(unix.EAFNOSUPPORT), bpf.RetConstant{Val: allow})
}

// x32 is the bit of the calls that amd64 has for programs of its short pointers.
const x32 = 0x40000000

// filter binds this thread, and all that it executes, to the rules.
func (l letter) filter() error {
	machine, known := machines[runtime.GOARCH]
	if !known {
		return fmt.Errorf("seal the program: no filter of system calls is written for %s", runtime.GOARCH)
	}
	if l.Notify > 0 {
		err := l.install(machine, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EBUSY) {
			return err
		}
		l.Notify = 0 // before Linux 5.0, or a runtime of containers listens itself: sync keeps nothing then
	}
	return l.install(machine, 0)
}

// install asks the kernel for the filter, and passes on the listener that flags ask for.
func (l letter) install(machine uint32, flags uintptr) error {
	raw, err := bpf.Assemble(l.rules(machine))
	if err != nil {
		return err
	}
	filters := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filters[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}
	listener, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return refused("filter of system calls", errno)
	}
	if l.Notify == 0 {
		return nil
	}
	return refused("pass on the listener of sync", unix.Sendmsg(l.Notify, []byte{0}, unix.UnixRights(int(listener)), nil, 0))
}
