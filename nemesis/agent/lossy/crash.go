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
	v.barrier.crash()
	v.world.Lock()
	defer v.world.Unlock()
	v.over = true
	// The kernel still sends RELEASE and FORGET for what a killed process held open. They
	// are no calls that world keeps out, and they take nodes away.
	v.ns.Lock()
	defer v.ns.Unlock()
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
		keep = rng.IntN(v.journal.records.Len() + 1)
	}
	var errs []error
	for v.journal.records.Len() > keep {
		r := v.journal.records.Back().Value.(*record)
		last := r.changes[len(r.changes)-1]
		loss.Entries++
		loss.name((&node{last: last.entry()}).path())
		if err := v.revert(r); err != nil {
			errs = append(errs, fmt.Errorf("undo of %s: %w", last.name, err))
		}
		v.strike(r)
	}
	return errors.Join(errs...)
}

// revert undoes a record in the backing folder, and what is known of places.
func (v *volume) revert(r *record) error {
	c := r.changes[len(r.changes)-1]
	from, to, e := v.folders(r.changes[0], c)
	if e != 0 {
		return e
	}
	var err error
	switch {
	case r.swap:
		err = unix.Renameat2(from, r.changes[0].name, to, c.name, unix.RENAME_EXCHANGE)
	case len(r.changes) == 2:
		err = unix.Renameat(to, c.name, from, r.changes[0].name)
	case c.new != nil && c.new.dir:
		// With what was synced in it: it hangs nowhere now. Only into the grave, as older
		// records may still move things out of it.
		_, err = v.bury(c.dir, c.name, c.new)
	case c.new != nil:
		_, _ = v.fd(c.new) // the loss is counted, and its other names may be those of the dead
		err = unix.Unlinkat(to, c.name, 0)
	}
	for _, c := range r.changes {
		if c.new != nil {
			c.new.unsee(c.entry())
		}
	}
	if c.grave != "" {
		err = errors.Join(err, v.unbury(c.grave, c.dir, c.name, c.old))
	}
	for _, c := range r.changes {
		if c.old != nil {
			c.old.see(c.entry())
		}
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
		fd, e := v.fd(n)
		if e != 0 && len(n.places)+len(n.graves) == 0 {
			fd, e = -1, 0 // it went with its only name
		}
		if e != 0 {
			errs = append(errs, fmt.Errorf("undo of writes to %s: %w", n.path(), e))
			continue
		}
		if err := n.revert(fd, loss, rng); err != nil {
			errs = append(errs, fmt.Errorf("undo of writes to %s: %w", n.path(), err))
		}
	}
	return errors.Join(errs...)
}

// revert undoes the unsynced changes of one file. It is not the node's own
// descriptor that is written to where that is a folder's or a link's: attributes
// need one that is open.
func (n *node) revert(fd int, loss *Loss, rng *rand.Rand) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.undo.tear(loss.Mode, rng)
	before := loss.Writes
	var err error
	for i, e := range slices.Backward(n.undo.edits[t.keep:]) {
		err = errors.Join(err, t.photograph(fd, i+t.keep+1))
		kept := int64(0)
		if i == 0 && t.sectors {
			kept = sectors(e, rng)
		}
		loss.drop(1, e.n-kept)
		if fd >= 0 {
			err = errors.Join(err, e.tear(fd, kept))
		}
	}
	if b := n.undo.base; b != nil && !t.base {
		loss.drop(b.writes, b.bytes)
		if fd >= 0 {
			err = errors.Join(err, b.revert(fd))
		}
	}
	err = errors.Join(err, t.develop(fd))
	if loss.Writes > before {
		loss.Files++
		loss.name(n.path())
	}
	return err
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
	found, e := entries(v.root.fd, 0)
	if e != 0 {
		return errors.Join(err, e)
	}
	for _, d := range found {
		err = errors.Join(err, removeAll(v.root.fd, d.Name))
	}
	return err
}
