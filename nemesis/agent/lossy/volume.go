package lossy

import (
	"container/list"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
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
	opts    Options
	barrier barrier

	world sync.RWMutex // held for reading by every call, for writing by the crash
	over  bool         // guarded by world: every call fails

	spills atomic.Uint64 // that were made; no lock is taken for them

	ns      sync.Mutex // names: all below, and the nodes' fields that say so
	nodes   map[uint64]*node
	byInode map[inode]*node
	open    list.List // nodes with a descriptor, the last used first
	journal journal
	lastID  uint64 // of nodes, records and graves
	root    *node
	grave   int // descriptor of the folder graveName; only an end, which world keeps calls out of, changes it
}

// openVolume opens the backing folder, and removes what an earlier process that
// died has left in the grave: that process lost nothing.
func openVolume(o Options) (*volume, error) {
	if err := checkFolder("backing folder", o.Backing); err != nil {
		return nil, err
	}
	v := &volume{opts: o, nodes: map[uint64]*node{}, byInode: map[inode]*node{}, journal: journal{of: map[entry][]*record{}}}
	v.barrier.held = o.Held
	fd, err := unix.Open(o.Backing, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("lossy: open %s: %w", o.Backing, err)
	}
	st, errno := statFD(fd)
	if errno != 0 {
		return nil, fmt.Errorf("lossy: stat %s: %w", o.Backing, errno)
	}
	v.root = v.adopt(st, entry{})
	v.root.fd = fd
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
	v.ns.Lock()
	defer v.ns.Unlock()
	_ = removeAll(v.root.fd, graveName)
	v.closeFDs()
}

// closeFDs is called with v.ns held.
func (v *volume) closeFDs() {
	for _, n := range v.nodes {
		v.closeFD(n)
		n.mu.Lock()
		n.undo.reset()
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

// reopen opens a file once more, as another open file; it needs /proc.
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
