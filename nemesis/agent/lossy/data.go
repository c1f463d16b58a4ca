package lossy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The calls on the content of files. fd is the node's descriptor, open for reading
// and writing: what is overwritten is read first. Of the caller's flags none is
// passed on. O_APPEND: the kernel has found the offset, and pwrite would ignore it.
// O_DIRECT: the request is in a buffer of ours, which is not aligned. O_SYNC and
// O_DSYNC: the kernel sends an fsync after each such write.

// write writes bufs one after the other at off.
func (v *volume) write(n *node, fd int, bufs [][]byte, off int64) (int, syscall.Errno) {
	n.mu.Lock()
	defer n.mu.Unlock()
	length := int64(0)
	for _, b := range bufs {
		length += int64(len(b))
	}
	old, err := v.overwritten(n, fd, off, length)
	if err != nil {
		return 0, errno(err)
	}
	written, err := unix.Pwritev(fd, bufs, off)
	if err != nil {
		return 0, errno(err)
	}
	done := int64(written)
	e := edit{off: off, n: done, old: old.cut(0, min(old.len(), done))}
	n.change(e, max(n.undo.size, off+done))
	return written, 0
}

// overwritten keeps what lies in a range; nothing where that is past the end.
func (v *volume) overwritten(n *node, fd int, off, length int64) (content, error) {
	have := min(off+length, n.undo.size) - off
	if have <= 0 || n.gone {
		return content{}, nil
	}
	if have > spillFrom {
		if n.undo.spill == nil {
			s, err := v.newSpill()
			if err != nil {
				return content{}, err
			}
			n.undo.spill = s
		}
		return n.undo.spill.take(fd, off, have)
	}
	old := make([]byte, have)
	for at := int64(0); at < have; {
		got, err := unix.Pread(fd, old[at:], off+at)
		if err != nil {
			return content{}, err
		}
		if got == 0 {
			return content{bytes: old[:at]}, nil
		}
		at += int64(got)
	}
	return content{bytes: old}, nil
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
func (v *volume) truncate(n *node, fd int, size int64) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	old, err := v.overwritten(n, fd, size, max(0, n.undo.size-size))
	if err != nil {
		return errno(err)
	}
	if err := unix.Ftruncate(fd, size); err != nil {
		return errno(err)
	}
	n.change(edit{off: size, old: old}, size)
	return 0
}

// allocate is fallocate, without the modes that move what lies behind.
func (v *volume) allocate(n *node, fd int, mode uint32, off, length int64) syscall.Errno {
	if mode&^(unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		return unix.EOPNOTSUPP
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e, size := edit{off: off}, n.undo.size
	if mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		old, err := v.overwritten(n, fd, off, length)
		if err != nil {
			return errno(err)
		}
		e.old = old
	}
	if err := unix.Fallocate(fd, mode, off, length); err != nil {
		return errno(err)
	}
	if mode&unix.FALLOC_FL_KEEP_SIZE == 0 {
		size = max(size, off+length)
	}
	n.change(e, size)
	return 0
}

// chmod changes mode and owner; negative values are kept.
func (n *node) chmod(fd int, mode int64, uid, gid int) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	st, e := statFD(fd)
	if e != 0 {
		return e
	}
	if uid >= 0 || gid >= 0 {
		if err := unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH); err != nil {
			return errno(err)
		}
	}
	if mode >= 0 {
		if err := unix.Chmod(procFD(fd), uint32(mode)); err != nil {
			return errno(err)
		}
	}
	n.change(edit{attrs: &attrs{st.Mode & 0o7777, int(st.Uid), int(st.Gid)}}, n.undo.size)
	return 0
}

// utimes sets times, which no crash takes back.
func (n *node) utimes(fd int, ts []unix.Timespec) syscall.Errno {
	n.mu.Lock()
	defer n.mu.Unlock()
	return errno(unix.UtimesNanoAt(unix.AT_FDCWD, procFD(fd), ts, 0))
}
