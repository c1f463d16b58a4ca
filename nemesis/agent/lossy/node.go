package lossy

import (
	"path"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

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
	key := inode{st.Dev, st.Ino}
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
		for range min(int(st.Nlink), n.buried) {
			st.Nlink-- // its type differs from one architecture to another
		}
	}
	return st, e
}
