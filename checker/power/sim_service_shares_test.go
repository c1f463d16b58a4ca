package power

import "github.com/dlmtest/dlmtest/history"

// given is what the holder of h is told.
func (h *hold) given(depth int) given {
	return given{true, h.owner, h.token, depth, h.mode, h.permits}
}

// otherwise says whether h could as well be granted in another way beside what is held.
func (s *service) otherwise(h *hold) bool {
	mode, permits := h.other()
	return s.room(wish{mode: mode, permits: permits})
}

// other is another mode, or number of permits, than that of h.
func (h *hold) other() (history.Mode, int) {
	if h.mode == history.Shared {
		return history.Exclusive, 3 - h.permits
	}
	return history.Shared, 3 - h.permits
}

// renewed is what the holder of h is told of its renewal.
func (s *service) renewed(h *hold) given {
	told := *h
	if s.is("other-renewal", .1) {
		s.world.planted++
		told.mode, told.permits = h.other()
	}
	return told.given(h.depth)
}

// between are tokens of which that of a writer lies between those of two readers before it, the first of whom has the
// greatest. Of readers alone tokens need not rise.
type between struct {
	first   int64 // when the first reader was granted its own
	top     int64 // its token
	reached bool  // the second reader has the lowest
}

// lies is the next token. No other is given until the writer has its own, which is below that of a reader before it.
func (s *service) lies(w wish) int64 {
	b := &s.row
	reads := w.mode == history.Shared
	switch {
	case b.top == 0 && reads && s.is("token-between", .2):
		s.tokens += 3
		*b = between{first: s.now, top: s.tokens}
		return b.top
	case b.top > 0 && reads && !b.reached && w.since > b.first+3*ms: // it asked when the first one knew
		b.reached = true
		return b.top - 2
	case b.top > 0 && reads:
		return b.top
	case b.reached:
		*b = between{}
		s.world.planted++
		return s.tokens - 1
	}
	*b = between{}
	s.tokens++
	return s.tokens
}
