package seal

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// ForAdapters are the capabilities of a worker in a container that starts adapters as other
// users: it must become them, and end them.
var ForAdapters = []int{unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL}

// ForRoot are those that a program keeps which its image starts as root: entrypoints give
// folders to a user and become it. KILL is not among them, so that the agent has one more
// and the kernel lets such a program neither trace nor read it.
var ForRoot = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_NET_BIND_SERVICE}

// OfAgent are the capabilities that an agent in a container needs to seal what it starts,
// as Docker names them. A scenario's faults may need more.
var OfAgent = []string{"SETUID", "SETGID", "SETPCAP", "KILL"}

// highest is above every capability that a kernel knows.
const highest = 63

// dropBounds takes away what an exec could give back. A process that may not do that has
// no_new_privs alone, which gives nothing back either.
func dropBounds(keep []int) error {
	for c := range highest + 1 {
		if slices.Contains(keep, c) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			return nil // the first that the kernel does not know
		}
		if err != nil {
			return refused("empty the bounding set", err)
		}
	}
	return nil
}

// keepOnly leaves this thread, and what it executes, the capabilities of keep, as far as it
// has them.
func keepOnly(keep []int) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var now, next [2]unix.CapUserData
	if err := unix.Capget(&header, &now[0]); err != nil {
		return refused("capget", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return refused("empty the ambient set", err)
	}
	var kept []int
	for _, c := range keep {
		word, bit := c/32, uint32(1)<<(c%32)
		if now[word].Permitted&bit == 0 {
			continue
		}
		next[word].Permitted |= bit
		next[word].Effective |= bit
		next[word].Inheritable |= bit
		kept = append(kept, c)
	}
	if err := unix.Capset(&header, &next[0]); err != nil {
		return refused("drop capabilities", err)
	}
	for _, c := range kept {
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(c), 0, 0); err != nil {
			return refused("keep a capability", err)
		}
	}
	return nil
}
