package lossy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// seen is what lies in a folder, by path.
type seen struct {
	files   map[string]mstate
	folders map[string]bool
	inodes  map[string]uint64
}

func look(t *rapid.T, top string) seen {
	s := seen{map[string]mstate{}, map[string]bool{}, map[string]uint64{}}
	err := filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		if err != nil || p == top {
			return err
		}
		if d.Name() == graveName {
			return filepath.SkipDir
		}
		name, _ := filepath.Rel(top, p)
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil {
			return err
		}
		s.inodes[name] = st.Ino
		if d.IsDir() {
			s.folders[name] = true
			return nil
		}
		b, err := os.ReadFile(p)
		s.files[name] = mstate{data: b, mode: st.Mode & 0o7777}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// paths lists a tree of the model: path to number.
func (t mtree) paths(dir int, prefix string, out map[string]int, folders map[int]bool) map[string]int {
	for name, n := range t[dir] {
		p := filepath.Join(prefix, name)
		out[p] = n
		if folders[n] {
			t.paths(n, p, out, folders)
		}
	}
	return out
}

// differs says how what was seen differs from a tree; ok judges each file.
func (r *runner) differs(s seen, tree mtree, ok func(*mfile, mstate) bool) string {
	want := tree.paths(0, "", map[string]int{}, r.model.folders)
	if len(want) != len(s.files)+len(s.folders) {
		return fmt.Sprintf("want %v, got %v and folders %v", want, slices.Sorted(maps.Keys(s.files)), s.folders)
	}
	for p, n := range want {
		if s.inodes[p] != r.inodes[n] {
			return fmt.Sprintf("%s is not file %d", p, n)
		}
		if r.model.folders[n] {
			if !s.folders[p] {
				return "no folder " + p
			}
			continue
		}
		got, there := s.files[p]
		if !there || !ok(r.model.files[n], got) {
			return fmt.Sprintf("%s (%d): there %v, %d bytes, mode %o; want %d states, the last with %d bytes, mode %o", p, n,
				there, len(got.data), got.mode, len(r.model.files[n].states), len(r.model.files[n].now().data), r.model.files[n].now().mode)
		}
	}
	return ""
}

func same(a, b mstate) bool { return a.mode == b.mode && string(a.data) == string(b.data) }

// check compares what servers see now.
func (r *runner) check(t *rapid.T) {
	r.t = t
	if d := r.differs(look(t, r.backing), r.model.tree, func(f *mfile, got mstate) bool { return same(f.now(), got) }); d != "" {
		t.Fatalf("before a crash: %s", d)
	}
}

// crash crashes, compares, and goes on from what is left.
func (r *runner) crash(t *rapid.T) {
	mode := rapid.SampledFrom([]Mode{LoseUnsynced, Torn, Torn}).Draw(t, "mode")
	if _, err := r.vol.crash(mode); err != nil {
		t.Fatal(err)
	}
	for _, h := range r.handles {
		r.vol.forget(h.id, 1)
	}
	clear(r.handles)
	s := look(t, r.backing)
	if _, err := os.Stat(filepath.Join(r.backing, graveName)); err == nil {
		t.Fatal("the grave is still there")
	}
	tree := r.survivor(t, s, mode)
	r.start()
	r.adopt(s, tree)
}

// survivor returns the tree of the model that a crash left; it fails when it is
// none that the mode allows.
func (r *runner) survivor(t *rapid.T, s seen, mode Mode) mtree {
	tree := r.model.durable.clone()
	ok := func(f *mfile, got mstate) bool { return same(f.states[0], got) }
	if mode == Torn {
		ok = (*mfile).allowed
	}
	why := r.differs(s, tree, ok)
	for _, p := range r.model.pending {
		if why == "" || mode != Torn {
			break
		}
		tree.apply(p.sets)
		why = r.differs(s, tree, ok)
	}
	if why != "" {
		t.Fatalf("after %s: %s\npending: %d, durable: %v", mode, why, len(r.model.pending), r.model.durable)
	}
	return tree
}

// adopt makes what was seen the model's durable state, with open files.
func (r *runner) adopt(s seen, tree mtree) {
	m := newModel(r.model.strict)
	m.last, m.folders, m.durable = r.model.last, r.model.folders, tree
	paths := tree.paths(0, "", map[string]int{}, m.folders)
	live := mtree{0: tree[0]}
	for p, n := range paths {
		if m.folders[n] {
			live[n] = tree[n]
			if live[n] == nil {
				live[n] = map[string]int{}
			}
			continue
		}
		m.files[n] = &mfile{states: []mstate{s.files[p]}}
	}
	m.durable, m.tree = live, live.clone()
	r.model = m
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		if n := paths[p]; !m.folders[n] {
			if file := r.find(p); r.handles[n] == nil { // every name is looked up
				r.hold(n, file)
			}
		}
	}
}

// find looks a path up in the volume.
func (r *runner) find(p string) *node {
	n := r.vol.root
	for name := range strings.SplitSeq(p, "/") {
		n = r.child(n, name)
	}
	return n
}

func TestModelIsNotVacuous(t *testing.T) {
	f := &mfile{states: []mstate{{data: make([]byte, 2048), mode: 0o600}}}
	f.write(0, make([]byte, 3000))
	for size, want := range map[int]bool{2047: false, 2048: true, 2100: false, 2560: true, 3000: true, 3072: false} {
		if got := f.allowed(mstate{data: make([]byte, size), mode: 0o600}); got != want {
			t.Errorf("a torn file of %d bytes: allowed is %v", size, got)
		}
	}
}
