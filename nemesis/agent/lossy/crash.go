package lossy

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// namesMax is how many names a Loss holds.
const namesMax = 20

// crash brings the backing folder to the state after a power cut, and ends the
// volume. It waits for the calls that are under way: each is wholly before the
// crash or fails.
func (v *volume) crash(mode Mode) (Loss, error) {
	v.gate.crash()
	v.world.Lock()
	defer v.world.Unlock()
	v.over = true
	loss := Loss{Mode: mode}
	var err error
	if mode == LoseAll {
		err = v.loseAll(&loss)
	} else {
		// Not of the time: the same calls and the same seed give the same loss.
		rng := rand.New(rand.NewPCG(v.opts.Seed, 0))
		err = errors.Join(v.revertNames(&loss, rng), v.revertFiles(&loss, rng))
	}
	err = errors.Join(err, removeAll(v.root.fd, graveName))
	v.closeFDs()
	if err != nil {
		err = fmt.Errorf("lossy: crash of %s: %w", v.opts.Backing, err)
	}
	return loss, err
}

// revertNames undoes the journal, newest first; a torn crash leaves its beginning.
func (v *volume) revertNames(loss *Loss, rng *rand.Rand) error {
	keep := 0
	if loss.Mode == Torn {
		keep = rng.IntN(len(v.journal) + 1)
	}
	var errs []error
	for _, r := range slices.Backward(v.journal[keep:]) {
		last := r.changes[len(r.changes)-1]
		loss.Entries++
		loss.name((&node{parent: last.dir, name: last.name}).path())
		if err := v.revert(r); err != nil {
			errs = append(errs, fmt.Errorf("undo of %s: %w", last.name, err))
		}
	}
	v.journal = v.journal[:keep]
	return errors.Join(errs...)
}

func (v *volume) revert(r *record) error {
	c := r.changes[len(r.changes)-1]
	var err error
	switch {
	case r.swap:
		a := r.changes[0]
		return unix.Renameat2(a.dir.fd, a.name, c.dir.fd, c.name, unix.RENAME_EXCHANGE)
	case len(r.changes) == 2:
		a := r.changes[0]
		err = unix.Renameat(c.dir.fd, c.name, a.dir.fd, a.name)
	case c.new != nil && c.new.dir:
		// With what was synced in it: it hangs nowhere now. Only into the grave, as older
		// records may still move things out of it.
		_, err = v.bury(c.dir, c.name, c.new)
	case c.new != nil:
		err = unix.Unlinkat(c.dir.fd, c.name, 0)
	}
	if c.grave != "" {
		err = errors.Join(err, v.unbury(c.grave, c.dir, c.name, c.old))
	}
	return err
}

// revertFiles undoes unsynced changes of files.
func (v *volume) revertFiles(loss *Loss, rng *rand.Rand) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(v.nodes)) {
		n := v.nodes[id]
		if !n.undo.dirty() {
			continue
		}
		if err := n.revert(loss, rng); err != nil {
			errs = append(errs, fmt.Errorf("undo of writes to %s: %w", n.path(), err))
		}
	}
	return errors.Join(errs...)
}

func (n *node) revert(loss *Loss, rng *rand.Rand) error {
	flags := unix.O_RDWR
	if !n.plain {
		flags = unix.O_RDONLY // a folder's mode and owner
	}
	fd, err := reopen(n.fd, flags)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	keep, whole := 0, false // of the edits, and whether the base survives, and part of an edit can
	if loss.Mode == Torn {
		keep, whole = n.undo.cut(rng)
	}
	before := loss.Writes
	for i, e := range slices.Backward(n.undo.edits[keep:]) {
		if i == 0 && whole && e.n > 0 {
			kept := sectors(e, rng)
			loss.drop(1, e.n-kept)
			err = errors.Join(err, e.tear(fd, kept))
			continue
		}
		loss.drop(1, e.n)
		err = errors.Join(err, e.revert(fd))
	}
	if b := n.undo.base; b != nil && !whole {
		loss.drop(b.writes, b.bytes)
		err = errors.Join(err, b.revert(fd))
	}
	if loss.Writes > before {
		loss.Files++
		loss.name(n.path())
	}
	return err
}

// cut draws how much of a file survives: the first edits, and whether the base
// does (true if there is none), without which no edit can.
func (u *undo) cut(rng *rand.Rand) (edits int, base bool) {
	if u.base != nil && rng.IntN(2) == 0 {
		return 0, false
	}
	return rng.IntN(len(u.edits) + 1), true
}

// sectors draws how many bytes of the first write that is lost survive after all:
// up to a multiple of 512 in the file, which is where a disk can stop.
func sectors(e edit, rng *rand.Rand) int64 {
	const sector = 512
	first := e.off/sector + 1
	count := max(0, (e.off+e.n-1)/sector-first+1)
	k := rng.Int64N(count + 1)
	if k == 0 {
		return 0
	}
	return (first+k-1)*sector - e.off
}

func (l *Loss) drop(writes int, bytes int64) {
	l.Writes += writes
	l.Bytes += bytes
}

func (l *Loss) name(s string) {
	if len(l.Names) < namesMax && !slices.Contains(l.Names, s) {
		l.Names = append(l.Names, s)
	}
}

// loseAll empties the backing folder, and says what was in it as servers saw it.
func (v *volume) loseAll(loss *Loss) error {
	if err := removeAll(v.root.fd, graveName); err != nil {
		return err
	}
	top := procFD(v.root.fd) + "/"
	err := filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == top {
			return err
		}
		loss.Entries++
		loss.name(p[len(top):])
		if i, err := d.Info(); err == nil && i.Mode().IsRegular() {
			loss.Files++
			loss.Bytes += i.Size()
		}
		return nil
	})
	entries, e := list(v.root.fd)
	if e != 0 {
		return errors.Join(err, e)
	}
	for _, d := range entries {
		err = errors.Join(err, removeAll(v.root.fd, d.Name))
	}
	return err
}
