package conform

import (
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// shared: two readers hold together, a writer waits for both, and a reader for the writer.
func shared(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	read := protocol.Request{Mode: protocol.Shared}
	g, err := s.ask(a, read, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire of a free key with mode shared: %w", err)
	}
	h, err := s.ask(b, read, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire with mode shared of a key that another reader holds: %w", err)
	}
	err = s.keptOut(b, protocol.Request{Mode: protocol.Exclusive}, "as the writer a key that readers hold", func() error {
		return errors.Join(s.release(a, g.Grant), s.release(b, h.Grant))
	})
	if err != nil {
		return err
	}
	w, err := s.acquire(a, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire by the writer after all readers have gone: %w", err)
	}
	return s.keptOut(b, read, "as a reader a key that the writer holds", func() error { return s.release(a, w.Grant) })
}

// permits: of three, two and one are out together, and one more has to wait.
func permits(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	two := protocol.Request{Mode: protocol.Exclusive, Permits: 3, Want: 2}
	one := protocol.Request{Mode: protocol.Exclusive, Permits: 3, Want: 1}
	g, err := s.ask(a, two, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire of 2 permits of 3: %w", err)
	}
	h, err := s.ask(b, one, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire of the last of 3 permits: %w", err)
	}
	return s.keptOut(b, one, "a permit when all 3 were out", func() error {
		return errors.Join(s.release(a, g.Grant), s.release(b, h.Grant))
	})
}

// reentrant: a thread takes again at once what it holds, another adapter waits for all of
// its holds, and so does another thread.
func reentrant(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	one := protocol.Request{Mode: protocol.Exclusive, Thread: "t1"}
	outer, err := s.ask(a, one, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire of a free key by a thread: %w", err)
	}
	inner, err := s.ask(a, one, s.cfg.Lease/2)
	if err != nil {
		return fmt.Errorf("acquire by a thread of the key that it holds: %w", err)
	}
	other := one
	other.Thread = "t2"
	if _, err := s.ask(a, other, s.cfg.Lease/4); err == nil {
		return errors.New("a key that one thread holds was granted to another thread of the same adapter")
	}
	if err := s.release(a, inner.Grant); err != nil {
		return fmt.Errorf("release of the inner hold: %w", err)
	}
	return s.keptOut(b, one, "as another adapter a key that was given back once of two times", func() error { return s.release(a, outer.Grant) })
}
