package lossy

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// The calls on open files and folders.

func (w *wire) handle(fh uint64) *handle {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.handles[fh]
}

func (w *wire) add(h *handle) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.handles == nil {
		w.handles = map[uint64]*handle{}
	}
	w.lastFh++
	w.handles[w.lastFh] = h
	return w.lastFh
}

// opened fills in the answer to an open. Pages that the kernel has stay: they are
// right, see the package comment. O_DIRECT needs nothing: the kernel then sends
// reads and writes past its cache by itself, and keeps that in step.
func (w *wire) opened(n *node, flags uint32, out *fuse.OpenOut) syscall.Errno {
	h, e := w.vol.open(n, flags)
	if e != 0 {
		return e
	}
	out.Fh, out.OpenFlags = w.add(h), fuse.FOPEN_KEEP_CACHE
	return 0
}

// Open opens a file.
func (w *wire) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	return w.call(func() syscall.Errno {
		n := w.vol.node(in.NodeId)
		if n == nil {
			return unix.ESTALE
		}
		return w.opened(n, in.Flags, out)
	})
}

// Create makes and opens a file.
func (w *wire) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	var n *node
	s := w.named(in.NodeId, &out.EntryOut, func(dir *node) (_ *node, e syscall.Errno) {
		n, e = w.vol.create(dir, name, newFile{mode: in.Mode&0o7777 | unix.S_IFREG, uid: int(in.Uid), gid: int(in.Gid)})
		return n, e
	})
	if s != fuse.OK {
		return s
	}
	return w.call(func() syscall.Errno { return w.opened(n, in.Flags, &out.OpenOut) })
}

// Release ends an open file. Not through call: after a crash it closes too.
func (w *wire) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	w.mu.Lock()
	h := w.handles[in.Fh]
	delete(w.handles, in.Fh)
	w.mu.Unlock()
	if h != nil {
		w.vol.release(h)
	}
}

// closeAll closes what the kernel did not release before the mount ended.
func (w *wire) closeAll() {
	w.mu.Lock()
	handles := w.handles
	w.handles = nil
	w.mu.Unlock()
	for _, h := range handles {
		w.vol.release(h)
	}
}

// OnUnmount is called when the mount has ended.
func (w *wire) OnUnmount() { w.closeAll() }

// Read reads from a file.
func (w *wire) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (result fuse.ReadResult, s fuse.Status) {
	s = w.call(func() syscall.Errno {
		h := w.handle(in.Fh)
		if h == nil {
			return unix.EBADF
		}
		got, err := unix.Pread(h.fd, buf, int64(in.Offset))
		result = fuse.ReadResultData(buf[:max(0, got)])
		return errno(err)
	})
	return result, s
}

// Writev writes to a file.
func (w *wire) Writev(cancel <-chan struct{}, in *fuse.WriteIn, data [][]byte) (written uint32, s fuse.Status) {
	if e := w.hold("write", in.NodeId, true, &in.InHeader, cancel); e != 0 {
		return 0, fuse.Status(e)
	}
	s = w.call(func() syscall.Errno {
		h := w.handle(in.Fh)
		if h == nil {
			return unix.EBADF
		}
		n, e := h.write(data, int64(in.Offset))
		written = uint32(n)
		return e
	})
	return written, s
}

// Fsync makes a file durable.
func (w *wire) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	dataOnly := in.FsyncFlags&1 != 0
	call := "fsync"
	if dataOnly {
		call = "fdatasync"
	}
	if e := w.hold(call, in.NodeId, false, &in.InHeader, cancel); e != 0 {
		return fuse.Status(e)
	}
	return w.call(func() syscall.Errno {
		h := w.handle(in.Fh)
		if h == nil {
			return unix.EBADF
		}
		return w.vol.sync(h.node, h.fd, dataOnly)
	})
}

// Fallocate reserves or clears a range.
func (w *wire) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if e := w.hold("fallocate", in.NodeId, true, &in.InHeader, cancel); e != 0 {
		return fuse.Status(e)
	}
	return w.call(func() syscall.Errno {
		h := w.handle(in.Fh)
		if h == nil {
			return unix.EBADF
		}
		return h.allocate(in.Mode, int64(in.Offset), int64(in.Length))
	})
}

// Lseek finds data and holes.
func (w *wire) Lseek(_ <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	return w.call(func() syscall.Errno {
		h := w.handle(in.Fh)
		if h == nil {
			return unix.EBADF
		}
		off, err := unix.Seek(h.fd, int64(in.Offset), int(in.Whence))
		out.Offset = uint64(max(0, off))
		return errno(err)
	})
}

// Flush is a close. It makes nothing durable, as on a real disk.
func (w *wire) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

// FsyncDir makes the entries of a folder durable.
func (w *wire) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if e := w.hold("fsync of folder", in.NodeId, false, &in.InHeader, cancel); e != 0 {
		return fuse.Status(e)
	}
	return w.call(func() syscall.Errno {
		n := w.vol.node(in.NodeId)
		if n == nil {
			return unix.ESTALE
		}
		return w.vol.syncFolder(n)
	})
}
