package lossy

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// content is a run of durable bytes that something has replaced: in memory, or in a
// spill where there are many (a truncated file of gigabytes).
type content struct {
	bytes []byte
	file  *spill // instead of bytes
	at, n int64  // in file
}

func (c content) len() int64 {
	if c.file != nil {
		return c.n
	}
	return int64(len(c.bytes))
}

// held is how much memory it takes.
func (c content) held() int64 { return int64(len(c.bytes)) }

// cut returns the part from a to b; it shares what c has.
func (c content) cut(a, b int64) content {
	if c.file != nil {
		return content{file: c.file, at: c.at + a, n: b - a}
	}
	if c.bytes == nil {
		return content{}
	}
	return content{bytes: c.bytes[a:b]}
}

// own is a content that keeps no memory but its own.
func (c content) own() content {
	c.bytes = slices.Clone(c.bytes)
	return c
}

// put writes it to a file at off.
func (c content) put(fd int, off int64) error {
	if c.file == nil {
		return pwriteAll(fd, c.bytes, off)
	}
	if c.n == 0 {
		return nil
	}
	// What the spill has as holes is zero.
	if err := unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, c.n); err != nil {
		return err
	}
	return copyData(c.file.fd, c.at, fd, off, c.n)
}

// spill is a file without a name beside the backing files. It grows until its node
// has nothing unsynced.
type spill struct {
	fd   int
	size int64
}

// spillFrom is the length from which durable bytes go to a spill. A variable for tests.
var spillFrom int64 = 1 << 20

// take copies n bytes at off of a file.
func (s *spill) take(fd int, off, n int64) (content, error) {
	c := content{file: s, at: s.size, n: n}
	if err := unix.Ftruncate(s.fd, s.size+n); err != nil {
		return content{}, err
	}
	if err := copyData(fd, off, s.fd, c.at, n); err != nil {
		return content{}, err
	}
	s.size += n
	return c, nil
}

// newSpill makes one in the folder of the grave. A node's own lock is held, which comes
// after v.ns: a file may lose its last name meanwhile, whose removal waits for the node.
func (v *volume) newSpill() (*spill, error) {
	name := fmt.Sprint("spill-", v.spills.Add(1))
	fd, err := unix.Openat(v.grave, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return &spill{fd: fd}, unix.Unlinkat(v.grave, name, 0)
}

func (s *spill) close() {
	if s != nil {
		_ = unix.Close(s.fd)
	}
}

// copyData copies what is not a hole; the holes must be zero at the target already.
func copyData(from int, off int64, to int, at, n int64) error {
	for end := off + n; off < end; {
		data, err := unix.Seek(from, off, unix.SEEK_DATA)
		if err == unix.ENXIO || data >= end {
			return nil
		}
		if err != nil {
			return err
		}
		hole, err := unix.Seek(from, data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		at, off = at+data-off, data
		for stop := min(hole, end); off < stop; {
			n, err := unix.CopyFileRange(from, &off, to, &at, int(stop-off), 0)
			if err != nil {
				return err
			}
			if n == 0 {
				return nil
			}
		}
	}
	return nil
}

// restore gives a file its size and old content back.
func restore(fd int, size int64, pieces ...piece) error {
	if err := unix.Ftruncate(fd, size); err != nil {
		return err
	}
	for _, p := range pieces {
		if err := p.old.put(fd, p.off); err != nil {
			return err
		}
	}
	return nil
}

func pwriteAll(fd int, b []byte, off int64) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(fd, b, off)
		if err != nil {
			return err
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}
