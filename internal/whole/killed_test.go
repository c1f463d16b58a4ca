package whole

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/internal/golden"
)

// TestMain is also a process that is killed while it writes.
func TestMain(m *testing.M) {
	dir := os.Getenv("WHOLE_TEST")
	if dir == "" {
		os.Exit(m.Run())
	}
	_ = At(filepath.Join(dir, "file"), func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		fmt.Println("half")
		time.Sleep(time.Minute)
		return nil
	})
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// Who is killed while writing leaves the old file; its half goes with the next, and that of
// a process that still writes does not.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	if err := At(filepath.Join(dir, "file"), text("old")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "WHOLE_TEST="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "half\n" {
		t.Fatalf("%q %v", line, err)
	}
	if err := At(filepath.Join(dir, "file"), text("new")); err != nil || strings.Count(names(t, dir), "file") != 2 {
		t.Errorf("beside one that still writes: %v, %s", err, names(t, dir))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if now, err := os.ReadFile(filepath.Join(dir, "file")); string(now) != "new" {
		t.Errorf("%q %v", now, err)
	}
	if err := At(filepath.Join(dir, "file"), text("newer")); err != nil || names(t, dir) != "file" {
		t.Errorf("after a kill: %v, %s", err, names(t, dir))
	}
}

// A folder that is exchanged for a link while files are written into it, thousands of times, has them; where the link
// leads nothing comes.
func TestExchangedForALink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	folder, link := filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "below"), 0o755), os.Symlink(outside, link)); err != nil {
		t.Fatal(err)
	}
	in := golden.Root(t, folder)
	parts := []string{folder, filepath.Join(folder, "below")}
	for n := range 4000 {
		at, next := parts[n%2], n+1
		exchange := func() {
			if err := unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, at, unix.RENAME_EXCHANGE); err != nil {
				t.Fatal(err)
			}
		}
		below, err := in.OpenRoot("below")
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []*os.Root{in, below} {
			err = errors.Join(err, Write(to, "file", func(w io.Writer) error {
				exchange() // with the half that is written, and back again once it is whole
				_, err := fmt.Fprint(w, next)
				return err
			}))
			exchange()
			text, wrong := to.ReadFile("file")
			if err = errors.Join(err, wrong); err != nil || string(text) != fmt.Sprint(next) {
				t.Fatalf("%q %v", text, err)
			}
		}
		if err := below.Close(); err != nil {
			t.Fatal(err)
		}
		if got := names(t, outside); got != "" {
			t.Fatal(got)
		}
	}
}

// Many write one file at once: it is always one of theirs, and nothing else stays.
func TestWriteTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 50 {
				if err := At(filepath.Join(dir, "file"), text(strings.Repeat(fmt.Sprint(n), 9))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if now, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || len(now) != 9 || names(t, dir) != "file" {
		t.Errorf("%q %v, %s", now, err, names(t, dir))
	}
}
