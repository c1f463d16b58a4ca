package lossy

import (
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// The calls that change names. Each does it in the backing folder first, and
// then notes how to undo it.

func graveEntry(id uint64) string { return strconv.FormatUint(id, 10) }

// newFile is what somebody wants to make.
type newFile struct {
	mode     uint32 // with its type
	rdev     uint32
	target   string // of a symbolic link
	uid, gid int
}

// create makes an entry of any type; v.ns is held.
func (v *volume) create(dir *node, name string, w newFile) (*node, syscall.Errno) {
	if dir == v.root && name == graveName {
		return nil, unix.EACCES
	}
	at, e := v.fd(dir)
	if e != 0 {
		return nil, e
	}
	var err error
	switch w.mode & unix.S_IFMT {
	case unix.S_IFDIR:
		err = unix.Mkdirat(at, name, w.mode&0o7777)
	case unix.S_IFLNK:
		err = unix.Symlinkat(w.target, at, name)
	default:
		err = unix.Mknodat(at, name, w.mode, int(w.rdev))
	}
	if err != nil {
		return nil, errno(err)
	}
	st, e := own(at, name, w)
	if e != 0 {
		return nil, e
	}
	n := v.adopt(st, entry{dir, name})
	n.durable = 0
	v.note(change{dir: dir, name: name, new: n})
	return n, 0
}

// own gives a new file the owner and the mode that the caller would have got
// without us: this process has a user and a umask of its own. It returns what the
// file is like.
func own(dir int, name string, w newFile) (*unix.Stat_t, syscall.Errno) {
	mode, gid := w.mode&0o7777, w.gid
	if st, e := statFD(dir); e == 0 && st.Mode&unix.S_ISGID != 0 {
		gid = int(st.Gid)
		if w.mode&unix.S_IFMT == unix.S_IFDIR {
			mode |= unix.S_ISGID
		}
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, errno(err)
	}
	owned := int(st.Uid) == w.uid && int(st.Gid) == gid
	if !owned {
		if err := unix.Fchownat(dir, name, w.uid, gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, errno(err)
		}
	}
	link := w.mode&unix.S_IFMT == unix.S_IFLNK
	if !link && (!owned || st.Mode&0o7777 != mode) { // chown clears the set-uid bit
		if err := unix.Fchmodat(dir, name, mode, 0); err != nil {
			return nil, errno(err)
		}
	}
	if owned && (link || st.Mode&0o7777 == mode) {
		return &st, 0
	}
	return &st, errno(unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW))
}

// link makes another entry of a file; v.ns is held.
func (v *volume) link(n, dir *node, name string) syscall.Errno {
	if dir == v.root && name == graveName {
		return unix.EACCES
	}
	at, e := v.fd(dir)
	if e != 0 {
		return e
	}
	fd, e := v.fd(n)
	if e != 0 {
		return e
	}
	err := unix.Linkat(unix.AT_FDCWD, procFD(fd), at, name, unix.AT_SYMLINK_FOLLOW)
	if err == nil {
		v.note(change{dir: dir, name: name, new: n})
	}
	return errno(err)
}

// remove is unlink and rmdir; v.ns is held.
func (v *volume) remove(dir *node, name string, folder bool) syscall.Errno {
	n, e := v.child(dir, name)
	if e != 0 {
		return e
	}
	if e := v.removable(n, folder); e != 0 {
		return e
	}
	if v.annul(dir, name, n) {
		flags := 0
		if folder {
			flags = unix.AT_REMOVEDIR
		}
		at, e := v.fd(dir)
		if e != 0 {
			return e
		}
		return errno(v.unlinked(n, func() error {
			n.unsee(entry{dir, name})
			return unix.Unlinkat(at, name, flags)
		}))
	}
	grave, err := v.bury(dir, name, n)
	if err != nil {
		return errno(err)
	}
	v.note(change{dir: dir, name: name, old: n, grave: grave})
	return 0
}

// removable says why an entry cannot be removed or replaced.
func (v *volume) removable(n *node, folder bool) syscall.Errno {
	if n.dir && !folder {
		return unix.EISDIR
	}
	if !n.dir && folder {
		return unix.ENOTDIR
	}
	if !n.dir {
		return 0
	}
	fd, e := v.fd(n)
	if e != 0 {
		return e
	}
	found, e := entries(fd, 1)
	if e == 0 && len(found) > 0 {
		return unix.ENOTEMPTY
	}
	return e
}

// rename is renameat2; v.ns is held.
func (v *volume) rename(dir *node, name string, dir2 *node, name2 string, flags uint32) syscall.Errno {
	if flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 || dir2 == v.root && name2 == graveName {
		return unix.EINVAL
	}
	n, e := v.child(dir, name)
	if e != 0 {
		return e
	}
	old, e := v.child(dir2, name2)
	if e != 0 && (e != unix.ENOENT || flags&unix.RENAME_EXCHANGE != 0) {
		return e
	}
	if old == n { // two entries of one file, or one entry: POSIX wants nothing done
		return 0
	}
	if flags&unix.RENAME_EXCHANGE != 0 {
		return v.exchange(change{dir: dir, name: name, old: n, new: old}, change{dir: dir2, name: name2, old: old, new: n})
	}
	if old != nil && flags&unix.RENAME_NOREPLACE != 0 {
		return unix.EEXIST
	}
	return v.move(change{dir: dir, name: name, old: n}, change{dir: dir2, name: name2, old: old, new: n})
}

// folders returns the descriptors of the folders of two changes.
func (v *volume) folders(a, b change) (fromA, toB int, e syscall.Errno) {
	if fromA, e = v.fd(a.dir); e == 0 {
		toB, e = v.fd(b.dir)
	}
	return fromA, toB, e
}

func (v *volume) exchange(a, b change) syscall.Errno {
	from, to, e := v.folders(a, b)
	if e != 0 {
		return e
	}
	if err := unix.Renameat2(from, a.name, to, b.name, unix.RENAME_EXCHANGE); err != nil {
		return errno(err)
	}
	v.note(a, b)
	return 0
}

// move renames from a to b, burying what b named. v.ns is held all the while, so
// that nobody sees the moment without b.
func (v *volume) move(a, b change) syscall.Errno {
	if b.old != nil {
		if e := v.removable(b.old, a.old.dir); e != 0 {
			return e
		}
		grave, err := v.bury(b.dir, b.name, b.old)
		if err != nil {
			return errno(err)
		}
		b.grave = grave
	}
	from, to, e := v.folders(a, b)
	if e == 0 {
		e = errno(unix.Renameat(from, a.name, to, b.name))
	}
	if e != 0 {
		if b.old != nil {
			_ = v.unbury(b.grave, b.dir, b.name, b.old)
		}
		return e
	}
	v.note(a, b)
	return 0
}

// bury moves an entry into the grave and returns where it lies.
func (v *volume) bury(dir *node, name string, n *node) (string, error) {
	at, e := v.fd(dir)
	if e != 0 {
		return "", e
	}
	v.lastID++
	grave := graveEntry(v.lastID)
	if err := unix.Renameat(at, name, v.grave, grave); err != nil {
		return "", err
	}
	n.graves = append(n.graves, grave)
	return grave, nil
}

// unbury moves it back.
func (v *volume) unbury(grave string, dir *node, name string, n *node) error {
	at, e := v.fd(dir)
	if e != 0 {
		return e
	}
	n.unburied(grave)
	return unix.Renameat(v.grave, grave, at, name)
}

func (n *node) unburied(grave string) {
	n.graves = slices.DeleteFunc(n.graves, func(s string) bool { return s == grave })
}

// burn removes what lies in the grave.
func (v *volume) burn(n *node, grave string) {
	_ = v.unlinked(n, func() error { // at worst it stays until the next start
		n.unburied(grave)
		if !n.dir {
			return unix.Unlinkat(v.grave, grave, 0)
		}
		return removeAll(v.grave, grave)
	})
}
