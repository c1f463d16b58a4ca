package lossy

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the process that serves.
func TestMain(m *testing.M) {
	if args := os.Getenv("LOSSY_MAIN"); args != "" {
		if err := Main(os.Stdin, os.Stdout, strings.Fields(args)...); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// mounted is a real mount under test.
type mounted struct {
	*testing.T
	opts Options
	fs   *FS
}

func mountAt(t *testing.T, change func(*Options)) *mounted {
	t.Helper()
	m := &mounted{T: t, opts: Options{Backing: t.TempDir(), Mount: t.TempDir(), AllowOther: true}}
	if change != nil {
		change(&m.opts)
	}
	m.serve()
	t.Cleanup(func() {
		if err := m.fs.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func (m *mounted) serve() {
	m.Helper()
	fs, err := Serve(context.Background(), m.opts)
	if err != nil {
		m.Fatalf("%v\n(these tests mount for real: they need root, or CAP_SYS_ADMIN and /dev/fuse)", err)
	}
	m.fs = fs
}

// crash crashes and mounts again.
func (m *mounted) crash(mode Mode) Loss {
	m.Helper()
	loss, err := m.fs.Crash(mode)
	m.ok(err)
	m.serve()
	return loss
}

func (m *mounted) ok(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *mounted) path(name string) string { return filepath.Join(m.opts.Mount, name) }

func (m *mounted) open(name string, flags int) *os.File {
	m.Helper()
	fd, err := unix.Open(m.path(name), flags|unix.O_CLOEXEC, 0o640)
	m.ok(err)
	f := os.NewFile(uintptr(fd), m.path(name))
	m.Cleanup(func() { _ = f.Close() })
	return f
}

// write writes a whole new file and leaves it open.
func (m *mounted) write(name, text string) *os.File {
	m.Helper()
	f := m.open(name, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC)
	_, err := f.WriteString(text)
	m.ok(err)
	return f
}

func (m *mounted) syncDir(name string) {
	m.Helper()
	m.ok(m.open(name, unix.O_RDONLY|unix.O_DIRECTORY).Sync())
}

// want checks a file's content; "-" means that it is not there.
func (m *mounted) want(name, text string) {
	m.Helper()
	got, err := os.ReadFile(m.path(name))
	if text == "-" {
		if !os.IsNotExist(err) {
			m.Errorf("%s is there: %q, %v", name, got, err)
		}
		return
	}
	if err != nil || string(got) != text {
		m.Errorf("%s: %.60q, %v; want %.60q", name, got, err, text)
	}
}

func TestWriteSyncCrash(t *testing.T) {
	m := mountAt(t, nil)
	f := m.write("log", "durable ")
	m.ok(f.Sync())
	_, err := f.WriteString("not durable")
	m.ok(err)
	m.write("new", "never synced")
	m.want("log", "durable not durable")
	loss := m.crash("")
	m.want("log", "durable ")
	m.want("new", "-")
	if loss.Files != 2 || loss.Bytes != 23 || loss.Entries != 1 {
		t.Errorf("loss: %+v", loss)
	}
}

func TestRenameDance(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(m.write("state", "old").Sync())
	m.ok(m.write("state.tmp", "new").Sync())
	m.ok(os.Rename(m.path("state.tmp"), m.path("state")))
	m.want("state", "new")
	m.crash("") // the folder was not synced
	m.want("state", "old")
	m.want("state.tmp", "new")
	m.ok(os.Rename(m.path("state.tmp"), m.path("state")))
	m.syncDir(".")
	m.crash("")
	m.want("state", "new")
	m.want("state.tmp", "-")
}

func TestSyncOfFolderAloneMakesAnEmptyFile(t *testing.T) {
	m := mountAt(t, nil)
	m.write("f", "text")
	m.syncDir(".")
	m.crash("")
	m.want("f", "")
}

func TestStrictWantsTheFolderSynced(t *testing.T) {
	m := mountAt(t, func(o *Options) { o.Strict = true })
	m.ok(m.write("f", "text").Sync())
	m.write("g", "text")
	m.crash("")
	m.want("f", "-")
	f := m.write("f", "text")
	m.ok(f.Sync())
	m.syncDir(".")
	m.crash("")
	m.want("f", "text")
}

func TestSyncWrites(t *testing.T) {
	for name, flag := range map[string]int{"O_SYNC": unix.O_SYNC, "O_DSYNC": unix.O_DSYNC, "O_DSYNC with O_DIRECT": unix.O_DSYNC | unix.O_DIRECT} {
		t.Run(name, func(t *testing.T) {
			m := mountAt(t, nil)
			f := m.open("f", unix.O_RDWR|unix.O_CREAT|flag)
			page := aligned(t, 4096, 'x')
			_, err := f.WriteAt(page, 0)
			m.ok(err)
			m.crash("")
			m.want("f", string(page))
		})
	}
}

// aligned returns a buffer as O_DIRECT wants it.
func aligned(t *testing.T, size int, fill byte) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	copy(b, bytes.Repeat([]byte{fill}, size))
	return b
}

func TestDirect(t *testing.T) {
	m := mountAt(t, nil)
	f := m.open("f", unix.O_RDWR|unix.O_CREAT|unix.O_DIRECT)
	_, err := f.WriteAt(aligned(t, 8192, 'a'), 0)
	m.ok(err)
	m.ok(f.Sync())
	_, err = f.WriteAt(aligned(t, 4096, 'b'), 4096)
	m.ok(err)
	b := aligned(t, 8192, 0)
	_, err = f.ReadAt(b, 0)
	m.ok(err)
	if b[0] != 'a' || b[4096] != 'b' {
		t.Errorf("read %q %q", b[0], b[4096])
	}
	m.want("f", strings.Repeat("a", 4096)+strings.Repeat("b", 4096)) // the page cache agrees
	m.crash("")
	m.want("f", strings.Repeat("a", 8192)) // O_DIRECT alone is no promise
}

func TestCloseLosesNothing(t *testing.T) {
	m := mountAt(t, nil)
	m.write("kept", "never synced")
	held := m.write("held", strings.Repeat("-", 4096)) // still open, with a dirty mapping
	b, err := unix.Mmap(int(held.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	m.ok(err)
	copy(b, "by mapping")
	start := time.Now()
	m.ok(m.fs.Close())
	if d := time.Since(start); d > 2*patience {
		t.Errorf("took %v", d)
	}
	_ = unix.Munmap(b)
	_ = held.Close()
	m.serve()
	m.want("kept", "never synced")
	got, err := os.ReadFile(m.path("held"))
	if err != nil || !strings.HasPrefix(string(got), "by mapping") {
		t.Errorf("%.20q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(m.opts.Backing, graveName)); err != nil {
		t.Error(err)
	}
	m.ok(m.fs.Close())
	if _, err := os.Stat(filepath.Join(m.opts.Backing, graveName)); !os.IsNotExist(err) {
		t.Error("the grave is still there after a clean close")
	}
}

func TestSyncAll(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(os.Mkdir(m.path("d"), 0o700))
	m.write("d/f", "text")
	m.ok(m.fs.Sync())
	m.write("d/g", "text")
	m.crash("")
	m.want("d/f", "text")
	m.want("d/g", "-")
}

// TestSyncfsIsNotSeen pins down a limit: it fails, to our joy, on a kernel that
// tells us of syncfs.
func TestSyncfsIsNotSeen(t *testing.T) {
	m := mountAt(t, nil)
	m.write("f", "text")
	syncfs(m.opts.Mount)
	m.crash("")
	m.want("f", "-")
}
