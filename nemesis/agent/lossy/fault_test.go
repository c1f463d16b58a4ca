package lossy

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

// shell starts nothing in the mount: a process that serves it could deadlock.
func shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
}

// TestTorn: what is left of a log is a prefix of it, cut at whole writes or sectors, or a
// prefix in each page, as a kernel writes pages in any order.
func TestTorn(t *testing.T) {
	lengths, holes := map[int]bool{}, 0
	for seed := range uint64(24) {
		m := mountAt(t, func(o *Options) { o.Seed = seed })
		f := m.write("log", "")
		m.ok(f.Sync())
		want := ""
		for i := range 20 {
			text := strings.Repeat(string(rune('a'+i)), 700)
			_, err := f.WriteString(text)
			m.ok(err)
			want += text
		}
		m.crash(Torn)
		got, err := os.ReadFile(m.path("log"))
		m.ok(err)
		if n := len(got); n%700 != 0 && n%512 != 0 {
			t.Errorf("seed %d: %d bytes: neither whole writes nor whole sectors nor pages", seed, n)
		}
		for at := 0; at < len(got); at += pageSize {
			page := string(got[at:min(at+pageSize, len(got))])
			written := strings.TrimRight(page, "\x00")
			if !strings.HasPrefix(want[at:], written) {
				t.Errorf("seed %d: page at %d is no prefix: %.40q", seed, at, page)
			}
			if len(written) < len(page) {
				holes++
			}
		}
		lengths[len(got)] = true
		m.ok(m.fs.Close())
	}
	if len(lengths) < 6 || holes < 3 {
		t.Errorf("24 seeds tore at %d places only, and left %d pages without what an earlier write put there", len(lengths), holes)
	}
}

func TestLoseAll(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(os.MkdirAll(m.path("a/b"), 0o700))
	m.ok(m.write("a/b/f", "text").Sync())
	loss := m.crash(LoseAll)
	if loss.Files != 1 || loss.Bytes != 4 || loss.Entries != 3 {
		t.Errorf("%+v", loss)
	}
	left, err := os.ReadDir(m.opts.Backing)
	if err != nil || len(left) != 1 { // the grave of the next
		t.Errorf("%v, %v", left, err)
	}
}

func TestStall(t *testing.T) {
	held := make(chan Held, 9)
	m := mountAt(t, func(o *Options) { o.Held = func(h Held) { held <- h } })
	f, other := m.write("wal", "x"), m.write("other", "x")
	m.ok(m.fs.Stall(Stall{For: time.Hour, Match: "wal"}))
	m.ok(other.Sync())           // not held: it returns
	_, err := f.WriteString("y") // writes go on
	m.ok(err)
	if s := m.fs.Resume(); s.Calls != 0 {
		t.Errorf("held what was not to be: %+v", s)
	}
	start := time.Now()
	m.ok(m.fs.Stall(Stall{For: 300 * time.Millisecond, Match: "wal"}))
	m.ok(f.Sync())
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("fsync took %v", d)
	}
	h := <-held
	if h.Path != "wal" || h.Call != "fsync" || h.Waited <= 0 || h.End != "resumed" || h.Pid != unix.Gettid() && h.Pid == 0 {
		t.Errorf("%+v", h)
	}
	if s := m.fs.Resume(); s.Calls != 1 || s.Longest <= 0 {
		t.Errorf("%+v", s)
	}
	m.ok(f.Sync())
}

func TestStalledSyncFailsInACrash(t *testing.T) {
	m := mountAt(t, nil)
	f := m.write("wal", "never durable")
	m.ok(m.fs.Stall(Stall{}))
	result := make(chan error)
	go func() { result <- f.Sync() }()
	time.Sleep(100 * time.Millisecond)
	m.crash("")
	if err := <-result; err == nil {
		t.Error("an fsync that was held has succeeded in the crash")
	}
	m.want("wal", "-")
}

func TestKillDuringStall(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(m.fs.Stall(Stall{Writes: true}))
	cmd := shell(t, "exec dd if=/dev/zero of="+m.path("f")+" bs=4k count=1 conv=fsync 2>/dev/null")
	m.ok(cmd.Start())
	time.Sleep(200 * time.Millisecond)
	m.ok(cmd.Process.Kill())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		t.Log(err)
	case <-time.After(eventually.Most):
		t.Error("a killed process still hangs in a stalled write")
		m.fs.Resume()
	}
}

func TestTeardownWithFilesHeld(t *testing.T) {
	m := mountAt(t, nil)
	m.ok(m.write("f", "x").Sync())
	cmd := shell(t, "exec 9>"+m.path("f")+"; cd "+m.opts.Mount+"; echo ready; read -r line")
	stdin, err := cmd.StdinPipe()
	m.ok(err)
	stdout, err := cmd.StdoutPipe()
	m.ok(err)
	m.ok(cmd.Start())
	_, _ = bufio.NewReader(stdout).ReadString('\n')
	start := time.Now()
	m.crash("")
	if d := time.Since(start); d > time.Second {
		t.Errorf("the crash took %v", d)
	}
	m.want("f", "x") // the truncation was not synced
	_ = stdin.Close()
	_ = cmd.Wait()
	m.ok(m.fs.Close())
	if _, err := m.fs.Crash(""); !errors.Is(err, ErrOver) {
		t.Errorf("a crash after the end: %v", err)
	}
}
