package lossy

import (
	"bytes"
	"maps"
	"slices"
)

// model says what a crash may leave, as plainly as possible: whole copies and
// rules applied until nothing changes, where the volume has undo and one pass.
// It goes forward from the durable state; the volume goes backward from the
// newest.
type model struct {
	strict  bool
	tree    mtree // as servers see it
	durable mtree
	pending []*mrecord
	files   map[int]*mfile
	folders map[int]bool
	last    int
}

// mtree holds, by folder, what each name stands for; folder 0 is the root.
type mtree map[int]map[string]int

type mrecord struct {
	sets    []mset
	removed int // the folder that it removed; 0: none
}

type mset struct {
	dir  int
	name string
	node int // -1: nothing
}

// mfile is a file's history since its last fsync; states[0] is durable.
type mfile struct {
	states []mstate
}

type mstate struct {
	data   []byte
	mode   uint32
	off, n int // the write that led here; n 0: something else
}

func newModel(strict bool) *model {
	return &model{strict: strict, tree: mtree{0: {}}, durable: mtree{0: {}}, files: map[int]*mfile{}, folders: map[int]bool{0: true}}
}

func (f *mfile) now() mstate { return f.states[len(f.states)-1] }

func (m *model) at(dir int, name string) (int, bool) {
	n, ok := m.tree[dir][name]
	return n, ok
}

// note does a change of names and keeps it pending.
func (m *model) note(removed int, sets ...mset) {
	m.tree.apply(sets)
	m.pending = append(m.pending, &mrecord{sets, removed})
}

// remove does the removal of n, whose creation it annuls if nothing else was done
// with it: a torn crash leaves both or neither.
func (m *model) remove(dir int, name string, n int) {
	others := func(r *mrecord) bool { return r.names(n) || m.folders[n] && r.touches(n) }
	i := slices.IndexFunc(m.pending, others)
	if i >= 0 && !m.born(n) && !slices.ContainsFunc(m.pending[i+1:], others) && len(m.pending[i].sets) == 1 {
		m.tree.apply([]mset{{dir, name, -1}})
		m.pending = slices.Delete(m.pending, i, i+1)
		return
	}
	folder := 0
	if m.folders[n] {
		folder = n
	}
	m.note(folder, mset{dir, name, -1})
}

func (t mtree) apply(sets []mset) {
	for _, s := range sets {
		if t[s.dir] == nil {
			t[s.dir] = map[string]int{}
		}
		if s.node < 0 {
			delete(t[s.dir], s.name)
		} else {
			t[s.dir][s.name] = s.node
		}
	}
}

func (t mtree) clone() mtree {
	c := mtree{}
	for d, names := range t {
		c[d] = maps.Clone(names)
	}
	return c
}

// inside says whether folder n is a or lies in a.
func (m *model) inside(a, n int) bool {
	if a == n {
		return true
	}
	for _, child := range m.tree[a] {
		if m.folders[child] && m.inside(child, n) {
			return true
		}
	}
	return false
}

// above says whether n has an entry somewhere below folder a.
func (m *model) above(a, n int) bool {
	for _, child := range m.tree[a] {
		if child == n || m.folders[child] && m.above(child, n) {
			return true
		}
	}
	return false
}

func (m *model) born(n int) bool {
	if n == 0 {
		return true
	}
	for _, names := range m.durable {
		for _, child := range names {
			if child == n {
				return true
			}
		}
	}
	return false
}

func (r *mrecord) names(n int) bool {
	return slices.ContainsFunc(r.sets, func(s mset) bool { return s.node == n })
}

func (r *mrecord) touches(dir int) bool {
	return slices.ContainsFunc(r.sets, func(s mset) bool { return s.dir == dir })
}

func (m *model) movesFolder(r *mrecord) bool {
	return len(r.sets) == 2 && r.sets[0].dir != r.sets[1].dir &&
		slices.ContainsFunc(r.sets, func(s mset) bool { return s.node >= 0 && m.folders[s.node] })
}

// commit makes durable what want picks and what the rules add.
func (m *model) commit(want func(*mrecord) bool, above bool) {
	picked := map[*mrecord]bool{}
	for _, r := range m.pending {
		picked[r] = want(r)
	}
	for changed := true; changed; {
		changed = false
		for i, r := range m.pending {
			for j, other := range m.pending {
				if picked[r] && !picked[other] && m.needs(r, other, j < i, above) {
					picked[other], changed = true, true
				}
			}
		}
	}
	m.pending = slices.DeleteFunc(m.pending, func(r *mrecord) bool {
		if picked[r] {
			m.durable.apply(r.sets) // in the order of time
		}
		return picked[r]
	})
}

// needs says whether r cannot be durable without other.
func (m *model) needs(r, other *mrecord, earlier, above bool) bool {
	for _, s := range r.sets {
		for _, o := range other.sets {
			if earlier && s.dir == o.dir && s.name == o.name {
				return true
			}
		}
		moved := len(r.sets) == 2 && s.node >= 0 && m.born(s.node)
		if s.node >= 0 && (above || moved) && !m.born(s.dir) && other.names(s.dir) {
			return true
		}
	}
	return r.removed > 0 && other.touches(r.removed) || earlier && m.movesFolder(r) && m.movesFolder(other)
}

func (m *model) syncFile(n int) {
	if f := m.files[n]; f != nil {
		f.states = []mstate{{data: f.now().data, mode: f.now().mode}}
	}
	if !m.strict {
		m.commit(func(r *mrecord) bool {
			return r.names(n) || slices.ContainsFunc(r.sets, func(s mset) bool { return s.node > 0 && m.folders[s.node] && m.above(s.node, n) })
		}, true)
	}
}

func (m *model) syncFolder(dir int) {
	m.syncFile(dir)
	m.commit(func(r *mrecord) bool { return r.touches(dir) }, !m.strict)
}

// change appends a state to a file.
func (f *mfile) change(s mstate) { f.states = append(f.states, s) }

func (f *mfile) write(off int, b []byte) {
	s := f.now()
	s.data = resized(s.data, max(len(s.data), off+len(b)))
	copy(s.data[off:], b)
	s.off, s.n = off, len(b)
	f.change(s)
}

// resized is always a copy.
func resized(b []byte, size int) []byte {
	c := make([]byte, size)
	copy(c, b)
	return c
}

// allowed says whether a torn crash may leave a file so.
func (f *mfile) allowed(got mstate) bool {
	for i, s := range f.states {
		if same(s, got) || f.paged(i, got) {
			return true
		}
		for cut := s.off/512*512 + 512; i > 0 && cut < s.off+s.n; cut += 512 {
			before := f.states[i-1]
			part := mfile{states: []mstate{before}}
			part.write(s.off, s.data[s.off:cut])
			if same(part.now(), got) {
				return true
			}
		}
	}
	return false
}

// paged says whether got is state i with the pages that the plain writes after it
// changed, each as it was at some moment among these.
func (f *mfile) paged(i int, got mstate) bool {
	base := f.states[i]
	end := i + 1
	for end < len(f.states) && f.states[end].n > 0 {
		end++
	}
	if got.mode != base.mode || len(got.data) < len(base.data) {
		return false
	}
	long := len(base.data) == len(got.data)
	for at := 0; at < len(got.data); at += 4096 {
		stop := min(at+4096, len(got.data))
		found := false
		for k := i; k < end; k++ {
			s := f.states[k]
			touched := slices.ContainsFunc(f.states[i+1:k+1], func(s mstate) bool { return s.off < at+4096 && s.off+s.n > at })
			if k > i && !touched || touched && min(len(s.data), at+4096) > len(got.data) {
				continue
			}
			if bytes.Equal(resized(s.data, max(stop, len(s.data)))[at:stop], got.data[at:stop]) {
				found = true
				long = long || touched && len(s.data) >= len(got.data) && stop == len(got.data)
			}
		}
		if !found {
			return false
		}
	}
	return long
}
