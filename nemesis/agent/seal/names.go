package seal

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// names of the capabilities, each at its number.
var names = []string{"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE",
	"SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE",
	"AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
	"CHECKPOINT_RESTORE"}

// numbers are the capabilities that a compose file names; ALL is every one.
func numbers(words []string) (all []int) {
	for _, w := range words {
		w = strings.TrimPrefix(strings.ToUpper(w), "CAP_")
		for n, name := range names {
			if w == name || w == "ALL" {
				all = append(all, n)
			}
		}
	}
	return all
}

// Change is Keep of a program of root with what its compose file adds and drops, of which
// what is added wins. KILL stays the agent's own, see ForRoot.
func (o Orders) Change(add, drop []string) Orders {
	if o.Way != Users || o.UID != 0 {
		return o // another user has none to keep
	}
	dropped := numbers(drop)
	keep := slices.DeleteFunc(slices.Clone(o.Keep), func(c int) bool { return slices.Contains(dropped, c) })
	for _, c := range numbers(add) {
		if c != unix.CAP_KILL && !slices.Contains(keep, c) {
			keep = append(keep, c)
		}
	}
	o.Keep = keep
	return o
}
