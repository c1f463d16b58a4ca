// Package local is the inside of the runtime that needs neither Docker nor root.
// A run is a user namespace with a network, a mount table and a process tree of
// its own; a node is the same once more inside it, on a bridge that no cable
// joins to the host. The runner starts this package's Main in both places, as
// its own binary with the hidden command Command; of the rest it uses the words
// of this file, the names of the Trials, and Hidden.
//
// One user id is all that an ordinary user can map, so everything in a run has
// the same one. It is not 0, for PostgreSQL refuses 0, and carries its
// privileges over exec as ambient capabilities instead; they reach no further
// than the run's own namespaces.
package local

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"syscall"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// Command is the hidden command line that Main serves.
const Command = "local-init"

// UID and GID are the ids that everything in a run has inside its namespaces.
const (
	UID = 1000
	GID = 1000
)

// Name is what dlmtest is called when it starts itself.
const Name = "dlmtest"

// Binary is where the dlmtest binary stands in every node, as in a container.
const Binary = seal.Binary

// Descriptors that the run's first process starts with, beside its own stdio.
const (
	fdControl = 3 + iota // Config as JSON; its end means: remove everything
	fdReport             // Reports as JSON lines
	fdSelf               // the dlmtest binary, opened where only the runner may be able to
	fdNodes              // stdin, stdout and stderr of each node
)

// SelfPath is what the runner executes: the binary by its descriptor, for the
// user of the run may not be allowed to enter the folder that it lies in.
const SelfPath = "/proc/self/fd/5"

// Config is what the runner asks for.
type Config struct {
	Run         string     // its id
	Temp        string     // folder of the host below which the run may write
	HostID      int        // that UID is outside
	Path        string     // PATH of the nodes
	Database    []string   // initdb and its arguments, without the folder
	DatabaseKey string     // differs when initdb would make something else
	Devices     []string   // of the host, that some node wants
	Bridge      netip.Addr // of the run's bridge
	Bits        int        // length of the network's prefix
	Nodes       []Node
}

// Node is one node.
type Node struct {
	Name     string
	Addr     netip.Addr
	Env      []string // of the agent
	Mounts   []Mount
	Devices  []string // that it must be able to open
	Temp     int64    // bytes of memory for the files of a node that runs code under test; 0: it writes to the disk
	Shm      int64    // bytes of /dev/shm
	Database string   // folder in the node that holds a PostgreSQL database; empty: none
}

// Mount is a bind mount, a volume of the run's own, or a tmpfs.
type Mount struct {
	Type     string // bind, volume or tmpfs
	Source   string // a path of the host, or the name of a volume; empty: a new one
	Target   string
	ReadOnly bool
	Size     int64  // bytes of a tmpfs; 0: a quarter of a server's memory
	Mode     uint32 // of a tmpfs; 0: 1777
}

// Report is one line from the run's first process to the runner.
type Report struct {
	Node  int    // which; -1: the run as a whole
	State State  //
	Code  int    // Exited: its exit code, 128 and the signal's number if it was killed
	Error string // Failed: why

	Op    string        // Failed: what the kernel refused, as Go names it: fork/exec, mkdir, …; empty: something without a path
	Errno syscall.Errno // Failed: what it answered; 0: it was not the kernel
}

// failed is the report of a failure.
func failed(node int, err error) Report {
	r := Report{Node: node, State: Failed, Error: err.Error()}
	_ = errors.As(err, &r.Errno)
	if at := new(fs.PathError); errors.As(err, &at) {
		r.Op = at.Op
	}
	return r
}

// Refusal is a failure that a Report tells of, as the error that it was.
type Refusal struct{ Report }

// Error is what was reported.
func (r *Refusal) Error() string { return r.Report.Error }

// Unwrap is what the kernel answered.
func (r *Refusal) Unwrap() error {
	if r.Errno == 0 {
		return nil
	}
	return &fs.PathError{Op: r.Op, Err: r.Errno}
}

// State is what has become of a node.
type State string

// The states of a node.
const (
	Up     State = "up"     // its agent runs
	Exited State = "exited" // its agent has ended
	Failed State = "failed" // it could not be started
)

// Files lists the descriptors in the order that the run's first process expects.
func Files(control, report, self *os.File, stdio []*os.File) []*os.File {
	return append([]*os.File{control, report, self}, stdio...)
}
