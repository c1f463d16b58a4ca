package lossy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// sync makes a file's data and attributes durable, and the entry of a new file.
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
	if n.durable == 0 && !v.opts.Strict {
		v.commit(func(r *record) bool { return r.names(n) }, true)
	}
	return 0
}

// syncFolder makes the entries of a folder durable.
func (v *volume) syncFolder(dir *node) syscall.Errno {
	fd, err := reopen(dir.fd, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return errno(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if e := v.sync(dir, fd, false); e != 0 {
		return e
	}
	v.ns.Lock()
	defer v.ns.Unlock()
	v.commit(func(r *record) bool { return r.touches(dir) }, !v.opts.Strict)
	return 0
}

// syncAll makes everything durable, as sync(2) does.
func (v *volume) syncAll() error {
	if e := v.enter(); e != 0 {
		return ErrOver
	}
	defer v.leave()
	v.ns.Lock()
	all := slices.Collect(maps.Values(v.nodes))
	v.ns.Unlock()
	var errs []error
	for _, n := range all {
		if err := v.flush(n); err != nil {
			errs = append(errs, fmt.Errorf("lossy: sync of %s: %w", n.name, err))
		}
	}
	v.ns.Lock()
	defer v.ns.Unlock()
	v.commit(func(*record) bool { return true }, true)
	return errors.Join(errs...)
}

// flush syncs a node that has something unsynced.
func (v *volume) flush(n *node) error {
	n.mu.Lock()
	dirty := n.undo.dirty()
	fd, err := -1, error(nil)
	if dirty {
		fd, err = reopen(n.fd, unix.O_RDONLY)
	}
	n.mu.Unlock()
	if !dirty || err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if e := v.sync(n, fd, false); e != 0 {
		return e
	}
	return nil
}
