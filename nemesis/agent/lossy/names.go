package lossy

import (
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
	var err error
	switch w.mode & unix.S_IFMT {
	case unix.S_IFDIR:
		err = unix.Mkdirat(dir.fd, name, w.mode&0o7777)
	case unix.S_IFLNK:
		err = unix.Symlinkat(w.target, dir.fd, name)
	default:
		err = unix.Mknodat(dir.fd, name, w.mode, int(w.rdev))
	}
	if err != nil {
		return nil, errno(err)
	}
	n, e := v.child(dir, name)
	if e == 0 {
		e = own(dir, n, w)
	}
	if e != 0 {
		return nil, e
	}
	n.durable = 0
	v.note(change{dir: dir, name: name, new: n})
	return n, 0
}

// own gives a new file the owner and the mode that the caller would have got
// without us: this process has a user and a umask of its own.
func own(dir, n *node, w newFile) syscall.Errno {
	mode, gid := w.mode&0o7777, w.gid
	if st, e := statFD(dir.fd); e == 0 && st.Mode&unix.S_ISGID != 0 {
		gid = int(st.Gid)
		if n.dir {
			mode |= unix.S_ISGID
		}
	}
	if err := unix.Fchownat(n.fd, "", w.uid, gid, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return errno(err)
	}
	if w.mode&unix.S_IFMT == unix.S_IFLNK {
		return 0
	}
	return errno(unix.Chmod(procFD(n.fd), mode))
}

// link makes another entry of a file; v.ns is held.
func (v *volume) link(n, dir *node, name string) syscall.Errno {
	if dir == v.root && name == graveName {
		return unix.EACCES
	}
	err := unix.Linkat(unix.AT_FDCWD, procFD(n.fd), dir.fd, name, unix.AT_SYMLINK_FOLLOW)
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
	if e := removable(n, folder); e != 0 {
		return e
	}
	if v.annul(dir, name, n) {
		flags := 0
		if folder {
			flags = unix.AT_REMOVEDIR
		}
		e := errno(unix.Unlinkat(dir.fd, name, flags))
		v.vanish(n)
		return e
	}
	grave, err := v.bury(dir, name, n)
	if err != nil {
		return errno(err)
	}
	v.note(change{dir: dir, name: name, old: n, grave: grave})
	return 0
}

// removable says why an entry cannot be removed or replaced.
func removable(n *node, folder bool) syscall.Errno {
	if n.dir && !folder {
		return unix.EISDIR
	}
	if !n.dir && folder {
		return unix.ENOTDIR
	}
	if !n.dir {
		return 0
	}
	list, e := list(n.fd)
	if e == 0 && len(list) > 0 {
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
		n.parent, n.name = dir, name
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

func (v *volume) exchange(a, b change) syscall.Errno {
	if err := unix.Renameat2(a.dir.fd, a.name, b.dir.fd, b.name, unix.RENAME_EXCHANGE); err != nil {
		return errno(err)
	}
	v.note(a, b)
	return 0
}

// move renames from a to b, burying what b named. v.ns is held all the while, so
// that nobody sees the moment without b.
func (v *volume) move(a, b change) syscall.Errno {
	if b.old != nil {
		if e := removable(b.old, a.old.dir); e != 0 {
			return e
		}
		grave, err := v.bury(b.dir, b.name, b.old)
		if err != nil {
			return errno(err)
		}
		b.grave = grave
	}
	if err := unix.Renameat(a.dir.fd, a.name, b.dir.fd, b.name); err != nil {
		if b.old != nil {
			_ = v.unbury(b.grave, b.dir, b.name, b.old)
		}
		return errno(err)
	}
	v.note(a, b)
	return 0
}

// note adds a record to the journal.
func (v *volume) note(changes ...change) {
	v.lastID++
	r := &record{changes: changes, seq: v.lastID}
	r.swap = len(changes) == 2 && changes[0].new != nil
	for _, c := range changes {
		if c.new != nil {
			c.new.parent, c.new.name = c.dir, c.name
		}
	}
	v.journal = append(v.journal, r)
}
