package lossy

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// The calls on open files and folders.

// Open is for pipes and the like only: the kernel is told once that files need no
// opening here, and then asks no more. Rights it checks by itself. Pages that it has
// stay: they are right, see the package comment.
func (w *wire) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

// Create too is left to the kernel: it makes the file with Mknod.
func (w *wire) Create(<-chan struct{}, *fuse.CreateIn, string, *fuse.CreateOut) fuse.Status {
	return fuse.ENOSYS
}

// on runs f within the volume on the node of id.
func (w *wire) on(id uint64, f func(n *node, fd int) syscall.Errno) fuse.Status {
	return w.call(func() syscall.Errno { return w.vol.with(id, f) })
}

// Read reads from a file.
func (w *wire) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (result fuse.ReadResult, s fuse.Status) {
	s = w.on(in.NodeId, func(_ *node, fd int) syscall.Errno {
		got, err := unix.Pread(fd, buf, int64(in.Offset))
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
	s = w.on(in.NodeId, func(n *node, fd int) syscall.Errno {
		done, e := w.vol.write(n, fd, data, int64(in.Offset))
		written = uint32(done)
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
	return w.on(in.NodeId, func(n *node, fd int) syscall.Errno { return w.vol.sync(n, fd, dataOnly) })
}

// Fallocate reserves or clears a range.
func (w *wire) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if e := w.hold("fallocate", in.NodeId, true, &in.InHeader, cancel); e != 0 {
		return fuse.Status(e)
	}
	return w.on(in.NodeId, func(n *node, fd int) syscall.Errno {
		return w.vol.allocate(n, fd, in.Mode, int64(in.Offset), int64(in.Length))
	})
}

// Lseek finds data and holes.
func (w *wire) Lseek(_ <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	return w.on(in.NodeId, func(_ *node, fd int) syscall.Errno {
		off, err := unix.Seek(fd, int64(in.Offset), int(in.Whence))
		out.Offset = uint64(max(0, off))
		return errno(err)
	})
}

// Flush is a close. It makes nothing durable, as on a real disk.
func (w *wire) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// FsyncDir makes the entries of a folder durable.
func (w *wire) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if e := w.hold("fsync of folder", in.NodeId, false, &in.InHeader, cancel); e != 0 {
		return fuse.Status(e)
	}
	return w.on(in.NodeId, w.vol.syncFolder)
}
