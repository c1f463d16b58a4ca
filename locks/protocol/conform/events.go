package conform

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// seen is how long an adapter may take to tell what has become of its session: a library
// tries to connect again after pauses that grow.
func (s *suite) seen() time.Duration { return 4*s.cfg.Lease + patience }

// patience is a variable for tests.
var patience = 10 * time.Second

// cut: an adapter that no longer reaches its servers tells so, and that its lock is gone
// when another has it.
func cut(s *suite) error {
	all, a, g, err := s.heldByLink()
	if err != nil {
		return err
	}
	b, err := s.open()
	if err != nil {
		return err
	}
	from := s.ears[a].count()
	all.turn(true)
	if s.ears[a].after(from, a, s.seen(), about(g, suspended, lost)) == "" {
		return s.silent(all, a)
	}
	if !a.Offers(protocol.OfferLease) && !a.Offers(protocol.OfferWait) { // who asks now may wait for ever
		s.settle(all, a, g)
		return nil
	}
	h, err := s.acquire(b, 3*s.cfg.Lease+2*time.Second)
	all.turn(false)
	var refused *protocol.Refusal
	if errors.As(err, &refused) { // then the grant is as good as it was: whether it should end is asked elsewhere
		s.settle(all, a, g)
		return nil
	}
	if err != nil {
		return err
	}
	if owesLoss(a) && s.ears[a].after(from, a, s.seen(), about(g, lost)) == "" {
		err = s.broken(a, fmt.Errorf("its way to the servers was cut, another adapter was granted its key meanwhile, "+
			"and %v after the heal it had %s, and not lost",
			s.seen(), s.ears[a].since(from)))
	}
	return errors.Join(err, s.release(b, h.Grant))
}

// owesLoss: what ends by itself and is renewed by its client alone was lost by that client,
// which knows when; the library has nothing to tell.
func owesLoss(a *protocol.Conn) bool {
	return a.Offers(protocol.OfferRenews) || !a.Offers(protocol.OfferLease)
}

// heals: after suspended comes, once the servers can be reached, resumed or lost.
func heals(s *suite) error {
	all, a, g, err := s.heldByLink()
	if err != nil {
		return err
	}
	ear := s.ears[a]
	from := ear.count()
	all.turn(true)
	first := ear.after(from, a, s.seen(), about(g, suspended, lost))
	all.turn(false)
	if first == "" { // see cut
		s.settle(all, a, g)
	}
	if first != suspended {
		return s.broken(a, nil)
	}
	switch ear.after(from, a, s.seen(), about(g, resumed, lost)) {
	case "":
		return s.broken(a, fmt.Errorf("it told suspended, its servers could be reached again, and %v later it had told neither resumed nor lost", s.seen()))
	case resumed:
		return s.stillHeld(a)
	}
	return nil
}

// settle heals the links and waits until the adapter knows, or could: who is asked to
// close while its library waits before it connects again may not do so in time.
func (s *suite) settle(all links, a *protocol.Conn, grant string) {
	from := s.ears[a].count()
	all.turn(false)
	s.ears[a].after(from, a, s.seen(), about(grant, resumed, lost))
}

// stillHeld: who has resumed, and renews by itself, holds what it held. That is asked by
// a wait that ends.
func (s *suite) stillHeld(a *protocol.Conn) error {
	if !a.Offers(protocol.OfferRenews) || !a.Offers(protocol.OfferWait) {
		return nil
	}
	b, err := s.open()
	if err != nil {
		return err
	}
	from := s.ears[a].count()
	h, err := s.acquire(b, s.cfg.Lease/4)
	var refused *protocol.Refusal
	if errors.As(err, &refused) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.ears[a].after(from, a, s.cfg.Lease, func(e protocol.Event) bool { return e.Event == lost }) == "" {
		err = errors.New("it told resumed, and another adapter was granted the key that it held: tell lost when the session did not survive")
	}
	return errors.Join(err, s.release(b, h.Grant))
}

// heldByLink is an adapter that reaches its servers by links and holds the check's key.
func (s *suite) heldByLink() (links, *protocol.Conn, string, error) {
	all, a, err := s.linked()
	if err != nil {
		return nil, nil, "", err
	}
	g, err := s.acquire(a, 5*time.Second)
	if err != nil {
		return nil, nil, "", err
	}
	if !all.used(time.Second) {
		return nil, nil, "", errors.New("it was granted a key and had not connected to the endpoints that open names: connect to those, and to no other")
	}
	return all, a, g.Grant, nil
}

// silent: it told nothing of the cut. An adapter that is granted something now has not
// been cut off at all.
func (s *suite) silent(all links, a *protocol.Conn) error {
	if err := s.broken(a, nil); err != nil {
		return err
	}
	s.key += "-probe"
	h, err := s.acquire(a, time.Second)
	all.turn(false)
	if err == nil {
		_ = s.release(a, h.Grant) // at worst at its end
		return notAsked("the adapter learns of servers from those that open names, so it cannot be cut off from them")
	}
	if f := a.Fault(); f != nil && f.Kind != protocol.Hangs { // it may wait for its servers
		return f
	}
	return fmt.Errorf("hello offers events, its way to the servers was cut for %v while it held a key, and it told neither suspended nor lost", s.seen())
}

// broken is the fault of an adapter that broke the protocol meanwhile, or else err.
func (s *suite) broken(c *protocol.Conn, err error) error {
	if f := c.Fault(); f != nil {
		return f
	}
	return err
}

// about picks events of these names that concern a grant.
func about(grant string, names ...string) func(protocol.Event) bool {
	return func(e protocol.Event) bool {
		for _, n := range names {
			if e.Event == n && (e.Grant == "" || e.Grant == grant) {
				return true
			}
		}
		return false
	}
}

// since is what was told from the nth event on, in words.
func (e *ear) since(n int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var names []string
	for _, ev := range e.events[n:] {
		names = append(names, ev.Event)
	}
	return "told " + strings.Join(names, ", ")
}

// events: whatever was told in all checks can be so.
func events(s *suite) error {
	if len(s.heard.wrong) == 0 {
		return nil
	}
	return errors.New("it " + strings.Join(s.heard.wrong, "; it "))
}
