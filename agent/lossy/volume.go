package lossy

import (
	"fmt"
	"os"
	"path"
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

// inode is how the backing file system knows a file.
type inode struct{ dev, ino uint64 }

// node is a file, folder or link that was seen. A descriptor (O_PATH) stands for
// it, not a path, so that renames need no bookkeeping and the mount may lie over
// its own backing folder.
type node struct {
	id    uint64 // never used twice, unlike inode numbers: the kernel may still know the old one
	key   inode
	dir   bool
	plain bool // a regular file

	// Guarded by volume.ns.
	parent  *node // where it was last seen, for reports
	name    string
	durable int // durable entries that name it
	buried  int // entries in the grave
	lookups uint64
	gone    bool // it has no entry at all; open handles may still use it

	mu      sync.Mutex
	fd      int // O_PATH; -1: closed
	handles int
	undo    undo
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

// node returns the node that the kernel means.
func (v *volume) node(id uint64) *node {
	v.ns.Lock()
	defer v.ns.Unlock()
	return v.nodes[id]
}

// child returns the node of an entry; v.ns is held.
func (v *volume) child(dir *node, name string) (*node, syscall.Errno) {
	if dir == v.root && name == graveName {
		return nil, unix.ENOENT
	}
	fd, err := unix.Openat(dir.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, errno(err)
	}
	st, e := statFD(fd)
	if e != 0 {
		_ = unix.Close(fd)
		return nil, e
	}
	return v.adopt(fd, st, dir, name), 0
}

// adopt returns the node of an open descriptor, which it keeps or closes. A node
// that is new to us was there before us, so all its entries are durable; one that
// was just made is corrected by its maker. v.ns is held.
func (v *volume) adopt(fd int, st *unix.Stat_t, dir *node, name string) *node {
	key := inode{uint64(st.Dev), st.Ino}
	n := v.byInode[key]
	if n != nil {
		_ = unix.Close(fd)
		n.parent, n.name = dir, name
		return n
	}
	v.lastID++
	n = &node{id: v.lastID, key: key, fd: fd, parent: dir, name: name, durable: int(st.Nlink)}
	n.plain = st.Mode&unix.S_IFMT == unix.S_IFREG
	if n.dir = st.Mode&unix.S_IFMT == unix.S_IFDIR; n.dir {
		n.durable = 1
	}
	n.undo.size = st.Size
	v.nodes[n.id], v.byInode[key] = n, n
	return n
}

// path is where a node was last seen, relative to the mount; v.ns is held.
func (n *node) path() string {
	if n.parent == nil {
		return n.name
	}
	return path.Join(n.parent.path(), n.name)
}

// forget drops the kernel's references to a node.
func (v *volume) forget(id, count uint64) {
	v.ns.Lock()
	defer v.ns.Unlock()
	n := v.nodes[id]
	if n == nil {
		return
	}
	n.lookups -= min(count, n.lookups)
	v.reap(n)
}

// vanish notes that a node has lost its last entry, if it has; v.ns is held.
// What it holds unsynced is nobody's loss any more.
func (v *volume) vanish(n *node) {
	n.mu.Lock()
	st, e := statFD(n.fd)
	if n.gone = e != 0 || st.Nlink == 0 || (n.dir && n.buried == 0); n.gone {
		n.undo.reset()
	}
	n.mu.Unlock()
	if n.gone {
		// The backing file system may give the inode number to the next file.
		delete(v.byInode, n.key)
		v.reap(n)
	}
}

// reap closes what nobody can reach any more, as its blocks are freed only then;
// v.ns is held.
func (v *volume) reap(n *node) {
	if !n.gone {
		return
	}
	n.mu.Lock()
	if n.handles == 0 {
		n.closeFD()
	}
	n.mu.Unlock()
	if n.lookups == 0 && n.handles == 0 {
		delete(v.nodes, n.id)
	}
}

// closeFD is called with n.mu held.
func (n *node) closeFD() {
	if n.fd >= 0 {
		_ = unix.Close(n.fd)
	}
	n.fd = -1
}

// stat returns the attributes as a server should see them.
func (n *node) stat() (*unix.Stat_t, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	st, e := statFD(n.fd)
	if e == 0 && n.plain {
		st.Nlink -= min(st.Nlink, uint64(n.buried))
	}
	return st, e
}

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
