package lossy

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

func attr(n *node, st *unix.Stat_t, out *fuse.Attr) {
	s := syscall.Stat_t{
		Ino: n.id, Mode: st.Mode, Nlink: st.Nlink, Uid: st.Uid, Gid: st.Gid, Rdev: st.Rdev,
		Size: st.Size, Blksize: st.Blksize, Blocks: st.Blocks,
		Atim: syscall.Timespec(st.Atim), Mtim: syscall.Timespec(st.Mtim), Ctim: syscall.Timespec(st.Ctim),
	}
	out.FromStat(&s)
}

// GetAttr is stat.
func (w *wire) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	return w.on(in.NodeId, func(n *node, fd int) syscall.Errno { return w.attributes(n, fd, out) })
}

func (w *wire) attributes(n *node, fd int, out *fuse.AttrOut) syscall.Errno {
	st, e := w.vol.stat(n, fd)
	if e == 0 {
		out.AttrValid = cached
		attr(n, st, &out.Attr)
	}
	return e
}

// SetAttr is chmod, chown, truncate and utimes.
func (w *wire) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if in.Valid&fuse.FATTR_SIZE != 0 {
		if e := w.hold("truncate", in.NodeId, true, &in.InHeader, cancel); e != 0 {
			return fuse.Status(e)
		}
	}
	return w.on(in.NodeId, func(n *node, fd int) syscall.Errno {
		if e := w.set(n, fd, in); e != 0 {
			return e
		}
		return w.attributes(n, fd, out)
	})
}

func (w *wire) set(n *node, fd int, in *fuse.SetAttrIn) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		if e := w.vol.truncate(n, fd, int64(size)); e != 0 {
			return e
		}
	}
	if in.Valid&(fuse.FATTR_MODE|fuse.FATTR_UID|fuse.FATTR_GID) != 0 {
		if e := n.chown(fd, in); e != 0 {
			return e
		}
	}
	if in.Valid&(fuse.FATTR_ATIME|fuse.FATTR_MTIME) == 0 {
		return 0
	}
	ts := []unix.Timespec{timespec(in.GetATime()), timespec(in.GetMTime())}
	return n.utimes(fd, ts)
}

func (n *node) chown(fd int, in *fuse.SetAttrIn) syscall.Errno {
	mode, uid, gid := chosen(in)
	return n.chmod(fd, mode, uid, gid)
}

// chosen returns what of mode, user and group is to change; -1: keep.
func chosen(in *fuse.SetAttrIn) (mode int64, uid, gid int) {
	mode, uid, gid = -1, -1, -1
	if m, ok := in.GetMode(); ok {
		mode = int64(m)
	}
	if u, ok := in.GetUID(); ok {
		uid = int(u)
	}
	if g, ok := in.GetGID(); ok {
		gid = int(g)
	}
	return mode, uid, gid
}

func timespec(t time.Time, set bool) unix.Timespec {
	if !set {
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	return unix.NsecToTimespec(t.UnixNano())
}
