package lossy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mapped maps the first page of a file.
func (m *mounted) mapped(f *os.File, prot int) []byte {
	m.Helper()
	b, err := unix.Mmap(int(f.Fd()), 0, 4096, prot, unix.MAP_SHARED)
	m.ok(err)
	m.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}

func TestSharedMappingSeesWrites(t *testing.T) {
	m := mountAt(t, nil)
	f := m.write("db", strings.Repeat("a", 4096)) // as bbolt: read through the mapping, written with pwrite
	b := m.mapped(m.open("db", unix.O_RDONLY), unix.PROT_READ)
	if b[10] != 'a' {
		t.Fatalf("read %q", b[10])
	}
	_, err := f.WriteAt([]byte("b"), 10)
	m.ok(err)
	if b[10] != 'b' {
		t.Errorf("the mapping shows %q after a write", b[10])
	}
	m.ok(unix.Fdatasync(int(f.Fd())))
	m.crash("")
	got, err := os.ReadFile(m.path("db"))
	if err != nil || got[10] != 'b' {
		t.Errorf("%q, %v", got[10], err)
	}
}

func TestWritableMapping(t *testing.T) {
	m := mountAt(t, nil)
	f := m.write("f", strings.Repeat("a", 4096))
	m.ok(f.Sync())
	b := m.mapped(f, unix.PROT_READ|unix.PROT_WRITE)
	b[0] = 'b'
	m.ok(unix.Msync(b, unix.MS_SYNC))
	b[1] = 'c'
	m.crash("")
	m.want("f", "b"+strings.Repeat("a", 4095))
	_ = f
}

func TestLocks(t *testing.T) {
	m := mountAt(t, nil)
	a, b := m.write("lock", ""), m.open("lock", unix.O_RDWR)
	m.ok(unix.Flock(int(a.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	if err := unix.Flock(int(b.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != unix.EWOULDBLOCK {
		t.Errorf("a second flock: %v", err)
	}
	m.ok(unix.Flock(int(a.Fd()), unix.LOCK_UN))
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	m.ok(unix.FcntlFlock(a.Fd(), unix.F_OFD_SETLK, &lk))
	if err := unix.FcntlFlock(b.Fd(), unix.F_OFD_SETLK, &lk); err != unix.EAGAIN {
		t.Errorf("a second fcntl lock: %v", err)
	}
	m.crash("")
	c := m.open("lock", unix.O_RDWR|unix.O_CREAT) // locks die with the machine
	m.ok(unix.Flock(int(c.Fd()), unix.LOCK_EX|unix.LOCK_NB))
}

func TestPosix(t *testing.T) {
	m := mountAt(t, nil)
	f := m.write("f", "text")
	m.ok(os.Link(m.path("f"), m.path("g")))
	m.ok(os.Symlink("f", m.path("s")))
	m.want("s", "text")
	m.ok(os.Remove(m.path("f")))
	m.want("g", "text")
	var st unix.Stat_t
	m.ok(unix.Fstat(int(f.Fd()), &st))
	if st.Nlink != 1 {
		t.Errorf("%d links", st.Nlink)
	}
	m.ok(os.Remove(m.path("g")))
	_, err := f.WriteAt([]byte("T"), 0) // an unlinked open file lives
	m.ok(err)
	b := make([]byte, 4)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "Text" {
		t.Errorf("%q, %v", b, err)
	}
	m.ok(unix.Fallocate(int(f.Fd()), 0, 0, 1<<16))
	m.ok(unix.Fstat(int(f.Fd()), &st))
	if st.Size != 1<<16 || st.Nlink != 0 {
		t.Errorf("size %d, %d links", st.Size, st.Nlink)
	}
	var fs unix.Statfs_t
	m.ok(unix.Statfs(m.opts.Mount, &fs))
	if fs.Bavail == 0 || fs.Bsize == 0 {
		t.Errorf("statfs: %+v", fs)
	}
}

func TestAppend(t *testing.T) {
	m := mountAt(t, nil)
	a, b := m.open("log", unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND), m.open("log", unix.O_WRONLY|unix.O_APPEND)
	for range 3 {
		_, err := a.WriteString("a")
		m.ok(err)
		_, err = b.WriteString("b")
		m.ok(err)
	}
	m.want("log", "ababab")
}

func TestOwner(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(os.Mkdir(m.path("d"), 0o700))
	m.ok(os.Chown(m.path("d"), 1234, 1235))
	m.syncDir(".")
	m.syncDir("d")
	m.asUser(1234, "touch %[1]s/d/f && chmod 600 %[1]s/d/f", true)
	m.asUser(1236, "cat %[1]s/d/f", false) // default_permissions: the kernel checks
	f := m.open("d/f", unix.O_RDWR)
	m.ok(f.Sync())
	m.ok(os.Chmod(m.path("d/f"), 0o666))
	m.crash("")
	var st unix.Stat_t
	m.ok(unix.Stat(m.path("d/f"), &st))
	if st.Uid != 1234 || st.Mode&0o777 != 0o600 {
		t.Errorf("uid %d, mode %o", st.Uid, st.Mode)
	}
}

// asUser runs a shell as another user.
func (m *mounted) asUser(uid uint32, script string, ok bool) {
	m.Helper()
	m.ok(os.Chmod(filepath.Dir(m.opts.Mount), 0o755))
	cmd := shell(m.T, fmt.Sprintf(script, m.opts.Mount))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if out, err := cmd.CombinedOutput(); (err == nil) != ok {
		m.Errorf("uid %d: %v: %s", uid, err, out)
	}
}

func TestReaddirDuringChanges(t *testing.T) {
	m := mountAt(t, nil)
	for i := range 2000 {
		m.ok(os.WriteFile(m.path(fmt.Sprintf("file-with-a-long-name-%04d", i)), nil, 0o600))
	}
	d, err := os.Open(m.opts.Mount)
	m.ok(err)
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(500)
	m.ok(err)
	for i := 1000; i < 2000; i++ {
		m.ok(os.Remove(m.path(fmt.Sprintf("file-with-a-long-name-%04d", i))))
	}
	more, err := d.Readdirnames(-1)
	m.ok(err)
	names = append(names, more...)
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != len(names) || n < 1000 {
		t.Errorf("%d names, %d of them different", len(names), n)
	}
	left, err := os.ReadDir(m.opts.Mount)
	if err != nil || len(left) != 1000 {
		t.Errorf("%d left, %v", len(left), err)
	}
}

func TestHiddenGrave(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(m.write("f", "x").Sync())
	m.ok(os.Remove(m.path("f"))) // now in the grave
	left, err := os.ReadDir(m.opts.Mount)
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := os.Stat(m.path(graveName)); !os.IsNotExist(err) {
		t.Errorf("the grave can be reached: %v", err)
	}
	m.crash("")
	m.want("f", "x")
}

func TestMountOverBacking(t *testing.T) {
	dir := t.TempDir()
	m := mountAt(t, func(o *Options) { o.Backing, o.Mount = dir, dir })
	m.ok(m.write("f", "durable").Sync())
	m.write("g", "not")
	m.crash("")
	m.want("f", "durable")
	m.want("g", "-")
}
