package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What a bomb takes at most, where nothing stops it: more than any limit, and less than
// hurts a machine.
const (
	bombProcesses = 3000
	bombMemory    = 10 << 30
	bombDisk      = 3 << 30
	spareMemory   = 6 << 30 // of the machine, which is left alone
)

// blowAll takes of one thing after the other.
func blowAll(list string) {
	for _, what := range strings.Split(list, ",") {
		blow(what)
	}
}

// blow takes of one thing as much as there is, and says on stderr how much it got.
func blow(what string) {
	got, most := uint64(0), uint64(0)
	var err error
	switch what {
	case "processes":
		got, most, err = forkBomb()
	case "memory":
		most = bombMemory
		got, err = eat()
	case "disk":
		most = bombDisk
		got, err = fill()
	case "segments":
		got, most, err = hoard(detached)
	case "shared":
		got, most, err = hoard(shared(-1, unix.MAP_ANON))
	case "zeros":
		got, most, err = zeros()
	case "inodes":
		got, most, err = hoard(inodes())
	case "sockets":
		got, most, err = hoard(buffers())
	}
	f := Found{Probe: "bomb-" + what, Escaped: err == nil, How: fmt.Sprintf("%d of %d: %v", got, most, err)}
	tell(f)
}

// forkBomb starts processes that do nothing. They are killed with this one.
func forkBomb() (got, most uint64, err error) {
	most = bombProcesses
	for ; got < most; got++ {
		pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			time.Sleep(2 * time.Second) // full for a while: the worker has to bear it
			return got, most, errno
		}
		for pid == 0 { // the child; killed with its parent
			_, _, _ = syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0)
			_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
	}
	return got, most, nil
}

// eat takes memory and touches it, as only that counts.
func eat() (got uint64, err error) {
	const piece = 64 << 20
	for got < bombMemory {
		if free := available(); free < spareMemory {
			return got, nil // nothing stopped it but its own caution
		}
		b, err := unix.Mmap(-1, 0, piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return got, err
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		got += piece
	}
	return got, nil
}

func available() uint64 {
	text, _ := os.ReadFile("/proc/meminfo")
	var total, free, kilobytes uint64
	_, _ = fmt.Sscanf(string(text), "MemTotal: %d kB\nMemFree: %d kB\nMemAvailable: %d kB", &total, &free, &kilobytes)
	return kilobytes << 10
}

// fill writes to every folder that it can write to.
func fill() (got uint64, err error) {
	block := make([]byte, 1<<20)
	for _, dir := range []string{os.TempDir(), "/var/tmp", "/run", "/run/lock", "/dev/shm", "/var/log", "/var/cache", "/var/lib/redis", "/"} {
		path := filepath.Join(dir, "escape-fill")
		file, openErr := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if openErr != nil {
			err = openErr
			continue
		}
		defer func() { _ = file.Close(); _ = os.Remove(path) }()
		for got < bombDisk {
			n, writeErr := file.Write(block)
			got += uint64(n)
			if writeErr != nil {
				err = writeErr
				break
			}
		}
		if got >= bombDisk {
			return got, nil
		}
	}
	time.Sleep(time.Second) // full for a while
	return got, err
}
