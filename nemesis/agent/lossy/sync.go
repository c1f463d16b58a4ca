package lossy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// sync makes a file's data and attributes durable, and its names.
// The backing file is really synced, so that an fsync costs here what the disk
// makes it cost. The lock is not held meanwhile: Redis syncs in one thread and
// writes in another.
func (v *volume) sync(n *node, fd int, dataOnly bool) syscall.Errno {
	n.mu.Lock()
	mark := n.undo.mark()
	n.mu.Unlock()
	flush := unix.Fsync
	if dataOnly {
		flush = unix.Fdatasync
	}
	err := flush(fd)
	n.mu.Lock()
	n.undo.settle(mark, err == nil)
	n.mu.Unlock()
	if err != nil {
		return errno(err)
	}
	v.ns.Lock()
	defer v.ns.Unlock()
	if !v.opts.Strict {
		v.commit(n.names(), true)
	}
	return 0
}

// syncFolder makes the entries of a folder durable.
func (v *volume) syncFolder(dir *node, fd int) syscall.Errno {
	if e := v.sync(dir, fd, false); e != 0 {
		return e
	}
	v.ns.Lock()
	defer v.ns.Unlock()
	v.commit(dir.changes(), !v.opts.Strict)
	return 0
}

// syncAll makes everything durable, as sync(2) does.
func (v *volume) syncAll() error {
	if e := v.enter(); e != 0 {
		return ErrOver
	}
	defer v.leave()
	v.ns.Lock()
	all := slices.Collect(maps.Keys(v.nodes))
	v.ns.Unlock()
	var errs []error
	for _, id := range all {
		if e := v.with(id, v.flush); e != 0 && e != unix.ESTALE { // gone meanwhile
			errs = append(errs, fmt.Errorf("lossy: sync of file %d: %w", id, e))
		}
	}
	v.ns.Lock()
	defer v.ns.Unlock()
	var records []*record
	for at := v.journal.records.Front(); at != nil; at = at.Next() {
		records = append(records, at.Value.(*record))
	}
	v.commit(records, true)
	return errors.Join(errs...)
}

// flush syncs a node that has something unsynced.
func (v *volume) flush(n *node, fd int) syscall.Errno {
	n.mu.Lock()
	dirty := n.undo.dirty()
	n.mu.Unlock()
	if !dirty {
		return 0
	}
	return v.sync(n, fd, false)
}
