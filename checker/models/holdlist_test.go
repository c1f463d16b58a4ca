package models

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHoldList holds the list against a sorted slice.
func TestHoldList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list holdList
		var want, out []*hold
		for i := range 8 {
			out = append(out, &hold{ret: Ref{Index: i}})
		}
		for range 40 {
			from, to := &out, &want
			if rapid.Bool().Draw(t, "remove") {
				from, to = &want, &out
			}
			if len(*from) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(*from)-1).Draw(t, "which")
			h := (*from)[i]
			*from, *to = slices.Delete(*from, i, i+1), append(*to, h)
			if to == &want {
				list.insert(h)
			} else {
				list.remove(h)
			}
			slices.SortFunc(want, func(a, b *hold) int { return a.ret.Index - b.ret.Index })
			var got []*hold
			for h := list.last; h != nil; h = h.prev {
				if h.next != nil && h.next.prev != h || h.prev != nil && h.prev.next != h {
					t.Fatal("links that do not go both ways")
				}
				got = append(got, h)
			}
			slices.Reverse(got)
			if !slices.Equal(got, want) || list.n != len(want) {
				t.Fatalf("%d holds, n is %d, want %d", len(got), list.n, len(want))
			}
		}
	})
}

// TestLateIsForgotten has a handover in which the next grant is heard of before
// the release returns: nothing of it is kept once it has.
func TestLateIsForgotten(t *testing.T) {
	d := newMutex(Options{}).(*front)
	for i, e := range script("1 acquire\n1 ok acquire\n2 acquire\n1 release\n2 ok acquire\n1 ok release\n3 acquire") {
		if err := d.Add(e); err != nil {
			t.Fatal(err)
		}
		h := d.keys[""].judge.(*holds)
		if want := map[int]int{4: 1}[i]; len(h.late) != want {
			t.Errorf("after event %d %d grants are kept, want %d", i, len(h.late), want)
		}
	}
	if h := d.keys[""].judge.(*holds); h.releasing != [2]int{} {
		t.Errorf("releasing %v", h.releasing)
	}
}
