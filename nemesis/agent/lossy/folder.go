package lossy

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// listing is an open folder: what was in it when reading began. Entries that come
// or go meanwhile may be seen or not, as POSIX has it; none is seen twice.
type listing struct {
	mu      sync.Mutex
	entries []fuse.DirEntry
}

// entries reads a folder of the backing file system: at most limit entries, or all if
// that is not positive.
func entries(fd, limit int) ([]fuse.DirEntry, syscall.Errno) {
	opened, err := reopen(fd, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, errno(err)
	}
	f := os.NewFile(uintptr(opened), "folder")
	defer func() { _ = f.Close() }()
	found, err := f.ReadDir(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unix.EIO
	}
	all := make([]fuse.DirEntry, 0, len(found))
	for _, d := range found {
		all = append(all, fuse.DirEntry{Name: d.Name(), Mode: kind(d.Type())})
	}
	return all, 0
}

func kind(m os.FileMode) uint32 {
	switch m.Type() {
	case os.ModeDir:
		return unix.S_IFDIR
	case os.ModeSymlink:
		return unix.S_IFLNK
	case os.ModeNamedPipe:
		return unix.S_IFIFO
	case os.ModeSocket:
		return unix.S_IFSOCK
	}
	return unix.S_IFREG
}

// OpenDir opens a folder.
func (w *wire) OpenDir(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders == nil {
		w.folders = map[uint64]*listing{}
	}
	w.lastFh++
	w.folders[w.lastFh] = &listing{}
	out.Fh = w.lastFh
	return fuse.OK
}

// ReleaseDir ends an open folder.
func (w *wire) ReleaseDir(in *fuse.ReleaseIn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.folders, in.Fh)
}

// ReadDir lists a folder.
func (w *wire) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	w.mu.RLock()
	l := w.folders[in.Fh]
	w.mu.RUnlock()
	return w.call(func() syscall.Errno {
		w.vol.ns.Lock()
		n := w.vol.nodes[in.NodeId]
		w.vol.ns.Unlock()
		if n == nil || l == nil {
			return unix.EBADF
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if in.Offset == 0 { // the start, or a rewind, which shows what is new
			if e := l.read(w.vol, n); e != 0 {
				return e
			}
		}
		for i := in.Offset; i < uint64(len(l.entries)); i++ {
			if !out.AddDirEntry(l.entries[i]) {
				break
			}
		}
		return 0
	})
}

func (l *listing) read(v *volume, n *node) syscall.Errno {
	v.ns.Lock()
	defer v.ns.Unlock()
	l.entries = []fuse.DirEntry{{Name: ".", Mode: unix.S_IFDIR}, {Name: "..", Mode: unix.S_IFDIR}}
	fd, e := v.fd(n)
	if e != 0 {
		return e
	}
	found, e := entries(fd, 0)
	for _, d := range found {
		if n != v.root || d.Name != graveName {
			l.entries = append(l.entries, d)
		}
	}
	return e
}
