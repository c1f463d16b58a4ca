package models

import "fmt"

// Owners that go on after an acquire of unknown outcome, of mutex, semaphore and
// fenced-mutex: clients that keep their name when their process is another one.
//
// An acquire of unknown outcome may have its effect at any later time, so a release
// that no hold explains may be explained by it: both at one instant of the release, at
// which there must be room. There is room unless all of the release lies within the
// certain holds, which are at their most all that time. Such instants have no length,
// so they do not stand in each other's way. An acquire whose answer would have told the
// owner may explain that of any owner who has a name.
//
// A release of unknown outcome may end any later hold of its owner, so what follows
// cannot be swept: see front.own.

// unheld judges a release that returned OK, of an owner that holds nothing for certain.
func (h *holds) unheld(op *operation) {
	o := op.owner
	room := h.room(op.call.Index)
	switch {
	case o.maybe > 0 && (room || h.shared):
		o.maybe--
		h.explained(op)
	case h.k.untold > 0 && o.name != "" && (h.shared || h.room(max(op.call.Index, h.k.since))):
		h.k.untold--
		h.k.used = true
		h.explained(op)
	case o.name != "" && (h.k.used || h.k.untold > 0 && h.k.since > op.call.Index):
		h.found.doubted(fmt.Sprintf("%s gave back %sat %s what it may not have held: which of its operations had an "+
			"effect is not known", op.who(), h.of(), op.ret))
	case h.k.named && o.name == "":
		h.found.doubted(fmt.Sprintf("%s gave back %sat %s, and for whom is not told, as it is elsewhere", op.who(), h.of(), op.ret))
	default:
		h.found.add(op.ret.Index, h.k.name, []Ref{op.call, op.ret}, func() string {
			return fmt.Sprintf("%s gave back %sat %s what it did not hold.", op.who(), h.of(), op.ret)
		})
	}
}

// room says that at some instant since an event one more could have been granted.
func (h *holds) room(since int) bool {
	return h.writers.n+h.readers.n <= h.beside || h.full > since
}

// explained notes that a release stands at an instant of its own.
func (h *holds) explained(op *operation) {
	h.placed = op.ret.Index
	if h.shared || h.reentrant || h.tries {
		h.found.doubted(fmt.Sprintf("%s gave back %sat %s what an acquire of unknown outcome may have taken", op.who(), h.of(), op.ret))
	}
}
