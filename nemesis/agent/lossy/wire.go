package lossy

import (
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// wire translates between FUSE and a volume. It is a raw file system and not one
// of go-fuse's node trees: those keep paths of their own, and a second tree to
// keep right through renames is a second source of errors.
type wire struct {
	fuse.RawFileSystem // answers ENOSYS to all that is not here; the kernel then does without
	vol                *volume

	mu      sync.RWMutex // of open folders
	folders map[uint64]*listing
	lastFh  uint64
}

// cached is how long the kernel may trust names and attributes: for ever, as all
// changes go through it.
const cached = uint64(time.Hour / time.Second)

func (w *wire) String() string { return "dlmtest" }

// call runs f within the volume.
func (w *wire) call(f func() syscall.Errno) fuse.Status {
	if e := w.vol.enter(); e != 0 {
		return fuse.Status(e)
	}
	defer w.vol.leave()
	return fuse.Status(f())
}

// named runs f with v.ns held, on the node of id, and answers with the node that
// f found or made.
func (w *wire) named(id uint64, out *fuse.EntryOut, f func(*node) (*node, syscall.Errno)) fuse.Status {
	return w.call(func() syscall.Errno {
		w.vol.ns.Lock()
		defer w.vol.ns.Unlock()
		dir := w.vol.nodes[id]
		if dir == nil {
			return unix.ESTALE
		}
		n, e := f(dir)
		if e != 0 || out == nil {
			return e
		}
		return w.answer(n, out)
	})
}

// answer fills in an entry, which the kernel will refer to until it forgets it.
func (w *wire) answer(n *node, out *fuse.EntryOut) syscall.Errno {
	st, e := w.vol.look(n)
	if e != 0 {
		return e
	}
	n.lookups++
	out.NodeId, out.EntryValid, out.AttrValid = n.id, cached, cached
	attr(n, st, &out.Attr)
	return 0
}

// Lookup finds an entry.
func (w *wire) Lookup(_ <-chan struct{}, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return w.named(in.NodeId, out, func(dir *node) (*node, syscall.Errno) { return w.vol.child(dir, name) })
}

// Forget drops references of the kernel.
func (w *wire) Forget(id, count uint64) { w.vol.forget(id, count) }

// Mknod makes a file, a pipe or a socket.
func (w *wire) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return w.make(&in.InHeader, name, newFile{mode: in.Mode, rdev: in.Rdev}, out)
}

// Mkdir makes a folder.
func (w *wire) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return w.make(&in.InHeader, name, newFile{mode: in.Mode&0o7777 | unix.S_IFDIR}, out)
}

// Symlink makes a symbolic link.
func (w *wire) Symlink(_ <-chan struct{}, in *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	return w.make(in, name, newFile{mode: unix.S_IFLNK, target: target}, out)
}

func (w *wire) make(in *fuse.InHeader, name string, file newFile, out *fuse.EntryOut) fuse.Status {
	file.uid, file.gid = int(in.Uid), int(in.Gid)
	return w.named(in.NodeId, out, func(dir *node) (*node, syscall.Errno) { return w.vol.create(dir, name, file) })
}

// Link makes another entry of a file.
func (w *wire) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return w.named(in.NodeId, out, func(dir *node) (*node, syscall.Errno) {
		n := w.vol.nodes[in.Oldnodeid]
		if n == nil {
			return nil, unix.ESTALE
		}
		return n, w.vol.link(n, dir, name)
	})
}

// Unlink removes an entry.
func (w *wire) Unlink(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return w.named(in.NodeId, nil, func(dir *node) (*node, syscall.Errno) { return nil, w.vol.remove(dir, name, false) })
}

// Rmdir removes a folder.
func (w *wire) Rmdir(_ <-chan struct{}, in *fuse.InHeader, name string) fuse.Status {
	return w.named(in.NodeId, nil, func(dir *node) (*node, syscall.Errno) { return nil, w.vol.remove(dir, name, true) })
}

// Rename is renameat2.
func (w *wire) Rename(_ <-chan struct{}, in *fuse.RenameIn, name, name2 string) fuse.Status {
	return w.named(in.NodeId, nil, func(dir *node) (*node, syscall.Errno) {
		dir2 := w.vol.nodes[in.Newdir]
		if dir2 == nil {
			return nil, unix.ESTALE
		}
		return nil, w.vol.rename(dir, name, dir2, name2, in.Flags)
	})
}

// Readlink reads a symbolic link.
func (w *wire) Readlink(_ <-chan struct{}, in *fuse.InHeader) (target []byte, s fuse.Status) {
	s = w.on(in.NodeId, func(_ *node, fd int) syscall.Errno {
		buf := make([]byte, unix.PathMax)
		size, err := unix.Readlinkat(fd, "", buf)
		target = buf[:max(0, size)]
		return errno(err)
	})
	return target, s
}

// StatFs says how much room there is.
func (w *wire) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	return w.call(func() syscall.Errno {
		var st syscall.Statfs_t
		if err := syscall.Statfs(procFD(w.vol.root.fd)+"/", &st); err != nil {
			return errno(err)
		}
		out.FromStatfsT(&st)
		return 0
	})
}

// hold lets a stall hold a call, before it enters the volume.
func (w *wire) hold(call string, id uint64, write bool, in *fuse.InHeader, cancel <-chan struct{}) syscall.Errno {
	if !w.vol.barrier.armed.Load() {
		return 0
	}
	w.vol.ns.Lock()
	file := ""
	if n := w.vol.nodes[id]; n != nil {
		file = n.path()
	}
	w.vol.ns.Unlock()
	return w.vol.barrier.wait(call, file, write, in.Pid, cancel)
}
