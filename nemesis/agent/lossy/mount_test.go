package lossy

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	if dir := os.Getenv("LOSSY_HOLD"); dir != "" {
		hold(dir)
	}
	_ = flag.Set("rapid.checks", "2000") // -rapid.checks N overrides it
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
