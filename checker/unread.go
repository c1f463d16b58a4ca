package checker

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// acknowledged is how far the log of one key was told of, as a walk over a history goes on.
type acknowledged struct {
	place map[string]int // of what was accepted, in the order in which it was written, from 1
	done  int            // the answer to the last of these that was acknowledged by now
	last  int            // and its place; 0: none was
}

// unread finds reads that miss an update which was acknowledged before they were asked for:
// what they saw stood there before that one. Only what the resource has logged is compared,
// so a read whose value stands in no log says nothing. O(n).
func (u *updates) unread() {
	r := u.r
	logs := map[string]*acknowledged{}
	for _, k := range r.keys {
		logs[k.Name] = &acknowledged{place: u.places(k)}
	}
	type asked struct {
		key    string
		invoke int
		acknowledged
	}
	reads := map[int]asked{} // by process
	var logged []asked       // notes of reads that missed an update; of them those of which nobody recorded the answer count
	told := map[string]bool{}
	for i := range r.Ops {
		op := &r.Ops[i]
		switch {
		case op.F == history.Write && op.Type == history.OK && u.acked(op.Value):
			log := logs[r.Ops[r.Writes[r.ByValue[op.Value]].Invoke].Key]
			if log != nil && log.place[op.Value] > log.last {
				log.last, log.done = log.place[op.Value], i
			}
		case op.F == history.ReadSeen:
			if log := logs[op.Key]; log != nil && log.last > 0 && u.misses(log, u.side.of(op)) {
				logged = append(logged, asked{op.Key, i, *log})
			}
		case op.F != history.Read:
		case op.Type == history.Invoke && logs[op.Key] != nil:
			reads[op.Process] = asked{op.Key, i, *logs[op.Key]}
		case op.Type == history.OK:
			seen, by := u.side.of(op), reads[op.Process]
			delete(reads, op.Process)
			if seen == nil || by.last == 0 {
				continue
			}
			if u.misses(&by.acknowledged, seen) {
				told[r.Ops[by.invoke].Owner+" "+seen.Value] = true
				u.lost(r.Ops[by.done].Value, Violation{Key: by.key, At: op.Time, Operations: []int{by.done, by.invoke, i}},
					"%s read %s in the %s copy of %q at %s, although %q, which came after it, had been acknowledged at %s.",
					r.client(i), named(seen.Value), u.side.name, by.key, r.seconds(op.Time), r.Ops[by.done].Value, r.seconds(r.Ops[by.done].Time))
			}
		}
	}
	for _, by := range logged {
		op := &r.Ops[by.invoke]
		if seen := u.side.of(op); !told[op.Owner+" "+seen.Value] {
			u.lost(r.Ops[by.done].Value, Violation{Key: by.key, At: op.Time, Operations: []int{by.done, by.invoke}},
				"The %s copy of %q showed %s to %s at %s, although %q, which came after it, had been acknowledged at %s.",
				u.side.name, by.key, named(seen.Value), u.writer(op), r.seconds(op.Time), r.Ops[by.done].Value, r.seconds(r.Ops[by.done].Time))
		}
	}
}

// misses says whether what a copy shows stood there before the last update that was acknowledged.
func (u *updates) misses(log *acknowledged, seen *history.Copy) bool {
	if seen == nil {
		return false
	}
	stood, logged := log.place[seen.Value]
	return (logged || seen.Value == "") && stood < log.last
}

// places are those of the accepted writes of a key, from 1: the first that was logged with nothing
// before it, and each after the one that it replaced. Notes may be stamped in another order than
// writes were made, as a database takes the time of the request. What such a chain does not reach has none.
func (u *updates) places(k *keyLog) map[string]int {
	next, made := map[string]string{}, map[string]bool{}
	var previous []string // of each, in the order of the log
	for _, i := range k.Resource {
		op := &u.r.Ops[i]
		if c := u.side.of(op); op.F == history.Apply && c != nil && c.Accepted {
			if _, forked := next[c.Previous]; !forked {
				next[c.Previous] = op.Value
			}
			made[op.Value] = true
			previous = append(previous, c.Previous)
		}
	}
	place := map[string]int{}
	start := slices.IndexFunc(previous, func(value string) bool { return !made[value] })
	if start < 0 {
		return place
	}
	for at, n := previous[start], 1; n <= len(previous); n++ {
		value, goesOn := next[at]
		if _, before := place[value]; !goesOn || before {
			break
		}
		place[value], at = n, value
	}
	return place
}
