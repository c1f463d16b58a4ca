package power

import "slices"

// extend renews a hold.
func (s *service) extend(owner string) given {
	s.expire()
	h := s.find(owner)
	switch {
	case h == nil && s.lost[owner] && s.is("false-ok-extend", 1):
		s.world.planted++
		return given{ok: true}
	case h == nil:
		return given{}
	case s.is("false-loss", .2):
		s.world.planted++
		return given{}
	}
	h.until = s.now + lease
	return s.renewed(h)
}

// release gives a hold back, and says how many are left of it, -1 if there was none.
func (s *service) release(owner string) int {
	s.expire()
	h := s.find(owner)
	if h == nil {
		switch {
		case s.lost[owner] && len(s.holds) > 0 && s.is("naive-release", 1):
			s.world.planted++
			s.drop(s.holds[0])
			return 0
		case s.lost[owner] && s.is("false-ok-release", 1):
			s.world.planted++
			return 0
		}
		return -1
	}
	if h.depth--; h.depth > 0 {
		if s.is("freed-at-once", .2) {
			s.world.planted++
			s.drop(h)
		}
		return h.depth
	}
	switch {
	case s.is("leaked-permit", .1) && (s.with.fault != "hoard" || s.world.planted == 0), s.is("never-freed", .03): // nobody will free it
		s.world.planted++
		h.owner, h.until = "leaked "+h.owner, forever
		return 0
	case s.is("slow-handover", .04):
		s.shut = s.now + patience + 2*sec
	case s.is("release-ignored", .1): // it says ok and lets the lease run out
		s.world.planted++
		h.owner = "ignored " + h.owner
		return 0
	case s.is("release-refused", .1): // it says that it held nothing, and frees
		s.world.planted++
		s.drop(h)
		return -1
	}
	s.drop(h)
	return 0
}

// leave gives up a place in the queue.
func (s *service) leave(owner string) {
	if s.is("dead-place", .3) {
		for _, p := range s.queue {
			if p.owner == owner {
				s.world.planted++
				p.until = forever
				return
			}
		}
	}
	s.queue = slices.DeleteFunc(s.queue, func(p *place) bool { return p.owner == owner })
}

// looks says who holds the lock.
func (s *service) looks() string {
	s.expire()
	if len(s.holds) == 0 {
		return ""
	}
	if s.is("wrong-look", .1) {
		s.world.planted++
		return ""
	}
	return s.holds[0].owner
}

// hangUp notices that a client is gone: a lock without a lease ends with its connection.
func (s *service) hangUp(client string) {
	for _, h := range s.holds {
		if h.client == client && s.is("late-end", 1) {
			s.world.planted++
			h.until = s.now + patience + 12*sec
		}
		if h.client == client && !s.with.leased && h.until == forever {
			s.at(s.now+30*ms, func() { s.drop(h); s.lost[h.owner] = true })
		}
	}
}

// gone drops what a closed connection held, and what comes of it later.
func (s *service) gone(owner string) {
	s.closed[owner] = true
	if h := s.find(owner); h != nil {
		s.drop(h)
	}
}

// crash is the end of the server's process. What it has promised stands on its disk.
func (s *service) crash(long int64) {
	if len(s.holds) == 0 || s.holds[0].until < s.now+long+50*ms || !s.is("amnesia", 1) {
		return
	}
	s.world.planted++
	s.lost[s.holds[0].owner] = true
	s.holds = nil
}
