package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
)

// A server that relies on sync instead of fsync keeps what it wrote before, and waits while its disk stalls; what it writes
// afterwards is lost.
func TestSyncOfAServer(t *testing.T) {
	for _, call := range []string{"sync", "sync --file-system ."} {
		t.Run(call, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			d, err := startDisk(dir, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.in.Close(); _ = lossy.Detach(dir) })
			ask := func(do lossy.Do) lossy.Event {
				t.Helper()
				e, err := d.do(lossy.Command{Do: do})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			ask(lossy.StallNow)
			done := make(chan string, 10)
			script := "cd " + dir + "; echo kept >before; echo written; " + call + "; echo synced; echo lost >after; echo over; exec sleep 100"
			c, err := startChild(Child{Argv: []string{"sh", "-c", script}}, nil, d, func(line []byte, _ bool) { done <- string(line) }, func() bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.kill)
			next := func() string {
				select {
				case line := <-done:
					return line
				case <-time.After(eventually.Most):
					return "nothing"
				}
			}
			if got := next(); got != "written" {
				t.Fatal(got)
			}
			select {
			case line := <-done:
				t.Errorf("%q while the disk stands", line)
			case <-time.After(time.Second):
			}
			if s := ask(lossy.ResumeNow).Stalled; s == nil || s.Calls != 1 || s.Longest == 0 {
				t.Errorf("the stall says %+v", s)
			}
			if a, b := next(), next(); a != "synced" || b != "over" {
				t.Fatal(a, b)
			}
			c.planned.Store(true)
			c.kill()
			<-c.ended
			ask(lossy.CrashNow)
			before, err := os.ReadFile(filepath.Join(dir, "before"))
			if string(before) != "kept\n" {
				t.Errorf("%q %v", before, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "after")); !os.IsNotExist(err) {
				t.Errorf("what no sync followed is there: %v", err)
			}
		})
	}
}

// The file system that loses what was not synced has more rights than its server, so it serves no
// folder by which that could use them.
func TestDataFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/proc/1", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for folder, fine := range map[string]bool{dir: true, filepath.Join(dir, "new"): true, "/": false, "/proc/1": false, filepath.Join(dir, "link"): false, filepath.Join(dir, "link/root"): false, "/dev/fd": false} {
		if err := dataFolder(folder); (err == nil) != fine {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A victim that wrote nothing, or first as the stall ended, gave it nothing to do: no fault of ours was missed. Where nothing
// was stalled at all, it was.
func TestStallWithNothingToDo(t *testing.T) {
	for _, c := range []struct {
		lie         bool
		stalled     lossy.Stalled
		stood, idle bool
	}{
		{false, lossy.Stalled{Calls: 3, Longest: time.Second}, true, false},
		{false, lossy.Stalled{}, false, true},
		{false, lossy.Stalled{Calls: 1, Longest: time.Millisecond}, false, true},
		{true, lossy.Stalled{}, false, false},
	} {
		d := &diskStall{lie: c.lie}
		if stood := d.weigh(c.stalled); stood != c.stood || d.idle() != c.idle {
			t.Errorf("%+v: stood %v, idle %v", c, stood, d.idle())
		}
	}
}
