package models

import "hash/maphash"

// set64 is a set of hashes of names in eight bytes each, at most half full: of
// ten million operations a tenth may retire their owner. That two of a million
// collide has a probability of 10^-7, and the result is an error, not a verdict.
type set64 struct {
	slots []uint64 // 0: empty
	n     int
}

var nameSeed = maphash.MakeSeed()

// hashString is never 0.
func hashString(s string) uint64 { return maphash.String(nameSeed, s) | 1 }

func (s *set64) has(x uint64) bool { return s.n > 0 && s.slots[s.find(x)] == x }

func (s *set64) add(x uint64) {
	if 2*(s.n+1) > len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(16, 2*len(old)))
		for _, y := range old {
			if y != 0 {
				s.slots[s.find(y)] = y
			}
		}
	}
	if i := s.find(x); s.slots[i] != x {
		s.slots[i] = x
		s.n++
	}
}

// find returns the slot of x, or the empty one where it belongs.
func (s *set64) find(x uint64) int {
	mask := len(s.slots) - 1
	i := int(x) & mask
	for s.slots[i] != 0 && s.slots[i] != x {
		i = (i + 1) & mask
	}
	return i
}
