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
	return w.call(func() syscall.Errno { return w.attributes(in.NodeId, out) })
}

func (w *wire) attributes(id uint64, out *fuse.AttrOut) syscall.Errno {
	n := w.vol.node(id)
	if n == nil {
		return unix.ESTALE
	}
	st, e := n.stat()
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
	return w.call(func() syscall.Errno {
		n := w.vol.node(in.NodeId)
		if n == nil {
			return unix.ESTALE
		}
		if e := w.set(n, in); e != 0 {
			return e
		}
		return w.attributes(in.NodeId, out)
	})
}

func (w *wire) set(n *node, in *fuse.SetAttrIn) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		h, e := w.vol.open(n, unix.O_RDWR)
		if e != 0 {
			return e
		}
		e = h.truncate(int64(size))
		w.vol.release(h)
		if e != 0 {
			return e
		}
	}
	if in.Valid&(fuse.FATTR_MODE|fuse.FATTR_UID|fuse.FATTR_GID) != 0 {
		if e := n.chmod(chosen(in)); e != 0 {
			return e
		}
	}
	if in.Valid&(fuse.FATTR_ATIME|fuse.FATTR_MTIME) == 0 {
		return 0
	}
	ts := []unix.Timespec{timespec(in.GetATime()), timespec(in.GetMTime())}
	return n.utimes(ts)
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
