package lossy

import (
	"container/list"
	"path"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// inode is how the backing file system knows a file.
type inode struct{ dev, ino uint64 }

// node is a file, folder or link that the kernel knows, or that has something
// unsynced. It is dropped when neither holds, so memory is bounded by these.
type node struct {
	id    uint64 // never used twice, unlike inode numbers: the kernel may still know the old one
	key   inode
	dir   bool
	plain bool // a regular file

	// Guarded by volume.ns.
	places   []entry  // where it lies, as far as was seen; the last is the newest
	last     entry    // the last place of one that has none any more, for reports
	graves   []string // its entries in the grave
	children int      // places in this folder that nodes know
	durable  int      // durable entries that name it
	refs     int      // changes in the journal that mention it
	naming   []*record
	within   map[*record]bool // changes of its entries
	lookups  uint64           // the kernel's references
	users    int              // calls under way
	gone     bool             // it has no entry at all; whoever has it open may still use it
	fd       int              // -1: not open
	opened   *list.Element    // in volume.open

	mu   sync.Mutex
	undo undo
}

// entry identifies an entry.
type entry struct {
	dir  *node
	name string
}

// see notes that an entry names n; v.ns is held.
func (n *node) see(e entry) {
	if !slices.Contains(n.places, e) {
		n.places = append(n.places, e)
		e.dir.children++
	}
}

// unsee notes that it does so no longer.
func (n *node) unsee(e entry) {
	if i := slices.Index(n.places, e); i >= 0 {
		n.places = slices.Delete(n.places, i, i+1)
		e.dir.children--
		n.last = e
	}
}

// path is where a node lies or lay, relative to the mount; v.ns is held.
func (n *node) path() string {
	e := n.last
	if len(n.places) > 0 {
		e = n.places[len(n.places)-1]
	}
	if e.dir == nil {
		return e.name
	}
	return path.Join(e.dir.path(), e.name)
}

// child returns the node of an entry; v.ns is held.
func (v *volume) child(dir *node, name string) (*node, syscall.Errno) {
	if dir == v.root && name == graveName {
		return nil, unix.ENOENT
	}
	fd, e := v.fd(dir)
	if e != 0 {
		return nil, e
	}
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, errno(err)
	}
	return v.adopt(&st, entry{dir, name}), 0
}

// adopt returns the node of an entry. A node that is new to us was there before
// us, so all its entries are durable; one that was just made is corrected by its
// maker. v.ns is held.
func (v *volume) adopt(st *unix.Stat_t, at entry) *node {
	key := inode{st.Dev, st.Ino}
	n := v.byInode[key]
	if n == nil {
		v.lastID++
		n = &node{id: v.lastID, key: key, fd: -1, durable: int(st.Nlink)}
		n.plain = st.Mode&unix.S_IFMT == unix.S_IFREG
		if n.dir = st.Mode&unix.S_IFMT == unix.S_IFDIR; n.dir {
			n.durable = 1
		}
		n.undo.size = st.Size
		v.nodes[n.id], v.byInode[key] = n, n
	}
	if at.dir != nil {
		n.see(at)
	}
	return n
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

// unlinked removes an entry and notes whether its node has lost its last one. What
// such a node holds unsynced is nobody's loss any more. v.ns is held.
func (v *volume) unlinked(n *node, remove func() error) error {
	if !n.dir {
		_, _ = v.fd(n) // whoever has it open goes on; and it tells how many links are left
	}
	if err := remove(); err != nil {
		return err
	}
	n.gone = len(n.places)+len(n.graves) == 0
	if n.fd >= 0 && !n.dir {
		st, e := statFD(n.fd)
		n.gone = e != 0 || st.Nlink == 0
	}
	if n.gone {
		n.mu.Lock()
		n.undo.reset()
		n.mu.Unlock()
		// The backing file system may give the inode number to the next file.
		delete(v.byInode, n.key)
		v.reap(n)
	}
	return nil
}

// reap drops a node of which nothing must be known any more; v.ns is held.
func (v *volume) reap(n *node) {
	if n == v.root || n.lookups > 0 || n.users > 0 || v.nodes[n.id] != n {
		return
	}
	if !n.gone {
		n.mu.Lock()
		dirty := n.undo.dirty() || n.undo.syncing > 0
		n.mu.Unlock()
		if dirty || n.refs > 0 || n.children > 0 {
			return
		}
		delete(v.byInode, n.key)
	}
	v.closeFD(n)
	delete(v.nodes, n.id)
	for _, e := range slices.Clone(n.places) {
		n.unsee(e)
		v.reap(e.dir)
	}
}

// stat returns the attributes as a server should see them.
func (v *volume) stat(n *node, fd int) (*unix.Stat_t, syscall.Errno) {
	n.mu.Lock()
	st, e := statFD(fd)
	n.mu.Unlock()
	if e != 0 || !n.plain {
		return st, e
	}
	v.ns.Lock()
	defer v.ns.Unlock()
	return n.shown(st), 0
}

// look is stat by name: it opens nothing. v.ns is held.
func (v *volume) look(n *node) (*unix.Stat_t, syscall.Errno) {
	if n.fd >= 0 || len(n.places) == 0 {
		fd, e := v.fd(n)
		if e != 0 {
			return nil, e
		}
		st, e := statFD(fd)
		return n.shown(st), e
	}
	at := n.places[len(n.places)-1]
	fd, e := v.fd(at.dir)
	if e != 0 {
		return nil, e
	}
	var st unix.Stat_t
	err := unix.Fstatat(fd, at.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return n.shown(&st), errno(err)
}

// shown takes off the links that lie in the grave; v.ns is held.
func (n *node) shown(st *unix.Stat_t) *unix.Stat_t {
	if st != nil && n.plain {
		for range min(int(st.Nlink), len(n.graves)) {
			st.Nlink-- // its type differs from one architecture to another
		}
	}
	return st
}
