package lossy

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

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
