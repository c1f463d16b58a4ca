package lossy

import (
	"bytes"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// file draws an open file; it may have no name any more.
func (r *runner) file() (*mfile, *node, int) {
	var ids []int
	for id := range r.handles {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		r.t.Skip("no file")
	}
	slices.Sort(ids)
	id := rapid.SampledFrom(ids).Draw(r.t, "file")
	return r.model.files[id], r.handles[id], id
}

func (r *runner) write(*rapid.T) {
	f, h, _ := r.file()
	off := rapid.IntRange(0, 3000).Draw(r.t, "off")
	b := bytes.Repeat([]byte{byte(rapid.IntRange(1, 255).Draw(r.t, "byte"))}, rapid.IntRange(1, 2000).Draw(r.t, "length"))
	half := len(b) / 2
	done := 0
	e := r.vol.with(h.id, func(n *node, fd int) (e syscall.Errno) {
		done, e = r.vol.write(n, fd, [][]byte{b[:half], b[half:]}, int64(off))
		return e
	})
	r.agree("write", e, done == len(b))
	f.write(off, b)
}

func (r *runner) truncate(*rapid.T) {
	f, h, _ := r.file()
	size := rapid.IntRange(0, 5000).Draw(r.t, "size")
	r.agree("truncate", r.vol.with(h.id, func(n *node, fd int) syscall.Errno { return r.vol.truncate(n, fd, int64(size)) }), true)
	f.change(mstate{data: resized(f.now().data, size), mode: f.now().mode})
}

func (r *runner) punch(*rapid.T) {
	f, h, _ := r.file()
	off, n := rapid.IntRange(0, 3000).Draw(r.t, "off"), rapid.IntRange(1, 3000).Draw(r.t, "length")
	grow := rapid.Bool().Draw(r.t, "grow")
	mode := uint32(unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE)
	data := resized(f.now().data, len(f.now().data))
	if grow {
		mode, data = 0, resized(data, max(len(data), off+n))
	} else if off < len(data) {
		clear(data[off:min(len(data), off+n)])
	}
	r.agree("fallocate", r.vol.with(h.id, func(h *node, fd int) syscall.Errno { return r.vol.allocate(h, fd, mode, int64(off), int64(n)) }), true)
	f.change(mstate{data: data, mode: f.now().mode})
}

func (r *runner) chmod(*rapid.T) {
	f, h, _ := r.file()
	mode := rapid.SampledFrom([]uint32{0o600, 0o644, 0o666}).Draw(r.t, "mode")
	r.agree("chmod", r.vol.with(h.id, func(n *node, fd int) syscall.Errno { return n.chmod(fd, int64(mode), -1, -1) }), true)
	f.change(mstate{data: f.now().data, mode: mode})
}

func (r *runner) sync(*rapid.T) {
	_, h, id := r.file()
	r.agree("fsync", r.vol.with(h.id, func(n *node, fd int) syscall.Errno { return r.vol.sync(n, fd, rapid.Bool().Draw(r.t, "data only")) }), true)
	r.model.syncFile(id)
}

func (r *runner) syncdir(*rapid.T) {
	dir, d, _ := r.place()
	r.agree("fsync of folder", r.vol.with(d.id, r.vol.syncFolder), true)
	r.model.syncFolder(dir)
}

// fold does early what the volume does to files with many edits.
func (r *runner) fold(*rapid.T) {
	_, h, _ := r.file()
	if n := len(h.undo.edits); n > 0 {
		h.undo.fold(rapid.IntRange(1, n).Draw(r.t, "fold"))
	}
}

func (r *runner) close(*rapid.T) {
	_, h, id := r.file()
	r.vol.forget(h.id, 1)
	delete(r.handles, id)
}
