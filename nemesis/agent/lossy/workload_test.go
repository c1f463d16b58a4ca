package lossy

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// workload does random calls in two folders and remembers what was acknowledged.
type workload struct {
	*testing.T
	rng   *rand.Rand
	roots [2]string
	clock int // counts calls
	log   []string

	files     map[string]*known
	dirs      []string
	named     map[string]int // when an entry was last changed
	dirSynced map[string]int
	open      []*opened
	all       []*opened
}

// known is a file; several names may stand for it.
type known struct {
	synced  int    // when its last fsync came back; 0: never
	content string // as it was then
}

// opened is a file that is open in both.
type opened struct {
	file *known
	fds  [2]int
}

func mapKeys(m map[string]*known) iter.Seq[string] { return maps.Keys(m) }

// both does a call on both sides, which must agree about its success.
func (w *workload) both(what string, call func(side int, root string) error) bool {
	w.Helper()
	w.log = append(w.log, what)
	var errs [2]error
	for i, root := range w.roots {
		errs[i] = call(i, root)
	}
	if (errs[0] == nil) != (errs[1] == nil) {
		w.Fatalf("%s: ext4 says %v, ours %v\n%s", what, errs[0], errs[1], strings.Join(w.log, "\n"))
	}
	return errs[0] == nil
}

// end closes what is open.
func (w *workload) end() {
	for _, o := range w.all {
		_, _ = unix.Close(o.fds[0]), unix.Close(o.fds[1])
	}
}

// changed is when the last part of a path was named so.
func (w *workload) changed(name string) int {
	last := 0
	for ; name != "."; name = filepath.Dir(name) {
		last = max(last, w.named[name])
	}
	return last
}

func (w *workload) name() string {
	dir := ""
	if len(w.dirs) > 0 && w.rng.IntN(2) == 0 {
		dir = w.dirs[w.rng.IntN(len(w.dirs))]
	}
	return filepath.Join(dir, string(rune('a'+w.rng.IntN(4))))
}

// some is an open file; one is made if there is none.
func (w *workload) some() *opened {
	for len(w.open) == 0 {
		w.create(0)
	}
	return w.open[w.rng.IntN(len(w.open))]
}

func (w *workload) create(flags int) {
	name := w.name()
	o := &opened{}
	if !w.both(fmt.Sprintf("open %s %#x", name, flags), func(i int, root string) (err error) {
		o.fds[i], err = unix.Open(filepath.Join(root, name), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|flags, 0o644)
		return err
	}) {
		return
	}
	w.all = append(w.all, o)
	if w.files[name] == nil {
		w.files[name] = &known{}
		w.touch(name)
	}
	o.file = w.files[name]
	w.open = append(w.open, o)
}

func (w *workload) touch(names ...string) {
	if w.named == nil {
		w.named, w.dirSynced = map[string]int{}, map[string]int{}
	}
	for _, n := range names {
		w.named[n] = w.clock
	}
}

func (w *workload) step() {
	w.clock++
	switch w.rng.IntN(16) {
	case 0, 1:
		w.create(0)
	case 2:
		w.create([]int{unix.O_DSYNC, unix.O_TRUNC, unix.O_SYNC, unix.O_DIRECT | unix.O_DSYNC}[w.rng.IntN(4)])
	case 3, 4:
		w.write(w.some())
	case 5:
		w.sync(w.some())
	case 6, 7, 8:
		w.rename()
	case 9:
		w.link()
	case 10:
		w.remove()
	case 11:
		w.mkdir()
	case 12:
		w.syncDir()
	case 13:
		w.reshape(w.some())
	case 14:
		w.mapped(w.some())
	case 15:
		w.copyRange(w.some(), w.some())
	}
}

// acknowledge notes what is in a file now: its fsync has come back.
func (w *workload) acknowledge(o *opened) {
	var texts [2][]byte
	for i, fd := range o.fds {
		var err error
		if texts[i], err = os.ReadFile(procFD(fd)); err != nil { // O_DIRECT reads whole blocks only
			w.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		w.Fatalf("the two files differ before any crash\n%s", strings.Join(w.log, "\n"))
	}
	o.file.synced, o.file.content = w.clock, string(texts[0])
}

func (w *workload) write(o *opened) {
	text := bytes.Repeat([]byte{byte('A' + w.rng.IntN(26))}, 1+w.rng.IntN(9000))
	off := int64(w.rng.IntN(6000))
	flags := 0
	if flags, _ := unix.FcntlInt(uintptr(o.fds[0]), unix.F_GETFL, 0); flags&unix.O_DIRECT != 0 {
		text, off = aligned(w.T, 4096, 'D'), off/4096*4096
	}
	w.both(fmt.Sprintf("write %d at %d", len(text), off), func(i int, _ string) error {
		_, err := unix.Pwrite(o.fds[i], text, off)
		flags, _ = unix.FcntlInt(uintptr(o.fds[i]), unix.F_GETFL, 0)
		return err
	})
	if flags&unix.O_DSYNC != 0 {
		w.acknowledge(o)
	}
}

func (w *workload) sync(o *opened) {
	w.clock++
	call := unix.Fsync
	if w.rng.IntN(3) == 0 {
		call = unix.Fdatasync
	}
	if w.both("fsync", func(i int, _ string) error { return call(o.fds[i]) }) {
		w.acknowledge(o)
	}
}

func (w *workload) syncDir() {
	dir := "."
	if len(w.dirs) > 0 {
		dir = w.dirs[w.rng.IntN(len(w.dirs))]
	}
	if w.both("fsync of folder "+dir, func(_ int, root string) error {
		f, err := os.Open(filepath.Join(root, dir))
		if err == nil {
			err = f.Sync()
			_ = f.Close()
		}
		return err
	}) {
		w.touch()
		w.dirSynced[dir] = w.clock
	}
}

func (w *workload) mkdir() {
	name := w.name() + "dir"
	if w.both("mkdir "+name, func(_ int, root string) error { return os.Mkdir(filepath.Join(root, name), 0o755) }) {
		w.dirs = append(w.dirs, name)
		w.touch(name)
	}
}

func (w *workload) rename() {
	from, to := w.name(), w.name()
	if len(w.dirs) > 0 && w.rng.IntN(4) == 0 {
		from, to = w.dirs[w.rng.IntN(len(w.dirs))], w.name()+"dir"
	}
	flags := uint(0)
	if w.rng.IntN(4) == 0 {
		flags = unix.RENAME_EXCHANGE
	}
	a, b := w.files[from], w.files[to]
	if !w.both(fmt.Sprintf("rename %s %s %d", from, to, flags), func(_ int, root string) error {
		return unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, from), unix.AT_FDCWD, filepath.Join(root, to), flags)
	}) || from == to || a != nil && a == b {
		return
	}
	w.moved(from, to, flags != 0)
	w.touch(from, to)
}

// moved renames what is known.
func (w *workload) moved(from, to string, exchange bool) {
	under := func(name, dir string) (string, bool) {
		rest, ok := strings.CutPrefix(name+"/", dir+"/")
		return strings.TrimSuffix(rest, "/"), ok
	}
	replace := func(name string) (string, bool) {
		if rest, ok := under(name, from); ok {
			return filepath.Join(to, rest), true
		}
		if rest, ok := under(name, to); ok {
			return filepath.Join(from, rest), exchange
		}
		return name, true
	}
	files := map[string]*known{}
	for name, f := range w.files {
		if now, stays := replace(name); stays {
			files[now] = f
		}
	}
	var dirs []string
	for _, d := range w.dirs {
		if now, stays := replace(d); stays {
			dirs = append(dirs, now)
		}
	}
	named, synced := map[string]int{}, map[string]int{}
	for name, at := range w.named {
		if now, stays := replace(name); stays {
			named[now] = max(named[now], at)
		}
	}
	for name, at := range w.dirSynced {
		if now, stays := replace(name); stays {
			synced[now] = at
		}
	}
	w.files, w.dirs, w.named, w.dirSynced = files, dirs, named, synced
}

func (w *workload) link() {
	from, to := w.name(), w.name()
	if w.both(fmt.Sprintf("link %s %s", from, to), func(_ int, root string) error {
		return os.Link(filepath.Join(root, from), filepath.Join(root, to))
	}) {
		w.files[to] = w.files[from]
		w.touch(to)
	}
}

func (w *workload) remove() {
	name := w.name()
	if len(w.dirs) > 0 && w.rng.IntN(3) == 0 {
		name = w.dirs[w.rng.IntN(len(w.dirs))]
	}
	if w.both("remove "+name, func(_ int, root string) error { return os.Remove(filepath.Join(root, name)) }) {
		delete(w.files, name)
		w.dirs = slices.DeleteFunc(w.dirs, func(d string) bool { return d == name })
		w.touch(name)
	}
}

func (w *workload) reshape(o *opened) {
	size, off := int64(w.rng.IntN(9000)), int64(w.rng.IntN(5000))
	if w.rng.IntN(2) == 0 {
		w.both(fmt.Sprintf("truncate %d", size), func(i int, _ string) error { return unix.Ftruncate(o.fds[i], size) })
		return
	}
	w.both(fmt.Sprintf("punch %d at %d", size, off), func(i int, _ string) error {
		return unix.Fallocate(o.fds[i], unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, size+1)
	})
}

// mapped writes through a mapping and lets msync acknowledge it.
func (w *workload) mapped(o *opened) {
	w.clock++
	var st unix.Stat_t
	if unix.Fstat(o.fds[0], &st) != nil || st.Size == 0 {
		return
	}
	at, c := w.rng.Int64N(st.Size), byte('a'+w.rng.IntN(26))
	if w.both(fmt.Sprintf("map, write at %d, msync", at), func(i int, _ string) error {
		b, err := unix.Mmap(o.fds[i], 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Munmap(b) }()
		b[at] = c
		return unix.Msync(b, unix.MS_SYNC)
	}) {
		w.acknowledge(o)
	}
}

func (w *workload) copyRange(from, to *opened) {
	for _, o := range []*opened{from, to} { // O_DIRECT wants whole blocks
		if flags, _ := unix.FcntlInt(uintptr(o.fds[0]), unix.F_GETFL, 0); flags&unix.O_DIRECT != 0 {
			return
		}
	}
	if from.file == to.file {
		return
	}
	n, in, out := 1+w.rng.IntN(5000), int64(w.rng.IntN(3000)), int64(w.rng.IntN(3000))
	w.both(fmt.Sprintf("copy_file_range %d", n), func(i int, _ string) error {
		a, b := in, out
		_, err := unix.CopyFileRange(from.fds[i], &a, to.fds[i], &b, n, 0)
		return err
	})
}
