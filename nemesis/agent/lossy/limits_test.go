package lossy

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMoreFilesThanDescriptors: files are found again by their places after their
// descriptors were closed, through renames and removals, and at the crash.
func TestMoreFilesThanDescriptors(t *testing.T) {
	most := descriptorsMax
	t.Cleanup(func() { descriptorsMax = most }) // once the file system is away: it ends before what was noted first
	descriptorsMax = 20
	m := mountAt(t, nil)
	const files = 300
	m.ok(os.Mkdir(m.path("d"), 0o700))
	name := func(dir string, i int) string { return m.path(fmt.Sprintf("%s/%d", dir, i)) }
	for i := range files {
		m.ok(os.WriteFile(name("d", i), []byte("durable"), 0o600))
	}
	m.ok(m.fs.Sync())
	m.ok(os.Rename(m.path("d"), m.path("e")))
	kept, err := os.OpenFile(name("e", 0), os.O_RDWR, 0)
	m.ok(err)
	for i := range files {
		m.ok(os.WriteFile(name("e", i), []byte("lost"), 0o600))
		if i%3 == 0 {
			m.ok(os.Remove(name("e", i)))
		}
		m.ok(os.WriteFile(m.path(fmt.Sprint("new", i)), nil, 0o600))
	}
	_, err = kept.WriteString("goes on")
	m.ok(err)
	m.ok(kept.Close())
	m.fs.vol.ns.Lock()
	if n := m.fs.vol.open.Len(); n > descriptorsMax+2 {
		t.Errorf("%d descriptors are open", n)
	}
	m.fs.vol.ns.Unlock()
	loss := m.crash("")
	if loss.Files < files {
		t.Errorf("%+v", loss)
	}
	for i := range files {
		m.want(fmt.Sprintf("d/%d", i), "durable")
	}
	m.want("new0", "-")
}

// TestFilesBeyondTheLimit has more files than the process may have descriptors.
func TestFilesBeyondTheLimit(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 30000 {
		t.Skip("the limit is far: ", limit.Cur)
	}
	m := mountAt(t, nil)
	for i := range int(limit.Cur) + 500 {
		fd, err := unix.Open(m.path(fmt.Sprint(i)), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		m.ok(err)
		m.ok(unix.Close(fd))
	}
	if loss := m.crash(""); loss.Entries != int(limit.Cur)+500 {
		t.Errorf("%d entries undone", loss.Entries)
	}
}

// TestForgottenNodes: what is durable and not in use takes no memory.
func TestForgottenNodes(t *testing.T) {
	m := mountAt(t, nil)
	for i := range 500 {
		m.ok(os.WriteFile(m.path(fmt.Sprint(i)), []byte("x"), 0o600))
	}
	m.ok(m.fs.Sync())
	for i := range 500 {
		m.ok(os.Remove(m.path(fmt.Sprint(i))))
	}
	m.ok(m.fs.Sync())
	for range 2 { // a FORGET comes when the kernel likes; a call is behind those that it has sent
		_, _ = os.ReadDir(m.opts.Mount)
	}
	m.fs.vol.ns.Lock()
	defer m.fs.vol.ns.Unlock()
	if n := len(m.fs.vol.nodes); n > 400 {
		t.Errorf("%d nodes are known though nothing is there", n)
	}
	if j := &m.fs.vol.journal; j.records.Len()+len(j.of)+len(j.moves) > 0 {
		t.Error("the journal keeps what is durable")
	}
}

func TestLongTruncationTakesNoMemory(t *testing.T) {
	m := mountAt(t, nil)
	text := bytes.Repeat([]byte("0123456789abcdef"), 64<<16)
	f := m.write("f", string(text))
	m.ok(f.Sync())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m.ok(f.Truncate(0))
	_, err := f.WriteAt([]byte("new"), 0)
	m.ok(err)
	m.ok(unix.Fallocate(int(f.Fd()), 0, 0, 8<<20))
	m.ok(unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 1, 6<<20))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes of memory for a truncation", grown)
	}
	m.crash("")
	got, err := os.ReadFile(m.path("f"))
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes are back of %d: %v", len(got), len(text), err)
	}
}
