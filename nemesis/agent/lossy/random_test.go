package lossy

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestRandom compares random sequences of calls, and the crashes among them, with
// the model. -rapid.checks N for more.
func TestRandom(t *testing.T) {
	defer func(d int, s int64) { descriptorsMax, spillFrom = d, s }(descriptorsMax, spillFrom)
	descriptorsMax, spillFrom = 12, 700 // so that both come to pass
	rapid.Check(t, func(t *rapid.T) {
		r := newRunner(t)
		defer r.end()
		t.Repeat(map[string]func(*rapid.T){
			"create": r.create, "mkdir": r.mkdir, "link": r.link, "unlink": r.unlink, "rmdir": r.rmdir,
			"rename": r.rename, "rename2": r.rename, "exchange": r.exchange,
			"write": r.write, "write2": r.write, "truncate": r.truncate, "punch": r.punch, "chmod": r.chmod,
			"sync": r.sync, "syncdir": r.syncdir, "fold": r.fold, "close": r.close, "crash": r.crash,
			"": r.check,
		})
	})
}

// runner drives a volume and the model side by side.
type runner struct {
	t       *rapid.T
	backing string
	vol     *volume
	model   *model
	handles map[int]*node  // files that somebody has open, by the model's number; kept after unlink
	inodes  map[int]uint64 // which file is which: tmpfs uses no number twice
}

func newRunner(t *rapid.T) *runner {
	backing, err := os.MkdirTemp("/dev/shm", "lossy-*") // memory: fsync costs nothing
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, backing: backing, model: newModel(rapid.Bool().Draw(t, "strict")), handles: map[int]*node{}, inodes: map[int]uint64{}}
	r.start()
	return r
}

func (r *runner) start() {
	var err error
	r.vol, err = openVolume(Options{Backing: r.backing, Strict: r.model.strict, Seed: rapid.Uint64().Draw(r.t, "seed")})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) end() {
	for _, h := range r.handles {
		r.vol.forget(h.id, 1)
	}
	r.vol.close()
	_ = os.RemoveAll(r.backing)
}

// place draws a folder, as the model and the volume know it, and a name in it.
func (r *runner) place() (int, *node, string) {
	dir, n := 0, r.vol.root
	for rapid.IntRange(0, 2).Draw(r.t, "down") > 0 {
		var below []string
		for name, child := range r.model.tree[dir] {
			if r.model.folders[child] {
				below = append(below, name)
			}
		}
		if len(below) == 0 {
			break
		}
		slices.Sort(below)
		name := rapid.SampledFrom(below).Draw(r.t, "folder")
		dir = r.model.tree[dir][name]
		n = r.child(n, name)
	}
	return dir, n, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r.t, "name")
}

func (r *runner) child(dir *node, name string) *node {
	n, e := r.vol.child(dir, name)
	if e != 0 {
		r.t.Fatalf("%s in %s: %v", name, dir.path(), e)
	}
	return n
}

// agree fails unless both sides say the same of a call.
func (r *runner) agree(call string, e syscall.Errno, ok bool) bool {
	if (e == 0) != ok {
		r.t.Fatalf("%s: %v (%d), the model says %v", call, e, e, ok)
	}
	return ok
}

func (r *runner) make(mode uint32) (int, *node) {
	dir, d, name := r.place()
	_, taken := r.model.at(dir, name)
	n, e := r.vol.create(d, name, newFile{mode: mode})
	if !r.agree("create", e, !taken) {
		return -1, nil
	}
	r.model.last++
	r.inodes[r.model.last] = n.key.ino
	r.model.note(0, mset{dir, name, r.model.last})
	return r.model.last, n
}

func (r *runner) create(*rapid.T) {
	id, n := r.make(unix.S_IFREG | 0o640)
	if id > 0 {
		r.model.files[id] = &mfile{states: []mstate{{mode: 0o640}}}
		r.hold(id, n)
	}
}

// hold has the kernel refer to a file.
func (r *runner) hold(id int, n *node) {
	n.lookups++
	r.handles[id] = n
}

func (r *runner) mkdir(*rapid.T) {
	if id, _ := r.make(unix.S_IFDIR | 0o750); id > 0 {
		r.model.folders[id], r.model.tree[id] = true, map[string]int{}
	}
}

func (r *runner) link(*rapid.T) {
	from, f, old := r.place()
	dir, d, name := r.place()
	id, ok := r.model.at(from, old)
	if !ok || r.model.folders[id] {
		return
	}
	_, taken := r.model.at(dir, name)
	if r.agree("link", r.vol.link(r.child(f, old), d, name), !taken) {
		r.model.note(0, mset{dir, name, id})
	}
}

func (r *runner) unlink(*rapid.T) {
	dir, d, name := r.place()
	id, ok := r.model.at(dir, name)
	if r.agree("unlink", r.vol.remove(d, name, false), ok && !r.model.folders[id]) {
		r.model.remove(dir, name, id)
	}
}

func (r *runner) rmdir(*rapid.T) {
	dir, d, name := r.place()
	id, ok := r.model.at(dir, name)
	if r.agree("rmdir", r.vol.remove(d, name, true), ok && r.model.folders[id] && len(r.model.tree[id]) == 0) {
		r.model.remove(dir, name, id)
	}
}

func (r *runner) rename(*rapid.T) {
	from, f, old := r.place()
	dir, d, name := r.place()
	id, ok := r.model.at(from, old)
	over, taken := r.model.at(dir, name)
	folder := ok && r.model.folders[id]
	switch {
	case !ok || r.model.inside(id, dir):
		ok = false
	case taken && over == id:
	case taken:
		ok = folder == r.model.folders[over] && len(r.model.tree[over]) == 0
	}
	if !r.agree(fmt.Sprintf("rename %d/%s to %d/%s", from, old, dir, name), r.vol.rename(f, old, d, name, 0), ok) || taken && over == id {
		return
	}
	removed := 0
	if taken && folder {
		removed = over
	}
	r.model.note(removed, mset{from, old, -1}, mset{dir, name, id})
}

func (r *runner) exchange(*rapid.T) {
	from, f, old := r.place()
	dir, d, name := r.place()
	a, ok := r.model.at(from, old)
	b, there := r.model.at(dir, name)
	ok = ok && there
	if ok && a != b {
		ok = !r.model.inside(a, dir) && !r.model.inside(b, from)
	}
	if r.agree("exchange", r.vol.rename(f, old, d, name, unix.RENAME_EXCHANGE), ok) && a != b {
		r.model.note(0, mset{from, old, b}, mset{dir, name, a})
	}
}
