package conform

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// Checks are all demands, in the order in which they are asked.
var Checks = []Check{
	{"hello", "start, and answer hello with a version that it names, a name, and what is offered", "", hello},
	{"hello-version", "refuse hello with an error when it names no version that you speak", "", helloVersion},
	{"open", "open a session with the servers that open names", "", opens},
	{"round-trip", "answer acquire with a grant of a new name each time, and release with ok", "", roundTrip},
	{"unknown-request", "answer a request that you do not know with the error unsupported", "", unknownRequest},
	{"unknown-grant", "answer extend and release of a grant that you never gave with the error not-held", "", unknownGrant},
	{"odd-key", "take any text as a key: quotes, slashes, umlauts, a thousand bytes", "", oddKey},
	{"held", "let nobody acquire a key that another adapter holds", "", held},
	{"wait", "end an acquire at wait_ms with the error not-granted, or held", protocol.OfferWait, waits},
	{"try", "answer try of a held key with the error not-granted, or held, at once", protocol.OfferTry, tries},
	{"concurrent", "answer ping while an acquire waits", protocol.OfferConcurrent, concurrent},
	{"extend", "answer extend with ok while the grant is held", protocol.OfferExtend, extends},
	{"token", "give each grant a token above the one before", protocol.OfferToken, tokens},
	{"validity", "tell a deadline between now and a lease from the request, by CLOCK_MONOTONIC", protocol.OfferValidity, validity},
	{"sent", "tell when the request was sent: after it was asked for, and before the answer", protocol.OfferSent, sent},
	{"asked", "give the moment at which the request was sent, between the asking and the answer", protocol.OfferAsked, sent},
	{"shared", "let readers hold a key together, no writer beside them, and no reader beside a writer", protocol.OfferShared, shared},
	{"permits", "grant as many permits as there are, and no more", protocol.OfferPermits, permits},
	{"reentrant", "grant a thread at once what it holds, and free it when all of its holds are given back", protocol.OfferReentrant, reentrant},
	{"renews", "keep by yourself what is held for longer than a lease", protocol.OfferRenews, renews},
	{"close-frees", "free at close what is still held", "", closeFrees},
	{"order", "serve who waits in the order in which they came", protocol.OfferOrder, order},
	{"cut", "tell suspended or lost when the servers cannot be reached, and lost when another got the lock meanwhile", protocol.OfferEvents, cut},
	{"heal", "tell resumed when the session has survived, and lost when it has not", protocol.OfferEvents, heals},
	{"end", "end when stdin ends, asked to close or not, and leave no process behind", "", ends},
	{"events", "tell what is so, when it changes, and only if events is offered", "", events}, // last: of all that was told before
}

func hello(s *suite) error {
	_, err := s.dial()
	return err
}

func helloVersion(s *suite) error {
	c, err := protocol.Start(s.cmd, func(*protocol.Conn, protocol.Event) {})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // what it does at its end is asked elsewhere
	_, err = c.Ask(s.ctx, protocol.Request{Do: protocol.DoHello, Versions: []int{1_000_000}}, answerLimit)
	var r *protocol.Refusal
	if errors.As(err, &r) {
		return nil
	}
	if err == nil {
		return errors.New("a hello that named version 1000000 alone was answered with ok")
	}
	return err
}

func opens(s *suite) error {
	_, err := s.open()
	return err
}

func roundTrip(s *suite) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	for range 3 {
		g, err := s.acquire(c, 5*time.Second)
		if err != nil {
			return fmt.Errorf("acquire of a free key: %w", err)
		}
		if g.Grant == "" {
			return errors.New("acquire was answered with ok and without a grant")
		}
		if err := s.release(c, g.Grant); err != nil {
			return fmt.Errorf("release of a grant that is held: %w", err)
		}
	}
	if c.Offers(protocol.OfferEvents) { // whoever takes its own release for a loss tells it now
		time.Sleep(min(s.cfg.Lease/4, time.Second))
	}
	return nil
}

func unknownRequest(s *suite) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	_, err = c.Ask(s.ctx, protocol.Request{Do: "frobnicate"}, answerLimit)
	return refused(err, "the request frobnicate", protocol.Unsupported)
}

func unknownGrant(s *suite) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	if err := refused(s.release(c, "no-such-grant"), "release of an unknown grant", protocol.NotHeld); err != nil {
		return err
	}
	if !c.Offers(protocol.OfferExtend) {
		return nil
	}
	_, err = c.Ask(s.ctx, protocol.Request{Do: protocol.DoExtend, Grant: "no-such-grant"}, answerLimit)
	return refused(err, "extend of an unknown grant", protocol.NotHeld)
}

func oddKey(s *suite) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	for _, key := range []string{`a "quoted" \ key`, "schlüssel/鍵 🔑", strings.Repeat("k", 200)} {
		s.key = fmt.Sprintf("%s-%d", key, time.Now().UnixNano())
		g, err := s.acquire(c, 5*time.Second)
		if err != nil {
			return fmt.Errorf("acquire of the key %q: %w", s.key, err)
		}
		if err := s.release(c, g.Grant); err != nil {
			return fmt.Errorf("release of the key %q: %w", s.key, err)
		}
	}
	return nil
}

// held: the second adapter's acquire must not be granted before the first has released.
func held(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	g, err := s.acquire(a, 5*time.Second)
	if err != nil {
		return err
	}
	return s.keptOut(b, protocol.Request{Mode: protocol.Exclusive}, "a key that the first one holds", func() error { return s.release(a, g.Grant) })
}

// keptOut: what r asks of b for the check's key is granted after free, and not before.
func (s *suite) keptOut(b *protocol.Conn, r protocol.Request, what string, free func() error) error {
	second := make(chan error, 1)
	go func() {
		h, err := s.ask(b, r, s.cfg.Lease+5*time.Second)
		if err == nil {
			err = s.release(b, h.Grant)
		}
		second <- err
	}()
	select {
	case err := <-second:
		if err == nil {
			return errors.New("a second adapter was granted " + what)
		}
		return fmt.Errorf("a second adapter did not wait for %s: %w", what, err)
	case <-time.After(s.cfg.Lease / 4):
	}
	if err := free(); err != nil {
		return err
	}
	if err := <-second; err != nil {
		return fmt.Errorf("a second adapter was not granted the key after its release: %w", err)
	}
	return nil
}

func waits(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	if _, err := s.acquire(a, 5*time.Second); err != nil {
		return err
	}
	wait, begun := s.cfg.Lease/4, time.Now()
	_, err = s.acquire(b, wait)
	if err := refused(err, fmt.Sprintf("acquire of a held key with wait_ms %d", wait.Milliseconds()), protocol.NotGranted); err != nil {
		return err
	}
	if took := time.Since(begun); took > wait+2*time.Second {
		return fmt.Errorf("acquire with wait_ms %d was answered after %v", wait.Milliseconds(), took)
	}
	return nil
}

func tries(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	if _, err := s.acquire(a, 5*time.Second); err != nil {
		return err
	}
	_, err = b.Ask(s.ctx, protocol.Request{Do: protocol.DoTry, Key: s.key, Mode: protocol.Exclusive}, answerLimit)
	return refused(err, "try of a held key", protocol.NotGranted)
}

func concurrent(s *suite) error {
	a, b, err := s.two()
	if err != nil {
		return err
	}
	if _, err := s.acquire(a, 5*time.Second); err != nil {
		return err
	}
	waited := make(chan struct{})
	go func() { _, _ = s.acquire(b, s.cfg.Lease/2); close(waited) }() // refused or not: elsewhere
	time.Sleep(s.cfg.Lease / 8)
	begun := time.Now()
	if _, err := b.Ask(s.ctx, protocol.Request{Do: protocol.DoPing}, answerLimit); err != nil {
		return err
	}
	select {
	case <-waited:
		return fmt.Errorf("a ping was answered after %v, when the waiting acquire had been", time.Since(begun))
	default:
	}
	<-waited
	return nil
}
