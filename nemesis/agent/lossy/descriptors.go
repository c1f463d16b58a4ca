package lossy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A descriptor is opened when a call needs it, by the place where its node lies:
// all names change through us, so that is known. The oldest are closed again.

// descriptorsMax is how many stay open at most, beside those of files that were
// removed and are still in use: these could not be opened again. A variable for tests.
var descriptorsMax = 1024

// fd returns a descriptor of a node: of a plain file for reading and writing, of a
// folder for reading, of others O_PATH. It is good as long as v.ns is held, or the
// node has users.
func (v *volume) fd(n *node) (int, syscall.Errno) {
	if n.fd >= 0 {
		if n.opened != nil {
			v.open.MoveToFront(n.opened)
		}
		return n.fd, 0
	}
	dir, name := v.grave, ""
	switch {
	case n.gone:
		return -1, unix.ESTALE
	case len(n.places) > 0:
		e := n.places[len(n.places)-1]
		above, errno := v.fd(e.dir)
		if errno != 0 {
			return -1, errno
		}
		dir, name = above, e.name
	case len(n.graves) > 0:
		name = n.graves[0]
	default:
		return -1, unix.ESTALE
	}
	fd, err := n.openAt(dir, name)
	if err != nil {
		return -1, errno(err)
	}
	st, e := statFD(fd)
	if e != 0 || (inode{st.Dev, st.Ino}) != n.key {
		_ = unix.Close(fd)
		return -1, unix.ESTALE
	}
	n.fd = fd
	n.opened = v.open.PushFront(n)
	v.closeOldest()
	return fd, 0
}

func (n *node) openAt(dir int, name string) (int, error) {
	const always = unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	ways := []int{unix.O_PATH}
	switch {
	case n.dir:
		ways = []int{unix.O_RDONLY | unix.O_DIRECTORY, unix.O_PATH | unix.O_DIRECTORY}
	case n.plain:
		ways = []int{unix.O_RDWR, unix.O_RDONLY, unix.O_PATH} // the kernel has checked the caller's rights
	}
	var fd int
	var err error
	for _, way := range ways {
		if fd, err = unix.Openat(dir, name, way|always, 0); err == nil {
			return fd, nil
		}
	}
	return -1, err
}

// closeOldest closes what has not been used for longest.
func (v *volume) closeOldest() {
	for e := v.open.Back(); e != nil && v.open.Len() > descriptorsMax; {
		n := e.Value.(*node)
		e = e.Prev()
		if n.gone { // closed when it is dropped
			v.open.Remove(n.opened)
			n.opened = nil
		} else if n.users == 0 {
			v.closeFD(n)
		}
	}
}

// closeFD is called with v.ns held.
func (v *volume) closeFD(n *node) {
	if n.opened != nil {
		v.open.Remove(n.opened)
		n.opened = nil
	}
	if n.fd >= 0 {
		_ = unix.Close(n.fd)
	}
	n.fd = -1
}

// with runs f on the node of id with a descriptor that stays open meanwhile; v.ns
// is not held.
func (v *volume) with(id uint64, f func(n *node, fd int) syscall.Errno) syscall.Errno {
	v.ns.Lock()
	n := v.nodes[id]
	if n == nil {
		v.ns.Unlock()
		return unix.ESTALE
	}
	n.users++
	fd, e := v.fd(n)
	v.ns.Unlock()
	if e == 0 {
		e = f(n, fd)
	}
	v.ns.Lock()
	n.users--
	v.reap(n)
	v.ns.Unlock()
	return e
}
