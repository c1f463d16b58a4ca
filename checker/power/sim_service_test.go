package power

import (
	"slices"

	"github.com/dlmtest/dlmtest/history"
)

// service is the lock: one state, changed by requests as they arrive.
type service struct {
	*node
	holds         []*hold
	queue         []*place
	tokens        int64
	lost          map[string]bool               // owners whose hold ended before its release
	shut, swapped int64                         // nothing is granted until then; the token that the next grant gets in place of its own
	row           between                       // tokens that shall lie so
	closed        map[string]bool               // owners whose connection is gone
	tell          map[string]func(owner string) // of each client: its hold was lost
}

type hold struct {
	owner, client, thread string
	mode                  history.Mode
	permits, depth        int
	token, until, since   int64
}

// place is somebody who waits in the queue of a fair lock.
type place struct {
	owner string
	token int64
	until int64
}

// wish is what a client asks for.
type wish struct {
	owner, client, thread string
	mode                  history.Mode
	permits               int
	try                   bool
	life                  int   // of the client's node
	since                 int64 // when its acquire was invoked
}

// given is the answer to it.
type given struct {
	ok      bool
	owner   string
	token   int64
	depth   int
	mode    history.Mode
	permits int
}

func newService(w *world) *service {
	return &service{node: w.node("server"), lost: map[string]bool{}, tell: map[string]func(string){}, closed: map[string]bool{}}
}

// is says whether a defect shall take effect now. It does so once in a history.
func (w *world) is(defect string, p float64) bool {
	return w.with.defect == defect && w.planted == 0 && w.chance(p)
}

// expire drops what has come to its end.
func (s *service) expire() {
	s.holds = slices.DeleteFunc(s.holds, func(h *hold) bool {
		if h.until > s.now {
			return false
		}
		s.lost[h.owner] = true
		return true
	})
	s.queue = slices.DeleteFunc(s.queue, func(p *place) bool { return p.until <= s.now })
}

func (s *service) find(owner string) *hold {
	if i := slices.IndexFunc(s.holds, func(h *hold) bool { return h.owner == owner }); i >= 0 {
		return s.holds[i]
	}
	return nil
}

// room says whether a wish can be granted beside what is held.
func (s *service) room(w wish) bool {
	out := 0
	for _, h := range s.holds {
		out += h.permits
		if s.with.kind == history.ReadWrite && (h.mode == history.Exclusive || w.mode == history.Exclusive) {
			return false
		}
	}
	switch s.with.kind {
	case history.ReadWrite:
		return true
	case history.Semaphore:
		return out+w.permits <= 2
	}
	return len(s.holds) == 0
}

// take asks for the lock; it waits for nothing.
func (s *service) take(w wish) given {
	s.expire()
	if s.closed[w.owner] || !s.with.leased && s.world.node(w.client).life != w.life {
		return given{}
	}
	for _, h := range s.holds {
		if s.with.kind == history.Reentrant && h.thread == w.thread && h.client == w.client {
			return s.again(h)
		}
	}
	token, first := s.place(w)
	room := s.room(w)
	if s.now < s.shut || s.shutOut(w, room) {
		s.planted1(room && len(s.holds) == 0)
		return given{}
	}
	if !room || !first {
		if room || len(s.holds) == 0 || !s.twice(w) {
			return given{}
		}
	}
	s.queue = slices.DeleteFunc(s.queue, func(p *place) bool { return p.owner == w.owner })
	h := &hold{owner: w.owner, client: w.client, thread: w.thread, mode: w.mode, permits: max(w.permits, 1), depth: 1, token: s.token(w, token), since: s.now, until: forever}
	if s.with.leased {
		h.until = s.now + lease
	}
	if s.otherwise(h) && s.is("other-grant", .1) {
		s.world.planted++
		h.mode, h.permits = h.other()
	}
	s.holds = append(s.holds, h)
	s.ends(h)
	return h.given(h.depth)
}

// planted1 notes that the defect has taken effect.
func (w *world) planted1(yes bool) {
	if yes {
		w.planted = max(w.planted, 1)
	}
}

// shutOut are the defects that refuse what could be granted.
func (s *service) shutOut(w wish, room bool) bool {
	if !room {
		return false
	}
	switch s.with.defect {
	case "reader-blocked":
		others := slices.ContainsFunc(s.holds, func(h *hold) bool { return h.mode == history.Shared })
		if w.mode == history.Shared && (others || s.world.planted > 0) && w.client == "client-3" {
			s.world.planted = 1
			return true
		}
	case "false-refusal":
		return len(s.holds) == 0 && w.try && s.is("false-refusal", .1)
	}
	return false
}

// twice are the defects that grant what is held.
func (s *service) twice(w wish) bool {
	h := s.holds[0]
	switch {
	case s.with.leased && h.until-s.now < 30*ms:
		return false // that is too little for anybody to see
	case s.is("double-grant", .005), s.now > h.since+lease/2 && s.is("expires-early", .1):
		s.world.planted++
		return true
	}
	return false
}

// place enters the queue of a fair lock, and says whether this one is the first there.
func (s *service) place(w wish) (token int64, first bool) {
	if !s.with.fair {
		return 0, true
	}
	i := slices.IndexFunc(s.queue, func(p *place) bool { return p.owner == w.owner })
	if i < 0 {
		s.tokens++
		s.queue = append(s.queue, &place{w.owner, s.tokens, 0})
		i = len(s.queue) - 1
	}
	s.queue[i].until = s.now + lease
	if i == 0 && len(s.queue) > 1 && s.is("lost-place", .01) { // it must queue anew
		s.world.planted++
		s.tokens++
		s.queue[i].token = s.tokens
		s.queue = append(s.queue[1:], s.queue[0])
		return s.tokens, false
	}
	if i > 0 && len(s.holds) == 0 && s.is("unfair", .1) {
		s.world.planted++
		return s.queue[i].token, true
	}
	return s.queue[i].token, i == 0
}

func (s *service) token(w wish, place int64) int64 {
	if !s.with.tokens {
		return 0
	}
	if s.with.fair {
		return place
	}
	switch {
	case s.swapped > 0:
		t := s.swapped
		s.swapped = 0
		s.world.planted++
		return t
	case s.tokens > 3 && s.is("token-back", .1) && len(s.queue) == 0:
		s.tokens += 2
		s.swapped = s.tokens - 1
		return s.tokens
	case s.tokens > 1 && s.is("token-repeat", .1):
		s.world.planted++
		return s.tokens
	}
	return s.lies(w)
}

// ends are the defects that end a hold before its time.
func (s *service) ends(h *hold) {
	if s.is("early-end", .1) || s.is("early-revoke", .1) {
		s.at(s.now+s.between(lease/5, lease*6/10), func() {
			if s.find(h.owner) != h {
				return
			}
			s.drop(h)
			s.lost[h.owner] = true
			s.world.planted++
			if tell := s.tell[h.client]; tell != nil && s.with.defect == "early-revoke" {
				s.at(s.now+s.between(0, 20*ms), func() { s.send(s.world.node(h.client), func() { tell(h.owner) }) })
			}
		})
	}
}

func (s *service) drop(h *hold) {
	s.holds = slices.DeleteFunc(s.holds, func(x *hold) bool { return x == h })
}

// again grants a holder what it has.
func (s *service) again(h *hold) given {
	if s.with.leased {
		h.until = s.now + lease
	}
	h.depth++
	if s.is("wrong-count", .2) {
		s.world.planted++
		return h.given(h.depth + 1)
	}
	if s.is("inner-refused", .1) {
		h.depth--
		s.world.planted++
		return given{}
	}
	return h.given(h.depth)
}
