package models

// hold is a certain hold.
type hold struct {
	owner      *owner
	process    int
	call, ret  Ref // of its acquire
	reads      bool
	token      int64
	told       int  // index of the renewal that answered the token
	giving     bool // its release is pending
	depth      int
	below      *hold // of the same owner: its permit taken before
	prev, next *hold
}

func (h *hold) who() string { return who(h.owner, h.process) }

// holdList is a list of holds in the order in which they began.
type holdList struct {
	last *hold
	n    int
}

func (l *holdList) insert(h *hold) {
	after := l.last
	for after != nil && after.ret.Index > h.ret.Index {
		after = after.prev // only after a release that failed
	}
	h.prev = after
	if after == nil {
		h.next = nil
		for first := l.last; first != nil; first = first.prev {
			h.next = first
		}
	} else {
		h.next = after.next
		after.next = h
	}
	if h.next == nil {
		l.last = h
	} else {
		h.next.prev = h
	}
	l.n++
}

func (l *holdList) remove(h *hold) {
	if h.prev != nil {
		h.prev.next = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	} else {
		l.last = h.prev
	}
	l.n--
}
