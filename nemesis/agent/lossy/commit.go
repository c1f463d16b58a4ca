package lossy

import (
	"cmp"
	"slices"
)

// commit makes records durable, and those without which they would make no sense:
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
// v.ns is held.
func (v *volume) commit(records []*record, above bool) {
	var picked []*record
	pick := func(all []*record, before uint64) {
		for _, r := range all {
			if !r.picked && r.seq < before {
				r.picked = true
				picked = append(picked, r)
			}
		}
	}
	const all = ^uint64(0)
	pick(records, all)
	for i := 0; i < len(picked); i++ {
		r := picked[i]
		if r.movesFolder() {
			pick(v.journal.moves, r.seq)
		}
		for _, c := range r.changes {
			pick(v.journal.of[c.entry()], r.seq)
			if c.grave != "" && c.old.dir {
				pick(c.old.changes(), all)
			}
			moved := len(r.changes) > 1 && c.new != nil && c.new.durable > 0
			if c.new != nil && c.dir.durable == 0 && (above || moved) {
				pick(c.dir.naming, all)
			}
		}
	}
	slices.SortFunc(picked, func(a, b *record) int { return cmp.Compare(a.seq, b.seq) })
	for _, r := range picked {
		v.strike(r)
	}
	for _, r := range picked {
		for _, c := range r.changes {
			v.settle(c)
		}
	}
}

// changes are the records that change the entries of a folder.
func (n *node) changes() []*record {
	all := make([]*record, 0, len(n.within))
	for r := range n.within {
		all = append(all, r)
	}
	return all
}

// names are the records that made the names under which n can be found: its own
// entries, and those of the folders on the way. ext4, xfs and btrfs make them durable
// with an fsync of the file, new or not: their journals keep order.
func (n *node) names() []*record {
	all := slices.Clone(n.naming)
	for _, e := range n.places {
		if e.dir != n {
			all = append(all, e.dir.names()...)
		}
	}
	return all
}
