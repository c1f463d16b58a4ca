package seal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Limits are what the kernel lets a program use. 0: as much as who starts it may.
type Limits struct {
	Data      uint64 // bytes of private memory of one process
	File      uint64 // bytes of one file
	Processes uint64 // and threads; only where its user ids are its own, for the kernel counts by them
}

// noCore is a limit of one byte: no file is that small, and where this machine hands cores to a program of its
// own (core_pattern with a |, as systemd's), the kernel hands it none. A limit of 0 is not heeded there.
const noCore = 1

// mostSignals is how many timers and queued signals a program may have. The kernel counts them by user, on the whole machine.
const mostSignals = 4096

// set binds this process and all that come of it. None leaves a core, which is a copy of
// memory on a disk. Out of memory the kernel ends them before anything of the user's.
func (l Limits) set() error {
	for _, r := range []struct {
		what  string
		which int
		most  uint64
	}{
		{"memory", unix.RLIMIT_DATA, l.Data},
		{"files", unix.RLIMIT_FSIZE, l.File},
		{"processes", unix.RLIMIT_NPROC, l.Processes},
		{"signals", unix.RLIMIT_SIGPENDING, mostSignals},
	} {
		if r.most == 0 {
			continue
		}
		if err := lower(r.which, r.most); err != nil {
			return refused("limit of "+r.what, err)
		}
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("900"), 0) // best effort: /proc may be masked
	return refused("limit of cores", lower(unix.RLIMIT_CORE, noCore))
}

// lower sets a limit unless it is lower already.
func lower(which int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(which, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(which, &unix.Rlimit{Cur: most, Max: most})
}
