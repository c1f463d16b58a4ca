package scratch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the process that is killed: it makes what its argument says, and waits.
func TestMain(m *testing.M) {
	switch os.Getenv("SCRATCH_TEST") {
	case "folder":
		f, err := New("test")
		if err != nil {
			panic(err)
		}
		_ = os.WriteFile(filepath.Join(f.Path, "file"), nil, 0o600)
		fmt.Println(f.Path)
		time.Sleep(time.Hour)
	case "lock":
		if _, err := Lock(context.Background(), "test"); err != nil {
			panic(err)
		}
		fmt.Println("locked")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// another starts a process that makes something, and says what.
func another(t *testing.T, what string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "SCRATCH_TEST="+what)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

// What a living process holds stays, and what a killed one has left goes with the next start.
func TestSweptByTheNextStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	alive, mine := another(t, "folder")
	dead, left := another(t, "folder")
	kill(t, dead)
	if !there(left) {
		t.Fatal("nothing was left: the test shows nothing")
	}
	f, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if there(left) || !there(mine) || !there(f.Path) {
		t.Errorf("of the dead %v, of the living %v, our own %v", there(left), there(mine), there(f.Path))
	}
	if err := f.Remove(); err != nil || there(f.Path) {
		t.Errorf("removed: %v", err)
	}
	kill(t, alive)
	Sweep()
	if all, _ := os.ReadDir(os.TempDir()); len(all) > 0 {
		t.Errorf("left: %v", all)
	}
}

// Two that sweep all the time take nothing from each other.
func TestTwoAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				f, err := New("test")
				if err != nil {
					t.Error(err)
					return
				}
				Sweep()
				if err := os.WriteFile(filepath.Join(f.Path, "file"), []byte("x"), 0o600); err != nil {
					t.Error(err)
				}
				if err := f.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if all, _ := os.ReadDir(os.TempDir()); len(all) > 0 {
		t.Errorf("left: %v", all)
	}
}

// TMPDIR is everybody's: what others have put there is neither followed nor removed.
func TestHostileTMPDIR(t *testing.T) {
	tmp, outside := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link, fifo, theirs, inside := filepath.Join(tmp, prefix+"link"), filepath.Join(tmp, prefix+"fifo"), filepath.Join(tmp, prefix+"theirs"), filepath.Join(tmp, prefix+"inside")
	for _, err := range []error{os.Symlink(outside, link), syscall.Mkfifo(fifo, 0o600), os.Mkdir(theirs, 0o700), os.Mkdir(inside, 0o700),
		os.Symlink(outside, filepath.Join(inside, "link")), os.WriteFile(filepath.Join(theirs, "file"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	foreign := os.Geteuid() == 0 && os.Chown(theirs, 65534, 65534) == nil
	done := make(chan struct{})
	go func() { Sweep(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the sweep hangs")
	}
	if !there(precious) || !there(link) || !there(fifo) {
		t.Errorf("the file behind the links %v, the link %v, the FIFO %v", there(precious), there(link), there(fifo))
	}
	if foreign != there(filepath.Join(theirs, "file")) {
		t.Errorf("of another user: %v, it is there: %v", foreign, there(filepath.Join(theirs, "file")))
	}
	if there(inside) {
		t.Error("our own folder with a link in it is still there")
	}
}

// A lock is passed on when its holder is killed, and leaves no file.
func TestLock(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	holder, _ := another(t, "lock")
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Lock(short, "test"); err == nil {
		t.Fatal("two hold one lock")
	}
	kill(t, holder)
	unlock, err := Lock(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if all, _ := os.ReadDir(os.TempDir()); len(all) > 0 {
		t.Errorf("left: %v", all)
	}
}

// One at a time, however many come, although the file goes each time.
func TestLockExcludes(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	in := make(chan struct{}, 1)
	for range 4 {
		all.Go(func() {
			for range 5 {
				unlock, err := Lock(t.Context(), "test")
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case in <- struct{}{}:
				default:
					t.Error("two at once")
				}
				<-in
				unlock()
			}
		})
	}
	all.Wait()
}

// A lock in another's file would be theirs to keep for ever.
func TestLockOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d-%s.lock", prefix, os.Getuid(), "test"))
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("%v", err)
	}
}

// Who works in a folder is seen by others.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	free := Hold(dir)
	look, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if !Held(look) {
		t.Error("held, and not seen")
	}
	free()
	for range 2 { // looking takes no lock
		if Held(look) {
			t.Error("free, and not seen")
		}
	}
}

// A program that is being started while a lock is given back has the file, too, until it runs.
func TestFreeBesideAProgramThatStarts(t *testing.T) {
	dir := t.TempDir()
	held, err := holdAt(dir, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(held.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	release(held)
	look, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if Held(look) {
		t.Error("given back, and still held")
	}
}
