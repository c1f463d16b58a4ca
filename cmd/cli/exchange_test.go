package cli

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// exchanges are what somebody exchanges for a link in a matrix while a command works in it.
var exchanges = []string{"a", "a/violations", "side-by-side"}

// Who exchanges a folder of a matrix for a link again and again while a command reads and writes there, has nothing
// opened, written or removed where the link leads, and nothing of that is shown.
func TestExchangedForALink(t *testing.T) {
	beside(t)
	const tries = 8
	for command, args := range commandsOfMatrices {
		t.Run(command, func(t *testing.T) {
			for _, part := range exchanges {
				dir := baited(t, nil)
				outside := filepath.Join(filepath.Dir(dir), "outside")
				copyOutside(t, dir, outside)
				seen := watched(t, outside, filepath.Join(outside, "violations"))
				count, stop := exchanging(t, filepath.Join(dir, part), outside)
				for range tries {
					said, ended := runBounded(t, args(dir))
					if !ended || strings.Contains(said, "geheim") {
						t.Errorf("%s: ended %v: %s", part, ended, said)
					}
					if err := os.RemoveAll(dir + "-whole"); err != nil {
						t.Fatal(err)
					}
				}
				stop()
				t.Logf("%s: exchanged %d times", part, count.Load())
				if names := seen(); names != "" {
					t.Errorf("%s: it came outside: %s", part, names)
				}
			}
		})
	}
}

// copyOutside makes a run outside of the matrix that a command which is led there can read, and that says a secret.
func copyOutside(t *testing.T, dir, outside string) {
	t.Helper()
	run := filepath.Join(dir, "a")
	err := errors.Join(os.RemoveAll(outside), os.MkdirAll(filepath.Join(run, "violations"), 0o755),
		os.MkdirAll(filepath.Join(dir, "side-by-side"), 0o755), os.CopyFS(outside, os.DirFS(run)))
	for _, name := range []string{"run.json", "results.json"} {
		text, wrong := os.ReadFile(filepath.Join(outside, name))
		text = []byte(strings.NewReplacer("baseline", "geheim", "lease-exclusion", "geheim").Replace(string(text)))
		err = errors.Join(err, wrong, os.WriteFile(filepath.Join(outside, name), text, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// exchanging exchanges a folder and a link again and again.
func exchanging(t *testing.T, folder, to string) (count *atomic.Int64, stop func()) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(to, link); err != nil {
		t.Fatal(err)
	}
	count = &atomic.Int64{}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			time.Sleep(rand.N(2 * time.Millisecond)) // a folder that is never there is refused at the first look
			if unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, folder, unix.RENAME_EXCHANGE) == nil {
				count.Add(1)
			}
		}
	}()
	return count, func() { close(end); <-ended }
}

// watched says which files of folders were opened, made, changed or removed since.
func watched(t *testing.T, folders ...string) (seen func() string) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	for _, dir := range folders {
		const all = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE | unix.IN_MODIFY | unix.IN_OPEN
		if _, err := unix.InotifyAddWatch(fd, dir, all); err != nil {
			t.Fatal(err)
		}
	}
	return func() string {
		events := make([]byte, 1<<16)
		n, _ := unix.Read(fd, events)
		return strings.Trim(string(events[:max(n, 0)]), "\x00")
	}
}
