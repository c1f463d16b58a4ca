package faultcheck

import (
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
)

// partition: what a node is said to drop of another does not arrive, by any protocol, and what it is not said to
// drop does. It is asked once for each node that drops something.
func (s *seen) partition(k *strike) (rows []Row) {
	peer := k.cut[0]
	both := k.fault.Direction == ""
	rows = append(rows, s.silent(k, peer, outside.UDP, "datagrams"), s.silent(k, peer, outside.TCP, "what a connection carries"),
		s.unconnected(k, peer), s.answered(k, peer))
	if !both {
		rows = append(rows, s.passes(k, peer))
	}
	return append(rows, s.flows(k, peer))
}

// silent: nothing of a protocol that is sent during the cut arrives from the peer before the heal, and something does
// before and after. What was sent before may have arrived, and be read by a program that had to wait for a processor.
func (s *seen) silent(k *strike, peer, what, name string) Row {
	from, to := k.window()
	c := k.check(fmt.Sprintf("%s do not arrive from the node that is dropped", name), k.proof)
	heard := froms(s.of(k.target, what), peer)
	c.alive(k, heard, "what arrives")
	in := slices.DeleteFunc(between(heard, from, to), func(r outside.Record) bool { return r.From < from })
	c.unless(len(in) == 0, "%d arrived at %s", len(in), k.target)
	if next := first(heard, to); next != nil {
		c.measured("%d of some %d, the first %s after the heal", len(in), (to-from)/10e6, ms(next.At-to))
	}
	return c.Row
}

// unconnected: no new connection is made across the cut, in either direction: a handshake takes both.
func (s *seen) unconnected(k *strike, peer string) Row {
	from, to := k.window()
	c := k.check("no TCP connection is made, either way", k.proof)
	made := 0
	for _, end := range [][2]string{{k.target, peer}, {peer, k.target}} {
		heard := froms(s.of(end[0], outside.Connect), end[1])
		c.alive(k, heard, "a connection from %s to %s", end[0], end[1])
		for _, r := range between(heard, from, to) {
			if r.From >= from { // its first packet met the cut
				made++
			}
		}
	}
	c.unless(made == 0, "%d were made", made)
	c.measured("%d made", made)
	return c.Row
}

// answered: no ICMP answer arrives where either way is cut.
func (s *seen) answered(k *strike, peer string) Row {
	from, to := k.window()
	c := k.check("no ICMP answer arrives", k.proof)
	heard := froms(s.of(k.target, outside.ICMP), peer)
	in := between(heard, from, to)
	c.unless(len(in) == 0, "%d arrived", len(in))
	before, after := k.around(heard)
	switch {
	case len(heard) == 0:
		c.unmeasured("the node's user may send no echo requests")
	case !before || !after:
		c.unmeasured("too few ICMP answers before and after")
	case heard[0].Who == "unreachable":
		c.measured("%d of port unreachable", len(in))
	default:
		c.measured("%d of some %d echo replies", len(in), (to-from)/20e6)
	}
	return c.Row
}

// passes: the other way of a one-way cut is open.
func (s *seen) passes(k *strike, peer string) Row {
	from, to := k.window()
	c := k.check("the other way datagrams pass", k.proof)
	in := between(froms(s.of(peer, outside.UDP), k.target), from, to)
	sent := (to - from) / 10e6
	c.unless(len(in) > 0, "none passed")
	c.measured("%d of some %d arrived", len(in), sent)
	return c.Row
}

// flows: when a connection that was cut makes progress again, beside what the history says of the agents' own, and
// whether the aftermath that the judge allows for reaches so far.
func (s *seen) flows(k *strike, peer string) Row {
	said := "not said"
	if k.again > 0 {
		said = fmt.Sprintf("connections make progress again %s after the heal", ms(k.again-k.healed))
	}
	c := k.check("a connection that was cut flows again within the aftermath that the judge allows for", said)
	heard := froms(s.of(k.target, outside.TCP), peer)
	next := first(heard, k.healed)
	if next == nil {
		c.unless(false, "it never does")
		return c.Row
	}
	took := next.At - k.healed
	allowed := max(k.healed-k.begun+500e6, k.again-k.healed)
	c.unless(took <= allowed, "it took %s, and the aftermath lasts %s", ms(took), ms(allowed))
	c.measured("%s after the heal; the aftermath lasts %s", ms(took), ms(allowed))
	return c.Row
}

func froms(all []outside.Record, peer string) (some []outside.Record) {
	for _, r := range all {
		if r.Peer == peer {
			some = append(some, r)
		}
	}
	return some
}
