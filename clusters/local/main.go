package local

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// Main serves the hidden command: without arguments the first process of a run,
// with "node" the first of a node, which becomes the agent, with "probe" the
// tests of the doctor.
func Main(args []string) error {
	switch {
	case len(args) == 0:
		return runInit()
	case args[0] == "node":
		return runNode()
	case args[0] == "probe":
		return runProbe(args[1:])
	case args[0] == "ptrace-victim":
		return nil
	case args[0] == "seal-trial":
		return start(seal.Orders{Way: seal.Here()}, "ptrace-victim")
	}
	return fmt.Errorf("%s: unknown argument %q", Command, args[0])
}

// inherit opens a descriptor that the parent passed, and passes it no further.
func inherit(fd int, name string) (*os.File, error) {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("%s is for dlmtest itself, not for hands: descriptor %d (%s): %w", Command, fd, name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
