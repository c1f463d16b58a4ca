package lossy

import (
	"slices"

	"golang.org/x/sys/unix"
)

// record is one unsynced change of the tree: all of it survives a crash or
// nothing. It is guarded by volume.ns.
type record struct {
	changes []change
	seq     uint64
	swap    bool // RENAME_EXCHANGE
	picked  bool // during commit
}

// change is what a record does to one entry.
type change struct {
	dir      *node
	name     string
	old, new *node  // what it named before and names now; nil: nothing
	grave    string // where old lies; empty: it has another place in the tree
}

// entry identifies an entry.
type entry struct {
	dir  *node
	name string
}

func (c change) entry() entry { return entry{c.dir, c.name} }

// moves says whether r gives a file that is there already a place in another folder.
func (r *record) moves() bool {
	return len(r.changes) > 1 && r.changes[0].dir != r.changes[1].dir
}

// touches says whether an fsync of dir makes r durable.
func (r *record) touches(dir *node) bool {
	return slices.ContainsFunc(r.changes, func(c change) bool { return c.dir == dir })
}

// names says whether r makes an entry for n.
func (r *record) names(n *node) bool {
	return slices.ContainsFunc(r.changes, func(c change) bool { return c.new == n })
}

// movesFolder says whether r changes the parent of a folder.
func (r *record) movesFolder() bool {
	return r.moves() && slices.ContainsFunc(r.changes, func(c change) bool { return c.new != nil && c.new.dir })
}

// commit makes the records that want picks durable, and those without which they
// would make no sense:
//
//   - earlier changes of the same entry, so that what is left of an entry's
//     changes is always its newest, and undoing it newest first is right;
//   - the entries of new folders that a file was moved into, as the file would
//     be lost otherwise though nobody removed it; with above, those of every new
//     folder on the way (what a journal does);
//   - the changes within a folder whose removal is picked;
//   - earlier moves of folders, once one is picked: folders moved into each other
//     in turn would else form a circle that hangs nowhere.
//
// Most of these are earlier than what needs them, so a pass backwards finds them;
// not the later rename of a new folder, so it is repeated until it finds nothing.
func (v *volume) commit(want func(*record) bool, above bool) {
	p := pick{above: above, entries: map[entry]uint64{}, born: map[*node]bool{}, emptied: map[*node]bool{}}
	for again := true; again; {
		again = false
		for _, r := range slices.Backward(v.journal) {
			if !r.picked && (want(r) || p.needs(r)) {
				r.picked, again = true, true
				p.add(r)
			}
		}
	}
	v.retire()
}

// pick is what the picked records need.
type pick struct {
	above   bool
	entries map[entry]uint64 // changes of these up to a record
	born    map[*node]bool   // the entries of these folders
	emptied map[*node]bool   // the changes within these
	folders uint64           // moves of folders up to a record
}

func (p *pick) needs(r *record) bool {
	return r.seq < p.folders && r.movesFolder() || slices.ContainsFunc(r.changes, func(c change) bool {
		return r.seq < p.entries[c.entry()] || p.emptied[c.dir] || c.new != nil && p.born[c.new]
	})
}

func (p *pick) add(r *record) {
	if r.movesFolder() {
		p.folders = max(p.folders, r.seq)
	}
	for _, c := range r.changes {
		p.entries[c.entry()] = max(p.entries[c.entry()], r.seq)
		if c.grave != "" && c.old.dir {
			p.emptied[c.old] = true
		}
		moved := len(r.changes) > 1 && c.new != nil && c.new.durable > 0
		if c.new != nil && c.dir.durable == 0 && (p.above || moved) {
			p.born[c.dir] = true
		}
	}
}

// retire takes the picked records out of the journal, for good.
func (v *volume) retire() {
	var done []*record
	v.journal = slices.DeleteFunc(v.journal, func(r *record) bool {
		if r.picked {
			done = append(done, r)
		}
		return r.picked
	})
	for _, r := range done {
		for _, c := range r.changes {
			v.settle(c)
		}
	}
}

// settle notes that a change is durable: what it removed cannot come back.
func (v *volume) settle(c change) {
	if c.new != nil {
		c.new.durable++
	}
	if c.old == nil {
		return
	}
	c.old.durable--
	if c.grave != "" {
		v.burn(c.old, c.grave)
	}
}

// bury moves an entry into the grave and returns where it lies.
func (v *volume) bury(dir *node, name string, n *node) (string, error) {
	v.lastID++
	grave := graveEntry(v.lastID)
	if err := unix.Renameat(dir.fd, name, v.grave, grave); err != nil {
		return "", err
	}
	n.buried++
	return grave, nil
}

// unbury moves it back.
func (v *volume) unbury(grave string, dir *node, name string, n *node) error {
	n.buried--
	return unix.Renameat(v.grave, grave, dir.fd, name)
}

// burn removes what lies in the grave.
func (v *volume) burn(n *node, grave string) {
	_ = removeAll(v.grave, grave) // at worst it stays until the next start
	n.buried--
	v.vanish(n)
}

// annul tells whether the newest unsynced change of an entry is the creation of
// n, which has no other entry, and then forgets it: creation and removal in one
// go are nothing, and need no grave. Servers do that with temporary files for
// hours without ever syncing the folder.
func (v *volume) annul(dir *node, name string, n *node) bool {
	if n.durable > 0 || n.buried > 0 {
		return false
	}
	at := -1
	for i, r := range v.journal {
		if r.names(n) || n.dir && r.touches(n) {
			if at >= 0 || len(r.changes) > 1 {
				return false // linked or renamed; or a folder that was used
			}
			at = i
		}
	}
	if at < 0 {
		return false
	}
	c := v.journal[at].changes[0]
	if c.dir != dir || c.name != name || c.old != nil {
		return false
	}
	v.journal = slices.Delete(v.journal, at, at+1)
	return true
}
