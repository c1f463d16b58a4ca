package lossy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

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
