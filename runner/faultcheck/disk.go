package faultcheck

import (
	"fmt"

	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
)

// crash: what the program finds of its files when it is started again, beside what it had been told was synced.
func (s *seen) crash(k *strike) []Row {
	synced, written, found := s.latest(k, outside.Synced), s.latest(k, outside.Written), s.found(k)
	kept := k.check("every entry whose fsync had returned is there, whole", k.proof)
	lost := k.check("nothing that was not synced is there", k.proof)
	if synced == 0 || written == 0 || len(found) < 5 {
		kept.unmeasured(busy)
		return []Row{kept.Row}
	}
	is, was, none := found["synced"], found["written"], found["unnamed"]
	kept.measured("%d of %d", is.N, synced)
	lost.measured("%d of %d entries, and the file whose name was not synced is %s", was.N, written, there(none.N))
	switch k.fault.Mode {
	case "lose-all":
		lost.What = "nothing at all is there"
		lost.measured("%d of %d entries, whose file is %s; the file whose name was not synced is %s", max(was.N, 0), written, there(was.N), there(none.N))
		lost.unless(is.N == -1 && was.N == -1 && none.N == -1, "%d, %d and %d entries are", is.N, was.N, none.N)
		return []Row{lost.Row}
	case "torn":
		kept.unless(is.N >= synced, "%d are", is.N)
		lost.What = "of what was not synced a part is there, and of each entry all or not"
		lost.unless(was.N <= written+1, "%d entries were never written", was.N-written)
		return []Row{kept.Row, lost.Row, s.atOnce(k, found)}
	}
	kept.unless(is.N >= synced, "%d are", is.N)
	kept.unless(is.N <= synced+1, "%d are, more than had begun", is.N)
	lost.unless(was.N == 0 && was.M == 0 && none.N == -1, "%d bytes of it are", was.M)
	return []Row{kept.Row, lost.Row, s.atOnce(k, found)}
}

// keptAtOnce is the row of what sync and syncfs keep, of which the kernel tells nothing to a file system like ours: the filter
// of system calls does.
const keptAtOnce = "what was written before sync, and syncfs, returned is there, with its names"

func (s *seen) atOnce(k *strike, found map[string]outside.Record) Row {
	c := k.check(keptAtOnce, k.proof)
	all, fs := found["sync"].N, found["syncfs"].N
	c.unless(all == outside.SyncedAtOnce && fs == outside.SyncedAtOnce,
		"%d of %d and %d of %d entries are: Linux tells of these calls from 5.9 on, and a server that relies on "+
			"them instead of fsync is accused wrongly here", all, outside.SyncedAtOnce, fs, outside.SyncedAtOnce)
	c.measured("%d of %d by sync, %d of %d by syncfs", all, outside.SyncedAtOnce, fs, outside.SyncedAtOnce)
	return c.Row
}

// found is what the program finds of its files in its next life, by name.
func (s *seen) found(k *strike) map[string]outside.Record {
	found := map[string]outside.Record{}
	_, next := s.neighbours(k)
	for _, r := range between(s.of(k.target, outside.Found), k.begun, next) {
		found[r.Who] = r
	}
	return found
}

// busy is why files were not measured.
const busy = "the program had not come up, or not written, before the next fault: this machine is too busy"

// neighbours are when the fault before this one that ended the program was healed, and the next one begins.
func (s *seen) neighbours(k *strike) (before, next int64) {
	next = k.healed + soon
	for _, other := range s.strikes {
		ends := other.target == k.target && (other.fault.Fault == "crash" || other.fault.Fault == "kill")
		switch {
		case ends && other.healed < k.begun:
			before = max(before, other.healed)
		case ends && other.begun > k.begun:
			next = min(next, other.begun)
		}
	}
	return before, next
}

// survives: a kill without a crash loses nothing that was written, synced or not.
func (s *seen) survives(k *strike) []Row {
	c := k.check("every entry that was written is there, synced or not: the kernel has them", k.proof)
	synced, written, found := s.latest(k, outside.Synced), s.latest(k, outside.Written), s.found(k)
	if synced == 0 || written == 0 || len(found) < 5 {
		c.unmeasured(busy)
		return []Row{c.Row}
	}
	c.unless(found["written"].N >= written && found["synced"].N >= synced && found["unnamed"].N >= written-1,
		"%d of %d, %d of %d and %d of %d are", found["written"].N, written, found["synced"].N, synced, found["unnamed"].N, written)
	c.measured("%d of %d", found["written"].N, written)
	return []Row{c.Row}
}

func there(n int64) string {
	if n < 0 {
		return "gone"
	}
	return "there"
}

// latest is how many entries had been told of in the life that a fault ended.
func (s *seen) latest(k *strike, what string) (n int64) {
	before, _ := s.neighbours(k)
	for _, r := range between(s.of(k.target, what), before, k.healed) {
		n = max(n, r.N+1)
	}
	return n
}

// diskStall: how long the program's own fsync stood.
func (s *seen) diskStall(k *strike) []Row {
	from, to := k.window()
	c := k.check("an fsync stands until the heal, and none returns before", k.proof)
	calls := s.of(k.target, outside.Fsync)
	c.alive(k, calls, "an fsync")
	longest := int64(0)
	for _, r := range calls {
		c.unless(r.At < from || r.At > to, "one returned %s into the stall", ms(r.At-from))
		if r.From <= from+soon && r.At >= to && r.From <= to {
			longest = max(longest, r.At-r.From)
		}
	}
	c.unless(longest > 0, "none stood until the heal")
	c.measured("the longest stood for %s", ms(longest))
	return []Row{c.Row}
}

// full: a disk that is full says so, as a plain one does.
func (s *seen) full(k *strike) []Row {
	c := &check{Row{Kinds: []string{"crash"}, Fault: "(a full disk)", State: Agrees,
		What: "writes end with ENOSPC when the room is used, and removing makes room again",
		Said: fmt.Sprintf("the data folder of %s holds 16 MB", k.target)}}
	fills := s.of(k.target, outside.Full)
	if len(fills) == 0 {
		c.unmeasured("no disk was filled")
	}
	for _, r := range fills {
		c.unless(r.Text != "" && r.N > 0 && r.N <= r.M, "it took %d bytes of %d: %s", r.N, r.M, r.Text)
		c.measured("%.1f of %.1f MB taken, then: %s", float64(r.N)/1e6, float64(r.M)/1e6, r.Text)
	}
	c.unless(len(s.of(k.target, outside.Synced)) > 0, "nothing could be written afterwards")
	return []Row{c.Row}
}
