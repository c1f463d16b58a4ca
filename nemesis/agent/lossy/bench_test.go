package lossy

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// BenchmarkRatio does what servers do to a plain folder and to a lossy one beside
// it on the same disk, in turn, and prints calls per second and their ratio. Run
// it on a quiet machine: go test -bench Ratio -run '^$' ./nemesis/agent/lossy
func BenchmarkRatio(b *testing.B) {
	for name, f := range map[string]func(*os.File, int) error{
		"append and fdatasync (Redis always, etcd)": appendSynced,
		"append (Redis everysec, one client)":       appended,
		"8 KiB over old and fdatasync (WAL)":        overwritten,
	} {
		b.Run(name, func(b *testing.B) { compare(b, f) })
	}
}

func appended(f *os.File, _ int) error {
	_, err := f.Write(make([]byte, 100))
	return err
}

func appendSynced(f *os.File, i int) error {
	if err := appended(f, i); err != nil {
		return err
	}
	return unix.Fdatasync(int(f.Fd()))
}

func overwritten(f *os.File, i int) error {
	if _, err := f.WriteAt(make([]byte, 8192), int64(i%128)*8192); err != nil {
		return err
	}
	return unix.Fdatasync(int(f.Fd()))
}

// compare takes turns, so that whatever else the machine does hits both.
func compare(b *testing.B, f func(*os.File, int) error) {
	plain, backing, mount := b.TempDir(), b.TempDir(), b.TempDir()
	fs, err := Serve(context.Background(), Options{Backing: backing, Mount: mount})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = fs.Close() }()
	files := [2]*os.File{}
	for i, dir := range []string{plain, mount} {
		if files[i], err = os.Create(filepath.Join(dir, "f")); err != nil {
			b.Fatal(err)
		}
	}
	var took [2]time.Duration
	const turn = 50
	n := 0
	for b.Loop() {
		for i, file := range files {
			start := time.Now()
			for j := range turn {
				if err := f(file, n*turn+j); err != nil {
					b.Fatal(err)
				}
			}
			took[i] += time.Since(start)
		}
		n++
	}
	for _, file := range files {
		_ = file.Close()
	}
	rate := func(d time.Duration) float64 { return float64(n*turn) / d.Seconds() }
	b.ReportMetric(0, "ns/op") // of both: of no use
	b.ReportMetric(rate(took[0]), "plain/s")
	b.ReportMetric(rate(took[1]), "lossy/s")
	b.ReportMetric(rate(took[1])/rate(took[0]), "ratio")
}

// BenchmarkCalls does each kind of call that the lossy file system answers, and prints how
// many times as long as on a plain folder it takes; the goal is 5 at most. Beside it stands what FUSE costs by itself: a file
// system of the same library that only passes the call on.
func BenchmarkCalls(b *testing.B) {
	name := func(dir string, i int) string { return filepath.Join(dir, strconv.Itoa(i)) }
	made := func(dir string, i int) error {
		fd, err := unix.Open(name(dir, i), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_, err = unix.Pwrite(fd, make([]byte, 8192), 0)
			_ = unix.Close(fd)
		}
		return err
	}
	opened := func(flags int, f func(fd int) error) func(string, int) error {
		return func(dir string, i int) error {
			fd, err := unix.Open(name(dir, i), flags|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer func() { _ = unix.Close(fd) }()
			return f(fd)
		}
	}
	nothing := func(string, int) error { return nil }
	for _, call := range []struct {
		name          string
		prepare, call func(dir string, i int) error
	}{
		{"create", nothing, func(dir string, i int) error { return unix.Mknod(name(dir, i), unix.S_IFREG|0o600, 0) }},
		{"remove", made, func(dir string, i int) error { return unix.Unlink(name(dir, i)) }},
		{"rename", made, func(dir string, i int) error { return unix.Rename(name(dir, i), name(dir, i)+"b") }},
		{"link", made, func(dir string, i int) error { return unix.Link(name(dir, i), name(dir, i)+"b") }},
		{"mkdir", nothing, func(dir string, i int) error { return unix.Mkdir(name(dir, i), 0o700) }},
		{"stat", made, func(dir string, i int) error { var st unix.Stat_t; return unix.Stat(name(dir, i), &st) }},
		{"open and close", made, opened(unix.O_RDWR, func(int) error { return nil })},
		{"read 4 KiB", made, opened(unix.O_RDONLY, func(fd int) error { _, err := unix.Pread(fd, make([]byte, 4096), 0); return err })},
		{"write 4 KiB", made, opened(unix.O_WRONLY, func(fd int) error { _, err := unix.Pwrite(fd, make([]byte, 4096), 0); return err })},
		{"append 1 MiB", made, opened(unix.O_WRONLY|unix.O_APPEND, func(fd int) error { _, err := unix.Write(fd, make([]byte, 1<<20)); return err })},
		{"truncate", made, opened(unix.O_WRONLY, func(fd int) error { return unix.Ftruncate(fd, 0) })},
		{"chmod", made, opened(unix.O_WRONLY, func(fd int) error { return unix.Fchmod(fd, 0o640) })},
		{"write and fsync", made, opened(unix.O_WRONLY, func(fd int) error {
			if _, err := unix.Pwrite(fd, make([]byte, 4096), 0); err != nil {
				return err
			}
			return unix.Fsync(fd)
		})},
	} {
		b.Run(call.name, func(b *testing.B) { compareCalls(b, call.prepare, call.call) })
	}
}

// compareCalls takes turns of a hundred files.
func compareCalls(b *testing.B, prepare, call func(dir string, i int) error) {
	plain, backing, mount := b.TempDir(), b.TempDir(), b.TempDir()
	ours, err := Serve(context.Background(), Options{Backing: backing, Mount: mount})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = ours.Close() }()
	through := bare(b)
	var took [3]time.Duration
	n := 0
	for b.Loop() {
		for i, dir := range []string{plain, mount, through} {
			for j := range 100 {
				if err := prepare(dir, n*100+j); err != nil {
					b.Fatal(err)
				}
			}
			start := time.Now()
			for j := range 100 {
				if err := call(dir, n*100+j); err != nil {
					b.Fatal(err)
				}
			}
			took[i] += time.Since(start)
		}
		n++
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(n*100) }
	b.ReportMetric(0, "ns/op") // of both: of no use
	b.ReportMetric(each(took[0]), "plain-µs")
	b.ReportMetric(each(took[1]), "lossy-µs")
	b.ReportMetric(each(took[2]), "bare-µs")
	b.ReportMetric(each(took[1])/each(took[0]), "times")
	b.ReportMetric(each(took[2])/each(took[0]), "bare-times")
}

// bare is the mount of a file system that passes each call on and keeps nothing of it.
func bare(b *testing.B) string {
	mount := b.TempDir()
	root, err := fs.NewLoopbackRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	long := time.Hour
	server, err := fs.Mount(mount, root, &fs.Options{EntryTimeout: &long, AttrTimeout: &long,
		MountOptions: fuse.MountOptions{DirectMount: true, DisableXAttrs: true, MaxWrite: maxIO}})
	if err != nil {
		b.Fatal(err)
	}
	refusePoll(mount)
	b.Cleanup(func() { _ = server.Unmount() })
	return mount
}
