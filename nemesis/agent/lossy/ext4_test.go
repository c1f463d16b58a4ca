package lossy

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAgainstExt4 does the same random calls on a real ext4 and on a lossy mount, copies the
// image of the first after the last fsync and lets the kernel replay its journal, and crashes
// the second: what was acknowledged and ext4 keeps, the lossy one must keep. LOSSY_EXT4=10000
// for as many workloads; LOSSY_SEED for another run of them.
func TestAgainstExt4(t *testing.T) {
	if os.Getenv("LOSSY_PRIVATE") == "" { // its mounts and loop devices go with its mount namespace
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAgainstExt4$", "-test.v", "-test.timeout", "3h")
		cmd.Env = append(os.Environ(), "LOSSY_PRIVATE=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if errors.Is(err, unix.EPERM) {
			t.Skip("a mount namespace is needed, so root")
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(out), "SKIP") {
			t.Skip("no loop device, or no mkfs.ext4")
		}
		return
	}
	p := newPair(t)
	count, _ := strconv.Atoi(os.Getenv("LOSSY_EXT4"))
	if count == 0 {
		count = 40
	}
	seed, _ := strconv.ParseUint(os.Getenv("LOSSY_SEED"), 10, 64)
	lost := 0
	for i := range count {
		w := &workload{T: t, rng: rand.New(rand.NewPCG(seed, uint64(i))), roots: p.begin(i), files: map[string]*known{}}
		for range 6 + w.rng.IntN(25) {
			w.step()
		}
		w.sync(w.some()) // the last acknowledgement
		real, ours := p.crash(i)
		w.end()
		if why := w.compare(real, ours, p); why != "" {
			lost++
			t.Errorf("workload %d of seed %d: %s\n  %s", i, seed, why, strings.Join(w.log, "\n  "))
		}
		if lost > 5 {
			break
		}
	}
	t.Logf("%d workloads, %d acknowledged files that ext4 keeps, %d of them lost; %d of %d acknowledged ones ext4 does not keep", count, p.kept, lost, p.dropped, p.kept+p.dropped)
	if p.kept == 0 {
		t.Error("nothing was compared")
	}
}

// pair is an ext4 on a loop device and a lossy mount.
type pair struct {
	*testing.T
	dir           string
	child         *child
	kept, dropped int
}

func run(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w: %s", argv, err, out)
	}
	return nil
}

func newPair(t *testing.T) *pair {
	dir, err := os.MkdirTemp("/dev/shm", "lossy-ext4-*") // memory: fsync costs nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pair{T: t, dir: dir}
	for _, d := range []string{"real", "copy", "backing", "lossy"} {
		if err := os.Mkdir(p.at(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.at("image"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Truncate(p.at("image"), 48<<20)
	if err := run("mkfs.ext4", "-q", "-J", "size=4", p.at("image")); err != nil {
		t.Skip(err)
	}
	if err := run("mount", "-o", "loop", p.at("image"), p.at("real")); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(p.at("real"), unix.MNT_DETACH) })
	p.child = startChild(t, p.at("backing"), p.at("lossy"), "")
	return p
}

func (p *pair) at(name string) string { return filepath.Join(p.dir, name) }

// begin makes a durable folder in both.
func (p *pair) begin(i int) (roots [2]string) {
	for k, d := range []string{"real", "lossy"} {
		roots[k] = filepath.Join(p.at(d), fmt.Sprint("w", i))
		if err := os.Mkdir(roots[k], 0o700); err != nil {
			p.Fatal(err)
		}
		if i > 0 && k == 0 {
			_ = os.RemoveAll(filepath.Join(p.at(d), fmt.Sprint("w", i-1)))
		}
	}
	syncfs(p.at("real"))
	if e := p.child.do(Command{Do: SyncNow}); e.Error != "" {
		p.Fatal(e.Error)
	}
	return roots
}

// crash returns what each has after a power cut.
func (p *pair) crash(i int) (real, ours map[string]string) {
	from, err := os.Open(p.at("image"))
	if err != nil {
		p.Fatal(err)
	}
	to, err := os.Create(p.at("image.copy"))
	if err != nil {
		p.Fatal(err)
	}
	_ = to.Truncate(48 << 20)
	if err := copyData(int(from.Fd()), 0, int(to.Fd()), 0, 48<<20); err != nil {
		p.Fatal(err)
	}
	_, _ = from.Close(), to.Close()
	if err := run("mount", "-o", "loop", p.at("image.copy"), p.at("copy")); err != nil {
		p.Fatal(err)
	}
	real = survivors(p.T, filepath.Join(p.at("copy"), fmt.Sprint("w", i)))
	if err := unix.Unmount(p.at("copy"), 0); err != nil {
		p.Fatal(err)
	}
	if e := p.child.do(Command{Do: CrashNow}); e.Error != "" {
		p.Fatal(e.Error)
	}
	ours = survivors(p.T, filepath.Join(p.at("backing"), fmt.Sprint("w", i)))
	_ = os.RemoveAll(filepath.Join(p.at("backing"), fmt.Sprint("w", i)))
	if e := p.child.do(Command{Do: ServeAgain}); e.Error != "" {
		p.Fatal(e.Error)
	}
	return real, ours
}

// survivors reads a tree: the content by path.
func survivors(t *testing.T, top string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(top, path)
		found[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// compare says what was lost that ext4 keeps.
func (w *workload) compare(real, ours map[string]string, p *pair) string {
	for _, name := range slices.Sorted(mapKeys(w.files)) {
		f := w.files[name]
		if f.synced == 0 || max(f.synced, w.dirSynced[filepath.Dir(name)]) < w.changed(name) {
			continue // nobody was told that it is there
		}
		if real[name] != f.content {
			p.dropped++
			continue
		}
		p.kept++
		if got, there := ours[name]; !there || got != f.content {
			return fmt.Sprintf("%s: ext4 has %d bytes, ours %d (there: %v)", name, len(f.content), len(got), there)
		}
	}
	return ""
}
