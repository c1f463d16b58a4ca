package conform

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

func extends(s *suite) error {
	c, g, err := s.holding()
	if err != nil {
		return err
	}
	if _, err := c.Ask(s.ctx, protocol.Request{Do: protocol.DoExtend, Grant: g.Grant}, answerLimit); err != nil {
		return fmt.Errorf("extend of a grant that is held: %w", err)
	}
	return nil
}

// holding is an adapter that holds the check's key.
func (s *suite) holding() (*protocol.Conn, *protocol.Result, error) {
	c, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	g, err := s.acquire(c, 5*time.Second)
	return c, g, err
}

func tokens(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	last := int64(0)
	for i, c := range []*protocol.Conn{a, b, a} {
		g, err := s.acquire(c, 5*time.Second)
		if err != nil {
			return err
		}
		if g.Token <= last {
			return fmt.Errorf("grant %d has token %d, the one before had %d", i+1, g.Token, last)
		}
		last = g.Token
		if err := s.release(c, g.Grant); err != nil {
			return err
		}
	}
	return nil
}

func validity(s *suite) error {
	before := history.Mono()
	_, g, err := s.holding()
	if err != nil {
		return err
	}
	now := history.Mono()
	switch {
	case g.Deadline == 0:
		return errors.New("acquire was answered without deadline_ns, which hello offers as validity")
	case g.Deadline <= now:
		return fmt.Errorf("deadline_ns had passed %v before the answer came", time.Duration(now-g.Deadline))
	case g.Deadline > now+int64(s.cfg.Lease):
		return fmt.Errorf("deadline_ns is %v after the request, more than the lease of %v", time.Duration(g.Deadline-before), s.cfg.Lease)
	}
	return nil
}

func sent(s *suite) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	before := history.Mono()
	g, err := s.acquire(c, 5*time.Second)
	if err != nil {
		return err
	}
	switch {
	case g.Sent == 0:
		return errors.New("acquire was answered without sent_ns, which hello offers as sent or asked")
	case g.Sent < before:
		return fmt.Errorf("sent_ns is %v before acquire was asked", time.Duration(before-g.Sent))
	case g.Sent > history.Mono():
		return fmt.Errorf("sent_ns is %v after the answer", time.Duration(g.Sent-history.Mono()))
	}
	return nil
}

// renews: nobody else gets the key before its release, and that is well past the lease.
func renews(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	g, err := s.acquire(a, 5*time.Second)
	if err != nil {
		return err
	}
	time.Sleep(s.cfg.Lease + s.cfg.Lease/2)
	return s.keptOut(b, protocol.Request{Mode: protocol.Exclusive},
		"a key after a lease, although hello offers renews and its holder goes on", func() error { return s.release(a, g.Grant) })
}

// closeFrees: what the first holds at its close, the second gets well before its lease
// could have ended.
func closeFrees(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	if _, err := s.acquire(a, 5*time.Second); err != nil {
		return err
	}
	if err := s.close(a); err != nil {
		return err
	}
	if _, err := s.acquire(b, s.cfg.Lease/2); err != nil {
		return fmt.Errorf("a key that was held at close was not free %v later: %w", s.cfg.Lease/2, err)
	}
	return nil
}

func ends(s *suite) error {
	c, _, err := s.holding()
	if err != nil {
		return err
	}
	s.heard.add(s.ears[c].stop())
	return c.Drop()
}
