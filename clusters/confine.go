package clusters

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters/engine"
	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// Shares are what one node may take of the machine, where its compose file says nothing.
// They are many times what servers and clients were seen to need, and far less than harms a
// machine: nobody's share is set aside.
type Shares struct {
	Memory int64 // bytes, and no swap beyond them
	Pids   int64 // processes and threads
	Shm    int64 // bytes of /dev/shm
	Temp   int64 // bytes of /tmp; a server writes to its container instead
}

// The shares of servers, and of guests: nodes that run code under test.
var (
	ServerShares = Shares{Memory: seal.ServerMemory, Pids: seal.ServerProcesses, Shm: 64 << 20}
	GuestShares  = Shares{Memory: seal.ClientMemory, Pids: seal.ClientProcesses, Shm: 64 << 20, Temp: 256 << 20}
)

// String says them for a human.
func (s Shares) String() string {
	text := fmt.Sprintf("%d MB of memory, no swap, %d processes and threads, %d MB of /dev/shm", s.Memory>>20, s.Pids, s.Shm>>20)
	if s.Temp > 0 {
		text += fmt.Sprintf(", %d MB of /tmp", s.Temp>>20)
	}
	return text
}

// diskCaps are what serving a folder of another user's files takes beside a mount.
var diskCaps = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER"}

// rootCaps are what a server may keep, beside those of its agent, whose image starts it as
// root: entrypoints give folders to a user and become it.
var rootCaps = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "NET_BIND_SERVICE"}

// privileges are those of a node's first process, the agent: what it needs to start its child
// as another user and without any, and what the scenario's faults take. A compose file can
// take away what its server would keep, and not what the agent needs.
func privileges(s NodeSpec) (add []string) {
	if !s.Guest && isRoot(s.User) {
		dropped := slices.Contains(s.CapDrop, "ALL")
		for _, c := range rootCaps {
			if !dropped && !slices.Contains(s.CapDrop, c) {
				add = append(add, c)
			}
		}
	}
	if slices.Contains(s.CapAdd, "SYS_ADMIN") {
		add = append(add, diskCaps...)
	}
	add = slices.Concat(add, seal.OfAgent, s.CapAdd)
	slices.Sort(add)
	return slices.Compact(add)
}

// isRoot reads a user as images write it.
func isRoot(user string) bool {
	name, _, _ := strings.Cut(user, ":")
	return name == "" || name == "root" || strings.Trim(name, "0") == ""
}

const noNewPrivileges = "no-new-privileges"

// confine takes from a container what its node does not need. What a compose file allows or
// takes away stands before our own shares.
func confine(h *engine.HostConfig, s NodeSpec) {
	h.CapAdd, h.CapDrop = privileges(s), []string{"ALL"}
	if !slices.ContainsFunc(h.SecurityOpt, func(o string) bool { return strings.HasPrefix(o, noNewPrivileges) }) {
		h.SecurityOpt = append(slices.Clone(h.SecurityOpt), noNewPrivileges)
	}
	shares := ServerShares
	if s.Guest {
		shares = GuestShares
		h.ReadonlyRootfs = true
		h.Tmpfs = emptyFolders(shares)
	}
	if h.Memory == 0 {
		h.Memory = shares.Memory
	}
	if h.MemorySwap == 0 {
		h.MemorySwap = h.Memory
	}
	if h.PidsLimit == nil {
		h.PidsLimit = &shares.Pids
	}
	if h.ShmSize == 0 {
		h.ShmSize = shares.Shm
	}
}

// emptyFolders is where a guest can write: in memory, which counts as the node's. Libraries unpack
// native code there, so it may be executed.
func emptyFolders(s Shares) map[string]string {
	const options = "rw,nosuid,nodev,exec,mode=1777,size=%d"
	return map[string]string{
		"/tmp":     fmt.Sprintf(options, s.Temp),
		"/var/tmp": fmt.Sprintf(options, s.Temp/4),
		"/run":     fmt.Sprintf(options, s.Temp/16),
	}
}

// guestUser is whom code under test runs as where its image names root or nobody at all. It
// owns nothing on any machine.
const guestUser = "65534:65534"

// asGuest keeps code under test from being root, and gives it a home that it can write to.
func asGuest(s *NodeSpec) {
	if isRoot(s.User) {
		s.User = guestUser
	}
	s.Env = mergeEnv([]string{"HOME=/tmp"}, s.Env)
}

// mostVolumes is how many folders of its own an image may declare for code under test.
const mostVolumes = 16

// ownVolumes puts a file system in memory, which has an end and counts as the node's memory, where
// an image declares a volume: Docker would make one there on the machine's disk, which
// has none, whatever else of the root is read-only. It begins empty.
func ownVolumes(s *NodeSpec, image *engine.ImageConfig) error {
	if image == nil {
		return nil
	}
	if len(image.Volumes) > mostVolumes {
		return fmt.Errorf("image %s declares %d volumes, and a client's may have %d: make it with fewer", s.Image, len(image.Volumes), mostVolumes)
	}
	s.Mounts = slices.Clone(s.Mounts)
	for _, declared := range slices.Sorted(maps.Keys(image.Volumes)) {
		target := path.Clean("/" + declared)
		mounted := slices.ContainsFunc(s.Mounts, func(m Mount) bool { return path.Clean(m.Target) == target })
		if _, empty := emptyFolders(GuestShares)[target]; !mounted && !empty && target != agentFolder {
			s.Mounts = append(s.Mounts, Mount{Type: "tmpfs", Target: target, Size: GuestShares.Temp / 4})
		}
	}
	return nil
}
