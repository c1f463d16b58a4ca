package lossy

import (
	"slices"

	"golang.org/x/sys/unix"
)

// undo is what it takes to bring a file back to its last fsync. It is guarded by
// its node's mutex.
type undo struct {
	size    int64  // of the file now
	edits   []edit // since the last fsync, oldest first, after base
	old     int64  // bytes of memory that edits hold
	base    *base  // many old edits in one; nil: none
	next    uint64 // number of the next edit
	syncing int    // fsyncs under way
	spill   *spill // of long old content; nil: none yet
}

// edit is one unsynced change of a file, with what it replaced.
type edit struct {
	seq   uint64
	off   int64
	n     int64   // bytes written; 0: a truncation, a hole, a change of mode
	size  int64   // of the file before
	old   content // at off, as far as it lay within size
	attrs *attrs  // mode and owner before; nil: not touched
}

// attrs are the attributes that an fsync makes durable with the data.
type attrs struct {
	mode     uint32
	uid, gid int
}

// base is a run of edits that can only be undone together: what the file was
// before the first of them.
type base struct {
	last   uint64 // number of its last edit
	size   int64
	pieces []piece // by offset, none overlapping, all below size
	attrs  *attrs
	writes int
	bytes  int64
}

// piece is a part of the file's durable content.
type piece struct {
	off int64
	old content
}

func (p piece) end() int64 { return p.off + p.old.len() }

// The most that one file keeps edit by edit. A server that never syncs (Redis
// with appendfsync no) would otherwise fill the memory with edits of the same
// pages; past this they are folded into a base, which holds each durable byte
// once. A torn crash then cuts within what is left, or loses all.
const (
	editsMax = 8192
	oldMax   = 8 << 20
)

func (u *undo) reset() {
	u.spill.close()
	*u = undo{size: u.size, next: u.next, syncing: u.syncing}
}

func (u *undo) dirty() bool { return u.base != nil || len(u.edits) > 0 }

// add notes a change that is about to be made, and the size after it.
func (u *undo) add(e edit, size int64) {
	e.seq, e.size = u.next, u.size
	u.next++
	u.edits = append(u.edits, e)
	u.old += e.old.held()
	u.size = size
	// Not during an fsync: it will forget the edits up to some number, and a base
	// that reaches beyond it could not be forgotten.
	if (len(u.edits) > editsMax || u.old > oldMax) && u.syncing == 0 {
		u.fold((len(u.edits) + 1) / 2)
	}
}

// mark begins an fsync; settle ends it, and makes durable what was noted before
// mark. A write that comes between the two may or may not reach the disk, so it
// stays unsynced.
func (u *undo) mark() uint64 {
	u.syncing++
	return u.next
}

func (u *undo) settle(mark uint64, synced bool) {
	u.syncing--
	if !synced {
		return
	}
	if u.base != nil && u.base.last < mark {
		u.base = nil
	}
	i := 0
	for i < len(u.edits) && u.edits[i].seq < mark {
		u.old -= u.edits[i].old.held()
		i++
	}
	if i == len(u.edits) {
		u.edits = nil
		if u.base == nil {
			u.spill.close()
			u.spill = nil
		}
	} else {
		u.edits = slices.Clone(u.edits[i:]) // a slice would keep the old bytes in memory
	}
}

// fold moves the first n edits into the base.
func (u *undo) fold(n int) {
	b := u.base
	if b == nil {
		b = &base{size: u.edits[0].size}
	}
	for _, e := range u.edits[:n] {
		if b.attrs == nil {
			b.attrs = e.attrs
		}
		b.last = e.seq
		b.writes++
		b.bytes += e.n
		b.cover(e.off, e.old)
		u.old -= e.old.held()
	}
	u.base, u.edits = b, slices.Clone(u.edits[n:])
}

// cover adds durable content where the base does not know it yet. What the base
// knows is older, so it is the durable one.
func (b *base) cover(off int64, old content) {
	end := min(off+old.len(), b.size)
	i, _ := slices.BinarySearchFunc(b.pieces, off, func(p piece, off int64) int {
		if p.end() <= off {
			return -1
		}
		return 1
	})
	for at := off; at < end; {
		stop := end
		if i < len(b.pieces) {
			stop = min(end, b.pieces[i].off)
		}
		if at < stop {
			b.pieces = slices.Insert(b.pieces, i, piece{at, old.cut(at-off, stop-off).own()})
		}
		at = max(at, b.pieces[i].end())
		i++
	}
}

// revert undoes a whole edit, and a base, on an open file.
func (e edit) revert(fd int) error {
	if e.attrs != nil {
		return e.attrs.restore(fd)
	}
	return restore(fd, e.size, piece{e.off, e.old})
}

func (b *base) revert(fd int) error {
	if b.attrs != nil {
		if err := b.attrs.restore(fd); err != nil {
			return err
		}
	}
	return restore(fd, b.size, b.pieces...)
}

// tear undoes an edit but for its first keep bytes.
func (e edit) tear(fd int, keep int64) error {
	if keep == 0 {
		return e.revert(fd) // also where the write began past the end
	}
	p := piece{off: e.off + keep}
	if keep < e.old.len() {
		p.old = e.old.cut(keep, e.old.len())
	}
	return restore(fd, max(e.size, p.off), p)
}

func (a *attrs) restore(fd int) error {
	if err := unix.Fchownat(fd, "", a.uid, a.gid, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	err := unix.Chmod(procFD(fd), a.mode) // after chown, which clears the set-uid bit
	if err == unix.EOPNOTSUPP {
		return nil // a link has no mode
	}
	return err
}
