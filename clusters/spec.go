// Package clusters starts the nodes of a run. It reads them from a compose file,
// makes the images they need, gives each an agent as its first process, and
// leaves nothing behind, even when the runner is killed.
package clusters

import (
	"time"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// NodeSpec is one node: what to run, as whom, and how to ask whether it serves.
type NodeSpec struct {
	Name        string        // its host name on the cluster's network
	Role        string        // Name without its number: redlock-3 is a redlock
	Image       string        // as the compose file names it
	Entrypoint  []string      // with Command, the argv of the node's child
	Command     []string      //
	Env         []string      // KEY=value, of the child
	User        string        // of the child: name or uid, with an optional :group; empty: root
	WorkDir     string        // of the child; empty: /
	Health      []string      // argv of a real client operation, run inside the node; empty: none
	Version     []string      // argv that prints the server's version; empty: not known
	Data        string        // folder of its data, on which disk faults work; empty: not known
	Tells       []string      // argv that prints the server's own REALTIME, seconds of the epoch; empty: none does
	MinLease    time.Duration // the shortest and the longest lease that its configuration lets it grant,
	MaxLease    time.Duration // where the compose file says; 0: not known
	Leads       []string      // argv that exits 0 on the server that leads; empty: none does
	Holds       []string      // argv that prints for whom the server keeps the lock of the key that follows it; empty: none does
	Ports       []int         // that it serves, the one for clients first
	CapAdd      []string      // privileges that a fault needs, such as NET_ADMIN
	CapDrop     []string      // privileges that the compose file takes from the server, such as CHOWN or ALL
	Gains       []string      // those that it gives the server itself, if that is root; CapAdd has them too
	Devices     []string      // host devices that a fault needs, such as /dev/fuse
	SecurityOpt []string      // such as apparmor=unconfined
	Hosts       []string      // names that the node knows beside those of its network, as NAME:ADDRESS; only in Docker
	Mounts      []Mount
	Declared    []string // folders of the image that Docker puts volumes at by itself
	Limits      Limits
	Guest       bool     // it runs code under test: never as root, on a root file system that is read-only
	Outside     bool     // it must reach what is not of its run, such as a lock service that runs already; only in Docker
	DockerOnly  []string // fields of the compose file that only Docker can honour: the runtime local refuses them
}

// Limits are what the compose file allows a node; the zero value of each is the
// runtime's own.
type Limits struct {
	Memory      int64    // bytes
	MemorySwap  int64    // bytes of memory and swap together
	Reservation int64    // bytes of memory that it keeps when others want them
	Pids        int64    // processes and threads
	CPUs        float64  // of the machine's
	Shm         int64    // bytes of /dev/shm
	Ulimits     []Ulimit // of its processes
	ReadOnly    bool     // its root file system
}

// Ulimit is a limit that the kernel keeps for each process.
type Ulimit struct {
	Name       string // such as nofile
	Soft, Hard int64
}

// Mount is a bind mount, a volume of the run's own, or a tmpfs.
type Mount struct {
	Type     string // bind, volume or tmpfs
	Source   string // a path of the host, or the name of a volume; empty: a new one
	Target   string
	ReadOnly bool
	Size     int64  // bytes of a tmpfs; 0: UsualTmpfs
	Mode     uint32 // of a tmpfs; 0: 1777
	NoCopy   bool   // a volume begins empty, whatever the image has there
}

// UsualTmpfs is what a file system in memory holds of which nobody said how large it is: a
// quarter of a server's memory. What lies there is memory, and of no process that is counted.
const UsualTmpfs = local.UsualTmpfs

// Argv is what the agent starts as the node's child.
func (n NodeSpec) Argv() []string {
	return append(append([]string{}, n.Entrypoint...), n.Command...)
}

// ClientImage is the image of the nodes that lock clients run on.
const ClientImage = "dlmtest/client:latest"

// ClientSpec is a node for a lock client started as argv.
func ClientSpec(name string, argv ...string) NodeSpec {
	return NodeSpec{Name: name, Role: "client", Image: ClientImage, Command: argv, Guest: true}
}

// Project is what a compose file says of one cluster.
type Project struct {
	Nodes    []NodeSpec // by name, numbers in order
	Profiles []string   // all that the file has, sorted
	Reaches  []string   // what of it reaches the host, a line each, sorted
	Notes    []string   // what of it changes nothing, and what it takes from the environment
}
