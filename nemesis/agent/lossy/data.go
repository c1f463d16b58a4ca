package lossy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// handle is an open file.
type handle struct {
	node *node
	fd   int
}

// open opens a file. For writing it is opened for reading too, as what is
// overwritten is read first; the kernel has checked the caller's rights. No other
// flag is passed on. O_APPEND: the kernel has found the offset, and pwrite would
// ignore it. O_DIRECT: the request is in a buffer of ours, which is not aligned.
// O_SYNC and O_DSYNC: the kernel sends an fsync after each such write.
func (v *volume) open(n *node, flags uint32) (*handle, syscall.Errno) {
	mode := unix.O_RDONLY
	if flags&unix.O_ACCMODE != unix.O_RDONLY {
		mode = unix.O_RDWR
	}
	v.ns.Lock() // no reap between the check and the count
	defer v.ns.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	fd, err := reopen(n.fd, mode)
	if err != nil {
		return nil, errno(err)
	}
	n.handles++
	return &handle{n, fd}, 0
}

// release ends a handle.
func (v *volume) release(h *handle) {
	v.ns.Lock()
	defer v.ns.Unlock()
	_ = unix.Close(h.fd)
	h.node.mu.Lock()
	h.node.handles--
	h.node.mu.Unlock()
	v.reap(h.node)
}

// write writes bufs one after the other at off.
func (h *handle) write(bufs [][]byte, off int64) (int, syscall.Errno) {
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	length := int64(0)
	for _, b := range bufs {
		length += int64(len(b))
	}
	old, err := h.overwritten(off, length)
	if err != nil {
		return 0, errno(err)
	}
	written, err := unix.Pwritev(h.fd, bufs, off)
	if err != nil {
		return 0, errno(err)
	}
	done := int64(written)
	e := edit{off: off, n: done, old: old[:min(int64(len(old)), done)]}
	n.change(e, max(n.undo.size, off+done))
	return written, 0
}

// overwritten reads what lies in a range; nothing where that is past the end.
func (h *handle) overwritten(off, length int64) ([]byte, error) {
	have := min(off+length, h.node.undo.size) - off
	if have <= 0 || h.node.gone {
		return nil, nil
	}
	old := make([]byte, have)
	for at := int64(0); at < have; {
		n, err := unix.Pread(h.fd, old[at:], off+at)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return old[:at], nil
		}
		at += int64(n)
	}
	return old, nil
}

// change notes an edit; n.mu is held. A file without an entry has nothing to lose.
func (n *node) change(e edit, size int64) {
	if n.gone {
		n.undo.size = size
		return
	}
	n.undo.add(e, size)
}

// truncate changes the size.
func (h *handle) truncate(size int64) syscall.Errno {
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	old, err := h.overwritten(size, max(0, n.undo.size-size))
	if err != nil {
		return errno(err)
	}
	if err := unix.Ftruncate(h.fd, size); err != nil {
		return errno(err)
	}
	n.change(edit{off: size, old: old}, size)
	return 0
}

// allocate is fallocate, without the modes that move what lies behind.
func (h *handle) allocate(mode uint32, off, length int64) syscall.Errno {
	if mode&^(unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		return unix.EOPNOTSUPP
	}
	n := h.node
	n.mu.Lock()
	defer n.mu.Unlock()
	e, size := edit{off: off}, n.undo.size
	if mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		old, err := h.overwritten(off, length)
		if err != nil {
			return errno(err)
		}
		e.old = old
	}
	if err := unix.Fallocate(h.fd, mode, off, length); err != nil {
		return errno(err)
	}
	if mode&unix.FALLOC_FL_KEEP_SIZE == 0 {
		size = max(size, off+length)
	}
	n.change(e, size)
	return 0
}

// chmod changes mode and owner; negative values are kept.
func (n *node) chmod(mode int64, uid, gid int) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	st, e := statFD(n.fd)
	if e != 0 {
		return e
	}
	if uid >= 0 || gid >= 0 {
		if err := unix.Fchownat(n.fd, "", uid, gid, unix.AT_EMPTY_PATH); err != nil {
			return errno(err)
		}
	}
	if mode >= 0 {
		if err := unix.Chmod(procFD(n.fd), uint32(mode)); err != nil {
			return errno(err)
		}
	}
	n.change(edit{attrs: &attrs{st.Mode & 0o7777, int(st.Uid), int(st.Gid)}}, n.undo.size)
	return 0
}

// utimes sets times, which no crash takes back.
func (n *node) utimes(ts []unix.Timespec) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	return errno(unix.UtimesNanoAt(unix.AT_FDCWD, procFD(n.fd), ts, 0))
}
