package checker

import (
	"slices"
	"sort"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// contended counts the acquires of a key that waited at some instant at which another
// client believed to hold it. It is the one meaning of contention: whoever was in the queue
// competed, also where the lock was on its way from one to the next when that one asked. An error of a client that was never
// granted the key is none: its request need not have reached the service.
func (r *run) contended(k *keyLog) int {
	all, own := &beliefs{}, map[string]*beliefs{}
	for _, g := range k.Grants {
		client := r.client(g.Op)
		if own[client] == nil {
			own[client] = &beliefs{}
		}
		all.add(g)
		own[client].add(g)
	}
	all.sort()
	for _, b := range own {
		b.sort()
	}
	n := 0
	for _, w := range k.Waits {
		to := w.From // of what was never answered nothing else is known
		if lasted, known := r.lasted(w); known {
			to = max(w.From, lasted.To-1)
		}
		b := own[r.client(w.Invoke)]
		if b == nil && w.Done >= 0 && r.Ops[w.Done].Type == history.Info {
			continue
		}
		others := all.during(w.From, to)
		if b != nil {
			others -= b.during(w.From, to)
		}
		if others > 0 {
			n++
		}
	}
	return n
}

// beliefs are times in which somebody believed to hold a key, added by their begins.
type beliefs struct{ begins, ends []int64 }

func (b *beliefs) add(g *trace.Grant) {
	if g.OK < g.End {
		b.begins, b.ends = append(b.begins, g.OK), append(b.ends, g.End)
	}
}

func (b *beliefs) sort() { slices.Sort(b.ends) }

// during counts those that have an instant in [from, to]: those that have begun by to,
// but for those that had ended by from.
func (b *beliefs) during(from, to int64) int {
	begun := sort.Search(len(b.begins), func(i int) bool { return b.begins[i] > to })
	ended := sort.Search(len(b.ends), func(i int) bool { return b.ends[i] > from })
	return begun - ended
}
