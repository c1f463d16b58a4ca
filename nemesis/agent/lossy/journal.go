package lossy

import (
	"container/list"
	"slices"
)

// record is one unsynced change of the tree: all of it survives a crash or
// nothing. It is guarded by volume.ns.
type record struct {
	changes []change
	seq     uint64
	swap    bool // RENAME_EXCHANGE
	picked  bool // during commit
	at      *list.Element
}

// change is what a record does to one entry.
type change struct {
	dir      *node
	name     string
	old, new *node  // what it named before and names now; nil: nothing
	grave    string // where old lies; empty: it has another place in the tree
}

func (c change) entry() entry { return entry{c.dir, c.name} }

// moves says whether r gives a file that is there already a place in another folder.
func (r *record) moves() bool {
	return len(r.changes) > 1 && r.changes[0].dir != r.changes[1].dir
}

// movesFolder says whether r changes the parent of a folder.
func (r *record) movesFolder() bool {
	return r.moves() && slices.ContainsFunc(r.changes, func(c change) bool { return c.new != nil && c.new.dir })
}

// journal holds the unsynced changes of folders, oldest first, and finds those of
// one entry and those that move folders without looking at all: servers make and
// remove temporary files for hours without ever syncing the folder.
type journal struct {
	records list.List
	of      map[entry][]*record
	moves   []*record
}

// note adds a record to the journal, and learns the new places; v.ns is held.
func (v *volume) note(changes ...change) {
	v.lastID++
	r := &record{changes: changes, seq: v.lastID}
	r.swap = len(changes) == 2 && changes[0].new != nil
	j := &v.journal
	r.at = j.records.PushBack(r)
	if r.movesFolder() {
		j.moves = append(j.moves, r)
	}
	for _, c := range changes {
		j.of[c.entry()] = append(j.of[c.entry()], r)
		c.dir.refs++
		if c.dir.within == nil {
			c.dir.within = map[*record]bool{}
		}
		c.dir.within[r] = true
		if c.old != nil {
			c.old.refs++
			c.old.unsee(c.entry())
		}
	}
	for _, c := range changes {
		if c.new != nil {
			c.new.refs++
			c.new.naming = append(c.new.naming, r)
			c.new.see(c.entry())
		}
	}
}

// strike takes a record out of the journal; v.ns is held.
func (v *volume) strike(r *record) {
	j := &v.journal
	j.records.Remove(r.at)
	j.moves = without(j.moves, r)
	for _, c := range r.changes {
		if left := without(j.of[c.entry()], r); len(left) > 0 {
			j.of[c.entry()] = left
		} else {
			delete(j.of, c.entry())
		}
		c.dir.refs--
		delete(c.dir.within, r)
		if c.old != nil {
			c.old.refs--
		}
		if c.new != nil {
			c.new.refs--
			c.new.naming = without(c.new.naming, r)
		}
	}
}

func without(all []*record, r *record) []*record {
	if i := slices.Index(all, r); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

// settle notes that a change is durable: what it removed cannot come back.
func (v *volume) settle(c change) {
	if c.old != nil {
		c.old.durable--
		if c.grave != "" {
			v.burn(c.old, c.grave)
		}
		v.reap(c.old)
	}
	if c.new != nil {
		c.new.durable++
		v.reap(c.new)
	}
	v.reap(c.dir)
}

// annul tells whether the newest unsynced change of an entry is the creation of
// n, which has no other entry, and then forgets it: creation and removal in one
// go are nothing, and need no grave.
func (v *volume) annul(dir *node, name string, n *node) bool {
	if n.durable > 0 || len(n.graves) > 0 || len(n.naming) != 1 || len(n.within) > 0 {
		return false // it was durable, linked or renamed; or a folder that was used
	}
	r := n.naming[0]
	if c := r.changes[0]; len(r.changes) > 1 || c.dir != dir || c.name != name || c.old != nil {
		return false
	}
	v.strike(r)
	return true
}
