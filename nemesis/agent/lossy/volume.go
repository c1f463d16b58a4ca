package lossy

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// graveName is the folder in the backing root that keeps what was removed and
// would come back at a crash. It is hidden from the mount.
const graveName = ".dlmtest-removed"

// volume is the file system without FUSE: names and files over a backing folder,
// and what would undo their unsynced changes.
//
// Locks are taken in the order of the fields here, a node's own last.
type volume struct {
	opts Options
	gate gate

	world sync.RWMutex // held for reading by every call, for writing by the crash
	over  bool         // guarded by world: every call fails

	ns      sync.Mutex // names: all below, and the nodes' fields that say so
	nodes   map[uint64]*node
	byInode map[inode]*node
	journal []*record // unsynced changes of folders, oldest first
	lastID  uint64    // of nodes and graves
	root    *node
	grave   int // descriptor of the folder graveName
}

// openVolume opens the backing folder, and removes what an earlier process that
// died has left in the grave: that process lost nothing.
func openVolume(o Options) (*volume, error) {
	if err := checkFolder("backing folder", o.Backing); err != nil {
		return nil, err
	}
	v := &volume{opts: o, nodes: map[uint64]*node{}, byInode: map[inode]*node{}}
	v.gate.held = o.Held
	fd, err := unix.Open(o.Backing, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("lossy: open %s: %w", o.Backing, err)
	}
	st, errno := statFD(fd)
	if errno != 0 {
		return nil, fmt.Errorf("lossy: stat %s: %w", o.Backing, errno)
	}
	v.root = v.adopt(fd, st, nil, "")
	v.root.durable = 1
	if err := v.openGrave(); err != nil {
		v.close()
		return nil, fmt.Errorf("lossy: %s in %s: %w", graveName, o.Backing, err)
	}
	return v, nil
}

func (v *volume) openGrave() error {
	v.grave = -1
	if err := removeAll(v.root.fd, graveName); err != nil {
		return err
	}
	if err := unix.Mkdirat(v.root.fd, graveName, 0o700); err != nil {
		return err
	}
	fd, err := unix.Openat(v.root.fd, graveName, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	v.grave = fd
	return err
}

// close ends the volume and loses nothing: what is in the backing folder is the
// newest state.
func (v *volume) close() {
	v.world.Lock()
	defer v.world.Unlock()
	v.over = true
	_ = removeAll(v.root.fd, graveName)
	v.closeFDs()
}

func (v *volume) closeFDs() {
	for _, n := range v.nodes {
		n.mu.Lock()
		n.closeFD()
		n.mu.Unlock()
	}
	if v.grave >= 0 {
		_ = unix.Close(v.grave)
	}
	v.grave = -1
}

// enter begins a call; leave ends it. It fails once the crash has begun.
func (v *volume) enter() syscall.Errno {
	v.world.RLock()
	if v.over {
		v.world.RUnlock()
		return unix.EIO
	}
	return 0
}

func (v *volume) leave() { v.world.RUnlock() }

// reopen opens the file behind an O_PATH descriptor; it needs /proc.
func reopen(fd, flags int) (int, error) {
	return unix.Open(procFD(fd), flags|unix.O_CLOEXEC, 0)
}

func procFD(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func statFD(fd int) (*unix.Stat_t, syscall.Errno) {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, "", &st, unix.AT_EMPTY_PATH); err != nil {
		return nil, errno(err)
	}
	return &st, 0
}

// errno is the number behind an error of package unix.
func errno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(syscall.Errno); ok { //nolint:errorlint // package unix does not wrap
		return e
	}
	return unix.EIO
}

// removeAll removes an entry with all that is below it; none is no error.
func removeAll(dir int, name string) error {
	r, err := os.OpenRoot(procFD(dir))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	return r.RemoveAll(name)
}
