package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// world is what a prober may try to reach on the machine, and what tells whether it has.
type world struct {
	runtime, mark            string
	uid                      int
	program                  string // dlmtest
	dir, home, out, files    string
	secrets, sights, sockets []string
	hosts                    []string // addresses of the machine, with port
	port                     int
	setuid                   string // as the node sees it; empty: there is none
	victim                   *exec.Cmd
	reached                  atomic.Int64 // connections to any of its sockets
}

// newWorld lays out files, sockets and a process of the user who starts dlmtest.
func newWorld(t *testing.T, runtime string, uid int) *world {
	t.Helper()
	w := &world{runtime: runtime, uid: uid, dir: openFolder(t), home: os.Getenv("HOME")}
	w.mark = fmt.Sprintf("escape-%d-%s-%d", os.Getpid(), runtime, uid)
	w.program, w.files, w.out = filepath.Join(w.dir, "dlmtest"), filepath.Join(w.dir, "adapter"), filepath.Join(w.dir, "out")
	copyProgram(t, dlmtest(t), w.program, 0o755)
	w.mkdir(t, w.files)
	w.mkdir(t, w.out)
	w.prober(t)
	if uid != os.Geteuid() {
		w.home = filepath.Join("/home", w.mark)
		w.mkdir(t, w.home)
	}
	here, err := os.MkdirTemp(".", w.mark) // where runs usually are: below the folder that one works in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(here) })
	here, _ = filepath.Abs(here) // MkdirTemp has worked there
	w.own(t, here, 0o755)
	for _, folder := range w.writable(filepath.Join(w.home, w.mark), filepath.Join("/opt", w.mark), filepath.Join("/srv", w.mark), here, w.dir) {
		w.mkdir(t, folder)
		w.secret(t, filepath.Join(folder, "secret-"+w.mark))
	}
	w.listen(t)
	w.victim = exec.Command("sleep", "7200") // longer than go test lets all tests take together: this one may wait for most of them
	w.victim.SysProcAttr = w.credential()
	if err := w.victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.victim.Process.Kill(); _ = w.victim.Wait() })
	return w
}

// writable leaves out folders that a test of an ordinary user cannot make.
func (w *world) writable(folders ...string) (all []string) {
	for _, f := range folders {
		if _, err := os.Stat(f); err == nil || os.MkdirAll(f, 0o755) == nil {
			all = append(all, f)
		}
	}
	return all
}

// prober builds the adapter, once more with the setuid bit where the test can do that.
func (w *world) prober(t *testing.T) {
	t.Helper()
	prober := filepath.Join(w.files, "escape")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", prober, "./testdata/escape")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if os.Geteuid() == 0 {
		copyProgram(t, prober, filepath.Join(w.files, "rooted"), 0o755|os.ModeSetuid)
		w.setuid = "/adapter/rooted"
	} else {
		w.setuid = "''"
	}
}

func copyProgram(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err == nil {
		err = os.Chmod(to, mode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) mkdir(t *testing.T, path string) {
	t.Helper()
	if path == w.dir {
		return
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) })
	w.own(t, path, 0o755)
}

func (w *world) own(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, w.uid, w.uid); err != nil {
			t.Fatal(err)
		}
	}
}

// secret is a file that only the user can read.
func (w *world) secret(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("the secret of "+w.mark), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) })
	w.own(t, path, 0o600)
	w.secrets, w.sights = append(w.secrets, path), append(w.sights, path)
}

// listen opens sockets of each kind, to which everybody on the machine may connect.
func (w *world) listen(t *testing.T) {
	t.Helper()
	tcp := w.serve(t, "tcp4", "0.0.0.0:0")
	w.port = tcp.Addr().(*net.TCPAddr).Port
	w.serve(t, "unix", "@"+w.mark)
	for _, path := range []string{filepath.Join(w.dir, "socket"), filepath.Join("/run", w.mark+".sock")} {
		if filepath.Dir(path) == "/run" && os.Geteuid() != 0 {
			continue
		}
		w.serve(t, "unix", path)
		w.own(t, path, 0o777)
		w.sockets, w.sights = append(w.sockets, path), append(w.sights, path)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if ip := a.(*net.IPNet).IP.To4(); ip != nil {
			w.hosts = append(w.hosts, fmt.Sprintf("%s:%d", ip, w.port))
		}
	}
	for _, address := range w.hosts { // who is on the machine gets through
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}
	if n := w.reached.Swap(0); int(n) != len(w.hosts) {
		t.Fatalf("%d of %d connections came", n, len(w.hosts))
	}
}

// serve counts who comes.
func (w *world) serve(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.reached.Add(1)
			_ = c.Close()
		}
	}()
	return l
}

// credential is the user who starts dlmtest, with the group that may use Docker.
func (w *world) credential() *syscall.SysProcAttr {
	if w.uid == os.Geteuid() {
		return nil
	}
	c := &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}
	if info, err := os.Stat("/var/run/docker.sock"); err == nil && w.runtime == "docker" {
		c.Groups = []uint32{info.Sys().(*syscall.Stat_t).Gid}
	}
	return &syscall.SysProcAttr{Credential: c}
}

// unharmed asks the machine itself whether anything has come.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	if n := w.reached.Load(); n > 0 {
		t.Errorf("%d connections to sockets of the machine", n)
	}
	for _, path := range w.secrets {
		if text, err := os.ReadFile(path); err != nil || string(text) != "the secret of "+w.mark {
			t.Errorf("%s is %q now (%v)", path, text, err)
		}
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.victim.Process.Pid)); err != nil || !strings.Contains(string(stat), ") S ") {
		t.Errorf("the victim's state: %.40s (%v)", stat, err)
	}
	entries, err := os.ReadDir(w.files)
	if err != nil || len(entries) > 2 {
		t.Errorf("the adapter's files are %v now (%v)", entries, err)
	}
}

// carried are files that dlmtest is started with beside its stdio, so that their numbers are
// none that it uses itself: no child may have them.
func (w *world) carried(t *testing.T) []*os.File {
	t.Helper()
	file, err := os.Open(w.secrets[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	files := make([]*os.File, 60)
	files[59] = file
	return files
}
